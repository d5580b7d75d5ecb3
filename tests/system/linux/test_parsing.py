"""What Linux writes about itself, from recorded text."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpu_assistant.core.machine import Cpu
from gpu_assistant.system.linux import parsing

MACHINES = Path(__file__).resolve().parents[2] / "machines"


def text(name: str) -> str:
    return (MACHINES / name).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("machine", "name", "distro", "version"),
    [
        ("debian12-vm", "Debian GNU/Linux 12 (bookworm)", "debian", "12"),
        ("ubuntu24-laptop", "Ubuntu 24.04.3 LTS", "ubuntu", "24.04"),
        ("rocky9-server", "Rocky Linux 9.4 (Blue Onyx)", "rocky", "9.4"),
    ],
)
def test_os_release(machine: str, name: str, distro: str, version: str) -> None:
    fields = parsing.parse_os_release(text(f"{machine}/os-release"))
    assert (fields["PRETTY_NAME"], fields["ID"], fields["VERSION_ID"]) == (name, distro, version)


def test_os_release_unescapes_and_skips_other_lines() -> None:
    fields = parsing.parse_os_release(text("rocky9-server/os-release"))
    assert fields["VENDOR_NAME"] == 'The "RESF"'
    assert not [name for name in fields if name.startswith("#") or name == "nonsense"]


@pytest.mark.parametrize(
    ("machine", "cpu"),
    [
        ("debian12-vm", Cpu(name="AMD EPYC", cores=2, threads=2)),
        # Six cores with two threads each and eight without.
        ("ubuntu24-laptop", Cpu(name="12th Gen Intel(R) Core(TM) i7-12700H", cores=14, threads=20)),
        # Two sockets whose cores carry the same numbers.
        ("rocky9-server", Cpu(name="Intel(R) Xeon(R) Platinum 8480+", cores=8, threads=16)),
        # ARM kernels name neither processor nor cores; the board's "Model" is not the processor.
        ("arm64-board", Cpu(name=None, cores=None, threads=4)),
    ],
)
def test_cpu(machine: str, cpu: Cpu) -> None:
    assert parsing.parse_cpuinfo(text(f"{machine}/cpuinfo")) == cpu


def test_empty_cpuinfo_is_unknown() -> None:
    assert parsing.parse_cpuinfo("") == Cpu()


def test_mounts_of_real_file_systems_only() -> None:
    mounts = parsing.parse_mounts(text("ubuntu24-laptop/mounts"))
    assert [(mount.path, mount.writable) for mount in mounts] == [
        ("/", True),
        ("/media/lin/My Disk 1", True),
        ("/developers", True),
    ]


@pytest.mark.parametrize(
    ("release", "version"),
    [
        ("6.1.0-28-amd64", "6.1.0"),
        ("6.18.44", "6.18.44"),
        ("5.15.167.4-microsoft-standard-WSL2", "5.15.167.4"),
        ("", None),
    ],
)
def test_kernel_version(release: str, version: str | None) -> None:
    assert parsing.parse_kernel_version(release) == version


@given(st.text())
def test_arbitrary_text_never_raises(anything: str) -> None:
    parsing.parse_os_release(anything)
    parsing.parse_cpuinfo(anything)
    parsing.parse_mounts(anything)
