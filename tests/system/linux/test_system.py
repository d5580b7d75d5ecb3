"""Linux's own answers, from a recorded tree below another root, and from this machine."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

if sys.platform == "win32":
    pytest.skip("Linux's own paths; windows_read and windows have theirs", allow_module_level=True)

from gpu_assistant.core.machine import Disk, Driver, Gpu
from gpu_assistant.system.linux.system import LinuxSystem

pytestmark = pytest.mark.linux

MACHINES = Path(__file__).resolve().parents[2] / "machines"
PLACES = {"os-release": "etc/os-release", "cpuinfo": "proc/cpuinfo", "mounts": "proc/self/mounts"}
KERNEL = ("6.8.0-85-generic", "x86_64")


def tree(root: Path, machine: str, sleeping: frozenset[str] = frozenset()) -> Path:
    """A root folder with what a machine's folder recorded."""
    for name, place in PLACES.items():
        recorded = MACHINES / machine / name
        if recorded.exists():
            (root / place).parent.mkdir(parents=True, exist_ok=True)
            (root / place).write_bytes(recorded.read_bytes())
    pci = MACHINES / machine / "pci"
    for line in pci.read_text(encoding="utf-8").splitlines() if pci.exists() else ():
        address, *values = line.split()
        device = root / "sys/bus/pci/devices" / address
        (device / "power").mkdir(parents=True)
        for name, value in zip(("class", "vendor", "device"), values, strict=True):
            (device / name).write_text(value + "\n", encoding="ascii")
        state = "suspended" if address in sleeping else "active"
        (device / "power/runtime_status").write_text(state + "\n", encoding="ascii")
    return root


def system(root: Path, **environ: str) -> LinuxSystem:
    return LinuxSystem(root, environ=environ, home=root / "home", kernel=KERNEL)


def test_operating_system(tmp_path: Path) -> None:
    result = system(tree(tmp_path, "ubuntu24-laptop")).operating_system()
    assert result.system == "linux"
    assert (result.name, result.distro, result.distro_version) == ("Ubuntu 24.04.3 LTS", "ubuntu", "24.04")
    assert (result.version, result.arch, result.wsl, result.build) == ("6.8.0", "x86_64", False, None)


def test_empty_tree_is_unknown(tmp_path: Path) -> None:
    bare = system(tmp_path)
    result = bare.operating_system()
    assert (result.name, result.distro, result.distro_version) == (None, None, None)
    assert bare.display_adapters() == ()
    assert bare.disks() == ()
    assert bare.cuda_folders() == ()
    assert bare.pending_reboot() is None
    assert bare.sleeping_driver() is None


def test_container_and_what_it_hides(tmp_path: Path) -> None:
    root = tree(tmp_path, "ubuntu24-laptop")
    assert (system(root).container(), system(root).operating_system().image_based) == (None, False)
    (root / ".dockerenv").touch()
    assert (system(root).container(), system(root).operating_system().image_based) == ("docker", None)
    assert system(root, KUBERNETES_SERVICE_HOST="10.0.0.1").container() == "kubernetes"


@pytest.mark.parametrize(
    ("changed", "kind"),
    [
        # A virtual machine whose disk was made from a container's image has the mark, and a kernel of its own.
        ({}, None),
        # docker run --pid=host, --uts=host, --ipc=host: each leaves one of the host's.
        ({"uts": "uts:[4026532511]", "ipc": "ipc:[4026532512]"}, "docker"),
        ({"pid": "pid:[4026532510]", "ipc": "ipc:[4026532512]"}, "docker"),
        ({"pid": "pid:[4026532510]", "uts": "uts:[4026532511]"}, "docker"),
        ({"uts": None}, "docker"),  # /proc does not tell
    ],
)
@pytest.mark.parametrize("mark", [".dockerenv", "run/.containerenv"])
def test_mark_of_a_container_counts_outside_the_kernels_first_namespaces(
    tmp_path: Path, mark: str, changed: dict[str, str | None], kind: str | None
) -> None:
    root = tree(tmp_path, "ubuntu24-laptop")
    (root / mark).parent.mkdir(exist_ok=True)
    (root / mark).touch()
    (root / "proc/self/ns").mkdir(parents=True)
    initial = {"pid": "pid:[4026531836]", "uts": "uts:[4026531838]", "ipc": "ipc:[4026531839]"}
    for name, target in {**initial, **changed}.items():
        if target is not None:
            (root / "proc/self/ns" / name).symlink_to(target)
    assert system(root).container() == (kind and {".dockerenv": "docker", "run/.containerenv": "podman"}[mark])
    assert system(root).operating_system().image_based == (None if kind else False)


