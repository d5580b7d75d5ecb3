"""What every operating system must be able to do for us; one file per system holds how.

What a system does for us beyond answering questions: variables, a start after login, power, the task bar.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import BinaryIO, Literal, Protocol

from msgspec import Struct

from ..core.machine import Cpu, Disk, Driver, Gpu, OperatingSystem, SystemName, User
from ..core.types import Language

TaskbarState = Literal["none", "busy", "normal", "paused", "error"]


class EnvironmentVariable(Struct, frozen=True, kw_only=True):
    """A user's environment variable as it is written down; `expand`: names in it (%NAME%) are filled in at login."""

    value: str
    expand: bool = False


class UserEnvironmentVariables(Protocol):
    """The user's own environment variables, as every program gets them that is started after a change.

    For a job's thread: all windows are told of a change, and one that hangs takes its time.
    Each method raises AppError("variable-unusable"), and AppError("no-user-variables") where the system has none;
    ValueError for a name or a value that no system takes.
    """

    def get(self, name: str) -> EnvironmentVariable | None:
        """What is written down; None where there is no such variable."""
        ...

    def set(self, name: str, value: str, *, expand: bool = False) -> None:
        """Write one down, whatever it was."""
        ...

    def remove(self, name: str) -> bool:
        """Take one away; False where there was none."""
        ...

    def is_on_path(self, folder: Path) -> bool:
        """Whether the user's PATH holds a folder in the very words of `add_to_path`."""
        ...

    def add_to_path(self, folder: Path) -> bool:
        """Put a folder at the end of the user's PATH; False where it is in there already, however it is written.

        Raises AppError("path-too-long", "path-not-addable").
        """
        ...

    def remove_from_path(self, folder: Path) -> bool:
        """Take back what `add_to_path` added, and nothing else: PATH is then what it was, letter by letter."""
        ...


class LoginCommand(Protocol):
    """One command that runs once, after the next login. Each method raises AppError("login-unusable")."""

    def set(self, argv: Sequence[str | Path]) -> None:
        """Run this then; in place of what was set before. Raises AppError("login-too-long"), ValueError for a
        program that is not named by its full path."""
        ...

    def get(self) -> tuple[str, ...] | None:
        """The words of the command that is set."""
        ...

    def clear(self) -> None:
        """Run nothing. The program that was started this way calls this: Linux does not do it by itself."""
        ...


class WslStatus(Struct, frozen=True, kw_only=True):
    """A Linux inside Windows: whether its parts of Windows are there and at work (`ready`), and this user's Linuxes of
    version 2, by name.
    """

    ready: bool = False
    distributions: tuple[str, ...] = ()


class PowerStatus(Struct, frozen=True, kw_only=True):
    """Where the current comes from, how full the battery is (0 to 100), whether the system saves power.

    None is unknown; a computer without a battery has no percent.
    """

    source: Literal["mains", "battery"] | None = None
    percent: int | None = None
    power_saving: bool | None = None


class TaskbarProgress(Protocol):
    """Progress on a window's button in the task bar. Used by the window's own thread only."""

    def show(self, state: TaskbarState, fraction: float | None = None) -> bool:
        """Show it: "busy" goes to and fro, "normal", "paused" and "error" are filled up to `fraction` (0 to 1, all
        of it for None), "none" takes it away. Says whether the task bar took it."""
        ...

    def close(self) -> None:
        """Let go of the task bar; called once."""
        ...


KILLED_RETURNCODE = (
    -9
)  # the exit status of a program that somebody ended at once, or the system for lack of memory; on Linux


class ProcessResult(Struct, frozen=True, kw_only=True):
    """A program that ended: exit status and its whole output, decoded (bad bytes replaced)."""

    returncode: int
    stdout: str
    stderr: str


