"""Where Python interpreters and programs lie on Windows.

Windows, through its registry and its own libraries; no wmic, no PowerShell.
"""

from __future__ import annotations

import sys

assert sys.platform == "win32"  # noqa: S101 - the type checker reads this too

import ctypes
import os
import platform
import shutil
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from functools import partial
from pathlib import Path
from typing import BinaryIO

from ...core.errors import AppError
from ...core.machine import Cpu, Disk, Driver, Gpu, OperatingSystem, SystemName, User
from ...core.types import Language
from .. import paths as system_paths
from .. import processes
from ..base import LoginCommand, PowerStatus, ProcessResult, TaskbarProgress, UserEnvironmentVariables
from ..language import user_language
from ..linux import parsing
from . import desktop, facts, registry
from . import devices as windows_devices
from . import processes as windows_processes
from .facts import (
    WindowsFactAnswers,
    WindowsFacts,
    environments_folder,
    is_home_too_long,
    quote_for_shell,
    windows_product_name,
)

_CONDA_HOMES = ("miniconda3", "anaconda3", "miniforge3", "mambaforge")
_PEP514_KEYS = (r"SOFTWARE\Python", r"SOFTWARE\WOW6432Node\Python")  # PEP 514


def windows_python_candidates(home: Path, environ: Mapping[str, str]) -> tuple[Path, ...]:
    """Interpreters worth asking, those on PATH first; each once.

    The Store's stand-ins named python.exe, which open the Store, are left out; where the Store's Python is
    installed, it has a folder of its own beside them.
    """
    return system_paths.unique_interpreters(_candidate_paths(home, environ))


def _candidate_paths(home: Path, environ: Mapping[str, str]) -> Iterator[Path]:
    local_app_data = Path(environ.get("LOCALAPPDATA") or home / "AppData/Local")
    roaming_app_data = Path(environ.get("APPDATA") or home / "AppData/Roaming")
    store = local_app_data / "Microsoft/WindowsApps"
    for folder in system_paths.absolute_path_folders(environ):
        if folder != store:
            yield from (folder / "python.exe", folder / "python3.exe")
    yield from _registered_interpreters()
    patterns = (
        (local_app_data / "Programs/Python", "Python3*/python.exe"),
        (Path(environ.get("SystemDrive", "C:") + "\\"), "Python3*/python.exe"),
        (roaming_app_data / "uv/python", "*/python.exe"),
        (home / ".pyenv/pyenv-win/versions", "*/python.exe"),
        (store, "PythonSoftwareFoundation.Python.3*/python.exe"),
    )
    for folder, pattern in patterns:
        yield from sorted(folder.glob(pattern))
    for prefix in _conda_prefixes(home, local_app_data, environ):
        yield prefix / "python.exe"


def _registered_interpreters() -> Iterator[Path]:
    for root in (registry.USER, registry.MACHINE):
        for python_key in _PEP514_KEYS:
            for company in registry.children(root, python_key):
                if company == "PyLauncher":
                    continue
                for tag in registry.children(root, f"{python_key}\\{company}"):
                    key = f"{python_key}\\{company}\\{tag}\\InstallPath"
                    if program := registry.text(root, key, "ExecutablePath"):
                        yield Path(program)
                    elif folder := registry.text(root, key, ""):
                        yield Path(folder) / "python.exe"


def _conda_prefixes(home: Path, local_app_data: Path, environ: Mapping[str, str]) -> Iterator[Path]:
    if program := environ.get("CONDA_EXE"):
        yield Path(program).parent.parent
    program_data = Path(environ.get("ProgramData", "C:\\ProgramData"))
    for name in _CONDA_HOMES:
        yield from (home / name, local_app_data / name, program_data / name)
    try:
        text = (home / ".conda/environments.txt").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return
    yield from (Path(line.strip()) for line in text.splitlines() if line.strip())


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
        library_folders = facts.conda_library_folders(Path(argv[0])) if argv else ()
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
        windows_processes.start_checked(program, check)

    def executable(self, name: str) -> str:
        """With its ".exe"."""
        return f"{name}.exe"

    def environment_python(self, environment: Path) -> Path:
        r"""Scripts\python.exe; conda's lies at the root."""
        folder = environment if facts.is_conda_environment(environment) else environment / "Scripts"
        return folder / "python.exe"

    def environment_program(self, environment: Path, name: str) -> Path:
        """In Scripts."""
        return environment / "Scripts" / self.executable(name)

    def conda_activation_files(self, environment: Path, conda: Path) -> Mapping[Path, bytes]:
        """For cmd, in the letters that it reads, and for PowerShell, which needs to be told that it is UTF-8."""
        scripts = facts.windows_activation_scripts(environment, conda.resolve().parent.parent)
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
            arch=parsing.normalize_architecture(machine),
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
        disks_by_path = processes.gather_with_timeout(
            {path: partial(_read_disk, path) for path in fixed_drives}, DISK_TIMEOUT_S
        )
        return tuple(disk for path in fixed_drives if (disk := disks_by_path.get(path, Disk(path=path))) is not None)

    def python_candidates(self) -> tuple[Path, ...]:
        """PATH, the registry (PEP 514), the usual folders, conda."""
        return windows_python_candidates(Path.home(), self._environ)

    def find_program(self, name: str) -> Path | None:
        """On PATH, as an .exe, or where its installer puts it."""
        return system_paths.find_on_path((f"{name}.exe",), self._environ) or self._facts.find_program(name, Path.home())

    def is_gpu_asleep(self, address: str) -> bool:
        """By the power state that Windows last gave the device."""
        return any(device.is_asleep for device in windows_devices.nvidia_devices() if device.address == address)

    def can_gpu_sleep(self, address: str) -> bool:
        """As `System.card_may_sleep` says."""
        del address  # Windows lets a laptop's second card sleep, and hardly any other
        return self.laptop() is not False

    def gpu_memory_by_process(self, address: str) -> dict[int, int]:
        """As the Task Manager counts it."""
        from .devices import gpu_memory_by_process

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
        return self._facts.is_laptop(desktop.has_battery())

    def remote_desktop(self) -> bool | None:
        """By GetSystemMetrics."""
        return bool(ctypes.windll.user32.GetSystemMetrics(SM_REMOTESESSION))

    def power(self) -> PowerStatus:
        """From GetSystemPowerStatus."""
        return desktop.read_power_status()

    # What is done for the user
    @property
    def variables(self) -> UserEnvironmentVariables:
        """In the registry, and said to all windows."""
        from .environment import WindowsEnvironmentVariables

        return WindowsEnvironmentVariables()

    @property
    def login_command(self) -> LoginCommand:
        """RunOnce."""
        from .desktop import WindowsLoginCommand

        return WindowsLoginCommand()

    def run_as_admin(
        self, argv: Sequence[str | Path], *, cancel: threading.Event | None = None, window: int | None = None
    ) -> int:
        """Through the shell's "runas"; also raises ValueError for a batch file."""
        from .elevation import run_as_admin

        return run_as_admin(argv, cancel=cancel, window=window)

    def taskbar(self, window: int) -> TaskbarProgress | None:
        """The shell's; None where it has none."""
        from .desktop import WindowsTaskbarProgress

        with suppress(OSError):
            return WindowsTaskbarProgress(window)
        return None

    def keep_awake(self, reason: str) -> AbstractContextManager[bool]:  # noqa: ARG002 - Windows takes no reason here
        """While this thread is in the context."""
        return desktop.keep_awake()

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
