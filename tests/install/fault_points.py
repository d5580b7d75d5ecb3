"""Every change that an install, a removal or a download makes to the disk, and each of them as the one at which the
process is killed, the disk is full (ENOSPC) or broken (EIO). Linux with a C compiler.

    with FaultPoints(folder, server) as points:
        for number in range(1, points.count("install") + 1):
            points.check("install", "kill", number)      # raises AssertionError

`fault_points.c` is preloaded into the child process and counts the C library's calls that change something below the
sandbox: write, open with O_CREAT or O_TRUNC, rename, unlink, mkdir, rmdir, link, truncate, fsync.
"""

from __future__ import annotations

import ctypes
import errno
import mmap
import os
import re
import shutil
import subprocess
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Literal, NamedTuple

from gpu_assistant.core.errors import AppError, UsageError
from gpu_assistant.core.files import RemoteFile
from gpu_assistant.core.jobs import JobContext
from gpu_assistant.fetch.downloader import DownloadJob
from gpu_assistant.fetch.request import DownloadRequest
from gpu_assistant.install.host import Host
from gpu_assistant.install.jobs.uninstall import plan_uninstall
from gpu_assistant.texts.localized import Texts

from ..fakes.fault_server import FaultServer
from .child_process import ChildProcess
from .sandbox import QUICK, end
from .toolkit_sandbox import ToolkitSandbox

Work = Literal["install", "removal", "download"]
Fault = Literal["kill", "ENOSPC", "EIO"]
WORKS: tuple[Work, ...] = ("install", "removal", "download")
FAULTS: tuple[Fault, ...] = ("kill", "ENOSPC", "EIO")
ACTIONS = {"kill": (1, 0), "EIO": (2, errno.EIO), "ENOSPC": (3, errno.ENOSPC)}
COMPILER = shutil.which("cc") or shutil.which("gcc")
FILE = bytes(range(256)) * 1200
FOREIGN = ("outside/thesis.txt", "outside/.env.partial/thesis.txt", "data/toolkits/thesis.txt", "data/thesis.txt")
# The user's variables are a file of the tests' own.
LEFT_BY_FAKE = re.compile(r"outside/\.variables\.json\.\d+\.partial")
CONTROL_VARIABLE = "FAULT_CONTROL"


class Control(ctypes.Structure):
    """`struct control` of the library."""

    _fields_ = (
        ("stop", ctypes.c_int64),
        ("count", ctypes.c_int64),
        ("action", ctypes.c_int32),
        ("error", ctypes.c_int32),
        ("pid", ctypes.c_int32),
        ("all", ctypes.c_int32),
        ("log", ctypes.c_int32),
        ("root", ctypes.c_char * 1024),
        ("log_path", ctypes.c_char * 1024),
    )


def map_control(path: Path) -> Control:
    """The structure in a file that both processes map."""
    with path.open("r+b") as file:
        return Control.from_buffer(mmap.mmap(file.fileno(), ctypes.sizeof(Control)))


class Outcome(NamedTuple):
    """How the work ended: the error's code and text, both empty where there was none."""

    code: str
    text: str


def act(root: str, base: str, work: Work) -> str:
    """Do it, in the child process: what it changes is counted. Returns an `Outcome`, in two lines."""
    control = map_control(Path(os.environ[CONTROL_VARIABLE]))
    sandbox, outcome = ToolkitSandbox(Path(root), base), Outcome("", "")
    plan = sandbox.plan() if work == "install" else None
    control.pid = os.getpid()
    try:
        if plan is not None:
            sandbox.install(plan)
        elif work == "removal":
            sandbox.uninstall()
        else:
            download(sandbox.root, base)
    except AppError as error:
        outcome = Outcome(error.code, Texts("en").error_text(error))
    finally:
        control.pid = 0
    return "\n".join(outcome)


def download(root: Path, base: str) -> None:
    """The command `download`, for one file of the server."""
    folder = root / "outside"
    file = RemoteFile(urls=(f"{base}/file.bin",), name="file.bin", bytes=len(FILE))
    DownloadJob(DownloadRequest(file=file, path=folder / file.name, replace=False), QUICK, None).run(JobContext())


