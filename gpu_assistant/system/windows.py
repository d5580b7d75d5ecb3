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
from pathlib import Path  # noqa: E402
from typing import BinaryIO  # noqa: E402

from ..core.errors import AppError  # noqa: E402
from ..core.machine import Cpu, Disk, Driver, Gpu, OperatingSystem, SystemName  # noqa: E402
from ..core.settings import Language  # noqa: E402
from . import (  # noqa: E402
    linux_read,
    places,
    processes,
    windows_devices,
    windows_power,
    windows_processes,
    windows_pythons,
    windows_start,
)
from . import windows_registry as registry  # noqa: E402
from .base import Finished  # noqa: E402
from .language import user_language  # noqa: E402
from .services import AtLogin, Power, Taskbar, UserVariables  # noqa: E402
from .windows_read import environments_folder, quoted, system_name  # noqa: E402

VERSION_KEY = r"SOFTWARE\Microsoft\Windows NT\CurrentVersion"
CPU_KEY = r"HARDWARE\DESCRIPTION\System\CentralProcessor\0"
ENVIRONMENT_KEY = r"SYSTEM\CurrentControlSet\Control\Session Manager\Environment"
RUNTIME_KEY = r"SOFTWARE\Microsoft\VisualStudio\14.0\VC\Runtimes\X64"
TOOLKITS_KEY = r"SOFTWARE\NVIDIA Corporation\GPU Computing Toolkit\CUDA"
INTERNET_KEY = r"Software\Microsoft\Windows\CurrentVersion\Internet Settings"
REBOOT_KEYS = (
    r"SOFTWARE\Microsoft\Windows\CurrentVersion\Component Based Servicing\RebootPending",
    r"SOFTWARE\Microsoft\Windows\CurrentVersion\WindowsUpdate\Auto Update\RebootRequired",
)
FIXED_DISK = 3  # GetDriveTypeW


