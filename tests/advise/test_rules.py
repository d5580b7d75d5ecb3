"""The two rules under everything: which code runs on which chip, and which driver runs which CUDA."""

from __future__ import annotations

import pytest

from gpu_assistant.advise.builds import code_for, cuda_of
from gpu_assistant.advise.drivers import floor, generation_of, native_cuda
from gpu_assistant.catalog.records import TorchVariant
from gpu_assistant.catalog.versions import numbers
from gpu_assistant.core.machine import SystemName

from .build import catalog


def build(arch_list: tuple[str, ...] | None, ptx_for: tuple[str, ...] = (), variant: str = "cu130") -> TorchVariant:
    return TorchVariant(
        system="linux", arch="x86_64", variant=variant, index_url=None, arch_list=arch_list, ptx_for=ptx_for
    )


@pytest.mark.parametrize(
    ("arch_list", "ptx_for", "device", "expected"),
    [
        (("8.6",), (), (8, 6), "binary"),
        (("8.0",), (), (8, 9), "binary"),
        (("8.9",), (), (8, 6), None),
        (("8.6",), (), (9, 0), None),
        (("12.0",), (), (12, 1), "binary"),
        (("6.0",), (), (6, 1), "binary"),
        (("6.1",), (), (6, 0), None),
        (("10.0",), (), (10, 3), "binary"),
        # The embedded chips run nothing that was compiled for the desktop ones.
        (("8.0", "8.6"), (), (8, 7), None),
        (("5.0", "5.2"), (), (5, 3), None),
        (("10.0",), (), (10, 1), None),
        (("8.0",), ("8.0",), (8, 7), "ptx"),
        (("12.0",), ("12.0",), (13, 0), "ptx"),
        (("12.0",), ("12.0",), (11, 0), None),
        ((), (), (8, 9), None),
        (None, (), (8, 9), "unknown"),
        (None, (), (6, 1), None),
    ],
)
def test_which_code_runs_on_which_chip(
    arch_list: tuple[str, ...] | None, ptx_for: tuple[str, ...], device: tuple[int, int], expected: str | None
) -> None:
    assert code_for(catalog(), build(arch_list, ptx_for), device) == expected


@pytest.mark.parametrize(
    ("cuda", "system", "code", "lowest"),
    [
        ((13, 2), "linux", "binary", "580.65.06"),
        ((13, 0), "windows", "binary", "580"),
        ((12, 6), "windows", "binary", "528.33"),
        ((12, 9), "linux", "binary", "525.60.13"),
        ((11, 8), "linux", "binary", "450.80.02"),
        # Portable code needs a driver that knows this CUDA version itself.
        ((12, 9), "linux", "ptx", "575"),
        ((13, 2), "linux", "ptx", "595"),
        ((99, 0), "linux", "binary", None),
        ((99, 0), "linux", "ptx", None),
    ],
)
def test_lowest_driver(cuda: tuple[int, int], system: SystemName, code: str, lowest: str | None) -> None:
    found = floor(catalog(), cuda, system, code)  # type: ignore[arg-type]
    assert (found.text if found is not None else None) == lowest


@pytest.mark.parametrize(
    ("driver", "cuda"),
    [("566.03", (12, 7)), ("580.65.06", (13, 0)), ("582.78", (13, 0)), ("617.42", (13, 4)), ("390.1", None)],
)
def test_cuda_that_a_driver_implements(driver: str, cuda: tuple[int, int] | None) -> None:
    assert native_cuda(catalog(), numbers(driver)) == cuda


@pytest.mark.parametrize(
    ("device", "last"), [((7, 5), None), ((12, 0), None), ((7, 0), 580), ((5, 0), 580), ((3, 7), 470)]
)
def test_last_driver_branch(device: tuple[int, int], last: int | None) -> None:
    generation = generation_of(catalog(), device)
    assert generation is not None
    assert generation.last_branch == last


def test_chips_older_than_every_record() -> None:
    assert generation_of(catalog(), (2, 1)) is None


@pytest.mark.parametrize(
    ("tag", "cuda"),
    [("cu126", (12, 6)), ("cu92", (9, 2)), ("cpu", None), ("cu", None), ("cuda", None), ("rocm6.4", None)],
)
def test_cuda_of_a_tag(tag: str, cuda: tuple[int, int] | None) -> None:
    assert cuda_of(tag) == cuda
