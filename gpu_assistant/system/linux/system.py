"""Linux in all roles of `base.py`. Facts come from /proc, /sys and /etc below `root`, which tests replace."""

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

from ...core import filesystem
from ...core.machine import Cloud, Container, Cpu, Disk, Driver, Gpu, OperatingSystem, SystemName, User
from ...core.paths import home_dir
from ...core.types import Language
from ..base import (
    FolderWriters,
    LoginCommand,
    MenuEntryFile,
    PowerStatus,
    ProcessResult,
    TaskbarProgress,
    UserEnvironmentVariables,
)
from ..conda import linux_activation_script
from ..hardware_ids import cloud_provider, normalize_architecture
from ..language import user_language
from ..paths import folder_writers
from ..processes import run_process, run_to_end
from ..variables import find_on_path, proxy_from_environment
from . import desktop, elevation, hardware, parsing, processes, software
from .environment import LinuxEnvironmentVariables, config_folder

NVIDIA_SMI_PATHS = (
    "usr/bin/nvidia-smi",
    "usr/lib/wsl/lib/nvidia-smi",
    "run/current-system/sw/bin/nvidia-smi",
    "opt/bin/nvidia-smi",
)
WSL_INTEROP_FILE = "proc/sys/fs/binfmt_misc/WSLInterop"
DOCKER_MARK, PODMAN_MARK, SYSTEMD_CONTAINER = ".dockerenv", "run/.containerenv", "run/systemd/container"
# linux/nsfs.h: PID_NS_INIT_INO, UTS_NS_INIT_INO and IPC_NS_INIT_INO, the same for every kernel since 3.8. Container
# managers make new ones of all three; each can be told to leave one.
INITIAL_NAMESPACES = {"pid": "pid:[4026531836]", "uts": "uts:[4026531838]", "ipc": "ipc:[4026531839]"}
KUBERNETES_SECRETS = "var/run/secrets/kubernetes.io"
OSTREE_MARK, STEAMOS_PROGRAM = "run/ostree-booted", "usr/bin/steamos-readonly"
DRIVER_MODULE_STREAM = "etc/dnf/modules.d/nvidia-driver.module"
REMOTE_VARIABLES = ("XRDP_SESSION", "CHROME_REMOTE_DESKTOP_SESSION")


