"""Linux. Facts come from /proc, /sys and /etc below `root`, which tests replace by a recorded tree."""

from __future__ import annotations

import sys

assert sys.platform != "win32"  # noqa: S101 - the type checker reads this too

import math
import os
import shlex
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import BinaryIO

from ...core.machine import Cpu, Disk, Driver, Gpu, OperatingSystem, SystemName, User
from ...core.types import Language
from .. import paths
from .. import processes as system_processes
from ..base import LoginCommand, PowerStatus, ProcessResult, TaskbarProgress, UserEnvironmentVariables
from ..language import user_language
from . import desktop, hardware, parsing, processes

NVIDIA_SMI_PATHS = (
    "usr/bin/nvidia-smi",
    "usr/lib/wsl/lib/nvidia-smi",
    "run/current-system/sw/bin/nvidia-smi",
    "opt/bin/nvidia-smi",
)
WSL_INTEROP_FILE = "proc/sys/fs/binfmt_misc/WSLInterop"
REMOTE_VARIABLES = ("XRDP_SESSION", "CHROME_REMOTE_DESKTOP_SESSION")


class LinuxSystem:
    """What `base.System` asks, answered by Linux."""

    name: SystemName = "linux"

    def __init__(
        self,
        root: Path = Path("/"),
        *,
        environ: Mapping[str, str] = os.environ,
        home: Path | None = None,
        kernel: tuple[str, str] | None = None,
        glibc: str | None = None,
    ) -> None:
        self._root = root
        self._environ = environ
        self._home = home or Path.home()
        self._glibc = glibc
        uname = os.uname()
        self._kernel, self._machine = kernel or (uname.release, uname.machine)

    # Programs
    def run(
        self,
        argv: Sequence[str | Path],
        *,
        timeout: float,
        environ: Mapping[str, str | None] | None = None,
        cwd: Path | None = None,
        cancel: threading.Event | None = None,
        on_line: Callable[[str], None] | None = None,
    ) -> ProcessResult:
        """See `base.System.run`; also raises ValueError for a relative program path."""
        return system_processes.run_process(
            processes.start_process, argv, timeout=timeout, environ=environ, cwd=cwd, cancel=cancel, on_line=on_line
        )

    def start_checked(self, program: Path, check: Callable[[BinaryIO], None]) -> None:
        """See `base.System.start_checked`."""
        processes.start_checked(program, check)

    def executable(self, name: str) -> str:
        """The name itself."""
        return name

    def environment_python(self, environment: Path) -> Path:
        """bin/python."""
        return environment / "bin" / "python"

    def environment_program(self, environment: Path, name: str) -> Path:
        """In bin."""
        return environment / "bin" / name

    def conda_activation_files(self, environment: Path, conda: Path) -> Mapping[Path, bytes]:
        """For bash and zsh, by conda's own script beside the program; a link to the program is followed."""
        scripts = parsing.linux_activation_script(environment, conda.resolve().parent.parent)
        return {Path(path): text.encode("utf-8", "surrogateescape") for path, text in scripts.items()}

    def standalone_python(self, folder: Path) -> Path:
        """bin/python3."""
        return folder / "bin" / "python3"

    def activation_command(self, environment: Path) -> str:
        """For bash and zsh."""
        return f"source {shlex.quote(str(environment / 'bin' / 'activate'))}"

    # Places
    def default_environments_folder(self, data_root: Path) -> Path:
        """Beside the rest of our data: nothing here trips over a path."""
        return data_root / "environments"

    # What is here
    def language(self) -> Language:
        """By the environment, as the C library does."""
        return user_language(self._environ)

    def operating_system(self) -> OperatingSystem:
        """From os-release, the kernel's release and the C library."""
        fields = parsing.parse_os_release(self._read_text("etc/os-release") or self._read_text("usr/lib/os-release"))
        return OperatingSystem(
            system="linux",
            name=fields.get("PRETTY_NAME") or None,
            version=parsing.parse_kernel_version(self._kernel),
            arch=parsing.normalize_architecture(self._machine),
            wsl=self._in_wsl(),
            distro=fields.get("ID") or None,
            distro_version=fields.get("VERSION_ID") or None,
            distro_like=tuple(fields.get("ID_LIKE", "").split()) if fields else None,
            distro_codename=parsing.distribution_codename(fields),
            distro_variant=fields.get("VARIANT_ID") or None,
            kernel=self._kernel or None,
            glibc=self._glibc if self._glibc is not None else _glibc_version(),
            secure_boot=hardware.is_secure_boot_enabled(self._root),
        )

    def cpu(self) -> Cpu:
        """From /proc/cpuinfo."""
        return parsing.parse_cpuinfo(self._read_text("proc/cpuinfo"))

    def display_adapters(self) -> tuple[Gpu, ...]:
        """From sysfs, whose `class`, `vendor` and `device` the kernel keeps in memory: no card wakes."""
        return hardware.display_adapters(self._root)

    def memory_bytes(self) -> int:
        """From /proc/meminfo; raises ValueError where that says nothing."""
        return parsing.parse_meminfo(self._read_text("proc/meminfo"))

    def disks(self) -> tuple[Disk, ...]:
        """Mounts of real file systems that we may write to, and the one under the home folder."""
        return hardware.list_disks(parsing.parse_mounts(self._read_text("proc/self/mounts")), self._home)

    def python_candidates(self) -> tuple[Path, ...]:
        """PATH, the usual folders, version managers, conda."""
        return parsing.linux_python_candidates(self._home, self._environ, self._root)

    def find_program(self, name: str) -> Path | None:
        """On PATH; conda also where its installers put it."""
        path = paths.find_on_path((name,), self._environ)
        return path or (parsing.find_conda(self._home, self._environ, self._root) if name == "conda" else None)

    def is_gpu_asleep(self, address: str) -> bool:
        """By the kernel's runtime power management."""
        return hardware.is_device_asleep(self._root / hardware.PCI_DEVICES, address)

    def can_gpu_sleep(self, address: str) -> bool:
        """As `System.card_may_sleep` says."""
        return hardware.can_device_sleep(self._root / hardware.PCI_DEVICES, address)

    def gpu_memory_by_process(self, address: str) -> dict[int, int]:
        """The driver tells."""
        del address
        return {}

    def are_gpus_asleep(self) -> bool:
        """By the kernel's runtime power management."""
        return hardware.are_nvidia_devices_asleep(self._root / hardware.PCI_DEVICES)

    def sleeping_driver(self) -> Driver | None:
        """The loaded kernel module says its version without a word to the cards."""
        if not self.are_gpus_asleep():
            return None
        version = self._read_text("sys/module/nvidia/version").strip()
        return Driver(version=version) if version else None

    def nvidia_smi(self) -> Path | None:
        """Where the driver's packages put it; WSL and NixOS have folders of their own."""
        return next((path for candidate in NVIDIA_SMI_PATHS if (path := self._root / candidate).is_file()), None)

    def loaded_driver(self) -> str:
        """What the loaded kernel module says."""
        return self._read_text("proc/driver/nvidia/version")

    def cuda_folders(self) -> tuple[Path, ...]:
        """Where NVIDIA's installers and the distributions put toolkits, CUDA_HOME, and around the nvcc on PATH."""
        from_variables = [Path(value) for name in ("CUDA_HOME", "CUDA_PATH") if (value := self._environ.get(name))]
        default_folders = [*sorted(self._root.glob("usr/local/cuda-*")), self._root / "usr/local/cuda"]
        nvcc = paths.find_on_path(("nvcc",), self._environ)
        nvcc_root = nvcc.resolve().parent.parent if nvcc is not None else None
        # A program of that name alone (a wrapper in /usr/local/bin) is no toolkit.
        from_nvcc = [nvcc_root] if nvcc_root is not None and (nvcc_root / "include/cuda.h").is_file() else []
        return paths.unique_folders(
            [*default_folders, *sorted(self._root.glob("opt/cuda*")), *from_variables, *from_nvcc]
        )

    def cudnn_folders(self) -> tuple[Path, ...]:
        """The compiler's and the linker's usual folders, and those inside toolkits."""
        multiarch = f"{self._machine}-linux-gnu"
        default_folders = [
            *(self._root / "usr/include", self._root / "usr/include" / multiarch),
            *(self._root / "usr/lib" / multiarch, self._root / "usr/lib64", self._root / "usr/local/lib"),
        ]
        toolkit_folders = [folder / part for folder in self.cuda_folders() for part in ("include", "lib64", "lib")]
        return paths.unique_folders([*default_folders, *toolkit_folders])

    def visual_cpp(self) -> str | None:
        """Not a thing here."""
        return None

    def system32_folder(self) -> Path | None:
        """Not a thing here."""
        return None

    def wsl(self) -> None:
        """Not a thing here."""
        return

    def vswhere(self) -> Path | None:
        """Not a thing here."""
        return None

    def msvc_folders(self) -> tuple[Path, ...]:
        """Not a thing here."""
        return ()

    def proxy(self) -> str | None:
        """From the environment."""
        return paths.proxy_from_environment(self._environ)

    def is_admin(self) -> bool:
        """Whether we are root."""
        return os.geteuid() == 0

    def user(self) -> User:
        """No path is too long here, and there is no OneDrive."""
        home = str(self._home)
        return User(home=home, ascii=home.isascii(), admin=self.is_admin(), home_too_long=False, onedrive=())

    def laptop(self) -> bool | None:
        """By the chassis, else by a battery; WSL knows neither."""
        return hardware.is_laptop_chassis(self._root)

    def virtual_machine(self) -> bool | None:
        """By the maker's words and the processor's sign."""
        if self._in_wsl():
            return False
        return hardware.detect_virtual_machine(self._root)

    def remote_desktop(self) -> bool | None:
        """By what xrdp and Chrome's remote desktop leave in the environment."""
        return any(self._environ.get(name) for name in REMOTE_VARIABLES)

    def pending_reboot(self) -> bool | None:
        """Debian and its children leave a file; other distributions do not say."""
        if (self._root / "run/reboot-required").exists() or (self._root / "var/run/reboot-required").exists():
            return True
        return False if (self._root / "var/lib/dpkg").is_dir() else None

    def power(self) -> PowerStatus:
        """From the kernel's power_supply and platform_profile."""
        return desktop.read_power_status(self._root)

    # What is done for the user
    @property
    def variables(self) -> UserEnvironmentVariables:
        """A file in environment.d."""
        from .environment import LinuxEnvironmentVariables, config_folder

        return LinuxEnvironmentVariables(config_folder(self._home, self._environ), self._root)

    @property
    def login_command(self) -> LoginCommand:
        """An entry in the desktop's autostart folder."""
        from .desktop import LinuxLoginCommand
        from .environment import config_folder

        return LinuxLoginCommand(config_folder(self._home, self._environ))

    def run_as_admin(
        self,
        argv: Sequence[str | Path],
        *,
        cancel: threading.Event | None = None,
        window: int | None = None,  # noqa: ARG002
    ) -> int:
        """Through pkexec, whose window finds its own place; root needs to ask nobody."""
        if self.is_admin():
            return self.run(argv, timeout=math.inf, cancel=cancel).returncode
        from .elevation import run_as_admin

        return run_as_admin(argv, cancel=cancel)

    def taskbar(self, window: int) -> TaskbarProgress | None:  # noqa: ARG002
        """There is none that all desktops have."""
        return None

    def keep_awake(self, reason: str) -> AbstractContextManager[bool]:
        """Through logind, where it runs."""
        return desktop.keep_awake(reason)

    def open_folder(self, folder: Path) -> None:
        """Through xdg-open; raises AppError("no-file-manager")."""
        desktop.open_folder(folder, self._environ)

    def open_terminal(self, environment: Path) -> None:
        """In the desktop's own terminal; raises AppError("no-terminal")."""
        desktop.open_terminal(environment, self._environ)

    def _in_wsl(self) -> bool:
        # A kernel built by the user has another name; the mark of Windows programs is there all the same.
        return "microsoft" in self._kernel.lower() or (self._root / WSL_INTEROP_FILE).exists()

    def _read_text(self, path: str) -> str:
        try:
            return (self._root / path).read_text(encoding="utf-8", errors="replace")
        except OSError:
            return ""


def _glibc_version() -> str | None:
    try:
        name, _, version = (os.confstr("CS_GNU_LIBC_VERSION") or "").partition(" ")
    except (ValueError, OSError):
        return None  # another C library (musl)
    return version if name == "glibc" and version else None
