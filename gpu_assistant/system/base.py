"""The operating system as five roles, each a protocol; `linux/` and `windows/` implement them.

A function names the roles that it uses (`system: Processes`); `System` is all five. What only Windows has is an
optional role of its own: `Processes.windows` is None elsewhere. Nothing outside of this room asks which system it is.
"""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import BinaryIO, Literal, Protocol

from msgspec import Struct

from ..core.machine import Cloud, Container, Cpu, Disk, Driver, Gpu, OperatingSystem, SystemName, User
from ..core.types import Language

# Exit status on Linux of a program that was killed: by somebody, or by the kernel for lack of memory.
KILLED_RETURNCODE = -9
# In an environment's folder on Linux: what bash reads when the menu entry starts it.
MENU_SCRIPT = "gpu-assistant-terminal.bashrc"


class ProcessResult(Struct, frozen=True, kw_only=True):
    """A program that ended: exit status and its whole output, decoded (bad bytes replaced)."""

    returncode: int
    stdout: str
    stderr: str


class PowerStatus(Struct, frozen=True, kw_only=True):
    """The power source, the battery's charge (0 to 100), whether the system saves power.

    None is unknown; a computer without a battery has no percent.
    """

    source: Literal["mains", "battery"] | None = None
    percent: int | None = None
    power_saving: bool | None = None


class WslStatus(Struct, frozen=True, kw_only=True):
    """WSL: whether the parts of Windows that it needs are installed and running (`ready`), and the names of this
    user's distributions of WSL version 2."""

    ready: bool = False
    distributions: tuple[str, ...] = ()


class FolderWriters(Struct, frozen=True):
    """Who may change what is in a folder: the `accounts` by name, or `everybody` on this computer."""

    accounts: tuple[str, ...]
    everybody: bool = False


class EnvironmentVariable(Struct, frozen=True, kw_only=True):
    """A user's environment variable as it is stored; with `expand` the names in it (%NAME%) are expanded at login."""

    value: str
    expand: bool = False


class MenuEntryFile(Struct, frozen=True, kw_only=True):
    """One file of an entry in the desktop's menu, with its whole content."""

    path: Path
    content: bytes


TaskbarState = Literal["none", "busy", "normal", "paused", "error"]


class TaskbarProgress(Protocol):
    """Progress on a window's button in the task bar. Only the window's own thread may use it."""

    def show(self, state: TaskbarState, fraction: float | None = None) -> bool:
        """Show a state; False where the task bar refused.

        "busy" moves to and fro; "normal", "paused" and "error" are filled up to `fraction` (0 to 1, None: all of it);
        "none" removes the progress.
        """
        ...

    def is_new_button(self, message: int) -> bool:
        """Whether a native message that the window receives, at this address, says that its button has just been made:
        what was shown before must be shown again.
        """
        ...

    def close(self) -> None:
        """Release the task bar; called once."""
        ...


class UserEnvironmentVariables(Protocol):
    """The user's own environment variables, which programs started after a change receive.

    Only a job's thread may call this: every window is notified of a change, and one that hangs delays the call.
    Each method raises AppError("variable-unusable"), and AppError("no-user-variables") where the system has none;
    ValueError for a name or a value that no system accepts.
    """

    def get(self, name: str) -> EnvironmentVariable | None:
        """The stored variable; None where there is none."""
        ...

    def set(self, name: str, value: str, *, expand: bool = False) -> None:
        """Create or replace a variable."""
        ...

    def remove(self, name: str) -> bool:
        """Delete a variable; False where there was none."""
        ...

    def is_on_path(self, folder: Path) -> bool:
        """Whether the user's PATH holds a folder exactly as `add_to_path` writes it."""
        ...

    def add_to_path(self, folder: Path) -> bool:
        """Append a folder to the user's PATH; False where it is in there already, however it is spelled.

        Raises AppError("path-too-long", "path-not-addable").
        """
        ...

    def remove_from_path(self, folder: Path) -> bool:
        """Remove what `add_to_path` added and nothing else: PATH is then the same, character by character."""
        ...