class LinuxSystem:
    """See `base.System`. All parameters but `root` default to the running system's."""

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
        self._home = home or home_dir()
        self._glibc = glibc
        uname = os.uname()
        self._kernel, self._machine = kernel or (uname.release, uname.machine)

    # Hardware

    def operating_system(self) -> OperatingSystem:
        """From os-release, the kernel's release and the C library."""
        fields = parsing.parse_os_release(self._read_text("etc/os-release") or self._read_text("usr/lib/os-release"))
        return OperatingSystem(
            system="linux",
            name=fields.get("PRETTY_NAME") or None,
            version=parsing.parse_kernel_version(self._kernel),
            arch=normalize_architecture(self._machine),
            wsl=self._in_wsl(),
            distro=fields.get("ID") or None,
            distro_version=fields.get("VERSION_ID") or None,
            distro_like=tuple(fields.get("ID_LIKE", "").split()) if fields else None,
            distro_codename=parsing.distribution_codename(fields),
            distro_variant=fields.get("VARIANT_ID") or None,
            kernel=self._kernel or None,
            glibc=self._glibc if self._glibc is not None else _glibc_version(),
            secure_boot=hardware.is_secure_boot_enabled(self._root),
            image_based=self._is_image_based(fields),
            driver_stream=parsing.parse_module_stream(self._read_text(DRIVER_MODULE_STREAM)),
        )

    def cpu(self) -> Cpu:
        """The CPU as described in /proc/cpuinfo."""
        return parsing.parse_cpuinfo(self._read_text("proc/cpuinfo"))

    def memory_bytes(self) -> int:
        """From /proc/meminfo; raises ValueError where that has no total."""
        return parsing.parse_meminfo(self._read_text("proc/meminfo"))

    def disks(self) -> tuple[Disk, ...]:
        """Mounts of real file systems that we may write to, and the one under the home folder."""
        return hardware.list_disks(parsing.parse_mounts(self._read_text("proc/self/mounts")), self._home)

    def display_adapters(self) -> tuple[Gpu, ...]:
        """The PCI display adapters listed in sysfs."""
        return hardware.display_adapters(self._root)

    def nvidia_smi(self) -> Path | None:
        """Where the driver's packages put it; WSL and NixOS have folders of their own."""
        return next((path for candidate in NVIDIA_SMI_PATHS if (path := self._root / candidate).is_file()), None)

    def loaded_driver(self) -> str:
        """The version of the loaded NVIDIA kernel module."""
        return self._read_text("proc/driver/nvidia/version")

    def kernel_without_driver(self) -> str | None:
        """By the modules on the disk, of the newest kernel that is installed."""
        return hardware.kernel_without_driver(self._root)

    def sleeping_driver(self) -> Driver | None:
        """From the loaded kernel module, which tells its version without asking the GPUs."""
        if not self.are_gpus_asleep():
            return None
        version = self._read_text("sys/module/nvidia/version").strip()
        return Driver(version=version) if version else None

    def are_gpus_asleep(self) -> bool:
        """By the kernel's runtime power management."""
        return hardware.are_nvidia_devices_asleep(self._root / hardware.PCI_DEVICES)

    def is_gpu_asleep(self, address: str) -> bool:
        """By the kernel's runtime power management."""
        return hardware.is_device_asleep(self._root / hardware.PCI_DEVICES, address)

    def can_gpu_sleep(self, address: str) -> bool:
        """By the kernel's runtime power management."""
        return hardware.can_device_sleep(self._root / hardware.PCI_DEVICES, address)

    def gpu_memory_by_process(self, address: str) -> dict[int, int]:
        """Nothing: on Linux the driver itself counts."""
        del address
        return {}

    def shared_gpu_memory(self, address: str) -> int | None:
        """Unknown, as for a single process."""
        del address
        return None

    def gpu_shared_memory(self, pid: int) -> int | None:
        """Unknown: Linux' driver lends none, and in WSL, where Windows' driver does, nobody counts it."""
        del pid
        return None

    def power(self) -> PowerStatus:
        """From power_supply and platform_profile."""
        return hardware.read_power_status(self._root)

    def laptop(self) -> bool | None:
        """By the chassis, else by a battery; WSL has neither."""
        return hardware.is_laptop(self._root)

    def virtual_machine(self) -> bool | None:
        """By the firmware's names and the processor's flags."""
        if self._in_wsl():
            return False
        return hardware.is_virtual_machine(self._root)

    def container(self) -> Container | None:
        """By the marks of Docker and Podman, the variables of systemd's container interface, a pod's secrets and the
        control group.

        A mark that lies on the disk of a virtual machine, which was made from a container's image, says nothing:
        systemd's virt.c warns that it "could inadvertently end up in a file system image".
        """
        could_be_inside = not self._has_initial_namespaces()
        first_process = self._read_text("proc/1/environ")
        return parsing.parse_container(
            names=(
                parsing.parse_environ(first_process, "container"),
                self._read_text(SYSTEMD_CONTAINER),
                self._environ.get("container", ""),
            ),
            cgroup=self._read_text("proc/1/cgroup"),
            docker_mark=could_be_inside and (self._root / DOCKER_MARK).exists(),
            podman_mark=could_be_inside and (self._root / PODMAN_MARK).exists(),
            kubernetes="KUBERNETES_SERVICE_HOST" in self._environ or (self._root / KUBERNETES_SECRETS).exists(),
        )

    def cloud(self) -> Cloud | None:
        """By the firmware's names and the kernel's flavour."""
        names = ("chassis_asset_tag", "sys_vendor", "product_name", "bios_vendor")
        dmi = (self._read_text(f"{hardware.DMI_FOLDER}/{name}") for name in names)
        return cloud_provider(dmi, self._kernel)

    def remote_desktop(self) -> bool | None:
        """By the variables that xrdp and Chrome Remote Desktop set."""
        return any(self._environ.get(name) for name in REMOTE_VARIABLES)

    def pending_reboot(self) -> bool | None:
        """By the file that Debian and its derivatives write; other distributions do not tell. And where a driver was
        installed since the start and is not loaded.
        """
        if hardware.is_driver_waiting(self._root):
            return True
        if (self._root / "run/reboot-required").exists() or (self._root / "var/run/reboot-required").exists():
            return True
        return False if (self._root / "var/lib/dpkg").is_dir() else None

    # Processes

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
        """In a session of its own."""
        return run_process(
            processes.start_process, argv, timeout=timeout, environ=environ, cwd=cwd, cancel=cancel, on_line=on_line
        )

    def run_to_end(
        self, argv: Sequence[str | Path], *, environ: Mapping[str, str | None] | None = None, cwd: Path | None = None
    ) -> ProcessResult:
        """In a session of its own."""
        return run_to_end(processes.start_to_end, argv, environ=environ, cwd=cwd)

    def start_checked(self, program: Path, check: Callable[[BinaryIO], None]) -> None:
        """Through the open file's descriptor."""
        processes.start_checked(program, check)

    def open_unchanging(self, path: Path) -> BinaryIO:
        """By its descriptor."""
        return filesystem.open_regular(path)

    def executable(self, name: str) -> str:
        """The file name of a program, which has no suffix on Linux."""
        return name

    def find_program(self, name: str) -> Path | None:
        """On PATH; conda also where its installers put it."""
        path = find_on_path((name,), self._environ)
        return path or (software.find_conda(self._home, self._environ, self._root) if name == "conda" else None)

    def python_candidates(self) -> tuple[Path, ...]:
        """PATH, the usual folders, version managers, conda."""
        return software.python_candidates(self._home, self._environ, self._root)

    def cuda_folders(self) -> tuple[Path, ...]:
        """Default folders, variables, PATH."""
        return software.cuda_folders(self._environ, self._root)

    def cudnn_folders(self) -> tuple[Path, ...]:
        """Default folders and toolkits."""
        return software.cudnn_folders(self._environ, self._root, self._machine)

    def environment_python(self, environment: Path) -> Path:
        """The path of bin/python; it need not exist."""
        return environment / "bin" / "python"

    def environment_program(self, environment: Path, name: str) -> Path:
        """The path of a program in bin; it need not exist."""
        return environment / "bin" / name

    def standalone_python(self, folder: Path) -> Path:
        """The path of bin/python3; it need not exist."""
        return folder / "bin" / "python3"

    def activation_command(self, environment: Path) -> str:
        """The command that activates an environment in bash and zsh."""
        return f"source {shlex.quote(str(environment / 'bin' / 'activate'))}"

    def powershell_activation(self, environment: Path) -> None:
        """None: `activation_command` serves every shell."""

    def conda_activation_files(self, environment: Path, conda: Path) -> Mapping[Path, bytes]:
        """Activation scripts for bash and zsh; a link to conda's program is resolved."""
        scripts = linux_activation_script(environment, conda.resolve().parent.parent)
        return {Path(path): text.encode("utf-8", "surrogateescape") for path, text in scripts.items()}

    @property
    def windows(self) -> None:
        """None: this is not Windows."""
        return

    # Elevation

    def is_admin(self) -> bool:
        """Whether this process runs as root."""
        return os.geteuid() == 0

    def run_as_admin(
        self,
        argv: Sequence[str | Path],
        *,
        cancel: threading.Event | None = None,
        window: int | None = None,  # noqa: ARG002 - pkexec's window stands by itself
    ) -> int:
        """Run by pkexec, or directly as root."""
        if self.is_admin():
            return self.run(argv, timeout=math.inf, cancel=cancel).returncode
        return elevation.run_as_admin(argv, cancel=cancel)

    def run_to_end_as_admin(self, argv: Sequence[str | Path]) -> ProcessResult:
        """Run by pkexec, or directly as root."""
        if self.is_admin():
            return self.run_to_end(argv)
        return elevation.run_to_end_as_admin(argv, self.run_to_end)

    # Desktop

    def open_folder(self, folder: Path) -> None:
        """Open a folder by xdg-open."""
        desktop.open_folder(folder, self._environ)

    def open_file(self, file: Path) -> None:
        """Open a file by xdg-open."""
        desktop.open_file(file, self._environ)

    def open_power_settings(self) -> None:
        """By the desktop's own program."""
        desktop.open_power_settings(self._environ, self._home)

    def open_terminal(self, environment: Path) -> None:
        """In the desktop's own terminal."""
        desktop.open_terminal(environment, self._environ)

    def start_program(self, argv: Sequence[str | Path], folder: Path) -> None:
        """In a session of its own."""
        desktop.start_program(argv, folder, self._environ)

    def find_editor(self) -> Path | None:
        """On PATH, where its packages put it."""
        return find_on_path(("code", "codium"), self._environ)

    def find_pycharm(self) -> Path | None:
        """On PATH, or where the JetBrains Toolbox and the archive put it."""
        return desktop.find_pycharm(self._environ, self._home)

    def kernels_folder(self) -> Path:
        """In the user's data folder."""
        return desktop.kernels_folder(self._environ, self._home)

    def menu_entry_files(self, environment: Path) -> tuple[MenuEntryFile, ...]:
        """A desktop entry and the start file of its bash."""
        return desktop.menu_entry_files(environment, self._environ, self._home)

    def allow_foreground(self, process_id: int) -> None:
        """Nothing: a window manager decides by itself."""

    def taskbar(self, window: int) -> TaskbarProgress | None:  # noqa: ARG002
        """None: Linux' desktops have no common interface for it."""
        return None

    def keep_awake(self, reason: str) -> AbstractContextManager[bool]:
        """Through logind, where it runs."""
        return desktop.keep_awake(reason)

    @property
    def login_command(self) -> LoginCommand:
        """An entry in the desktop's autostart folder."""
        return desktop.LinuxLoginCommand(config_folder(self._home, self._environ))

    @property
    def startup_command(self) -> LoginCommand:
        """Another entry there."""
        return desktop.LinuxLoginCommand(config_folder(self._home, self._environ), desktop.STARTUP_FILE)

    # User environment

    def user(self) -> User:
        """No path is too long for Linux, and there is no OneDrive."""
        home = str(self._home)
        return User(home=home, ascii=home.isascii(), admin=self.is_admin(), home_too_long=False, onedrive=())

    def language(self) -> Language:
        """By the environment, as the C library does."""
        return user_language(self._environ)

    def proxy(self) -> str | None:
        """The proxy settings in environment variables."""
        return proxy_from_environment(self._environ)

    def automatic_proxy(self, url: str) -> str | None:  # noqa: ARG002
        """None: programs on Linux read the environment."""
        return None

    def default_environments_folder(self, data_root: Path) -> Path:
        """In our data folder: no path breaks programs on Linux."""
        return data_root / "environments"

    def folder_writers(self, folder: Path) -> FolderWriters:
        """By owner, group and permissions; an access control list shows in those of the group."""
        return folder_writers(folder)

    @property
    def variables(self) -> UserEnvironmentVariables:
        """The user's variables, stored in environment.d."""
        folder = config_folder(self._home, self._environ)
        return LinuxEnvironmentVariables(folder, self._root)

    def _in_wsl(self) -> bool:
        # A kernel that the user built has another name, but Windows' programs can be started all the same.
        return "microsoft" in self._kernel.lower() or (self._root / WSL_INTEROP_FILE).exists()

    def _has_initial_namespaces(self) -> bool:
        """Whether this process has the namespaces that the kernel started with; False where /proc does not tell."""
        try:
            return all(
                str((self._root / "proc/self/ns" / name).readlink()) == initial
                for name, initial in INITIAL_NAMESPACES.items()
            )
        except OSError:
            return False

    def _is_image_based(self, fields: Mapping[str, str]) -> bool | None:
        """None in a container, whose system is the host's business."""
        if self.container() is not None:
            return None
        return parsing.is_image_based(
            fields,
            self._read_text("proc/self/mounts"),
            ostree=(self._root / OSTREE_MARK).exists(),
            steamos=(self._root / STEAMOS_PROGRAM).exists(),
        )

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
