"""Builds the environment from the files at hand, under a name that nothing counts as whole."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import ClassVar

from ...core import json
from ...core.errors import AppError
from ...core.json import storage_error
from ...core.plan import Now, Plan, Step
from .. import listing, manifest, owned
from ..conda import python_version
from ..draft import Draft
from ..outlook import environment_now
from ..place import Ground
from ..removal import delete, said, say
from ..uv import last_line
from ..work import Outcome, Work
from .kind import Kind, refuse_fields

TIMEOUT_S = 3600.0
# pip reads the first of these in every environment on its own; only the system's own name counts there.
PIP_SETTINGS = {"windows": "pip.ini"}
KEPT = ("torch", "torchvision", "torchaudio", "tensorflow")


class PythonPackages(Kind):
    """Where it is built, and of what, stand in the plan and the lock."""

    name: ClassVar[str] = "python-packages"
    codes: ClassVar[tuple[str, ...]] = ("python-packages", "conda-packages")
    needs: ClassVar[tuple[str, ...]] = ("check-space", "python-runtime", "resolve", "download")
    then: ClassVar[tuple[str, ...]] = ("verify",)

    def plan(self, draft: Draft) -> tuple[Step, ...]:
        """One environment."""
        env, sizes = str(draft.environment), draft.sizes
        (runtime,) = (step for step in draft.steps if step.id in draft.ids("python-runtime"))
        made_here = ("uv", "venv", "--relocatable", "--python", str(runtime.spec.get("path") or draft.series), env)
        return (
            Step(
                id="pytorch",
                kind=self.name,
                code="python-packages" if draft.made_by == "venv" else "conda-packages",
                needs=("space", *draft.ids("python-runtime", "resolve", "download")),
                data={"release": draft.release, "env": env},
                bytes=0,
                disk_bytes=sizes.disk_bytes,
                minutes=draft.paces.unpack_minutes(sizes.disk_bytes or draft.disk_about),
                # What was measured is PyTorch alone.
                minutes_least=sizes.disk_bytes is None and draft.recommendation.tensorflow is not None,
                commands=(
                    *((made_here,) if draft.made_by == "venv" else ()),
                    ("uv", "pip", "sync", "--python", env, "pylock.toml"),
                ),
            ),
        )

    def refuse(self, step: Step, plan: Plan, ground: Ground) -> None:  # noqa: ARG002
        """Nothing in it has an effect; the environment's folder is checked for the whole plan."""
        refuse_fields(step)

    def find(self, step: Step, plan: Plan, ground: Ground) -> Now | None:  # noqa: ARG002
        """The environment, if it stands."""
        return environment_now(plan, ground)

    def done(self, step: Step, work: Work) -> Outcome | None:  # noqa: ARG002
        """It stands, made from the same lock, or is built of it and waits for its proof."""
        return Outcome(code="progress.standing") if work.standing or work.built else None

    def run(self, step: Step, work: Work) -> Outcome:
        """Raises AppError: packages-failed, disk-full, folder-unwritable."""
        count = len(work.lock.packages)
        work.reporter.progress(done=0, total=count, unit="items", bottleneck="installing")
        # It has happened when the last step gives the environment its name.
        work.making = work.making or intend(work, step)
        in_place = said(work.environment) is not None
        if in_place:
            # conda's part is no longer as conda left it: a run that is killed from here on begins anew.
            say(work.environment, "")
        else:
            if work.damaged:
                _unpack_anew(work)
            _make(work)
        build(work, force=in_place)
        cut = owned.cut_short(work.partial)
        if cut and not in_place:
            _unpack_anew(work)
            _make(work)
            build(work, force=False)
            cut = owned.cut_short(work.partial)
        if cut:
            _unpack_anew(work)
            raise AppError("packages-failed", path=str(work.environment), detail=cut[0])
        write_records(work)
        work.reporter.progress(done=count, total=count, unit="items", bottleneck="installing")
        return Outcome()


def intend(work: Work, step: Step) -> int:
    """Say in the journal that the environment is going to have its name."""
    return work.journal.intends(PythonPackages.name, work.tree_made(work.environment), step.id)


def _make(work: Work) -> None:
    """An environment without packages, where it is built."""
    delete(work.partial)
    _uv(work, "venv", "--relocatable", "--python", work.interpreter, work.partial)


def _unpack_anew(work: Work) -> None:
    """Files of an environment and of what uv keeps unpacked are the same on the disk: both are damaged together."""
    delete(work.data.uv_cache)


def build(work: Work, *, force: bool) -> None:
    """The environment's packages; uv checks every file against the lock's hash once more.

    `force`: some of conda's Pythons bear a mark that only conda may install into them, which this one is for.
    """
    requirements = work.partial / "requirements.txt"
    rows = [f"{p.name}=={p.version} --hash=sha256:{p.file.sha256}\n" for p in work.lock.packages]
    json.write_file(requirements, "".join(rows))
    folders = dict.fromkeys(file.parent for file in work.files)
    links = [word for folder in folders for word in ("--find-links", folder)]
    python = work.system.environment_python(work.partial)
    _uv(
        work,
        *("pip", "install", "--offline", "--no-index", "--no-deps", "--require-hashes"),
        *(("--break-system-packages",) if force else ()),
        *(*links, "--python", python, "--requirements", requirements),
    )
    requirements.unlink()


def write_records(work: Work) -> None:
    """Lock, constraints, manifest, and the list of everything that is ours."""
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
            python=python_version(folder) or _python_version(folder) or work.python,
            torch=release or None,
            variant=tag or (work.torch.variant if work.torch is not None else None),
            lock=lock.identity,
            packages=versions,
            recommendation=work.plan.recommendation,
            bytes=_bytes(folder),
        ),
    )
    listing.write(folder)


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
    settings = folder / "pyvenv.cfg"
    if not settings.is_file():
        return None
    for line in settings.read_text(encoding="utf-8").splitlines():
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