class LoginCommand(Protocol):
    """One command that runs after the next login, or after each. Each method raises AppError("login-unusable")."""

    def set(self, argv: Sequence[str | Path]) -> None:
        """Set the command in place of the one set before.

        Raises AppError("login-too-long"), and ValueError for a program that is not named by its full path.
        """
        ...

    def get(self) -> tuple[str, ...] | None:
        """The arguments of the command; None where none is set."""
        ...

    def clear(self) -> None:
        """Delete the command. A program that is to run once has to call this: Linux does not do it by itself."""
        ...


class WindowsComponents(Protocol):
    """Parts of Windows, and Microsoft's programs, that no other system has."""

    def visual_cpp(self) -> str | None:
        """The version of Microsoft's Visual C++ runtime ("14.42"); None where it is not installed."""
        ...

    def installed_program(self, key: str) -> str | None:
        """The version in Windows' list of installed programs under this key; None where it is not listed."""
        ...

    def system32_folder(self) -> Path:
        """Windows' own folder of programs and libraries, System32."""
        ...

    def wsl(self) -> WslStatus:
        """Which parts of WSL 2 are installed."""
        ...

    def vswhere(self) -> Path | None:
        """Visual Studio's program that lists its installations; None where it is not installed."""
        ...

    def msvc_folders(self) -> tuple[Path, ...]:
        """The folders named VC of Visual Studios in their default places, newest first."""
        ...


class Hardware(Protocol):
    """What this computer is: parts, operating system, graphics driver, power. Reads only, and wakes no GPU."""

    name: SystemName

    def operating_system(self) -> OperatingSystem:
        """Name, version, build, distribution."""
        ...

    def cpu(self) -> Cpu:
        """The processor's name and counts."""
        ...

    def memory_bytes(self) -> int:
        """The memory that the system can use."""
        ...

    def disks(self) -> tuple[Disk, ...]:
        """The disks that the user can write to; one that does not answer in time is listed without sizes."""
        ...

    def display_adapters(self) -> tuple[Gpu, ...]:
        """Every display adapter of every vendor, also those without a driver."""
        ...

    def nvidia_smi(self) -> Path | None:
        """nvidia-smi in the places where NVIDIA installs it, never from PATH."""
        ...

    def loaded_driver(self) -> str:
        """The text of /proc/driver/nvidia/version; empty where there is none."""
        ...

    def kernel_without_driver(self) -> str | None:
        """The kernel that the next start boots, where no module of an NVIDIA driver was built for it; None where there
        is one, or the system has no kernels of its own.
        """
        ...

    def sleeping_driver(self) -> Driver | None:
        """The NVIDIA driver where every NVIDIA GPU is asleep now; else None."""
        ...

    def are_gpus_asleep(self) -> bool:
        """Whether there are NVIDIA GPUs and every one of them is asleep now."""
        ...

    def is_gpu_asleep(self, address: str) -> bool:
        """Whether the NVIDIA GPU at a PCI address ("0000:01:00.0") is asleep now."""
        ...

    def can_gpu_sleep(self, address: str) -> bool:
        """Whether the NVIDIA GPU at a PCI address falls asleep once no program holds its driver open."""
        ...

    def gpu_memory_by_process(self, address: str) -> dict[int, int]:
        """Bytes of the NVIDIA GPU at a PCI address by process id, as the system counts them; {} where it does not."""
        ...

    def gpu_shared_memory(self, pid: int) -> int | None:
        """Bytes of the computer's own memory that a process uses as GPU memory; None where nobody counts them."""
        ...

    def shared_gpu_memory(self, address: str) -> int | None:
        """The same of all programs on the NVIDIA GPU at a PCI address; None where nobody counts them."""
        ...

    def power(self) -> PowerStatus:
        """Mains or battery, charge, power saving."""
        ...

    def laptop(self) -> bool | None:
        """Whether this is a portable computer, by its chassis or its battery; None where neither is known."""
        ...

    def virtual_machine(self) -> bool | None:
        """Whether this is a virtual machine; False in WSL."""
        ...

    def container(self) -> Container | None:
        """The kind of container that we run in; None outside of one."""
        ...

    def cloud(self) -> Cloud | None:
        """Whose rented computer this is; None where it is none that is known."""
        ...

    def remote_desktop(self) -> bool | None:
        """Whether this session is shown on another computer."""
        ...

    def pending_reboot(self) -> bool | None:
        """Whether the system waits for a restart; None where it does not tell."""
        ...


