"""The two rules under everything: which code runs on which chip, and which driver runs which CUDA."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from gpu_assistant.advise.builds import CodeKind, code_kind, parse_cuda_tag
from gpu_assistant.advise.drivers import (
    find_driver_state,
    find_generation,
    find_minimum_driver,
    is_reachable,
    native_cuda,
)
from gpu_assistant.advise.recommend import recommend
from gpu_assistant.catalog.records.catalog import Segment
from gpu_assistant.catalog.records.software import TorchVariant
from gpu_assistant.catalog.store import load_catalog
from gpu_assistant.core.errors import UsageError
from gpu_assistant.core.machine import SystemName
from gpu_assistant.core.paths import resources_dir
from gpu_assistant.core.recommendation import Choice
from gpu_assistant.core.versions import Capability, Version, version_text

from .build import GTX_1060, catalog, machine, nvidia


def build(arch_list: tuple[str, ...] | None, ptx_for: tuple[str, ...] = (), variant: str = "cu130") -> TorchVariant:
    return TorchVariant(
        system="linux",
        arch="x86_64",
        variant=variant,
        index_url=None,
        arch_list=tuple(map(Capability, arch_list)) if arch_list is not None else None,
        ptx_for=tuple(map(Capability, ptx_for)),
    )


@pytest.mark.parametrize(
    ("arch_list", "ptx_for", "device", "expected"),
    [
        (("8.6",), (), "8.6", "binary"),
        (("8.0",), (), "8.9", "binary"),
        (("8.9",), (), "8.6", None),
        (("8.6",), (), "9.0", None),
        (("12.0",), (), "12.1", "binary"),
        (("6.0",), (), "6.1", "binary"),
        (("6.1",), (), "6.0", None),
        (("10.0",), (), "10.3", "binary"),
        # The embedded chips run nothing that was compiled for the desktop ones.
        (("8.0", "8.6"), (), "8.7", None),
        (("5.0", "5.2"), (), "5.3", None),
        (("10.0",), (), "10.1", None),
        (("8.0",), ("8.0",), "8.7", "ptx"),
        (("12.0",), ("12.0",), "13.0", "ptx"),
        (("12.0",), ("12.0",), "11.0", None),
        ((), (), "8.9", None),
        (None, (), "8.9", "unknown"),
        (None, (), "6.1", None),
    ],
)
def test_which_code_runs_on_which_chip(
    arch_list: tuple[str, ...] | None, ptx_for: tuple[str, ...], device: str, expected: str | None
) -> None:
    assert code_kind(catalog(), build(arch_list, ptx_for), Capability(device)) == expected


@pytest.mark.parametrize(
    ("cuda", "system", "code", "lowest"),
    [
        ("13.2", "linux", "binary", "580.65.06"),
        ("13.0", "windows", "binary", "580"),
        ("12.6", "windows", "binary", "528.33"),
        ("12.9", "linux", "binary", "525.60.13"),
        ("11.8", "linux", "binary", "450.80.02"),
        # Portable code needs a driver that knows this CUDA version itself.
        ("12.9", "linux", "ptx", "575"),
        ("13.2", "linux", "ptx", "595"),
        ("99.0", "linux", "binary", None),
        ("99.0", "linux", "ptx", None),
    ],
)
def test_minimum_driver(cuda: str, system: SystemName, code: CodeKind, lowest: str | None) -> None:
    assert version_text(find_minimum_driver(catalog(), Version(cuda), system, code)) == lowest


@pytest.mark.parametrize(
    ("driver", "cuda"),
    [("566.03", "12.7"), ("580.65.06", "13.0"), ("582.78", "13.0"), ("617.42", "13.4"), ("390.1", None)],
)
def test_cuda_that_a_driver_implements(driver: str, cuda: str | None) -> None:
    assert version_text(native_cuda(catalog(), Version(driver))) == cuda


@pytest.mark.parametrize(("device", "last"), [("7.5", None), ("12.0", None), ("7.0", 580), ("5.0", 580), ("3.7", 470)])
def test_last_driver_branch(device: str, last: int | None) -> None:
    generation = find_generation(catalog(), Capability(device))
    assert generation is not None
    assert generation.last_branch == last


def test_chips_older_than_every_record() -> None:
    assert find_generation(catalog(), Capability("2.1")) is None


@pytest.mark.parametrize(
    ("tag", "cuda"),
    [("cu126", "12.6"), ("cu92", "9.2"), ("cpu", None), ("cu", None), ("cuda", None), ("rocm6.4", None)],
)
def test_cuda_of_a_tag(tag: str, cuda: str | None) -> None:
    assert version_text(parse_cuda_tag(tag)) == cuda


@pytest.mark.parametrize(
    ("system", "device", "segment", "driver", "lowest", "expected"),
    [
        ("windows", "6.1", "desktop", None, "580", True),
        ("windows", "6.1", "desktop", None, "590", False),
        ("windows", "6.1", "desktop", "595.10", "590", False),  # a driver that dropped the card is none
        ("windows", "6.1", "desktop", "595.10", "580", True),
        ("linux", "7.0", "datacenter", "470.1", "595", False),
        ("windows", "9.0", "datacenter", None, "595", True),  # no package known, but no last branch either
        ("linux", "3.7", "desktop", None, "450.80.02", True),
        ("linux", "3.7", "desktop", None, "525.60.13", False),
        ("windows", "12.0", "desktop", None, "999", False),
    ],
)
def test_reachable_driver(
    system: SystemName, device: str, segment: Segment, driver: str | None, lowest: str, expected: bool
) -> None:
    state = find_driver_state(machine(system, driver=driver), catalog(), Capability(device), segment, "studio")
    assert is_reachable(state, Version(lowest)) is expected


def test_last_driver_too_old_for_chosen_build(tmp_path: Path) -> None:
    folder = tmp_path / "catalog"
    shutil.copytree(resources_dir() / "catalog", folder)
    drivers = folder / "drivers.json"
    text = drivers.read_text(encoding="utf-8")
    assert '"version": "582.78"' in text
    drivers.write_text(text.replace('"version": "582.78"', '"version": "512.10"'), encoding="utf-8")
    box = machine("windows", nvidia(GTX_1060))
    advice = recommend(box, load_catalog(folder))
    assert advice.pytorch is not None
    assert (advice.pytorch.version, advice.pytorch.variant) == ("2.7.1", "cu118")
    with pytest.raises(UsageError) as caught:
        recommend(box, load_catalog(folder), choice=Choice(pytorch="2.14.1", variant="cu126"))
    assert caught.value.data["why"] == "@choice.driver-limit"


def test_torchaudio_only_where_it_was_made_for_this_release() -> None:
    frozen = recommend(machine("linux"), catalog())
    assert frozen.pytorch is not None
    assert frozen.pytorch.torchaudio is None
    made_for_it = recommend(machine("linux"), catalog(), choice=Choice(pytorch="2.11.0"))
    assert made_for_it.pytorch is not None
    assert made_for_it.pytorch.torchaudio == "2.11.0"
