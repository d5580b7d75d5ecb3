"""Linux: sysfs, /proc, systemd's inhibitor, terminals."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from ..core.errors import AppError
from ..core.machine import Cpu, Disk, Gpu, OperatingSystem, SystemName, Vendor
from ..core.names import Language
from .base import Finished

VENDORS: Mapping[str, Vendor] = {"10de": "nvidia", "1002": "amd", "8086": "intel", "106b": "apple"}
DISPLAY_CLASS = "0x03"
ARCHITECTURES: Mapping[str, Any] = {"x86_64": "x86_64", "aarch64": "arm64"}
# Kernel pseudo file systems and loop-mounted packages are no place for an environment.
REAL_FILE_SYSTEMS = {"ext2", "ext3", "ext4", "xfs", "btrfs", "zfs", "f2fs", "fuseblk", "ntfs3", "overlay", "9p", "nfs4"}
TERMINALS = (
    ("x-terminal-emulator", "-e"),
    ("gnome-terminal", "--"),
    ("konsole", "-e"),
    ("xfce4-terminal", "-x"),
    ("xterm", "-e"),
)


class Linux:
    """`System` for Linux; `root` lets a recorded tree stand in for /."""

    name: SystemName = "linux"

    def __init__(self, root: Path = Path("/")) -> None:
        self.root = root

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
        """See `System.run`."""
        from .processes import run

        return run(
            argv,
            start=_start,
            end=_end,
            timeout=timeout,
            environ=environ,
            cwd=cwd,
            cancel=cancel,
            on_line=on_line,
        )

    def executable(self, name: str) -> str:
        """The name itself."""
        return name

    def environment_python(self, environment: Path) -> Path:
        """bin/python."""
        return environment / "bin" / "python"

    def standalone_python(self, folder: Path) -> Path:
        """bin/python3 of an unpacked build."""
        return folder / "python" / "bin" / "python3"

    def activation(self, environment: Path) -> str:
        """What bash, zsh and dash take."""
        return f"source {shlex.quote(str(environment / 'bin' / 'activate'))}"

    # Places

    def default_environments(self, data_root: Path) -> Path:
        """Below the data folder: Linux trips over no path that a home folder can have."""
        return data_root / "environments"

    # What is here

    def language(self) -> Language:
        """By the first of LC_ALL, LC_MESSAGES, LANG that is set."""
        for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
            if value := os.environ.get(name):
                return "zh_CN" if value.lower().startswith("zh") else "en"
        return "en"

    def operating_system(self) -> OperatingSystem:
        """From os-release, uname and the C library."""
        release = parse_os_release(self._text("etc/os-release") or self._text("usr/lib/os-release"))
        kernel = os.uname()
        return OperatingSystem(
            system="linux",
            name=release.get("PRETTY_NAME"),
            version=kernel.release,
            arch=ARCHITECTURES.get(kernel.machine),
            wsl="microsoft" in kernel.release.lower(),
            distro=release.get("ID"),
            distro_version=release.get("VERSION_ID"),
            glibc=_glibc(),
        )

    def cpu(self) -> Cpu:
        """From /proc/cpuinfo."""
        return parse_cpuinfo(self._text("proc/cpuinfo"))

    def display_adapters(self) -> tuple[Gpu, ...]:
        """From sysfs, whose files answer without waking a sleeping card."""
        found: list[Gpu] = []
        for device in sorted((self.root / "sys/bus/pci/devices").glob("*")):
            if _line(device / "class").startswith(DISPLAY_CLASS):
                vendor, model = (_line(device / part).removeprefix("0x") for part in ("vendor", "device"))
                found.append(Gpu(index=len(found), vendor=VENDORS.get(vendor, "other"), pci_id=f"{vendor}:{model}"))
        return tuple(found)

    def disks(self) -> tuple[Disk, ...]:
        """Mounted file systems that this user can write to, each device once."""
        found: dict[str, Disk] = {}
        for device, folder in parse_mounts(self._text("proc/mounts")):
            with suppress(OSError):
                if device not in found and os.access(folder, os.W_OK):
                    usage = shutil.disk_usage(folder)
                    found[device] = Disk(path=folder, free_bytes=usage.free, total_bytes=usage.total)
        return tuple(found.values())

    def python_candidates(self) -> tuple[Path, ...]:
        """python3* on PATH, the usual folders, and pyenv's and uv's own versions."""
        home = Path.home()
        folders = [Path(part) for part in os.environ.get("PATH", "").split(os.pathsep) if part.startswith("/")]
        folders += [Path("/usr/bin"), Path("/usr/local/bin")]
        folders += sorted(home.glob(".pyenv/versions/*/bin"))
        folders += sorted(home.glob(".local/share/uv/python/*/bin"))
        found: dict[Path, Path] = {}
        for folder in folders:
            with suppress(OSError):
                for path in sorted(folder.glob("python3*")):
                    if re.fullmatch(r"python3(\.\d+)?", path.name) and os.access(path, os.X_OK):
                        found.setdefault(path.resolve(), path)
        return tuple(found.values())

    def is_admin(self) -> bool:
        """Root."""
        return os.geteuid() == 0

    def pending_reboot(self) -> bool | None:
        """Debian and its children leave a file; others do not say."""
        if (self.root / "run/reboot-required").exists():
            return True
        return False if (self.root / "etc/debian_version").exists() else None

    @contextmanager
    def keep_awake(self, why: str) -> Iterator[None]:
        """Hold systemd's sleep inhibitor, where there is one, by a child that ends with the context."""
        inhibit, sleep = shutil.which("systemd-inhibit"), shutil.which("sleep")
        child = None
        if inhibit and sleep and (self.root / "run/systemd/system").is_dir():
            with suppress(OSError):
                child = _start(
                    [inhibit, "--what=idle:sleep", "--who=GPU Assistant", f"--why={why}", sleep, "infinity"],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                )
        try:
            yield
        finally:
            if child is not None:
                _end(child)

    def open_folder(self, folder: Path) -> None:
        """Through the desktop's own opener."""
        opener = shutil.which("xdg-open")
        if opener is None:
            raise AppError("no-file-manager", path=str(folder))
        _detached([opener, str(folder)])

    def open_terminal(self, environment: Path) -> None:
        """The desktop's terminal, with a shell that has sourced the environment."""
        shell = "/bin/bash"
        for name, flag in TERMINALS:
            if program := shutil.which(name):
                setup = f". {shlex.quote(str(environment / 'bin' / 'activate'))}"
                _detached([program, flag, shell, "--init-file", str(_init_file(environment, setup)), "-i"])
                return
        raise AppError("no-terminal", command=self.activation(environment))

    def _text(self, relative: str) -> str:
        try:
            return (self.root / relative).read_text(encoding="utf-8", errors="replace")
        except OSError:
            return ""