class System(Protocol):
    """The operating system. Nothing but this room asks which one it is.

    Programs are started from lists, by absolute path, without a shell and without a console window, in a
    process group of their own, which is ended whole on time-out, on cancel and when we die (where the
    system can do that).
    """

    name: SystemName

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
        """Run to the end. `environ` is added to ours; None takes a variable away. `on_line` gets each line of stdout.

        Raises AppError("program-missing"), and after ending the whole process group AppError("program-timeout"),
        AppError("program-endless": a line of more than 1 MiB, or output of more than 256 MiB) and Cancelled.
        A non-zero exit status is the caller's to judge.
        """
        ...

    def executable(self, name: str) -> str:
        """A program's file name here: "uv" or "uv.exe"."""
        ...

    def environment_python(self, environment: Path) -> Path:
        """The interpreter of a Python environment: bin/python, Scripts/python.exe, or conda's python.exe."""
        ...

    def environment_program(self, environment: Path, name: str) -> Path:
        """One of a Python environment's programs ("pip"): in bin or Scripts."""
        ...

    def conda_activation_files(self, environment: Path, conda: Path) -> Mapping[Path, bytes]:
        """The files by which a conda environment is activated as any other one; `conda` is the program."""
        ...

    def standalone_python(self, folder: Path) -> Path:
        """The interpreter inside an unpacked standalone Python build."""
        ...

    def activation_command(self, environment: Path) -> str:
        """What a person types in a terminal to use the environment."""
        ...

    def start_checked(self, program: Path, check: Callable[[BinaryIO], None]) -> None:
        """Start a program that lives on without us, by its full path, once `check` has read its bytes.

        As far as the system can do that, the bytes that were checked are those that run: the file is held while
        it is checked and started. Raises OSError where it cannot be started, and what `check` raises.
        """
        ...

    # Places
    def default_environments_folder(self, data_root: Path) -> Path:
        """The folder for new environments: short, plain ASCII where the system trips over anything else."""
        ...

    # What is here
    def language(self) -> Language:
        """The user's language, as far as we speak it."""
        ...

    def operating_system(self) -> OperatingSystem:
        """Name, version, build, distribution."""
        ...

    def cpu(self) -> Cpu:
        """The processor's name and counts."""
        ...

    def display_adapters(self) -> tuple[Gpu, ...]:
        """Every display adapter of every maker, also without a driver; never wakes a sleeping card."""
        ...

    def memory_bytes(self) -> int:
        """The memory that the system can use."""
        ...

    def disks(self) -> tuple[Disk, ...]:
        """The disks that the user can write to; one that does not answer in time is listed without sizes."""
        ...

    def python_candidates(self) -> tuple[Path, ...]:
        """Interpreters worth asking: PATH, the usual folders, the registry; each real file once."""
        ...

    def find_program(self, name: str) -> Path | None:
        """A program by its full path ("git"): found on PATH, whose relative folders are not looked into, or where
        its own installer puts it.
        """
        ...

    def is_gpu_asleep(self, address: str) -> bool:
        """Whether the NVIDIA card at a PCI address ("0000:01:00.0") sleeps just now; it is not woken to find out."""
        ...

    def can_gpu_sleep(self, address: str) -> bool:
        """Whether the NVIDIA card at a PCI address falls asleep once no program holds its driver."""
        ...

    def gpu_memory_by_process(self, address: str) -> dict[int, int]:
        """Bytes that each process (by its pid) has of the NVIDIA card at a PCI address, where the driver does not tell;
        empty where the system does not either."""
        ...

    def are_gpus_asleep(self) -> bool:
        """Whether there are NVIDIA cards and every one of them sleeps just now."""
        ...

    def sleeping_driver(self) -> Driver | None:
        """The NVIDIA driver where every card sleeps just now, read without waking one; else None."""
        ...

    def nvidia_smi(self) -> Path | None:
        """NVIDIA's own program in its fixed places, never from PATH."""
        ...

    def loaded_driver(self) -> str:
        """/proc/driver/nvidia/version; empty where there is none."""
        ...

    def cuda_folders(self) -> tuple[Path, ...]:
        """Folders that may hold a CUDA Toolkit; each real folder once."""
        ...

    def cudnn_folders(self) -> tuple[Path, ...]:
        """Folders that may hold cuDNN's header or library outside of any Python environment."""
        ...

    def visual_cpp(self) -> str | None:
        """The version of Microsoft's Visual C++ runtime ("14.42"); None where there is none."""
        ...

    def system32_folder(self) -> Path | None:
        """Windows' own folder of libraries that all programs find, System32; None elsewhere."""
        ...

    def wsl(self) -> WslStatus | None:
        """What of WSL2 is here; None where there is no such thing."""
        ...

    def vswhere(self) -> Path | None:
        """Visual Studio's finder; None where there is none."""
        ...

    def msvc_folders(self) -> tuple[Path, ...]:
        """Folders named VC of Visual Studios in their usual places, newest first."""
        ...

    def proxy(self) -> str | None:
        """The proxy for https as the user set it, without any user name and password."""
        ...

    def is_admin(self) -> bool:
        """Whether we run with administrator rights."""
        ...

    def user(self) -> User:
        """Who runs us, and what about the home folder programs trip over."""
        ...

    def laptop(self) -> bool | None:
        """Whether this computer is carried around, by its chassis or its battery; None where neither says."""
        ...

    def virtual_machine(self) -> bool | None:
        """Whether this is a virtual machine; false in WSL."""
        ...

    def remote_desktop(self) -> bool | None:
        """Whether this session is seen from another computer."""
        ...

    def pending_reboot(self) -> bool | None:
        """Whether the system waits for a restart; None where it does not say."""
        ...

    def power(self) -> PowerStatus:
        """Mains or battery, how full it is, whether power is saved."""
        ...

    # What is done for the user
    @property
    def variables(self) -> UserEnvironmentVariables:
        """The user's own environment variables."""
        ...

    @property
    def login_command(self) -> LoginCommand:
        """The one command that runs after the next login."""
        ...

    def run_as_admin(
        self, argv: Sequence[str | Path], *, cancel: threading.Event | None = None, window: int | None = None
    ) -> int:
        """Ask the user for administrator rights, run a program with them to its end; gives its exit status.

        Its output is its own. `window` is the handle of the window that the question belongs to. Raises
        RightsRefused("rights-refused", "rights-no-way"), AppError("program-missing") and Cancelled; a program
        that we may not end (we have no such rights ourselves) then runs on to its own end.
        """
        ...

    def taskbar(self, window: int) -> TaskbarProgress | None:
        """The progress on a window's button in the task bar, by the window's handle; None where there is no such."""
        ...

    def keep_awake(self, reason: str) -> AbstractContextManager[bool]:
        """Keep the computer from falling asleep while the context lasts, undone at its end; says whether it holds."""
        ...

    def open_folder(self, folder: Path) -> None:
        """Show a folder in the file manager."""
        ...

    def open_terminal(self, environment: Path) -> None:
        """Open a terminal with the environment ready; raises AppError("no-terminal")."""
        ...
