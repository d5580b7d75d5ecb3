"""A computer whose every answer is an argument. Programs are really run, unless `run` is given."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from gpu_assistant.core.machine import Cpu, Disk, Driver, Gpu, OperatingSystem, SystemName, User
from gpu_assistant.core.types import Language
from gpu_assistant.system import current_system
from gpu_assistant.system.base import (
    LoginCommand,
    PowerStatus,
    ProcessResult,
    TaskbarProgress,
    UserEnvironmentVariables,
    WslStatus,
)
from gpu_assistant.system.linux import hardware


class FakeSystem:
    """Answers what it was told. Where programs and interpreters lie is the real system's answer.

    `ran` collects the argument lists of all programs, `opened` what was opened, `awake` counts keep_awake.
    `pci_root` is a folder like /sys/bus/pci/devices, `asked_rights` collects what was to run with administrator rights.
    """

    def __init__(
        self,
        *,
        name: SystemName = "linux",
        run: Callable[..., ProcessResult] | None = None,
        environments: Path | None = None,
        language: Language = "en",
        operating_system: OperatingSystem | None = None,
        cpu: Cpu | None = None,
        display_adapters: tuple[Gpu, ...] = (),
        disks: tuple[Disk, ...] = (),
        python_candidates: tuple[Path, ...] = (),
        programs: Mapping[str, Path] | None = None,
        sleeping_driver: Driver | None = None,
        cuda_folders: tuple[Path, ...] = (),
        cudnn_folders: tuple[Path, ...] = (),
        visual_cpp: str | None = None,
        shared_libraries: Path | None = None,
        wsl: Callable[[], WslStatus] | None = None,
        proxy: str | None = None,
        is_admin: bool = False,
        pending_reboot: bool | None = None,
        nvidia_smi: Path | None = None,
        loaded_driver: str = "",
        vswhere: Path | None = None,
        msvc_folders: tuple[Path, ...] = (),
        laptop: bool | None = None,
        pci_root: Path | None = None,
        power: PowerStatus | None = None,
        variables: UserEnvironmentVariables | None = None,
        at_login: LoginCommand | None = None,
        taskbar: Callable[[int], TaskbarProgress | None] = lambda _: None,
    ) -> None:
        self.name = name
        self.real = current_system()
        self.memory_by_card: dict[str, dict[int, int]] = {}
        self.ran: list[tuple[str, ...]] = []
        self.opened: list[Path] = []
        self.asked_rights: list[tuple[str, ...]] = []
        self.awake = 0
        self._run = run
        self._environments = environments
        self._language = language
        self._operating_system = operating_system or OperatingSystem(system=name)
        self._cpu = cpu or Cpu()
        self._display_adapters = display_adapters
        self._disks = disks
        self._python_candidates = python_candidates
        self._programs = programs or {}
        self._sleeping_driver = sleeping_driver
        self._cuda_folders = cuda_folders
        self._cudnn_folders = cudnn_folders
        self._visual_cpp = visual_cpp
        self._shared_libraries = shared_libraries
        self._wsl = wsl
        self._proxy = proxy
        self._is_admin = is_admin
        self._pending_reboot = pending_reboot
        self._nvidia_smi = nvidia_smi
        self._loaded_driver = loaded_driver
        self._vswhere = vswhere
        self._msvc_folders = msvc_folders
        self._laptop = laptop
        self._pci_root = pci_root
        self._power = power or PowerStatus()
        self._variables = variables
        self._at_login = at_login
        self._taskbar = taskbar

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
        more: dict[str, Any] = {
            "timeout": timeout,
            "environ": environ,
            "cwd": cwd,
            "cancel": cancel,
            "on_line": on_line,
        }
        return self._run(argv, **more) if self._run is not None else self.real.run(argv, **more)

    def start_checked(self, program: Path, check: Callable[[BinaryIO], None]) -> None:
        self.real.start_checked(program, check)

    def executable(self, name: str) -> str:
        return self.real.executable(name)

    def environment_python(self, environment: Path) -> Path:
        return self.real.environment_python(environment)

    def environment_program(self, environment: Path, name: str) -> Path:
        return self.real.environment_program(environment, name)

    def conda_activation_files(self, environment: Path, conda: Path) -> Mapping[Path, bytes]:
        return self.real.conda_activation_files(environment, conda)

    def standalone_python(self, folder: Path) -> Path:
        return self.real.standalone_python(folder)

    def activation_command(self, environment: Path) -> str:
        return self.real.activation_command(environment)

    def default_environments_folder(self, data_root: Path) -> Path:
        return self._environments or data_root / "environments"

    def language(self) -> Language:
        return self._language

    def operating_system(self) -> OperatingSystem:
        return self._operating_system

    def cpu(self) -> Cpu:
        return self._cpu

    def display_adapters(self) -> tuple[Gpu, ...]:
        return self._display_adapters

    def memory_bytes(self) -> int:
        return self.real.memory_bytes()

    def disks(self) -> tuple[Disk, ...]:
        return self._disks

    def python_candidates(self) -> tuple[Path, ...]:
        return self._python_candidates

    def find_program(self, name: str) -> Path | None:
        return self._programs.get(name)

    def is_gpu_asleep(self, address: str) -> bool:
        return self._pci_root is not None and hardware.is_device_asleep(self._pci_root, address)

    def can_gpu_sleep(self, address: str) -> bool:
        return self._pci_root is not None and hardware.can_device_sleep(self._pci_root, address)

    def gpu_memory_by_process(self, address: str) -> dict[int, int]:
        return self.memory_by_card.get(address, {})

    def are_gpus_asleep(self) -> bool:
        return self._pci_root is not None and hardware.are_nvidia_devices_asleep(self._pci_root)

    def sleeping_driver(self) -> Driver | None:
        return self._sleeping_driver

    def nvidia_smi(self) -> Path | None:
        return self._nvidia_smi

    def loaded_driver(self) -> str:
        return self._loaded_driver

    def cuda_folders(self) -> tuple[Path, ...]:
        return self._cuda_folders

    def cudnn_folders(self) -> tuple[Path, ...]:
        return self._cudnn_folders

    def visual_cpp(self) -> str | None:
        return self._visual_cpp

    def system32_folder(self) -> Path | None:
        return self._shared_libraries

    def wsl(self) -> WslStatus | None:
        return self._wsl() if self._wsl is not None else None

    def vswhere(self) -> Path | None:
        return self._vswhere

    def msvc_folders(self) -> tuple[Path, ...]:
        return self._msvc_folders

    def proxy(self) -> str | None:
        return self._proxy

    def is_admin(self) -> bool:
        return self._is_admin

    def user(self) -> User:
        return User(home=str(Path.home()), admin=self._is_admin)

    def laptop(self) -> bool | None:
        return self._laptop

    def virtual_machine(self) -> bool | None:
        return False

    def remote_desktop(self) -> bool | None:
        return False

    def pending_reboot(self) -> bool | None:
        return self._pending_reboot

    def power(self) -> PowerStatus:
        return self._power

    @property
    def variables(self) -> UserEnvironmentVariables:
        assert self._variables is not None
        return self._variables

    @property
    def login_command(self) -> LoginCommand:
        assert self._at_login is not None
        return self._at_login

    def run_as_admin(
        self, argv: Sequence[str | Path], *, cancel: threading.Event | None = None, window: int | None = None
    ) -> int:
        self.asked_rights.append(tuple(str(word) for word in argv))
        return 0

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

    def open_folder(self, folder: Path) -> None:
        self.opened.append(folder)

    def open_terminal(self, environment: Path) -> None:
        self.opened.append(environment)
