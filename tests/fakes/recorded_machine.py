"""A recorded computer that answers again: its files, its registry, its devices, what its programs print.

A folder below `tests/machines/` that has a `computer.json` is one; `tests/machines/README.md` tells what is in it.
Only what asks an operating system directly is replaced. Texts are read by the parts that read them on a real computer.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from gpu_assistant.core.machine import Cloud, Container, Cpu, Disk, Gpu, OperatingSystem, User
from gpu_assistant.detect.frameworks import TORCH_SCRIPT
from gpu_assistant.system import processes
from gpu_assistant.system.base import ProcessResult
from gpu_assistant.system.windows import parsing
from gpu_assistant.system.windows.facts import PciDeviceEntry, WindowsFacts
from tests.fakes.system import FakeSystem

MACHINES = Path(__file__).resolve().parents[1] / "machines"
ROOT = "{root}"


class Computer(msgspec.Struct, frozen=True, kw_only=True):
    """`computer.json`: what is no file of its own. `outputs` names the file with what a program printed, `links` are
    symbolic links and where they lead.
    """

    system: str
    home: str
    environ: dict[str, str]
    admin: bool = False
    outputs: dict[str, str] = {}
    links: dict[str, str] = {}
    fails: dict[str, int] = {}
    code_page: str = "utf-8"
    df: dict[str, tuple[int, int]] = {}
    kernel: tuple[str, str] | None = None
    glibc: str | None = None
    version: tuple[int, int, int] = (10, 0, 0)
    battery: bool | None = None
    remote_desktop: bool | None = None
    memory_bytes: int = 0
    cpu: Cpu | None = None
    pythons: tuple[str, ...] = ()


class Programs:
    """Answers in the programs' place, in their own bytes and code page."""

    def __init__(self, folder: Path, root: Path, computer: Computer) -> None:
        self._folder, self._root, self._computer = folder, root, computer

    def run(self, argv: Sequence[str | Path], **_: Any) -> ProcessResult:
        name = shown(str(argv[0]), self._root, windows=self._computer.system == "windows")
        if TORCH_SCRIPT in argv:
            name += " torch"
        recorded = self._computer.outputs.get(name)
        if recorded is None:
            raise processes.program_missing_error(name, None)
        text = processes.decode_output((self._folder / recorded).read_bytes(), self._computer.code_page)
        text = text.replace(ROOT, self._root.as_posix())
        return ProcessResult(returncode=self._computer.fails.get(name, 0), stdout=text, stderr="")


def shown(text: str, root: Path, *, windows: bool) -> str:
    """A path of the copy as the recorded computer has it."""
    start = str(root)
    if not text.startswith(start):
        return text
    inside = text[len(start) :].replace("\\", "/")
    if not windows:
        return inside or "/"
    _, drive, *parts = inside.split("/")
    return "\\".join([f"{drive}:", *parts]) if parts else f"{drive}:\\"


def all_shown(value: Any, root: Path, *, windows: bool) -> Any:
    """The same in everything that JSON holds."""
    if isinstance(value, str):
        return shown(value, root, windows=windows)
    if isinstance(value, list):
        return [all_shown(each, root, windows=windows) for each in value]
    if isinstance(value, dict):
        return {name: all_shown(each, root, windows=windows) for name, each in value.items()}
    return value


