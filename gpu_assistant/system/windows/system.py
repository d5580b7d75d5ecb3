"""Windows in all roles of `base.py`, through its registry and its own libraries; no wmic, no PowerShell."""

from __future__ import annotations

import sys

assert sys.platform == "win32"  # noqa: S101 - the type checker reads this too

import os
import platform
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import BinaryIO

from ...core.errors import ElevationDenied
from ...core.machine import Cloud, Container, Cpu, Disk, Driver, Gpu, OperatingSystem, SystemName, User
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
from ..conda import is_conda_environment, windows_activation_scripts, windows_library_folders
from ..hardware_ids import normalize_architecture
from ..language import user_language
from ..processes import run_process, run_to_end
from ..variables import find_on_path
from . import desktop, elevation, hardware, parsing, processes, registry
from .environment import WindowsEnvironmentVariables
from .facts import WindowsFacts
from .functions import shell32, user32
from .proxies import AutomaticProxies

VERSION_KEY = r"SOFTWARE\Microsoft\Windows NT\CurrentVersion"
PROCESSOR_KEY = r"HARDWARE\DESCRIPTION\System\CentralProcessor\0"
ENVIRONMENT_KEY = r"SYSTEM\CurrentControlSet\Control\Session Manager\Environment"
SM_REMOTESESSION = 0x1000  # GetSystemMetrics
AUTOMATIC_PROXIES = AutomaticProxies()


