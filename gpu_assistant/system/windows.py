"""Windows, through its registry and its own libraries; no wmic, no PowerShell."""

from __future__ import annotations

import sys

assert sys.platform == "win32"  # noqa: S101 - the type checker reads this too

import ctypes  # noqa: E402
import os  # noqa: E402
import platform  # noqa: E402
import shutil  # noqa: E402
import subprocess  # noqa: E402
import threading  # noqa: E402
from collections.abc import Callable, Mapping, Sequence  # noqa: E402
from contextlib import AbstractContextManager, suppress  # noqa: E402
from functools import partial  # noqa: E402
from pathlib import Path  # noqa: E402
from typing import BinaryIO  # noqa: E402

from ..core.errors import AppError  # noqa: E402
from ..core.machine import Cpu, Disk, Driver, Gpu, OperatingSystem, SystemName, User  # noqa: E402
from ..core.settings import Language  # noqa: E402
from . import (  # noqa: E402
    linux_read,
    patience,
    places,
    processes,
    windows_conda,
    windows_devices,
    windows_power,
    windows_processes,
    windows_pythons,
    windows_start,
)
from . import windows_registry as registry  # noqa: E402
from .base import ProcessResult  # noqa: E402
from .language import user_language  # noqa: E402
from .services import LoginCommand, PowerStatus, TaskbarProgress, UserEnvironmentVariables  # noqa: E402
from .windows_facts import WindowsFacts, is_home_too_long  # noqa: E402
from .windows_read import environments_folder, quote_for_shell, windows_product_name  # noqa: E402
from .windows_told import WindowsFactAnswers  # noqa: E402

VERSION_KEY = r"SOFTWARE\Microsoft\Windows NT\CurrentVersion"
PROCESSOR_KEY = r"HARDWARE\DESCRIPTION\System\CentralProcessor\0"
ENVIRONMENT_KEY = r"SYSTEM\CurrentControlSet\Control\Session Manager\Environment"
DRIVE_FIXED = 3  # GetDriveTypeW
DISK_TIMEOUT_S = 1.5  # a disk that has not answered by then is shown without its sizes
SM_REMOTESESSION = 0x1000  # SM_REMOTESESSION of GetSystemMetrics