class RegistryExport:
    """A registry out of `reg export`'s file (version 5.00): texts, numbers, bytes; names are the same in any case."""

    MACHINE, USER = 1, 2

    def __init__(self, text: str) -> None:
        self._keys: dict[str, dict[str, Any]] = {}
        self._names: dict[str, str] = {}
        values: dict[str, Any] = {}
        for line in re.sub(r"\\\r?\n\s*", "", text).splitlines():
            if line.startswith("["):
                values = self._key(line.strip()[1:-1])
            elif match := re.match(r'(?:@|"((?:[^"\\]|\\.)*)")=(.*)$', line):
                values[_plain(match[1] or "").lower()] = self._value(match[2])

    def _key(self, path: str) -> dict[str, Any]:
        parts = path.split("\\")
        for end in range(1, len(parts) + 1):  # a key's parents are there, too
            self._names["\\".join(parts[:end]).lower()] = parts[end - 1]
        return self._keys.setdefault(path.lower(), {})

    @staticmethod
    def _value(text: str) -> Any:
        if text.startswith('"'):
            return _plain(text.strip()[1:-1])
        if text.startswith("dword:"):
            return int(text[6:], 16)
        kind, _, data = text.partition(":")
        raw = bytes(int(part, 16) for part in data.split(",") if part.strip())
        return raw.decode("utf-16-le").rstrip("\0") if kind in ("hex(1)", "hex(2)") else raw

    def _path(self, root: int, key: str) -> str:
        return f"{'HKEY_LOCAL_MACHINE' if root == self.MACHINE else 'HKEY_CURRENT_USER'}\\{key}".lower()

    def text(self, root: int, key: str, name: str) -> str | None:
        value = self._keys.get(self._path(root, key), {}).get(name.lower())
        return value.strip("\0 ") or None if isinstance(value, str) else None

    def number(self, root: int, key: str, name: str) -> int | None:
        value = self._keys.get(self._path(root, key), {}).get(name.lower())
        return (
            int.from_bytes(value, "little") if isinstance(value, bytes) else value if isinstance(value, int) else None
        )

    def exists(self, root: int, key: str) -> bool:
        return self._path(root, key) in self._names

    def children(self, root: int, key: str) -> list[str]:
        start = self._path(root, key) + "\\"
        return [name for path, name in self._names.items() if path.startswith(start) and "\\" not in path[len(start) :]]


def _plain(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text)


class ReplayedWindows(FakeSystem):
    """A recorded Windows; runs on every system."""

    def __init__(self, folder: Path, root: Path, computer: Computer) -> None:
        super().__init__(name="windows", run=Programs(folder, root, computer).run)
        self._root, self._computer = root, computer
        text = (folder / "registry.reg").read_bytes()
        self._export = RegistryExport(text.decode("utf-16" if text.startswith(b"\xff\xfe") else "utf-8"))
        self._facts = WindowsFacts(self._export, computer.environ, local_path=self._file)
        self.windows = self._facts
        self._devices = msgspec.json.decode((folder / "devices.json").read_bytes(), type=tuple[PciDeviceEntry, ...])

    def _file(self, path: str) -> Path:
        return self._root / path.replace(":", "", 1).replace("\\", "/")

    def executable(self, name: str) -> str:
        return f"{name}.exe"

    def operating_system(self) -> OperatingSystem:
        major, minor, build = self._computer.version
        key = r"SOFTWARE\Microsoft\Windows NT\CurrentVersion"
        return OperatingSystem(
            system="windows",
            name=parsing.windows_product_name(self._export.text(1, key, "ProductName"), build),
            version=f"{major}.{minor}.{build}",
            build=build,
            arch="x86_64",
            wsl=False,
            secure_boot=self._facts.is_secure_boot_enabled(),
            image_based=False,
            smart_app_control=self._facts.smart_app_control(),
        )

    def cpu(self) -> Cpu:
        return self._computer.cpu or Cpu()

    def memory_bytes(self) -> int:
        return self._computer.memory_bytes

    def display_adapters(self) -> tuple[Gpu, ...]:
        return self._facts.display_adapters(self._devices)

    def disks(self) -> tuple[Disk, ...]:
        return tuple(
            Disk(path=path, free_bytes=free, total_bytes=all_) for path, (free, all_) in self._computer.df.items()
        )

    def python_candidates(self) -> tuple[Path, ...]:
        return tuple(self._file(path) for path in self._computer.pythons)

    def find_program(self, name: str) -> Path | None:
        return self._facts.find_program(name, self._file(self._computer.home))

    def user(self) -> User:
        home = self._computer.home
        return User(
            home=home,
            ascii=home.isascii(),
            admin=self._computer.admin,
            home_too_long=parsing.is_home_too_long(home),
            onedrive=self._facts.onedrive_folders(),
        )

    def nvidia_smi(self) -> Path | None:
        return self._facts.nvidia_smi()

    def cuda_folders(self) -> tuple[Path, ...]:
        return self._facts.cuda_folders()

    def cudnn_folders(self) -> tuple[Path, ...]:
        return self._facts.cudnn_folders()

    def proxy(self) -> str | None:
        return self._facts.proxy()

    def pending_reboot(self) -> bool | None:
        return self._facts.pending_reboot()

    def virtual_machine(self) -> bool | None:
        return self._facts.virtual_machine()

    def laptop(self) -> bool | None:
        return self._facts.is_laptop(self._computer.battery)

    def container(self) -> Container | None:
        return self._facts.container()

    def cloud(self) -> Cloud | None:
        return self._facts.cloud()

    def remote_desktop(self) -> bool | None:
        return self._computer.remote_desktop