def test_image_cloud_and_module_stream(tmp_path: Path) -> None:
    root = tree(tmp_path, "rocky9-server")
    files = {
        "run/ostree-booted": "",
        "sys/class/dmi/id/sys_vendor": "Amazon EC2\n",
        "etc/dnf/modules.d/nvidia-driver.module": "[nvidia-driver]\nstream=open-dkms\nstate=enabled\n",
    }
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    found = system(root).operating_system()
    assert (found.image_based, found.driver_stream, system(root).cloud()) == (True, "open-dkms", "aws")


def test_wsl_detected_by_kernel(tmp_path: Path) -> None:
    wsl = LinuxSystem(
        tree(tmp_path, "ubuntu22-wsl2"),
        environ={},
        home=tmp_path,
        kernel=("5.15.167.4-microsoft-standard-WSL2", "x86_64"),
    )
    assert wsl.operating_system().wsl is True


def test_adapters_of_a_laptop(tmp_path: Path) -> None:
    assert system(tree(tmp_path, "ubuntu24-laptop")).display_adapters() == (
        Gpu(index=0, vendor="intel", pci_id="8086:46a6"),
        Gpu(index=1, vendor="nvidia", pci_id="10de:28a0"),
    )


def test_adapters_of_a_server(tmp_path: Path) -> None:
    result = system(tree(tmp_path, "rocky9-server")).display_adapters()
    assert [(gpu.vendor, gpu.pci_id) for gpu in result] == [
        ("other", "1a03:2000"),
        ("nvidia", "10de:2330"),
        ("amd", "1002:74a1"),
    ]


def test_no_adapter_in_a_virtual_machine(tmp_path: Path) -> None:
    assert system(tree(tmp_path, "debian12-vm")).display_adapters() == ()


def test_driver_of_sleeping_gpu_without_waking(tmp_path: Path) -> None:
    root = tree(tmp_path, "ubuntu24-laptop", sleeping=frozenset({"0000:01:00.0"}))
    (root / "sys/module/nvidia").mkdir(parents=True)
    (root / "sys/module/nvidia/version").write_text("570.195.03\n", encoding="ascii")
    assert system(root).sleeping_driver() == Driver(version="570.195.03")


def test_awake_gpu_is_left_to_nvml(tmp_path: Path) -> None:
    root = tree(tmp_path, "ubuntu24-laptop")
    (root / "sys/module/nvidia").mkdir(parents=True)
    (root / "sys/module/nvidia/version").write_text("570.195.03\n", encoding="ascii")
    assert system(root).sleeping_driver() is None


def test_home_disk_listed_when_root_not_writable(tmp_path: Path) -> None:
    (tmp_path / "proc/self").mkdir(parents=True)
    (tmp_path / "proc/self/mounts").write_text("/dev/x / ext4 rw 0 0\n/dev/y /nowhere ext4 rw 0 0\n", encoding="ascii")
    disks = system(tmp_path).disks()
    assert all(disk.total_bytes is not None for disk in disks)
    usage = os.statvfs("/")
    assert [disk.path for disk in disks] == ["/"]
    assert disks[0].total_bytes == usage.f_blocks * usage.f_frsize


def test_disk_mounted_twice_listed_once(tmp_path: Path) -> None:
    (tmp_path / "proc/self").mkdir(parents=True)
    lines = f"/dev/x / ext4 rw 0 0\n/dev/x {tmp_path} ext4 rw 0 0\n/dev/z {tmp_path}/proc ext4 ro 0 0\n"
    (tmp_path / "proc/self/mounts").write_text(lines, encoding="utf-8")
    assert len(system(tmp_path).disks()) == 1


def test_cuda_folders_are_unique(tmp_path: Path) -> None:
    (tmp_path / "usr/local/cuda-12.6").mkdir(parents=True)
    (tmp_path / "usr/local/cuda").symlink_to("cuda-12.6")
    (tmp_path / "elsewhere").mkdir()
    result = system(tmp_path, CUDA_HOME=str(tmp_path / "elsewhere")).cuda_folders()
    assert result == (tmp_path / "usr/local/cuda-12.6", tmp_path / "elsewhere")


def test_cuda_toolkit_is_named_by_its_folder_not_by_the_link_of_its_major_version(tmp_path: Path) -> None:
    """As NVIDIA's packages leave it: two links through /etc/alternatives, and the folder."""
    (tmp_path / "usr/local/cuda-13.0").mkdir(parents=True)
    (tmp_path / "etc/alternatives").mkdir(parents=True)
    for name in ("cuda", "cuda-13"):
        (tmp_path / "etc/alternatives" / name).symlink_to(tmp_path / "usr/local/cuda-13.0")
        (tmp_path / "usr/local" / name).symlink_to(tmp_path / "etc/alternatives" / name)
    assert system(tmp_path).cuda_folders() == (tmp_path / "usr/local/cuda-13.0",)