class Processes(Protocol):
    """Programs: how they are run, where they are installed, how their files are named here.

    Programs are started from argument lists, by absolute path, without a shell and without a console window, in a
    process group of their own. The whole group ends on time-out, on cancel and (where the system can do that) when
    this process dies.
    """

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
        """Run to the end, for at most `timeout` seconds. `environ` is added to ours; None removes a variable.
        `on_line` gets each line of stdout.

        Raises AppError("program-missing"), ValueError for a relative path of the program, and after ending the whole
        process group AppError("program-timeout"), AppError("program-endless": a line of more than 1 MiB, or output of
        more than 256 MiB) and Cancelled. A non-zero exit status is not an error here.
        """
        ...

    def run_to_end(
        self, argv: Sequence[str | Path], *, environ: Mapping[str, str | None] | None = None, cwd: Path | None = None
    ) -> ProcessResult:
        """Run a program that must not be stopped half-way, such as a driver's installer: nothing ends it or what it
        starts, neither a time limit nor a cancel nor the end of this process. All output is in `stdout`.

        Raises AppError("program-missing"), ValueError for a relative path of the program.
        """
        ...

    def start_checked(self, program: Path, check: Callable[[BinaryIO], None]) -> None:
        """Start a program that outlives us, by its full path, once `check` has read its bytes.

        As far as the system allows, the bytes that were checked are those that run: the file is held open between
        check and start. Raises OSError where it cannot be started, and what `check` raises.
        """
        ...

    def open_unchanging(self, path: Path) -> BinaryIO:
        """A file, for reading. On Windows nobody can write, rename or delete it while it is open; elsewhere another
        file in its place is not what is read, but whoever may write to it can change it. Raises OSError.
        """
        ...

    def executable(self, name: str) -> str:
        """A program's file name here: "uv" or "uv.exe"."""
        ...

    def find_program(self, name: str) -> Path | None:
        """A program ("git") by its full path: on PATH, whose relative folders are skipped, or where its own installer
        puts it."""
        ...

    def python_candidates(self) -> tuple[Path, ...]:
        """Possible Python interpreters: PATH, the usual folders, the registry; each real file once."""
        ...

    def cuda_folders(self) -> tuple[Path, ...]:
        """Folders that may hold a CUDA Toolkit; each real folder once."""
        ...

    def cudnn_folders(self) -> tuple[Path, ...]:
        """Folders that may hold cuDNN's header or library outside of any Python environment."""
        ...

    def environment_python(self, environment: Path) -> Path:
        """The interpreter of a Python environment: bin/python, Scripts/python.exe, or conda's python.exe."""
        ...

    def environment_program(self, environment: Path, name: str) -> Path:
        """A program of a Python environment ("pip"): in bin or Scripts."""
        ...

    def standalone_python(self, folder: Path) -> Path:
        """The interpreter inside an unpacked standalone Python build."""
        ...

    def activation_command(self, environment: Path) -> str:
        """What a person types in a terminal to activate the environment."""
        ...

    def powershell_activation(self, environment: Path) -> str | None:
        """What a person types in PowerShell, which by default runs no script: one line that allows it for this window
        and activates the environment. None where there is no PowerShell.
        """
        ...

    def conda_activation_files(self, environment: Path, conda: Path) -> Mapping[Path, bytes]:
        """The files by which a conda environment is activated like a venv; `conda` is conda's program."""
        ...

    @property
    def windows(self) -> WindowsComponents | None:
        """The parts that only Windows has; None elsewhere."""
        ...


class Elevation(Protocol):
    """Administrator rights, as the unprivileged side sees them. `elevation.ElevatedSystem` is the other side."""

    def is_admin(self) -> bool:
        """Whether this process has administrator rights."""
        ...

    def run_as_admin(
        self, argv: Sequence[str | Path], *, cancel: threading.Event | None = None, window: int | None = None
    ) -> int:
        """Ask the user for administrator rights, run a program with them to its end, return its exit status.

        Its output is not captured. `window` is the handle of the window that the question belongs to. Raises
        ElevationDenied("rights-refused", "rights-unanswered", "rights-no-way"), AppError("program-missing") and
        Cancelled; a program that we have no right to end then runs on to its own end.
        """
        ...

    def run_to_end_as_admin(self, argv: Sequence[str | Path]) -> ProcessResult:
        """Ask, run a program of the system's own with the rights, keep its output; nothing of ours ends it.

        Raises ElevationDenied; on Windows always ("rights-no-way"): nothing of Windows' own is run so.
        """
        ...


