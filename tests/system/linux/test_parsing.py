"""What Linux writes about itself, from recorded text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

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
        ("debian12-vm", Cpu(name="AMD EPYC", cores=2, threads=2, avx=True, avx2=True)),
        # Six cores with two threads each and eight without.
        (
            "ubuntu24-laptop",
            Cpu(name="12th Gen Intel(R) Core(TM) i7-12700H", cores=14, threads=20, avx=True, avx2=True),
        ),
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


@pytest.mark.parametrize(
    ("flags", "avx", "avx2"),
    [("fpu sse4_2 avx avx2", True, True), ("fpu avx f16c", True, False), ("fpu sse4_2 avx512f", False, False)],
)
def test_vector_instructions(flags: str, avx: bool, avx2: bool) -> None:
    cpu = parsing.parse_cpuinfo(f"processor\t: 0\nflags\t\t: {flags}\n")
    assert (cpu.avx, cpu.avx2) == (avx, avx2)


NO_CONTAINER: dict[str, Any] = {
    **{"names": ("", "", ""), "cgroup": "0::/init.scope", "docker_mark": False},
    **{"podman_mark": False, "kubernetes": False},
}


@pytest.mark.parametrize(
    ("facts", "kind"),
    [
        ({}, None),
        ({"docker_mark": True}, "docker"),
        ({"podman_mark": True, "names": ("podman", "", "")}, "podman"),
        ({"names": ("", "lxc", "")}, "lxc"),
        ({"names": ("", "systemd-nspawn", "")}, "other"),
        ({"names": ("", "oci", "")}, "other"),
        ({"kubernetes": True, "docker_mark": True}, "kubernetes"),
        ({"cgroup": "11:memory:/kubepods/burstable/pod1/abc"}, "kubernetes"),
        ({"cgroup": "11:memory:/docker/0123abcd"}, "docker"),
        ({"cgroup": "11:memory:/lxc/web"}, "lxc"),
        # WSL calls itself a container, and a host of containers has them below its own first process.
        ({"names": ("wsl", "wsl", "")}, None),
    ],
)
def test_container(facts: dict[str, Any], kind: str | None) -> None:
    assert parsing.parse_container(**{**NO_CONTAINER, **facts}) == kind


def test_variable_of_a_process() -> None:
    environ = "PATH=/bin\0container=lxc\0NOcontainer=docker\0"
    assert parsing.parse_environ(environ, "container") == "lxc"
    assert parsing.parse_environ(environ, "HOME") == ""


@pytest.mark.parametrize(
    ("text", "stream"),
    [
        ("[nvidia-driver]\nname=nvidia-driver\nstream=latest-dkms\nprofiles=\nstate=enabled\n", "latest-dkms"),
        ("[nvidia-driver]\nstream=580-open\nstate=disabled\n", None),
        ("", None),
    ],
)
def test_module_stream(text: str, stream: str | None) -> None:
    assert parsing.parse_module_stream(text) == stream


@pytest.mark.parametrize(
    ("fields", "mounts", "marks", "image_based"),
    [
        ({}, "/dev/sda1 / ext4 rw 0 0", {}, False),
        ({}, "/dev/sda1 / ext4 rw 0 0\n/dev/sdb1 /media/disc iso9660 ro 0 0", {}, False),
        ({}, "/dev/sda1 / btrfs ro,relatime 0 0", {}, True),
        ({"OSTREE_VERSION": "43.1"}, "", {}, True),
        ({}, "", {"ostree": True}, True),
        ({}, "", {"steamos": True}, True),
    ],
)
def test_image_based_systems(fields: dict[str, str], mounts: str, marks: dict[str, bool], image_based: bool) -> None:
    assert parsing.is_image_based(fields, mounts, **{"ostree": False, "steamos": False, **marks}) is image_based


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
