"""A standalone Python: fetched, unpacked safely, used again."""

from __future__ import annotations

import hashlib
import io
import tarfile
import threading
from pathlib import Path

import pytest

from gpu_assistant.core.errors import AppError
from gpu_assistant.core.jobs import JobContext
from gpu_assistant.core.plan import PlanFile, Step
from gpu_assistant.install.host import Host
from gpu_assistant.install.journal.log import Journal
from gpu_assistant.install.progress import ProgressReporter
from gpu_assistant.install.steps.context import BaseInterpreter, DownloadContext, InstallContext, Outcome
from gpu_assistant.install.steps.kinds import STEP_KINDS

from ..sandbox import QUICK, Imports, Sandbox


def archive(members: dict[str, bytes], *, link: tuple[str, str] | None = None) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as tar:
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size, info.mode = len(data), 0o755
            tar.addfile(info, io.BytesIO(data))
        if link is not None:
            info = tarfile.TarInfo(link[0])
            info.type, info.linkname = tarfile.SYMTYPE, link[1]
            tar.addfile(info)
    return packed.getvalue()


def run(sandbox: Sandbox, data: bytes) -> Outcome:
    url = sandbox.server.add("/cpython-3.99.1-install_only.tar.gz", data)
    name = "cpython-3.99.1-install_only.tar.gz"
    file = PlanFile(url=url, name=name, sha256=hashlib.sha256(data).hexdigest())
    step = Step(id="python", kind="python-runtime", code="python-runtime", data={"python": "3.99.1"}, files=(file,))
    with Journal(sandbox.data) as journal:
        downloads = DownloadContext(
            Host(sandbox.system, sandbox.data),
            sandbox.catalog,
            reporter=ProgressReporter(JobContext()),
            cancel=threading.Event(),
            limits=QUICK,
        )
        context = InstallContext(sandbox.plan(), downloads, journal=journal, verifier=Imports)
        kind = STEP_KINDS[step.kind]
        return kind.is_satisfied(step, context) or kind.run(step, context)


def inside(sandbox: Sandbox) -> str:
    return sandbox.system.standalone_python(Path()).as_posix()


def test_runtime_is_unpacked_once_and_reused(sandbox: Sandbox) -> None:
    data = archive({inside(sandbox): b"a python", "python/lib/x.py": b"x"})
    python = sandbox.system.standalone_python(sandbox.data.pythons / "cpython-3.99.1")
    assert run(sandbox, data) == Outcome(produces=(BaseInterpreter(python),))
    assert python.read_bytes() == b"a python"
    sandbox.asks()
    outcome = run(sandbox, data)
    assert (outcome.code, outcome.produces) == ("progress.python-here", (BaseInterpreter(python),))
    assert sandbox.asks() == []


@pytest.mark.parametrize(
    ("name", "link"),
    [
        ("../evil", None),
        ("python/x", ("python/out", "../../evil")),
        ("python/x", ("python/out", "/etc")),
    ],
)
def test_archive_with_outside_paths_is_refused(sandbox: Sandbox, name: str, link: tuple[str, str] | None) -> None:
    with pytest.raises(AppError) as caught:
        run(sandbox, archive({inside(sandbox): b"a python", name: b"evil"}, link=link))
    assert caught.value.code == "archive-broken"
    assert not (sandbox.data.pythons / "cpython-3.99.1").exists()
    assert not list(sandbox.root.rglob("evil"))


@pytest.mark.parametrize("data", [b"no archive at all", archive({"python/README": b"no interpreter"})])
def test_archive_without_interpreter_is_refused(sandbox: Sandbox, data: bytes) -> None:
    with pytest.raises(AppError) as caught:
        run(sandbox, data)
    assert caught.value.code == "archive-broken"


def test_truncated_archive_is_not_committed(sandbox: Sandbox) -> None:
    data = archive({inside(sandbox): bytes(200_000)})
    with pytest.raises(AppError) as caught:
        run(sandbox, data[: len(data) // 2])
    assert caught.value.code == "archive-broken"
    assert not (sandbox.data.pythons / "cpython-3.99.1").exists()