class FaultPoints:
    """A sandbox after the other below `folder`, and what an undisturbed run leaves in each."""

    def __init__(self, folder: Path, server: FaultServer) -> None:
        self.folder, self.server = folder, server
        self._number = 0
        folder.mkdir(parents=True, exist_ok=True)
        library, control_path = folder / "fault_points.so", folder / "control"
        source = Path(__file__).with_suffix(".c")
        assert COMPILER is not None
        subprocess.run([COMPILER, "-shared", "-fPIC", "-O1", "-o", library, source, "-ldl"], check=True)
        control_path.write_bytes(bytes(ctypes.sizeof(Control)))
        self._control = map_control(control_path)
        environ = {"LD_PRELOAD": str(library), CONTROL_VARIABLE: str(control_path)}
        self._child = ChildProcess(__name__, "act", environ)
        server.add("/file.bin", FILE)
        model = self._furnished()
        model.serve(server)
        self._before = self._seen(model)
        model.install()
        download(model.root, server.url)
        self._complete = self._seen(model)

    def __enter__(self) -> FaultPoints:
        self._child.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._child.__exit__(kind, error, trace)

    def count(self, work: Work, log: Path | None = None) -> int:
        """How many changes the work makes, which are written into `log`, one a line."""
        sandbox = self._prepared(work)
        outcome = self._run(sandbox, work, log=log)
        assert outcome == Outcome("", ""), outcome
        return int(self._control.count)

    def check(self, work: Work, fault: Fault, number: int) -> Outcome:
        """The work with a fault at its change `number`, and once more without one: the end is the undisturbed one."""
        sandbox = self._prepared(work)
        outcome = self._run(sandbox, work, fault, number)
        if outcome is not None:
            assert outcome.code != "internal", outcome
            assert len(outcome.text.splitlines()) <= 1, outcome
        if fault == "kill":
            # A download is written as it comes: it may have had fewer changes this time.
            assert outcome is None or self._control.count < number
        self._finish(sandbox, work)
        shutil.rmtree(sandbox.root)
        return outcome or Outcome("killed", "")

    def _finish(self, sandbox: ToolkitSandbox, work: Work) -> None:
        """The next run goes on, and a removal leaves what was there before."""
        if work == "download":
            path = sandbox.outside / "file.bin"
            with suppress(UsageError):  # it was complete, and a file is never replaced
                download(sandbox.root, self.server.url)
            assert path.read_bytes() == FILE
            assert self._seen(sandbox) == {**self._before, "outside/file.bin": FILE}
            return
        if work == "install":
            assert end(sandbox.install()).state == "done"
            expected = {name: data for name, data in self._complete.items() if name != "outside/file.bin"}
            assert self._seen(sandbox) == expected
        if plan_uninstall(Host(sandbox.system, sandbox.data), sandbox.environment):
            sandbox.uninstall()
        assert self._seen(sandbox) == self._before

    def _run(
        self, sandbox: ToolkitSandbox, work: Work, fault: Fault | None = None, number: int = 0, log: Path | None = None
    ) -> Outcome | None:
        """In the child process; None where it was killed."""
        control = self._control
        control.action, control.error = ACTIONS[fault] if fault is not None else (0, 0)
        control.stop, control.count, control.pid = number, 0, 0
        control.root, control.log = os.fsencode(sandbox.root), int(log is not None)
        control.log_path = os.fsencode(log) if log is not None else b""
        done = self._child.run(sandbox.root, self.server.url, work)
        if done.returncode == -9:
            assert fault == "kill"
            return None
        assert done.returncode == 0, done
        code, _, text = done.output.partition("\n")
        return Outcome(code, text)

    def _prepared(self, work: Work) -> ToolkitSandbox:
        sandbox = self._furnished()
        if work == "removal":
            sandbox.install()
        return sandbox

    def _furnished(self) -> ToolkitSandbox:
        """A sandbox with files and variables of the user's own, some of them under names that we use."""
        self._number += 1
        # Names of one length, so that paths in the files are of one length, too.
        sandbox = ToolkitSandbox(self.folder / f"{self._number:06d}", self.server.url)
        for name in FOREIGN:
            path = sandbox.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("all of it", encoding="utf-8")
        sandbox.variables.set("CUDA_PATH", "%OLD%", expand=True)
        sandbox.variables.set("PATH", "first;;second;", expand=True)
        return sandbox

    def _seen(self, sandbox: ToolkitSandbox) -> dict[str, bytes | str | None]:
        """What is there, without the sandbox's own path, and the user's file in the data folder."""
        root = str(sandbox.root)
        seen = {
            name: data.replace(os.fsencode(root), b"ROOT") if isinstance(data, bytes) else data
            for name, data in sandbox.seen().items()
            if not LEFT_BY_FAKE.fullmatch(name)
        }
        return {**seen, "data/thesis.txt": (sandbox.data.root / "thesis.txt").read_bytes()}