class WindowsSystem:
    """See `base.System`."""

    name: SystemName = "windows"

    def __init__(self, environ: Mapping[str, str] = os.environ) -> None:
        self._environ = environ
        self._facts = WindowsFacts(registry, environ)

    # Hardware

    def operating_system(self) -> OperatingSystem:
        """Version from the kernel, name from the registry."""
        version = sys.getwindowsversion()
        machine = registry.text(registry.MACHINE, ENVIRONMENT_KEY, "PROCESSOR_ARCHITECTURE") or platform.machine()
        product = registry.text(registry.MACHINE, VERSION_KEY, "ProductName")
        return OperatingSystem(
            system="windows",
            name=parsing.windows_product_name(product, version.build),
            version=f"{version.major}.{version.minor}.{version.build}",
            build=version.build,
            arch=normalize_architecture(machine),
            wsl=False,
            secure_boot=self._facts.is_secure_boot_enabled(),
            image_based=False,
            smart_app_control=self._facts.smart_app_control(),
        )

    def cpu(self) -> Cpu:
        """Name from the registry, counts from psutil, vector instructions from IsProcessorFeaturePresent."""
        import psutil

        avx, avx2 = hardware.vector_instructions()
        return Cpu(
            name=registry.text(registry.MACHINE, PROCESSOR_KEY, "ProcessorNameString"),
            cores=psutil.cpu_count(logical=False),
            threads=os.cpu_count(),
            avx=avx,
            avx2=avx2,
        )

    def memory_bytes(self) -> int:
        """From psutil."""
        import psutil

        return psutil.virtual_memory().total

    def disks(self) -> tuple[Disk, ...]:
        """Fixed drives."""
        return hardware.fixed_disks()

    def display_adapters(self) -> tuple[Gpu, ...]:
        """From SetupAPI, and the display class in the registry."""
        return self._facts.display_adapters(hardware.device_entries())

    def nvidia_smi(self) -> Path | None:
        """In System32."""
        return self._facts.nvidia_smi()

    def loaded_driver(self) -> str:
        """Nothing: Windows has no such file."""
        return ""

    def kernel_without_driver(self) -> None:
        """None: NVIDIA's installer brings the module, and judges."""
        return

    def sleeping_driver(self) -> Driver | None:
        """From the display class in the registry, where the installer wrote it."""
        devices = hardware.nvidia_devices()
        if not devices or not all(device.is_asleep for device in devices):
            return None
        version = next((device.driver_version for device in devices if device.driver_version), None)
        return Driver(version=version) if version else None

    def are_gpus_asleep(self) -> bool:
        """By the power states that Windows last set."""
        devices = hardware.nvidia_devices()
        return bool(devices) and all(device.is_asleep for device in devices)

    def is_gpu_asleep(self, address: str) -> bool:
        """By the power state that Windows last set."""
        return any(device.is_asleep for device in hardware.nvidia_devices() if device.address == address)

    def can_gpu_sleep(self, address: str) -> bool:
        """On a laptop: Windows lets its second GPU sleep, and hardly any other."""
        del address
        return self.laptop() is not False

    def gpu_memory_by_process(self, address: str) -> dict[int, int]:
        """From the performance counters that the Task Manager shows."""
        return hardware.gpu_memory_by_process(address)

    def gpu_shared_memory(self, pid: int) -> int | None:
        """From the performance counters that the Task Manager shows."""
        return hardware.gpu_shared_memory(pid)

    def shared_gpu_memory(self, address: str) -> int | None:
        """From the performance counters that the Task Manager shows."""
        return hardware.shared_gpu_memory(address)

    def power(self) -> PowerStatus:
        """From GetSystemPowerStatus."""
        return hardware.read_power_status()

    def laptop(self) -> bool | None:
        """By the chassis, else by a battery."""
        return self._facts.is_laptop(hardware.has_battery())

    def virtual_machine(self) -> bool | None:
        """By the firmware's names."""
        return self._facts.virtual_machine()

    def container(self) -> Container | None:
        """By the registry."""
        return self._facts.container()

    def cloud(self) -> Cloud | None:
        """By the firmware's names and the guest agent."""
        return self._facts.cloud()

    def remote_desktop(self) -> bool | None:
        """By GetSystemMetrics."""
        return bool(user32.GetSystemMetrics(SM_REMOTESESSION))

    def pending_reboot(self) -> bool | None:
        """By the registry keys of servicing and Windows Update."""
        return self._facts.pending_reboot()

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
        """In a job object of its own; a conda environment's program finds its libraries. A batch file: ValueError."""
        library_folders = windows_library_folders(Path(argv[0])) if argv else ()
        if library_folders:
            path = os.pathsep.join([*map(str, library_folders), os.environ.get("PATH", "")])
            environ = {"PATH": path, **(environ or {})}
        return run_process(
            processes.start_process,
            argv,
            timeout=timeout,
            environ=environ,
            cwd=cwd,
            cancel=cancel,
            on_line=on_line,
            fallback_encoding="mbcs",
        )

    def run_to_end(
        self, argv: Sequence[str | Path], *, environ: Mapping[str, str | None] | None = None, cwd: Path | None = None
    ) -> ProcessResult:
        """In no job object. A batch file: ValueError."""
        return run_to_end(processes.start_to_end, argv, environ=environ, cwd=cwd, fallback_encoding="mbcs")

    def start_checked(self, program: Path, check: Callable[[BinaryIO], None]) -> None:
        """While the file is locked; also raises ValueError for a batch file."""
        processes.start_checked(program, check)

    def open_unchanging(self, path: Path) -> BinaryIO:
        """Shared for reading alone."""
        return processes.file_from_handle(processes.open_handle(path))

    def executable(self, name: str) -> str:
        """With ".exe"."""
        return f"{name}.exe"

    def find_program(self, name: str) -> Path | None:
        """On PATH, as an .exe, or where its installer puts it."""
        on_path = find_on_path((self.executable(name),), self._environ)
        return on_path or self._facts.find_program(name, Path.home())

    def python_candidates(self) -> tuple[Path, ...]:
        """PATH, the registry (PEP 514), the usual folders, conda."""
        return self._facts.python_candidates(Path.home())

    def cuda_folders(self) -> tuple[Path, ...]:
        """Default folders, registry, variables."""
        return self._facts.cuda_folders()

    def cudnn_folders(self) -> tuple[Path, ...]:
        """NVIDIA's folder and toolkits."""
        return self._facts.cudnn_folders()

    def environment_python(self, environment: Path) -> Path:
        r"""Scripts\python.exe; conda's is at the root."""
        folder = environment if is_conda_environment(environment) else environment / "Scripts"
        return folder / "python.exe"

    def environment_program(self, environment: Path, name: str) -> Path:
        """In Scripts."""
        return environment / "Scripts" / self.executable(name)

    def standalone_python(self, folder: Path) -> Path:
        """python.exe."""
        return folder / "python.exe"

    def activation_command(self, environment: Path) -> str:
        """For cmd; PowerShell would run the script of the same name for it, which its policy forbids by default."""
        return parsing.quote_for_shell(str(environment / "Scripts" / "activate"))

    def powershell_activation(self, environment: Path) -> str:
        """With the policy of this window only."""
        return parsing.powershell_script_line(str(environment / "Scripts" / "activate.ps1"))

    def conda_activation_files(self, environment: Path, conda: Path) -> Mapping[Path, bytes]:
        """For cmd, in its own code page, and for PowerShell, which needs a byte order mark to read UTF-8."""
        scripts = windows_activation_scripts(environment, conda.resolve().parent.parent)
        encodings = {".bat": "oem", ".ps1": "utf-8-sig"}
        return {Path(path): text.encode(encodings[path.suffix], "replace") for path, text in scripts.items()}

    @property
    def windows(self) -> WindowsFacts:
        """From the registry and the files."""
        return self._facts

    # Elevation

    def is_admin(self) -> bool:
        """Whether our token is an elevated one."""
        return bool(shell32.IsUserAnAdmin())

    def run_as_admin(
        self, argv: Sequence[str | Path], *, cancel: threading.Event | None = None, window: int | None = None
    ) -> int:
        """Through the shell's "runas"; also raises ValueError for a batch file."""
        return elevation.run_as_admin(argv, cancel=cancel, window=window)

    def run_to_end_as_admin(self, argv: Sequence[str | Path]) -> ProcessResult:
        """Never: see `base.Elevation`."""
        raise ElevationDenied("rights-no-way", program=str(argv[0]))

    # Desktop

    def open_folder(self, folder: Path) -> None:
        """In Explorer."""
        desktop.open_folder(folder)

    def open_file(self, file: Path) -> None:
        """With the program for its kind of file."""
        desktop.open_file(file)

    def open_power_settings(self) -> None:
        """In Windows' Settings."""
        desktop.open_power_settings()

    def open_terminal(self, environment: Path) -> None:
        """In cmd, with a window of its own."""
        desktop.open_terminal(environment)

    def start_program(self, argv: Sequence[str | Path], folder: Path) -> None:
        """Detached; also raises ValueError for a batch file."""
        desktop.start_program(argv, folder)

    def find_editor(self) -> Path | None:
        """Where its installers put it."""
        return desktop.find_editor(self._environ)

    def find_pycharm(self) -> Path | None:
        """Where its installers and the JetBrains Toolbox put it."""
        return desktop.find_pycharm(self._environ)

    def kernels_folder(self) -> Path:
        """In the roaming data folder."""
        return desktop.kernels_folder(self._environ)

    def menu_entry_files(self, environment: Path) -> tuple[MenuEntryFile, ...]:
        """A shortcut in the Start menu. Only a job's thread may call this: the shell creates it through COM."""
        return desktop.menu_entry_files(environment)

    def allow_foreground(self, process_id: int) -> None:
        """Else Windows only lets the other window's button in the task bar blink."""
        user32.AllowSetForegroundWindow(process_id)

    def taskbar(self, window: int) -> TaskbarProgress | None:
        """The shell's."""
        return desktop.WindowsTaskbarProgress(window)

    def keep_awake(self, reason: str) -> AbstractContextManager[bool]:  # noqa: ARG002 - Windows takes no reason here
        """While this thread is in the context."""
        return desktop.keep_awake()

    @property
    def login_command(self) -> LoginCommand:
        """In RunOnce."""
        return desktop.WindowsLoginCommand()

    @property
    def startup_command(self) -> LoginCommand:
        """In Run."""
        return desktop.WindowsLoginCommand(desktop.RUN_KEY)

    # User environment

    def user(self) -> User:
        """The profile's folder and what is wrong with its path."""
        home = str(Path.home())
        return User(
            home=home,
            ascii=home.isascii(),
            admin=self.is_admin(),
            home_too_long=parsing.is_home_too_long(home),
            onedrive=self._facts.onedrive_folders(),
        )

    def language(self) -> Language:
        """The language of Windows' own menus."""
        return user_language(self._environ)

    def proxy(self) -> str | None:
        """From the environment, else from Windows' settings."""
        return self._facts.proxy()

    def automatic_proxy(self, url: str) -> str | None:
        """By WinHTTP, as browsers do, each host asked for once; else what an administrator set for all users."""
        proxy = AUTOMATIC_PROXIES.find(url)
        return self._facts.machine_proxy(url) if proxy is None else proxy

    def default_environments_folder(self, data_root: Path) -> Path:
        r"""In our data folder where its path is harmless, else C:\AI."""
        return Path(parsing.environments_folder(str(data_root)))

    def folder_writers(self, folder: Path) -> FolderWriters:
        """By the access control lists of the folder."""
        return elevation.folder_writers(folder)

    @property
    def variables(self) -> UserEnvironmentVariables:
        """In the registry."""
        return WindowsEnvironmentVariables()