class WindowsSystem:
    """What `base.System` asks, answered by Windows."""

    name: SystemName = "windows"

    def __init__(self, environ: Mapping[str, str] = os.environ) -> None:
        self._environ = environ

    # Programs
    def run(
        self,
        argv: Sequence[str | Path],
        *,
        timeout: float,
        environ: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        cancel: threading.Event | None = None,
        on_line: Callable[[str], None] | None = None,
    ) -> Finished:
        """See `base.System.run`; also raises ValueError for a relative program path and for a batch file."""
        return processes.run(
            windows_processes.start,
            argv,
            timeout=timeout,
            environ=environ,
            cwd=cwd,
            cancel=cancel,
            on_line=on_line,
            fallback="mbcs",
        )

    def start_checked(self, program: Path, check: Callable[[BinaryIO], None]) -> None:
        """See `base.System.start_checked`."""
        windows_start.start_checked(program, check)

    def executable(self, name: str) -> str:
        """With its ".exe"."""
        return f"{name}.exe"

    def environment_python(self, environment: Path) -> Path:
        r"""Scripts\python.exe."""
        return environment / "Scripts" / "python.exe"

    def standalone_python(self, folder: Path) -> Path:
        """python.exe."""
        return folder / "python.exe"

    def activation(self, environment: Path) -> str:
        """For cmd; PowerShell takes it too where the path needs no quotes."""
        return quoted(str(environment / "Scripts" / "activate"))

    # Places
    def default_environments(self, data_root: Path) -> Path:
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
            name=system_name(registry.text(registry.MACHINE, VERSION_KEY, "ProductName"), version.build),
            version=f"{version.major}.{version.minor}.{version.build}",
            build=version.build,
            arch=linux_read.arch(machine),
            wsl=False,
        )

    def cpu(self) -> Cpu:
        """Name from the registry, counts from psutil."""
        import psutil

        return Cpu(
            name=registry.text(registry.MACHINE, CPU_KEY, "ProcessorNameString"),
            cores=psutil.cpu_count(logical=False),
            threads=os.cpu_count(),
        )

    def display_adapters(self) -> tuple[Gpu, ...]:
        """From SetupAPI and the display class of the registry."""
        return windows_devices.display_adapters()

    def disks(self) -> tuple[Disk, ...]:
        """Fixed drives; a network drive that does not answer would hold us up for minutes."""
        found = []
        kernel = ctypes.windll.kernel32
        letters = kernel.GetLogicalDrives()
        for number in range(26):
            path = f"{chr(ord('A') + number)}:\\"
            if not letters >> number & 1 or kernel.GetDriveTypeW(ctypes.c_wchar_p(path)) != FIXED_DISK:
                continue
            try:
                usage = shutil.disk_usage(path)
            except OSError:
                continue
            found.append(Disk(path=path, free_bytes=usage.free, total_bytes=usage.total))
        return tuple(found)

    def python_candidates(self) -> tuple[Path, ...]:
        """PATH, the registry (PEP 514), the usual folders, conda."""
        return windows_pythons.candidates(Path.home(), self._environ)

    def program(self, name: str) -> Path | None:
        """On PATH, as an .exe."""
        return places.program((f"{name}.exe",), self._environ)

    def card_asleep(self, address: str) -> bool:
        """By the power state that Windows last gave the device."""
        return any(card.asleep for card in windows_devices.nvidia_cards() if card.address == address)

    def cards_asleep(self) -> bool:
        """By the power states that Windows last gave the devices."""
        cards = windows_devices.nvidia_cards()
        return bool(cards) and all(card.asleep for card in cards)

    def sleeping_driver(self) -> Driver | None:
        """From the registry's display class, where the installer wrote it down."""
        cards = windows_devices.nvidia_cards()
        if not cards or not all(card.asleep for card in cards):
            return None
        version = next((card.driver for card in cards if card.driver), None)
        return Driver(version=version) if version else None

    def cuda_folders(self) -> tuple[Path, ...]:
        """Where NVIDIA's installer puts toolkits, what it wrote down, and its variables (CUDA_PATH_V12_6 …)."""
        usual = sorted(self._program_files().glob("NVIDIA GPU Computing Toolkit/CUDA/v*"))
        written = [
            Path(folder)
            for version in sorted(registry.children(registry.MACHINE, TOOLKITS_KEY))
            if (folder := registry.text(registry.MACHINE, f"{TOOLKITS_KEY}\\{version}", "InstallDir"))
        ]
        variables = [
            *sorted(name for name in self._environ if name.startswith("CUDA_PATH_V")),
            "CUDA_PATH",
            "CUDA_HOME",
        ]
        named = [Path(value) for name in variables if (value := self._environ.get(name))]
        return places.distinct_folders([*usual, *written, *named])

    def cudnn_folders(self) -> tuple[Path, ...]:
        """NVIDIA's own folder and those inside toolkits."""
        own = sorted(self._program_files().glob("NVIDIA/CUDNN/v*"))
        own_includes = [inside for folder in own for inside in (folder / "include", *folder.glob("include/*"))]
        return places.distinct_folders([*own_includes, *(folder / "include" for folder in self.cuda_folders())])

    def visual_cpp(self) -> str | None:
        """As its installer wrote it down."""
        major = registry.number(registry.MACHINE, RUNTIME_KEY, "Major")
        minor = registry.number(registry.MACHINE, RUNTIME_KEY, "Minor")
        return f"{major}.{minor}" if major is not None and minor is not None else None

    def proxy(self) -> str | None:
        """From the environment, else from Windows' settings."""
        if (given := places.proxy(self._environ)) is not None:
            return given
        if not registry.number(registry.USER, INTERNET_KEY, "ProxyEnable"):
            return None
        servers = registry.text(registry.USER, INTERNET_KEY, "ProxyServer") or ""
        # Either one address for all, or "http=host:port;https=host:port".
        named = dict(part.split("=", 1) for part in servers.split(";") if "=" in part)
        chosen = named.get("https") or named.get("http") or ("" if named else servers)
        return places.without_secrets(chosen) if chosen else None

    def is_admin(self) -> bool:
        """Whether our token is an elevated one."""
        return bool(ctypes.windll.shell32.IsUserAnAdmin())

    def pending_reboot(self) -> bool | None:
        """By the keys of servicing and Windows Update; pending renames alone are everyday."""
        return any(registry.exists(registry.MACHINE, key) for key in REBOOT_KEYS)

    def power(self) -> Power:
        """From GetSystemPowerStatus."""
        return windows_power.power()

    # What is done for the user
    @property
    def variables(self) -> UserVariables:
        """In the registry, and said to all windows."""
        from .windows_environment import WindowsVariables

        return WindowsVariables()

    @property
    def at_login(self) -> AtLogin:
        """RunOnce."""
        from .windows_login import WindowsAtLogin

        return WindowsAtLogin()

    def run_as_admin(
        self, argv: Sequence[str | Path], *, cancel: threading.Event | None = None, window: int | None = None
    ) -> int:
        """Through the shell's "runas"; also raises ValueError for a batch file."""
        from .windows_rights import run_as_admin

        return run_as_admin(argv, cancel=cancel, window=window)

    def taskbar(self, window: int) -> Taskbar | None:
        """The shell's; None where it has none."""
        from .windows_taskbar import WindowsTaskbar

        with suppress(OSError):
            return WindowsTaskbar(window)
        return None

    def keep_awake(self, why: str) -> AbstractContextManager[bool]:  # noqa: ARG002 - Windows takes no reason here
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
        start = environment / "Scripts" / "activate.bat"
        if not cmd.is_file() or not start.is_file():
            raise AppError("no-terminal", path=str(environment))
        # cmd takes off the outer quotes and keeps the inner ones.
        process = subprocess.Popen(
            f'"{cmd}" /K ""{start}""',
            executable=str(cmd),
            cwd=environment,
            creationflags=subprocess.CREATE_NEW_CONSOLE,
        )
        # Its handle is kept until somebody has taken note of its end.
        threading.Thread(target=process.wait, name="waits for a terminal", daemon=True).start()

    def _program_files(self) -> Path:
        return Path(self._environ.get("ProgramW6432") or self._environ.get("ProgramFiles") or "C:\\Program Files")

    @staticmethod
    def _system_folder() -> Path:
        buffer = ctypes.create_unicode_buffer(260)
        ctypes.windll.kernel32.GetSystemDirectoryW(buffer, len(buffer))
        return Path(buffer.value)
