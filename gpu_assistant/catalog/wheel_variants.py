"""Wheel variants: the labels in the names of wheels, and what a publisher states of its builds in `*-variants.json`.

    torch-2.8.0-cp313-cp313-manylinux_2_28_x86_64-cu129.whl     a wheel with a label
    torch-2.8.0-variants.json ─► parse_variant_metadata ─► VariantMetadata.statement("cu129") ─► VariantStatement

File names and metadata are those of PEP 825 (a draft), providers those of PEP 850 (a draft). The properties that are
read are those of NVIDIA's and AMD's providers (wheelnext/nvidia-variant-provider, wheelnext/amd-variant-provider); of
others only the names are kept. Keys of earlier drafts are skipped: PyTorch published its metadata for 2.8.0 with them.
"""

from __future__ import annotations

import re
from typing import Annotated, NamedTuple

import msgspec
from msgspec import Meta, Struct

from ..core import json
from ..core.versions import Capability, Version

METADATA_SUFFIX = "-variants.json"
# The labels of the variant without properties: of PEP 825, and of the drafts before it.
NULL_LABELS = ("null", "00000000")
# Of which formats the metadata is read: drafts have the major version 0, earlier ones no version at all.
MAX_SCHEMA_MAJOR = 1

Namespace = Annotated[str, Meta(pattern=r"^[a-z0-9_]+$")]
Feature = Annotated[str, Meta(pattern=r"^[a-z0-9_]+$")]
PropertyValue = Annotated[str, Meta(pattern=r"^[a-z0-9_.]+$")]
VariantLabel = Annotated[str, Meta(pattern=r"^[a-z0-9_.]+$")]

_LABEL = re.compile(r"[0-9a-z_.]+", re.ASCII)
_METADATA_NAME = re.compile(r"(?P<project>[A-Za-z0-9._]+)-(?P<version>[0-9A-Za-z.!+_]+)-variants\.json", re.ASCII)
_SCHEMA_VERSION = re.compile(r"/v(\d{1,4})\.\d", re.ASCII)
_SM_ARCHITECTURE = re.compile(r"(\d{1,2})(\d)_(real|virtual)", re.ASCII)
_GFX = re.compile(r"gfx[0-9a-f]{3,4}", re.ASCII)


class UnreadableVariantMetadata(ValueError):
    """A file that is no variant metadata, or that contradicts itself."""


class WheelLabel(NamedTuple):
    """A wheel's file name as it is without its label, and the label; None where it has none."""

    plain_name: str
    label: str | None


def split_variant_label(filename: str) -> WheelLabel:
    """Take the label off a wheel's file name.

    A label is the last of six parts, or of seven with a build tag, which starts with a digit; a Python tag never does.
    A name of another form is given back as it is.
    """
    stem, extension = filename[:-4], filename[-4:]
    parts = stem.split("-")
    has_build_tag = len(parts) > 2 and parts[2][:1].isdigit()
    if extension != ".whl" or len(parts) != (7 if has_build_tag else 6) or _LABEL.fullmatch(parts[-1]) is None:
        return WheelLabel(filename, None)
    return WheelLabel("-".join(parts[:-1]) + extension, parts[-1])


def parse_metadata_name(filename: str) -> tuple[str, str] | None:
    """The project and the version of a file of variant metadata ("torch", "2.8.0"); None for other names."""
    match = _METADATA_NAME.fullmatch(filename)
    return (match["project"], match["version"]) if match is not None else None


class VariantStatement(Struct, frozen=True, kw_only=True):
    """What a publisher states of one build, as far as it is understood.

    `arch_list` are the compute capabilities with compiled code and `ptx_for` those with portable code (None: nothing
    is stated of any). The driver has to implement CUDA `lowest_cuda` or newer; `below_cuda` is the first CUDA that the
    build is not preferred for. `gfx` are AMD's chips, `rocm` its versions. `unread` are further demands ("x86_64 ::
    level"), of which is not known whether a computer meets them.
    """

    arch_list: tuple[Capability, ...] | None = None
    ptx_for: tuple[Capability, ...] = ()
    lowest_cuda: Version | None = None
    below_cuda: Version | None = None
    gfx: tuple[str, ...] | None = None
    rocm: tuple[Version, ...] = ()
    unread: tuple[str, ...] = ()


class _DefaultPriorities(Struct, frozen=True, kw_only=True):
    namespace: tuple[Namespace, ...]


Properties = dict[Namespace, dict[Feature, tuple[PropertyValue, ...]]]