def parse_os_release(text: str) -> dict[str, str]:
    """KEY=value lines, values as a shell would read them."""
    pairs = {}
    for line in text.splitlines():
        key, separator, value = line.partition("=")
        if separator and not key.startswith("#"):
            with suppress(ValueError):
                words = shlex.split(value)
                pairs[key.strip()] = words[0] if words else ""
    return pairs


def parse_cpuinfo(text: str) -> Cpu:
    """Name, physical cores (unknown where the kernel does not number them), threads."""
    name, threads, cores = None, 0, set()
    package = "0"
    for line in text.splitlines():
        key, _, value = (part.strip() for part in line.partition(":"))
        if key == "processor":
            threads += 1
        elif key in ("model name", "Model"):
            name = name or value
        elif key == "physical id":
            package = value
        elif key == "core id":
            cores.add((package, value))
    return Cpu(name=name, cores=len(cores) or None, threads=threads or None)


def parse_mounts(text: str) -> list[tuple[str, str]]:
    """(device, folder) of real file systems; /proc/mounts writes a space as \\040."""
    found = []
    for line in text.splitlines():
        words = line.split()
        if len(words) >= 4 and words[2] in REAL_FILE_SYSTEMS and "ro" not in words[3].split(","):
            folder = re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), words[1])
            if not folder.startswith(("/boot", "/snap", "/var/lib/docker")):
                found.append((words[0], folder))
    return found


def _line(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii", errors="replace").strip()
    except OSError:
        return ""


def _glibc() -> str | None:
    with suppress(ValueError, OSError):
        return (os.confstr("CS_GNU_LIBC_VERSION") or "").removeprefix("glibc ") or None
    return None


def _start(words: list[str], **more: Any) -> subprocess.Popen[bytes]:  # noqa: ANN401 - Popen's own options
    # The kernel ends the child when we die, also by SIGKILL: nobody goes on writing into a folder that the next
    # run takes over. setpriv sets this in the child itself; a preexec_fn would not be safe beside our threads.
    setpriv = shutil.which("setpriv")
    prefix = [setpriv, "--pdeathsig", "KILL", "--"] if setpriv else []
    return subprocess.Popen([*prefix, *words], start_new_session=True, **more)


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the whole session: politely first where it still runs, then for sure."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, number)
        with suppress(subprocess.TimeoutExpired):
            process.wait(1.5)
            if number == signal.SIGTERM and not _group_lives(process.pid):
                return


def _group_lives(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def _detached(words: list[str]) -> None:
    """A program that outlives us, as what a person opens should."""
    null = subprocess.DEVNULL
    subprocess.Popen(words, start_new_session=True, stdin=null, stdout=null, stderr=null)


def _init_file(environment: Path, setup: str) -> Path:
    """A start file for bash: the person's own first, then the environment."""
    path = environment / ".gpu-assistant-bashrc"
    path.write_text(f"[ -f ~/.bashrc ] && . ~/.bashrc\n{setup}\n", encoding="utf-8")
    return path
