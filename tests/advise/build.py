"""Machines in a line each, and the checks that hold for every recommendation."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import jsonschema

from gpu_assistant.catalog.store import Catalog, load_catalog
from gpu_assistant.core.json import encode
from gpu_assistant.core.machine import Driver, Gpu, Machine, OperatingSystem, Python, SystemName
from gpu_assistant.core.paths import resources_dir
from gpu_assistant.core.recommendation import LocalWheel, Reason, Recommendation
from gpu_assistant.texts.localized import Texts

RTX_4060, RTX_5090, GTX_1060, H100, RTX_4060_LAPTOP, QUADRO_P5000 = (
    "10de:2882",
    "10de:2b85",
    "10de:1c03",
    "10de:2330",
    "10de:28a0",
    "10de:1bb0",
)


@cache
def catalog() -> Catalog:
    return load_catalog(resources_dir() / "catalog")


def nvidia(pci_id: str | None = None, **fields: Any) -> Gpu:
    return Gpu(vendor="nvidia", pci_id=pci_id, **fields)


def machine(
    system: SystemName,
    *gpus: Gpu,
    driver: str | None = None,
    arch: str | None = "x86_64",
    wsl: bool | None = None,
    glibc: str | None = None,
    **fields: Any,
) -> Machine:
    return Machine(
        schema="gpu-assistant/machine/1",
        os=OperatingSystem(system=system, arch=arch, wsl=wsl, glibc=glibc),
        gpus=gpus,
        driver=Driver(version=driver) if driver is not None else None,
        **fields,
    )


def python(version: str, kind: Any = "system", arch: str | None = "x86_64") -> Python:
    return Python(path="python", version=version, kind=kind, arch=arch)


def wheel(
    version: str,
    variant: str | None = "cpu",
    tag: str | None = "3.11",
    *,
    project: str = "torch",
    platform: str = "manylinux_2_28_x86_64",
) -> LocalWheel:
    local = f"+{variant}" if variant else ""
    name = f"{project}-{version}{local}-cp311-cp311-{platform}.whl"
    return LocalWheel(project=project, version=version, variant=variant, python=tag, path=name, bytes=1)


@cache
def validator() -> jsonschema.Draft202012Validator:
    path = resources_dir() / "schemas" / "recommendation.schema.json"
    return jsonschema.Draft202012Validator(json.loads(path.read_text(encoding="utf-8")))


def check(value: Recommendation) -> Recommendation:
    """Valid by its schema before and after the texts are in, said whole in both languages, and consistent."""
    validator().validate(json.loads(encode(value)))
    for language in ("en", "zh_CN"):
        text = Texts(language).localize_recommendation(value)
        validator().validate(json.loads(encode(text)))
        for entry in (*text.reasons, *text.warnings, *text.alternatives):
            assert entry.text
    assert value.pytorch is not None
    abouts = {reason.about for reason in value.reasons}
    parts = {"accelerator", "pytorch.version", "pytorch.variant", "python", "driver.action", "cuda_toolkit", "cudnn"}
    assert abouts >= parts
    for reason in value.reasons:
        assert reason.source is None or reason.source.startswith("https://")
    uses_cuda = value.pytorch.variant.startswith("cu") and value.accelerator != "cpu"
    assert (value.driver.action == "none") == (not uses_cuda)
    assert value.catalog_date is not None
    return value


def codes(entries: Any) -> list[str]:
    return [entry.code for entry in entries]


def reason(value: Recommendation, about: str) -> Reason:
    return next(entry for entry in value.reasons if entry.about == about)
