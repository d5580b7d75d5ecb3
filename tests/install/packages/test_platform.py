"""What uv and the wheels call a computer."""

from __future__ import annotations

import pytest

from gpu_assistant.install.packages.requirements import Platform

from ..sandbox import Sandbox


@pytest.mark.parametrize(
    ("target", "uv", "best"),
    [
        (Platform(system="windows", arch="x86_64"), "x86_64-pc-windows-msvc", "win_amd64"),
        (Platform(system="windows", arch="arm64"), "aarch64-pc-windows-msvc", "win_arm64"),
        (Platform(system="linux", arch="x86_64"), "x86_64-manylinux_2_28", "manylinux_2_28_x86_64"),
        (Platform(system="linux", arch="x86_64", glibc="2.39"), "x86_64-manylinux_2_39", "manylinux_2_39_x86_64"),
        (Platform(system="linux", arch="arm64", glibc="2.30"), "aarch64-manylinux_2_28", "manylinux_2_30_aarch64"),
        (Platform(system="linux", arch="x86_64", glibc="2.99"), "x86_64-manylinux_2_40", "manylinux_2_99_x86_64"),
    ],
)
def test_platform_names_of_uv_and_wheels(target: Platform, uv: str, best: str) -> None:
    assert target.uv_platform == uv
    assert target.platform_tags[0] == best
    if target.system == "linux":
        assert f"manylinux2014_{uv.partition('-')[0]}" in target.platform_tags


def test_older_glibc_is_not_compatible(sandbox: Sandbox) -> None:
    created = Platform(system="linux", arch="x86_64", glibc="2.36")
    assert created.is_compatible_with(Platform(system="linux", arch="x86_64", glibc="2.41"))
    assert created.is_compatible_with(Platform(system="linux", arch="x86_64"))
    assert not created.is_compatible_with(Platform(system="linux", arch="x86_64", glibc="2.31"))
