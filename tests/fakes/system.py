"""An operating system whose every answer is an argument: a fake for each role, and one for all of them.

Programs are really run, unless `run` is given. Where programs and interpreters lie is the real system's answer.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from gpu_assistant.core.machine import Cloud, Container, Cpu, Disk, Driver, Gpu, OperatingSystem, SystemName, User
from gpu_assistant.core.types import Language
from gpu_assistant.system import current_system
from gpu_assistant.system.base import (
    MENU_SCRIPT,
    FolderWriters,
    LoginCommand,
    MenuEntryFile,
    PowerStatus,
    ProcessResult,
    TaskbarProgress,
    UserEnvironmentVariables,
    WslStatus,
    menu_entry_name,
)

REAL = current_system()


class FakeHardware:
    """`pci_root` is a folder like /sys/bus/pci/devices; what counts memory is filled by the test."""

    def __init__(
        self,
        *,
        name: SystemName = "linux",
        operating_system: OperatingSystem | None = None,
        cpu: Cpu | None = None,
        disks: tuple[Disk, ...] = (),
        display_adapters: tuple[Gpu, ...] = (),
        pci_root: Path | None = None,
        nvidia_smi: Path | None = None,
        loaded_driver: str = "",
        sleeping_driver: Driver | None = None,
        power: PowerStatus | None = None,
        laptop: bool | None = None,
        pending_reboot: bool | None = None,
        **roles: Any,
    ) -> None:
        super().__init__(**roles)
        self.name = name
        self.memory_by_card: dict[str, dict[int, int]] = {}
        self.shared_memory_by_process: dict[int, int] = {}
        self.shared_memory: dict[str, int] = {}  # by PCI address
        self._operating_system = operating_system or OperatingSystem(system=name)
        self._cpu = cpu or Cpu()
        self._disks = disks
        self._display_adapters = display_adapters
        self._pci_root = pci_root
        self._nvidia_smi = nvidia_smi
        self._loaded_driver = loaded_driver
        self._sleeping_driver = sleeping_driver
        self._power = power or PowerStatus()
        self._laptop = laptop
        self._pending_reboot = pending_reboot

    def operating_system(self) -> OperatingSystem:
        return self._operating_system

    def cpu(self) -> Cpu:
        return self._cpu

    def memory_bytes(self) -> int:
        return REAL.memory_bytes()

    def disks(self) -> tuple[Disk, ...]:
        return self._disks

    def display_adapters(self) -> tuple[Gpu, ...]:
        return self._display_adapters

    def nvidia_smi(self) -> Path | None:
        return self._nvidia_smi

    def loaded_driver(self) -> str:
        return self._loaded_driver

    def kernel_without_driver(self) -> str | None:
        return None

    def sleeping_driver(self) -> Driver | None:
        return self._sleeping_driver

    def are_gpus_asleep(self) -> bool:
        from gpu_assistant.system.linux import hardware  # no part of the shipped Windows program

        return self._pci_root is not None and hardware.are_nvidia_devices_asleep(self._pci_root)

    def is_gpu_asleep(self, address: str) -> bool:
        from gpu_assistant.system.linux import hardware

        return self._pci_root is not None and hardware.is_device_asleep(self._pci_root, address)

    def can_gpu_sleep(self, address: str) -> bool:
        from gpu_assistant.system.linux import hardware

        return self._pci_root is not None and hardware.can_device_sleep(self._pci_root, address)

    def gpu_memory_by_process(self, address: str) -> dict[int, int]:
        return self.memory_by_card.get(address, {})

    def shared_gpu_memory(self, address: str) -> int | None:
        return self.shared_memory.get(address)

    def gpu_shared_memory(self, pid: int) -> int | None:
        return self.shared_memory_by_process.get(pid)

    def power(self) -> PowerStatus:
        return self._power

    def laptop(self) -> bool | None:
        return self._laptop

    def virtual_machine(self) -> bool | None:
        return False

    def container(self) -> Container | None:
        return None

    def cloud(self) -> Cloud | None:
        return None

    def remote_desktop(self) -> bool | None:
        return False

    def pending_reboot(self) -> bool | None:
        return self._pending_reboot


class FakeWindows:
    """What only Windows has; `wsl` is called for each answer."""

    def __init__(
        self,
        system32_folder: Path = Path("/nowhere/System32"),
        *,
        visual_cpp: str | None = None,
        wsl: Callable[[], WslStatus] = WslStatus,
        vswhere: Path | None = None,
        msvc_folders: tuple[Path, ...] = (),
    ) -> None:
        self._system32_folder = system32_folder
        self._visual_cpp = visual_cpp
        self._wsl = wsl
        self._vswhere = vswhere
        self._msvc_folders = msvc_folders

    def visual_cpp(self) -> str | None:
        return self._visual_cpp

    def installed_program(self, key: str) -> str | None:
        return None

    def system32_folder(self) -> Path:
        return self._system32_folder

    def wsl(self) -> WslStatus:
        return self._wsl()

    def vswhere(self) -> Path | None:
        return self._vswhere

    def msvc_folders(self) -> tuple[Path, ...]:
        return self._msvc_folders


class FakeProcesses:
    """`ran` collects the argument lists of all programs; `programs` are those that are found, by name."""

    def __init__(
        self,
        *,
        run: Callable[..., ProcessResult] | None = None,
        programs: Mapping[str, Path] | None = None,
        python_candidates: tuple[Path, ...] = (),
        cuda_folders: tuple[Path, ...] = (),
        cudnn_folders: tuple[Path, ...] = (),
        windows: FakeWindows | None = None,
        **roles: Any,
    ) -> None:
        super().__init__(**roles)
        self.ran: list[tuple[str, ...]] = []
        self._run = run or REAL.run
        self._programs = programs or {}
        self._python_candidates = python_candidates
        self._cuda_folders = cuda_folders
        self._cudnn_folders = cudnn_folders
        self.windows = windows

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
        self.ran.append(tuple(str(word) for word in argv))
        return self._run(argv, timeout=timeout, environ=environ, cwd=cwd, cancel=cancel, on_line=on_line)

    def run_to_end(
        self, argv: Sequence[str | Path], *, environ: Mapping[str, str | None] | None = None, cwd: Path | None = None
    ) -> ProcessResult:
        if self._run != REAL.run:
            return self.run(argv, timeout=math.inf, environ=environ, cwd=cwd)
        self.ran.append(tuple(str(word) for word in argv))
        return REAL.run_to_end(argv, environ=environ, cwd=cwd)

    def start_checked(self, program: Path, check: Callable[[BinaryIO], None]) -> None:
        REAL.start_checked(program, check)

    def open_unchanging(self, path: Path) -> BinaryIO:
        return REAL.open_unchanging(path)

    def executable(self, name: str) -> str:
        return REAL.executable(name)

    def find_program(self, name: str) -> Path | None:
        return self._programs.get(name)

    def python_candidates(self) -> tuple[Path, ...]:
        return self._python_candidates

    def cuda_folders(self) -> tuple[Path, ...]:
        return self._cuda_folders

    def cudnn_folders(self) -> tuple[Path, ...]:
        return self._cudnn_folders

    def environment_python(self, environment: Path) -> Path:
        return REAL.environment_python(environment)

    def environment_program(self, environment: Path, name: str) -> Path:
        return REAL.environment_program(environment, name)

    def standalone_python(self, folder: Path) -> Path:
        return REAL.standalone_python(folder)

    def activation_command(self, environment: Path) -> str:
        return REAL.activation_command(environment)

    def powershell_activation(self, environment: Path) -> str | None:
        return REAL.powershell_activation(environment)

    def conda_activation_files(self, environment: Path, conda: Path) -> Mapping[Path, bytes]:
        return REAL.conda_activation_files(environment, conda)


class FakeElevation:
    """`elevated` collects what was to run with administrator rights."""

    def __init__(self, *, is_admin: bool = False, **roles: Any) -> None:
        super().__init__(**roles)
        self.elevated: list[tuple[str, ...]] = []
        self._is_admin = is_admin

    def is_admin(self) -> bool:
        return self._is_admin

    def run_as_admin(
        self, argv: Sequence[str | Path], *, cancel: threading.Event | None = None, window: int | None = None
    ) -> int:
        self.elevated.append(tuple(str(word) for word in argv))
        return 0

    def run_to_end_as_admin(self, argv: Sequence[str | Path]) -> ProcessResult:
        self.elevated.append(tuple(str(word) for word in argv))
        return ProcessResult(returncode=0, stdout="", stderr="")


class FakeStartupCommand:
    """See `base.LoginCommand`; kept in memory."""

    def __init__(self) -> None:
        self.command: tuple[str, ...] | None = None

    def set(self, argv: Sequence[str | Path]) -> None:
        self.command = tuple(map(str, argv))

    def get(self) -> tuple[str, ...] | None:
        return self.command

    def clear(self) -> None:
        self.command = None


class FakeDesktop:
    """A desktop whose menu and Jupyter lie in the folder `root`.

    `opened` and `started` (with its folder) collect what was opened and started; `awake` counts `keep_awake`.
    """

    def __init__(
        self,
        root: Path = Path("/nowhere"),
        *,
        editor: Path | None = None,
        pycharm: Path | None = None,
        taskbar: Callable[[int], TaskbarProgress | None] = lambda _: None,
        login_command: LoginCommand | None = None,
        startup_command: LoginCommand | None = None,
        **roles: Any,
    ) -> None:
        super().__init__(**roles)
        self.root = root
        self.opened: list[Path] = []
        self.started: list[tuple[tuple[str, ...], Path]] = []
        self.awake = 0
        self._editor = editor
        self._pycharm = pycharm
        self._taskbar = taskbar
        self._login_command = login_command
        self.startup_command = startup_command or FakeStartupCommand()
        self.foreground_allowed: list[int] = []

    def open_folder(self, folder: Path) -> None:
        self.opened.append(folder)

    def open_file(self, file: Path) -> None:
        self.opened.append(file)

    def open_power_settings(self) -> None:
        self.opened.append(Path("power-settings"))

    def open_terminal(self, environment: Path) -> None:
        self.opened.append(environment)

    def start_program(self, argv: Sequence[str | Path], folder: Path) -> None:
        self.started.append((tuple(str(word) for word in argv), folder))

    def find_pycharm(self) -> Path | None:
        return self._pycharm

    def find_editor(self) -> Path | None:
        return self._editor

    def kernels_folder(self) -> Path:
        return self.root / "jupyter" / "kernels"

    def menu_entry_files(self, environment: Path) -> tuple[MenuEntryFile, ...]:
        return (
            MenuEntryFile(path=environment / MENU_SCRIPT, content=b"script"),
            MenuEntryFile(path=self.root / "menu" / f"{menu_entry_name(environment)}.lnk", content=b"entry"),
        )

    def allow_foreground(self, process_id: int) -> None:
        self.foreground_allowed.append(process_id)

    def taskbar(self, window: int) -> TaskbarProgress | None:
        return self._taskbar(window)

    def keep_awake(self, reason: str) -> AbstractContextManager[bool]:
        @contextmanager
        def awake() -> Iterator[bool]:
            self.awake += 1
            try:
                yield True
            finally:
                self.awake -= 1

        return awake()

    @property
    def login_command(self) -> LoginCommand:
        assert self._login_command is not None
        return self._login_command


class FakeUserEnvironment:
    """`environments` is the folder for new environments; else it lies in the data folder."""

    def __init__(
        self,
        *,
        language: Language = "en",
        proxy: str | None = None,
        environments: Path | None = None,
        variables: UserEnvironmentVariables | None = None,
        **roles: Any,
    ) -> None:
        super().__init__(**roles)
        self._language = language
        self._proxy = proxy
        self._environments = environments
        self._variables = variables

    def user(self) -> User:
        return User(home=str(Path.home()))

    def language(self) -> Language:
        return self._language

    def proxy(self) -> str | None:
        return self._proxy

    def automatic_proxy(self, url: str) -> str | None:
        return None

    def folder_writers(self, folder: Path) -> FolderWriters:
        return current_system().folder_writers(folder)

    def default_environments_folder(self, data_root: Path) -> Path:
        return self._environments or data_root / "environments"

    @property
    def variables(self) -> UserEnvironmentVariables:
        assert self._variables is not None
        return self._variables


class FakeSystem(FakeHardware, FakeProcesses, FakeElevation, FakeDesktop, FakeUserEnvironment):
    """All roles together; it takes the arguments of each by name."""

    def user(self) -> User:
        return User(home=str(Path.home()), admin=self.is_admin())