class Desktop(Protocol):
    """The user's desktop: file manager, terminal, editor, menu, task bar, login, sleep.

    Programs that are started here outlive us.
    """

    def open_folder(self, folder: Path) -> None:
        """Show a folder in the file manager; raises AppError("no-file-manager")."""
        ...

    def open_file(self, file: Path) -> None:
        """Open a picture, a page or a table with the program that the user has chosen for such files.

        Raises AppError("no-file-viewer"), also for a file of a kind that this program does not write: it could run.
        """
        ...

    def open_power_settings(self) -> None:
        """Open the system's settings for power; raises AppError("no-power-settings")."""
        ...

    def open_terminal(self, environment: Path) -> None:
        """Open a terminal with the environment activated; raises AppError("no-terminal")."""
        ...

    def start_program(self, argv: Sequence[str | Path], folder: Path) -> None:
        """Start a program by its absolute path, in a folder; raises AppError("program-missing")."""
        ...

    def find_editor(self) -> Path | None:
        """Visual Studio Code's program by its full path; None where it is not installed."""
        ...

    def find_pycharm(self) -> Path | None:
        """PyCharm's program by its full path; None where it is not found."""
        ...

    def kernels_folder(self) -> Path:
        """The folder in which Jupyter looks for the user's own kernels."""
        ...

    def menu_entry_files(self, environment: Path) -> tuple[MenuEntryFile, ...]:
        """The files of a menu entry that opens a terminal with an environment activated. Writes nothing.

        Equal for the same environment. Raises AppError("menu-unusable").
        """
        ...

    def allow_foreground(self, process_id: int) -> None:
        """Let another process of ours bring its window to the front, as this one may: the user has just started it."""
        ...

    def taskbar(self, window: int) -> TaskbarProgress | None:
        """The progress on a window's button in the task bar, by the window's handle; None where there is none."""
        ...

    def keep_awake(self, reason: str) -> AbstractContextManager[bool]:
        """Keep the computer from falling asleep while the context lasts; its value is whether that works."""
        ...

    @property
    def login_command(self) -> LoginCommand:
        """The one command that runs after the next login."""
        ...

    @property
    def startup_command(self) -> LoginCommand:
        """The one command of ours that runs after each login."""
        ...


class UserEnvironment(Protocol):
    """The user: account, language, proxy, environment variables, the folder for environments."""

    def user(self) -> User:
        """Who runs us, and what in the home folder's path breaks programs."""
        ...

    def language(self) -> Language:
        """The user's language, if it is one of ours; else English."""
        ...

    def proxy(self) -> str | None:
        """The proxy for https as the user set it, without user name and password."""
        ...

    def automatic_proxy(self, url: str) -> str | None:
        """The proxy that the system's automatic configuration, or one for all users, names for an address:
        "http://proxy:8080"; "" where it is to be reached directly; None where nothing is configured or nobody answers.
        May take seconds at first.
        """
        ...

    def folder_writers(self, folder: Path) -> FolderWriters:
        """Who, beside administrators, may change what is in a folder, or replace it. Raises OSError."""
        ...

    def default_environments_folder(self, data_root: Path) -> Path:
        """The folder for new environments: short and plain ASCII where programs need that."""
        ...

    @property
    def variables(self) -> UserEnvironmentVariables:
        """The user's own environment variables."""
        ...


class System(Hardware, Processes, Elevation, Desktop, UserEnvironment, Protocol):
    """The operating system in all its roles."""


def path_hash(path: Path) -> str:
    """Twelve hex digits that name a path, where one folder has the entries of several environments."""
    return hashlib.sha256(os.fsencode(path)).hexdigest()[:12]


# What this program saves for the user to look at; none of them runs.
VIEWED_SUFFIXES = frozenset({".png", ".html", ".csv", ".json", ".toml", ".txt"})


def menu_entry_name(environment: Path) -> str:
    """The label of an environment's menu entry: its folder's name, in one line."""
    name = "".join(character if character.isprintable() else " " for character in environment.name)
    return f"{name} (GPU Assistant)"