@pytest.mark.parametrize(
    ("environ", "language"),
    [
        ({}, "en"),
        ({"LANG": "zh_CN.UTF-8"}, "zh_CN"),
        ({"LANG": "zh_CN.UTF-8", "LC_MESSAGES": "de_DE.UTF-8"}, "en"),
        ({"LANG": "zh_CN.UTF-8", "LC_ALL": "C"}, "en"),
        ({"LC_ALL": "", "LANG": "zh_CN"}, "zh_CN"),
    ],
)
def test_language(environ: dict[str, str], language: str, tmp_path: Path) -> None:
    assert system(tmp_path, **environ).language() == language


def test_pending_reboot(tmp_path: Path) -> None:
    (tmp_path / "var/lib/dpkg").mkdir(parents=True)
    assert system(tmp_path).pending_reboot() is False
    (tmp_path / "run").mkdir()
    (tmp_path / "run/reboot-required").touch()
    assert system(tmp_path).pending_reboot() is True


def test_driver_installed_since_the_start_waits_for_a_restart(tmp_path: Path) -> None:
    (tmp_path / "var/lib/dpkg").mkdir(parents=True)
    (tmp_path / "proc").mkdir()
    module = tmp_path / "lib/modules/6.1.0-56-amd64/updates/dkms/nvidia-current.ko"
    module.parent.mkdir(parents=True)
    module.touch()
    changed = int(module.stat().st_ctime)
    for started, loaded, expected in (
        (changed - 60, False, True),
        (changed - 60, True, False),
        (changed + 60, False, False),
    ):
        (tmp_path / "proc/stat").write_text(f"cpu  1 2 3\nbtime {started}\n")
        if loaded:
            (tmp_path / "sys/module/nvidia").mkdir(parents=True)
        assert system(tmp_path).pending_reboot() is expected
        if loaded:
            (tmp_path / "sys/module/nvidia").rmdir()


@pytest.mark.parametrize(
    ("kernels", "built", "missing"),
    [
        # DKMS skips a kernel without headers and apt-get calls it a success (Debian 13, seen 2026-11-27).
        (["6.12.118-amd64"], [], "6.12.118-amd64"),
        (["6.1.0-9-amd64", "6.1.0-56-amd64"], ["6.1.0-9-amd64/updates/dkms/nvidia-current.ko"], "6.1.0-56-amd64"),
        (["6.1.0-9-amd64", "6.1.0-56-amd64"], ["6.1.0-56-amd64/updates/dkms/nvidia-current.ko.xz"], None),
        (["6.14.0-33-generic"], ["6.14.0-33-generic/kernel/nvidia-580-open/nvidia.ko.zst"], None),
        (["6.17.4-200.fc43.x86_64"], ["6.17.4-200.fc43.x86_64/extra/nvidia/nvidia.ko.xz"], None),
        ([], [], None),  # a container: its host has the kernel
    ],
)
def test_kernel_without_driver(tmp_path: Path, kernels: list[str], built: list[str], missing: str | None) -> None:
    for kernel in kernels:
        (tmp_path / "lib/modules" / kernel / "kernel").mkdir(parents=True)
    for each in built:
        path = tmp_path / "lib/modules" / each
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    assert system(tmp_path).kernel_without_driver() == missing


def test_pythons_of_version_managers_and_conda(tmp_path: Path) -> None:
    home = tmp_path / "home"
    expected = [
        home / ".local/share/uv/python/cpython-3.13/bin/python3",
        home / ".pyenv/versions/3.12.1/bin/python3",
        home / "miniconda3/bin/python",
        tmp_path / "own env/bin/python",
    ]
    for number, path in enumerate(expected):
        path.parent.mkdir(parents=True)
        path.write_bytes(b"\x7fELF%d" % number)
    (home / ".conda").mkdir()
    (home / ".conda/environments.txt").write_text(f"{tmp_path / 'own env'}\n\n{tmp_path / 'gone'}\n", encoding="utf-8")
    candidates = [path for path in system(tmp_path).python_candidates() if path.is_relative_to(tmp_path)]
    assert candidates == expected


def test_real_machine() -> None:
    here = LinuxSystem()
    assert here.operating_system().arch in ("x86_64", "arm64")
    assert here.cpu().threads == len([line for line in _cpuinfo() if line.startswith("processor")])
    assert all(isinstance(disk, Disk) and disk.free_bytes is not None for disk in here.disks())
    assert all(path.is_absolute() for path in here.python_candidates())
    assert here.is_admin() is (os.geteuid() == 0)


def _cpuinfo() -> list[str]:
    return Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()


def test_environment_paths(tmp_path: Path) -> None:
    here = LinuxSystem()
    assert here.environment_python(tmp_path) == tmp_path / "bin/python"
    assert here.standalone_python(tmp_path) == tmp_path / "bin/python3"
    assert here.executable("uv") == "uv"
    assert here.activation_command(Path("/a b")) == "source '/a b/bin/activate'"
    assert here.default_environments_folder(tmp_path) == tmp_path / "environments"
