"""A plan may come from a file that somebody sent: everything in it that has an effect is checked first."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from ..core.errors import AppError, CallError
from ..core.paths import DataDir
from ..core.plan import Plan, PlanFile, Step
from ..system.base import System
from .occupied import IN_DATA, refuse_long, refuse_unfit

if TYPE_CHECKING:
    from ..catalog.load import Catalog

KINDS = ("check-space", "python-runtime", "resolve", "download", "python-packages", "verify")
_SERIES = re.compile(r"3\.\d{1,2}\Z")
_VERSION = re.compile(r"\d+(\.\d+){1,3}((a|b|rc)\d+)?\Z")
_VARIANT = re.compile(r"[a-z]+[0-9.]*\Z")
_SHA256 = re.compile(r"[0-9a-f]{64}\Z")
_LOOPBACK = ("127.0.0.1", "localhost", "::1")


def check(plan: Plan, system: System, data: DataDir, catalog: Catalog) -> None:
    """Raise CallError("plan-refused", detail=…) and those of `refuse_unfit` for a plan that must not run here."""
    if tuple(step.kind for step in plan.steps) != KINDS or len({step.id for step in plan.steps}) != len(KINDS):
        raise _refused("steps")
    env = Path(plan.env)
    if not _plain_folder(env):
        raise _refused(f"env: {plan.env}")
    refuse_unfit(env)
    refuse_long(data.root, IN_DATA)
    if plan.wheelhouse is not None and not _plain_folder(Path(plan.wheelhouse)):
        raise _refused(f"wheelhouse: {plan.wheelhouse}")
    _check_versions(plan, catalog)
    runtime = plan.steps[1]
    if _SERIES.match(plan.recommendation.python or "") is None:
        raise _refused(f"python: {plan.recommendation.python}")
    if runtime.files:
        _check_runtime_files(runtime, plan, catalog)
    elif not plan.simulated:  # which is never carried out, and whose Python is on another computer
        _check_interpreter(runtime, system, data)


def _check_versions(plan: Plan, catalog: Catalog) -> None:
    torch = plan.recommendation.pytorch
    if torch is None:
        raise _refused("pytorch")
    versions = [torch.version, *([torch.torchvision] if torch.torchvision is not None else [])]
    if not all(_VERSION.match(version) for version in versions) or _VARIANT.match(torch.variant) is None:
        raise _refused(f"pytorch: {torch.version} {torch.variant} {torch.torchvision}")
    if torch.index_url is None:
        return
    # Packages run code: only an address that the catalog names for some build may bring them.
    if torch.index_url not in {v.index_url for release in catalog.releases for v in release.variants}:
        raise _refused(f"index_url: {torch.index_url}")


def _check_runtime_files(runtime: Step, plan: Plan, catalog: Catalog) -> None:
    if len(runtime.files) != 1:
        raise _refused("python-runtime: files")
    file = runtime.files[0]
    check_file(file)
    known = {
        (build.url, build.sha256) for build in catalog.pythons.builds if build.series == plan.recommendation.python
    }
    if (file.url, file.sha256) not in known:
        raise _refused(f"python-runtime: {file.url}")


def _check_interpreter(runtime: Step, system: System, data: DataDir) -> None:
    """The program that will be run is one that this computer's own places hold."""
    path = Path(str(runtime.data.get("path")))
    if not path.is_absolute():
        raise _refused(f"python-runtime: {path}")
    real = path.resolve()
    ours = data.pythons.resolve() in real.parents
    if not ours and real not in {candidate.resolve() for candidate in system.python_candidates()}:
        raise AppError("python-gone", path=str(path))


def check_file(file: PlanFile) -> None:
    """A file to fetch: a plain name, a hash, and an address that cannot be tampered with on the way."""
    parts = urlsplit(file.url)
    safe = parts.scheme in ("https", "file") or (parts.scheme == "http" and parts.hostname in _LOOPBACK)
    plain = re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._+%-]*", file.name) is not None
    if not safe or not plain or file.sha256 is None or _SHA256.match(file.sha256) is None:
        raise _refused(f"file: {file.name} {file.url}")


def _plain_folder(path: Path) -> bool:
    """Absolute, without "..", and not on another computer."""
    return path.is_absolute() and ".." not in path.parts and not str(path).startswith(("\\\\", "//"))


def _refused(detail: str) -> CallError:
    return CallError("plan-refused", detail=detail)