PLACES = {
    "os-release": "etc/os-release",
    "cpuinfo": "proc/cpuinfo",
    "meminfo": "proc/meminfo",
    "mounts": "proc/self/mounts",
    "nvidia-version": "proc/driver/nvidia/version",
    "pci.ids": "usr/share/misc/pci.ids",
}


def linux_tree(folder: Path, root: Path) -> None:
    """The files that a Linux has where it has them."""
    for name, place in PLACES.items():
        if (folder / name).exists():
            (root / place).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(folder / name, root / place)
    for name, (place, fields) in {
        "pci": ("sys/bus/pci/devices", ("class", "vendor", "device")),
        "dmi": ("sys/class/dmi/id", None),
    }.items():
        for line in (folder / name).read_text(encoding="utf-8").splitlines() if (folder / name).exists() else ():
            first, _, rest = line.partition(" ")
            written = dict(zip(fields, rest.split(), strict=True)) if fields else {first: rest}
            device = root / place / (first if fields else "")
            device.mkdir(parents=True, exist_ok=True)
            for key, value in written.items():
                (device / key).write_text(value + "\n", encoding="utf-8")


def replayed(folder: Path, root: Path) -> Any:
    """The computer that a folder recorded, with its files copied below `root`."""
    computer = msgspec.json.decode((folder / "computer.json").read_bytes(), type=Computer)
    if (folder / "files").is_dir():
        shutil.copytree(folder / "files", root, dirs_exist_ok=True)
    if computer.system == "windows":
        return ReplayedWindows(folder, root, computer)
    linux_tree(folder, root)
    for path, target in computer.links.items():
        link = root / path.removeprefix("/")
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(root / target.removeprefix("/") if target.startswith("/") else target)
    return _linux(folder, root, computer)


def _linux(folder: Path, root: Path, computer: Computer) -> Any:
    assert sys.platform != "win32"
    from gpu_assistant.system.linux import hardware, parsing
    from gpu_assistant.system.linux.system import LinuxSystem

    def placed(name: str, value: str) -> str:
        return ":".join(str(root) + part for part in value.split(":")) if name in ("PATH", "CUDA_HOME") else value

    class ReplayedLinux(LinuxSystem):
        def run(self, argv: Sequence[str | Path], **more: Any) -> ProcessResult:
            return Programs(folder, root, computer).run(argv, **more)

        def disks(self) -> tuple[Disk, ...]:
            def ask(path: str, whatever: bool) -> Disk | None:
                sizes = computer.df.get(path)
                return Disk(path=path, free_bytes=sizes[0], total_bytes=sizes[1]) if sizes else None

            return hardware.list_disks(
                parsing.parse_mounts(self._read_text("proc/self/mounts")), Path(computer.home), ask
            )

        def is_admin(self) -> bool:
            return computer.admin

    environ: Mapping[str, str] = {name: placed(name, value) for name, value in computer.environ.items()}
    return ReplayedLinux(
        root,
        environ=environ,
        home=Path(str(root) + computer.home),
        kernel=computer.kernel,
        glibc=computer.glibc,
    )


def recorded() -> list[Path]:
    """Every folder that can be replayed."""
    return sorted(path.parent for path in MACHINES.glob("*/computer.json"))


def expected(folder: Path) -> Any:
    """The machine that must come out."""
    return json.loads((folder / "expected.json").read_text(encoding="utf-8"))
