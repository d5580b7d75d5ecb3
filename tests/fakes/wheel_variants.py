"""PyTorch 2.8.0 as wheel variants: its real metadata, and an index on loopback that serves such wheels.

The metadata is what PyTorch published for its trial of wheel variants, as WheelNext's tutorial shows it
(github.com/wheelnext/pep_817_wheel_variants, docs/tutorials/PyTorch.md); it has keys that the drafts of PEP 825 and 850
no longer have. `current_metadata` is the same content in the form of these drafts.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.fakes.fault_server import FaultServer
from tests.install.tiny_wheels import Wheel, index, wheel

PUBLISHED = Path(__file__).resolve().parents[1] / "fixtures" / "wheel_variants" / "torch-2.8.0-variants.json"
SCHEMA = "https://variants-schema.wheelnext.dev/peps/850/v0.2.0.json"


def published_metadata() -> dict[str, Any]:
    content: dict[str, Any] = json.loads(PUBLISHED.read_bytes())
    return content


def current_metadata(**more: Any) -> dict[str, Any]:
    """The metadata in the form of PEP 825 and 850; `more` are further variants by label."""
    content = published_metadata()
    provider = {key: value for key, value in content["providers"]["nvidia"].items() if key != "enable-if"}
    variants = {"null" if label == "00000000" else label: value for label, value in content["variants"].items()}
    return {**content, "$schema": SCHEMA, "providers": {"nvidia": provider}, "variants": {**variants, **more}}


def variant_wheels(metadata: dict[str, Any], *, plain: bool) -> list[Wheel]:
    """A wheel for each variant, and one without a label."""
    wheels = []
    for label, properties in metadata["variants"].items():
        own = json.dumps({**metadata, "variants": {label: properties}}).encode()
        wheels.append(wheel("torch", "2.8.0", label=label, variant=own))
    return [*wheels, wheel("torch", "2.8.0")] if plain else wheels


def variant_index(
    server: FaultServer, metadata: dict[str, Any], *, plain: bool = True, others: Sequence[Wheel] = ()
) -> str:
    """The address of an index with PyTorch 2.8.0 as wheel variants, and as a plain wheel unless told otherwise."""
    file = Wheel("torch-2.8.0-variants.json", json.dumps(metadata).encode(), b"")
    return index(server, "variants", [*variant_wheels(metadata, plain=plain), file, *others])