class VariantMetadata(Struct, frozen=True, kw_only=True):
    """The metadata of all variants of one version of a package: `variants` maps labels to their properties."""

    schema: str = msgspec.field(name="$schema")
    default_priorities: _DefaultPriorities = msgspec.field(name="default-priorities")
    variants: dict[VariantLabel, Properties]

    @property
    def labels(self) -> tuple[str, ...]:
        """Those that it describes, sorted."""
        return tuple(sorted(self.variants))

    def statement(self, label: str) -> VariantStatement | None:
        """What is stated of the build with a label; None where the label is not described.

        PEP 825 tells a tool to assume then that the wheel does not fit any computer.
        """
        properties = self.variants.get(label)
        return _read_properties(properties) if properties is not None else None


def parse_variant_metadata(data: bytes) -> VariantMetadata:
    """Read a file of variant metadata; raises UnreadableVariantMetadata."""
    try:
        metadata: VariantMetadata = json.decode(data, VariantMetadata)
    except (msgspec.DecodeError, msgspec.ValidationError, UnicodeDecodeError, RecursionError) as error:
        raise UnreadableVariantMetadata(str(error)) from error
    version = _SCHEMA_VERSION.search(metadata.schema)
    if version is not None and int(version[1]) > MAX_SCHEMA_MAJOR:
        raise UnreadableVariantMetadata(metadata.schema)
    known_namespaces = metadata.default_priorities.namespace
    for label, properties in metadata.variants.items():
        if label in NULL_LABELS and any(properties.values()):
            raise UnreadableVariantMetadata(f"{label} has properties")
        for namespace, features in properties.items():
            if features and namespace not in known_namespaces:
                raise UnreadableVariantMetadata(f"{namespace} has no priority")
            if not all(features.values()):
                raise UnreadableVariantMetadata(f"{label} :: {namespace} has a feature without values")
    return metadata


def _read_properties(properties: Properties) -> VariantStatement:
    """One value of each feature has to fit a computer: several `sm_arch` are the chips that the build is made for."""
    nvidia, amd = properties.get("nvidia", {}), properties.get("amd", {})
    architectures = [_SM_ARCHITECTURE.fullmatch(value) for value in nvidia.get("sm_arch", ())]
    chips = {(match[3], Capability(f"{match[1]}.{match[2]}")) for match in architectures if match is not None}
    lower = _versions(nvidia.get("cuda_version_lower_bound", ()))
    upper = _versions(nvidia.get("cuda_version_upper_bound", ()))
    gfx = [value for value in amd.get("gfx_arch", ()) if _GFX.fullmatch(value) is not None]
    understood = {
        "nvidia :: sm_arch": all(architectures),
        "nvidia :: cuda_version_lower_bound": len(lower) == len(nvidia.get("cuda_version_lower_bound", ())),
        "nvidia :: cuda_version_upper_bound": len(upper) == len(nvidia.get("cuda_version_upper_bound", ())),
        "amd :: gfx_arch": len(gfx) == len(amd.get("gfx_arch", ())),
        "amd :: rocm_version": True,
    }
    names = (f"{namespace} :: {feature}" for namespace, features in properties.items() for feature in features)
    return VariantStatement(
        arch_list=tuple(sorted(chip for kind, chip in chips if kind == "real")) if "sm_arch" in nvidia else None,
        ptx_for=tuple(sorted(chip for kind, chip in chips if kind == "virtual")),
        lowest_cuda=min(lower, default=None),
        below_cuda=max(upper, default=None),
        gfx=tuple(sorted(gfx)) if "gfx_arch" in amd else None,
        rocm=tuple(sorted(_versions(amd.get("rocm_version", ())))),
        unread=tuple(sorted(name for name in names if not understood.get(name, False))),
    )


def _versions(values: tuple[str, ...]) -> list[Version]:
    return [version for value in values if (version := Version.parse(value)) is not None]


def variant_of(label: str, statement: VariantStatement | None) -> str | None:
    """The local version tag that a build with this label has elsewhere ("cu129"); None where it is not known.

    Labels are free to choose: one that is no tag is read by its properties. What the variant without properties is made
    for is stated nowhere.
    """
    if re.fullmatch(r"cpu|xpu|cu\d{2,4}|rocm\d+(\.\d+){1,2}", label, re.ASCII):
        return label
    if statement is not None and statement.lowest_cuda is not None and statement.arch_list is not None:
        return f"cu{statement.lowest_cuda.major}{statement.lowest_cuda.minor}"
    if statement is not None and statement.gfx is not None and len(statement.rocm) == 1:
        return f"rocm{statement.rocm[0]}"
    return None
