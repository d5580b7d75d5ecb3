"""Builds the environment from the files at hand, under a name that nothing counts as whole."""

from __future__ import annotations

import os
import time
from pathlib import Path

from ...core import json
from ...core.errors import AppError
from ...core.json import storage_error
from ...core.plan import Step
from .. import manifest
from ..removal import delete
from ..uv import last_line
from ..work import Outcome, Work

TIMEOUT_S = 3600.0
# pip reads the first of these in every environment on its own; only the system's own name counts there.
PIP_SETTINGS = {"windows": "pip.ini"}
KEPT = ("torch", "torchvision", "torchaudio")


def run(step: Step, work: Work) -> Outcome:  # noqa: ARG001 - every kind has this shape
    """Raises AppError: packages-failed, disk-full, folder-unwritable."""
    if work.standing:
        return Outcome(skipped=True, code="progress.standing")
    count = len(work.lock.packages)
    work.reporter.progress(done=0, total=count, unit="items", bottleneck="installing")
    work.journal.makes("environment", work.environment)
    delete(work.partial)
    build(work)
    write_records(work)
    work.reporter.progress(done=count, total=count, unit="items", bottleneck="installing")
    return Outcome()


def build(work: Work) -> None:
    """The environment's Python and packages; uv checks every file against the lock's hash once more."""
    _uv(work, "venv", "--relocatable", "--python", work.interpreter, work.partial)
    requirements = work.partial / "requirements.txt"
    rows = [f"{p.name}=={p.version} --hash=sha256:{p.file.sha256}\n" for p in work.lock.packages]
    json.write_file(requirements, "".join(rows))
    folders = dict.fromkeys(file.parent for file in work.files)
    links = [word for folder in folders for word in ("--find-links", folder)]
    python = work.system.environment_python(work.partial)
    _uv(
        work,
        *("pip", "install", "--offline", "--no-index", "--no-deps", "--require-hashes"),
        *(*links, "--python", python, "--requirements", requirements),
    )
    requirements.unlink()


def write_records(work: Work) -> None:
    """Lock, constraints and manifest, the manifest last: it alone makes the folder count."""
    folder, lock = work.partial, work.lock
    json.write_file(folder / manifest.LOCK, lock.text)
    versions = {package.name: package.version for package in lock.packages}
    # The general index's PyTorch for Windows has no CUDA: without this a later `pip install` may put it in.
    json.write_file(
        folder / manifest.CONSTRAINTS, "".join(f"{name}=={versions[name]}\n" for name in KEPT if name in versions)
    )
    settings = PIP_SETTINGS.get(work.system.name, "pip.conf")
    # As an address, because pip splits this setting at spaces.
    constraints = (work.environment / manifest.CONSTRAINTS).as_uri()
    json.write_file(folder / settings, f"[install]\nconstraint = {constraints}\n")
    release, _, tag = (lock.version("torch") or "").partition("+")
    manifest.write(
        folder,
        manifest.Manifest(
            schema="gpu-assistant/environment/1",
            path=str(work.environment),
            created=time.time(),
            python=_python_version(folder) or work.python,
            torch=release or None,
            variant=tag or work.torch.variant,
            lock=lock.identity,
            packages=versions,
            recommendation=work.plan.recommendation,
            bytes=_bytes(folder),
        ),
    )


def _uv(work: Work, *words: str | Path) -> None:
    finished = work.uv.run(*words, timeout=TIMEOUT_S)
    if finished.code == 0:
        return
    text = finished.err.lower()
    if "os error 28" in text or "os error 112" in text:  # ENOSPC; Windows' ERROR_DISK_FULL
        raise AppError("disk-full", path=str(work.environment.parent))
    raise AppError("packages-failed", path=str(work.environment), detail=last_line(finished))


def _python_version(folder: Path) -> str | None:
    """The exact version that uv wrote into pyvenv.cfg."""
    for line in (folder / "pyvenv.cfg").read_text(encoding="utf-8").splitlines():
        key, _, value = line.partition("=")
        if key.strip() in ("version_info", "version"):
            return value.strip()
    return None


def _bytes(folder: Path) -> int:
    """What the folder's files take, links not followed."""
    total = 0
    todo = [os.fspath(folder)]
    try:
        while todo:
            with os.scandir(todo.pop()) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        todo.append(entry.path)
                    else:
                        total += entry.stat(follow_symlinks=False).st_size
    except OSError as error:
        raise storage_error(error, folder) from error
    return total