class WindowsSystem(WindowsFactAnswers):
    """What `base.System` asks, answered by Windows."""

    name: SystemName = "windows"

    def __init__(self, environ: Mapping[str, str] = os.environ) -> None:
        self._environ = environ
        self._facts = WindowsFacts(registry, environ)

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
        """See `base.System.run`; also raises ValueError for a relative program path and for a batch file."""
        library_folders = windows_conda.conda_library_folders(Path(argv[0])) if argv else ()
        if library_folders:
            path = os.pathsep.join([*map(str, library_folders), os.environ.get("PATH", "")])
            environ = {"PATH": path, **(environ or {})}
        return processes.run_process(
            windows_processes.start_process,
            argv,
            timeout=timeout,
            environ=environ,
            cwd=cwd,
            cancel=cancel,
            on_line=on_line,
            fallback_encoding="mbcs",
        )

    def start_checked(self, program: Path, check: Callable[[BinaryIO], None]) -> None:
        """See `base.System.start_checked`."""
        windows_start.start_checked(program, check)

    def executable(self, name: str) -> str:
        """With its ".exe"."""
        return f"{name}.exe"

    def environment_python(self, environment: Path) -> Path:
        r"""Scripts\python.exe; conda's lies at the root."""
        folder = environment if windows_conda.is_conda_environment(environment) else environment / "Scripts"
        return folder / "python.exe"

    def environment_program(self, environment: Path, name: str) -> Path:
        """In Scripts."""
        return environment / "Scripts" / self.executable(name)

    def conda_activation_files(self, environment: Path, conda: Path) -> Mapping[Path, bytes]:
        """For cmd, in the letters that it reads, and for PowerShell, which needs to be told that it is UTF-8."""
        scripts = windows_conda.windows_activation_scripts(environment, conda.resolve().parent.parent)
        encodings = {".bat": "oem", ".ps1": "utf-8-sig"}
        return {Path(path): text.encode(encodings[path.suffix], "replace") for path, text in scripts.items()}

    def standalone_python(self, folder: Path) -> Path:
        """python.exe."""
        return folder / "python.exe"

    def activation_command(self, environment: Path) -> str:
        """For cmd; PowerShell takes it too where the path needs no quotes."""
        return quote_for_shell(str(environment / "Scripts" / "activate"))

    # Places
    def default_environments_folder(self, data_root: Path) -> Path:
        r"""Below our data where that path is harmless, else C:\AI."""
        return Path(environments_folder(str(data_root)))

    # What is here
    def language(self) -> Language:
        """The language of Windows' own menus."""
        return user_language(self._environ)

    def operating_system(self) -> OperatingSystem:
        """From the kernel's own number and the registry's name."""
        version = sys.getwindowsversion()
        machine = registry.text(registry.MACHINE, ENVIRONMENT_KEY, "PROCESSOR_ARCHITECTURE") or platform.machine()
        return OperatingSystem(
            system="windows",
            name=windows_product_name(registry.text(registry.MACHINE, VERSION_KEY, "ProductName"), version.build),
            version=f"{version.major}.{version.minor}.{version.build}",
            build=version.build,
            arch=linux_read.normalize_architecture(machine),
            wsl=False,
            secure_boot=self._facts.is_secure_boot_enabled(),
        )

    def cpu(self) -> Cpu:
        """Name from the registry, counts from psutil."""
        import psutil

        return Cpu(
            name=registry.text(registry.MACHINE, PROCESSOR_KEY, "ProcessorNameString"),
            cores=psutil.cpu_count(logical=False),
            threads=os.cpu_count(),
        )

    def display_adapters(self) -> tuple[Gpu, ...]:
        """From SetupAPI and the display class of the registry."""
        return self._facts.display_adapters(windows_devices.device_entries())

    def memory_bytes(self) -> int:
        """From psutil."""
        import psutil

        return psutil.virtual_memory().total

    def disks(self) -> tuple[Disk, ...]:
        """Fixed drives; a network drive that does not answer would hold us up for minutes."""
        kernel = ctypes.windll.kernel32
        drive_mask = kernel.GetLogicalDrives()
        paths = [f"{chr(ord('A') + number)}:\\" for number in range(26) if drive_mask >> number & 1]
        fixed_drives = [path for path in paths if kernel.GetDriveTypeW(ctypes.c_wchar_p(path)) == DRIVE_FIXED]
        disks_by_path = patience.gather_with_timeout({path: partial(_read_disk, path) for path in fixed_drives}, DISK_TIMEOUT_S)
        return tuple(disk for path in fixed_drives if (disk := disks_by_path.get(path, Disk(path=path))) is not None)

    def python_candidates(self) -> tuple[Path, ...]:
        """PATH, the registry (PEP 514), the usual folders, conda."""
        return windows_pythons.windows_python_candidates(Path.home(), self._environ)

    def find_program(self, name: str) -> Path | None:
        """On PATH, as an .exe, or where its installer puts it."""
        return places.find_on_path((f"{name}.exe",), self._environ) or self._facts.find_program(name, Path.home())

    def is_gpu_asleep(self, address: str) -> bool:
        """By the power state that Windows last gave the device."""
        return any(device.is_asleep for device in windows_devices.nvidia_devices() if device.address == address)

    def can_gpu_sleep(self, address: str) -> bool:
        """As `System.card_may_sleep` says."""
        del address  # Windows lets a laptop's second card sleep, and hardly any other
        return self.laptop() is not False

    def gpu_memory_by_process(self, address: str) -> dict[int, int]:
        """As the Task Manager counts it."""
        from .windows_gpu_memory import gpu_memory_by_process

        return gpu_memory_by_process(address)

    def are_gpus_asleep(self) -> bool:
        """By the power states that Windows last gave the devices."""
        devices = windows_devices.nvidia_devices()
        return bool(devices) and all(device.is_asleep for device in devices)

    def sleeping_driver(self) -> Driver | None:
        """From the registry's display class, where the installer wrote it down."""
        devices = windows_devices.nvidia_devices()
        if not devices or not all(device.is_asleep for device in devices):
            return None
        version = next((device.driver_version for device in devices if device.driver_version), None)
        return Driver(version=version) if version else None

    def loaded_driver(self) -> str:
        """Windows has no such file."""
        return ""

    def is_admin(self) -> bool:
        """Whether our token is an elevated one."""
        return bool(ctypes.windll.shell32.IsUserAnAdmin())

    def user(self) -> User:
        """The profile's folder and its traps."""
        home = str(Path.home())
        return User(
            home=home,
            ascii=home.isascii(),
            admin=self.is_admin(),
            home_too_long=is_home_too_long(home),
            onedrive=self._facts.onedrive_folders(),
        )

    def laptop(self) -> bool | None:
        """By the chassis, else by a battery."""
        return self._facts.is_laptop(windows_power.has_battery())

    def remote_desktop(self) -> bool | None:
        """By GetSystemMetrics."""
        return bool(ctypes.windll.user32.GetSystemMetrics(SM_REMOTESESSION))

    def power(self) -> PowerStatus:
        """From GetSystemPowerStatus."""
        return windows_power.read_power_status()

    # What is done for the user
    @property
    def variables(self) -> UserEnvironmentVariables:
        """In the registry, and said to all windows."""
        from .windows_environment import WindowsEnvironmentVariables

        return WindowsEnvironmentVariables()

    @property
    def login_command(self) -> LoginCommand:
        """RunOnce."""
        from .windows_login import WindowsLoginCommand

        return WindowsLoginCommand()

    def run_as_admin(
        self, argv: Sequence[str | Path], *, cancel: threading.Event | None = None, window: int | None = None
    ) -> int:
        """Through the shell's "runas"; also raises ValueError for a batch file."""
        from .windows_rights import run_as_admin

        return run_as_admin(argv, cancel=cancel, window=window)

    def taskbar(self, window: int) -> TaskbarProgress | None:
        """The shell's; None where it has none."""
        from .windows_taskbar import WindowsTaskbarProgress

        with suppress(OSError):
            return WindowsTaskbarProgress(window)
        return None

    def keep_awake(self, reason: str) -> AbstractContextManager[bool]:  # noqa: ARG002 - Windows takes no reason here
        """While this thread is in the context."""
        return windows_power.keep_awake()

    def open_folder(self, folder: Path) -> None:
        """In Explorer; raises AppError("no-file-manager")."""
        try:
            os.startfile(folder)  # noqa: S606 - a folder, nothing that runs
        except OSError as error:
            raise AppError("no-file-manager", path=str(folder)) from error

    def open_terminal(self, environment: Path) -> None:
        """In cmd with its own window; raises AppError("no-terminal")."""
        cmd = self._system_folder() / "cmd.exe"
        activate_script = environment / "Scripts" / "activate.bat"
        if not cmd.is_file() or not activate_script.is_file():
            raise AppError("no-terminal", path=str(environment))
        # cmd takes off the outer quotes and keeps the inner ones.
        process = subprocess.Popen(
            f'"{cmd}" /K ""{activate_script}""',
            executable=str(cmd),
            cwd=environment,
            creationflags=subprocess.CREATE_NEW_CONSOLE,
        )
        # Its handle is kept until somebody has taken note of its end.
        threading.Thread(target=process.wait, name="waits for a terminal", daemon=True).start()

    @staticmethod
    def _system_folder() -> Path:
        buffer = ctypes.create_unicode_buffer(260)
        ctypes.windll.kernel32.GetSystemDirectoryW(buffer, len(buffer))
        return Path(buffer.value)


def _read_disk(path: str) -> Disk | None:
    try:
        usage = shutil.disk_usage(path)
    except OSError:
        return None
    return Disk(path=path, free_bytes=usage.free, total_bytes=usage.total)
