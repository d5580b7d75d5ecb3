"""Writes down what a package is made of: a CycloneDX 1.6 list, the same bytes for the same parts.

Called by the builds with what they put in; `write_sbom(parts, out)`.
"""

from __future__ import annotations

import hashlib
import os
import tomllib
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID, uuid5

from gpu_assistant import __version__

ROOT = Path(__file__).resolve().parent.parent
# Made once for us; serial numbers are derived from it and from the content.
_OURS = UUID("6d0f5d2e-52a7-5f0c-9d3b-3c0f2a8f0b57")
# name, version, SPDX expression or the licence's own words, sha256 in hex, package URL
Part = tuple[str, str, str, str | None, str | None]


def write_sbom(parts: Sequence[Part], out: Path) -> None:
    """Write the list of parts to `out` as JSON.

    The serial number comes from the parts, the time from SOURCE_DATE_EPOCH (1980 without it), so two runs make
    the same bytes.
    """
    from cyclonedx.contrib.license.factories import LicenseFactory
    from cyclonedx.model import HashAlgorithm, HashType
    from cyclonedx.model.bom import Bom
    from cyclonedx.model.component import Component, ComponentType
    from cyclonedx.output import make_outputter
    from cyclonedx.schema import OutputFormat, SchemaVersion
    from packageurl import PackageURL

    licences = LicenseFactory()
    ordered = sorted(set(parts), key=lambda part: (part[0].lower(), part[1]))
    name, version, licence = _product()
    product = Component(
        type=ComponentType.APPLICATION,
        name=name,
        version=version,
        bom_ref=name,
        licenses=[licences.make_from_string(licence)],
    )
    bom = Bom()
    bom.serial_number = uuid5(_OURS, hashlib.sha256(repr((name, version, ordered)).encode()).hexdigest())
    bom.metadata.timestamp = datetime.fromtimestamp(int(os.environ.get("SOURCE_DATE_EPOCH", "315532800")), UTC)
    bom.metadata.component = product
    for part_name, part_version, words, sha256, purl in ordered:
        component = Component(
            type=ComponentType.LIBRARY,
            name=part_name,
            version=part_version,
            bom_ref=purl or f"{part_name}@{part_version}",
            licenses=[licences.make_from_string(words)] if words else [],
            hashes=[HashType(alg=HashAlgorithm.SHA_256, content=sha256)] if sha256 else [],
            purl=PackageURL.from_string(purl) if purl else None,
        )
        bom.components.add(component)
        bom.register_dependency(product, [component])
    text = make_outputter(bom, OutputFormat.JSON, SchemaVersion.V1_6).output_as_string(indent=2)
    out.write_text(text + "\n", encoding="utf-8", newline="\n")


def _product() -> tuple[str, str, str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return project["name"], __version__, project["license"]
