"""An environment that was built whole and has no name yet, because a restart or the user came before its proof."""

from __future__ import annotations

from pathlib import Path

from ..core.plan import Plan
from . import journal, listing, manifest
from .journal import ENVIRONMENT_KINDS, Journal
from .listing import FILE_MANIFEST
from .manifest import EnvironmentManifest
from .removal import staging_path


def pending_verification(plan: Plan, current_run: Journal) -> EnvironmentManifest | None:
    """The manifest of what waits for its proof, made for this very recommendation; else None.

    Only what an install left that came to an end of its own: what a power loss left may be hollow. Every file of its
    list is there, and they come to the size that was written down when it was made.
    """
    environment = Path(plan.env)
    partial = staging_path(environment)
    # What conda makes is made in its place, and is nobody else's.
    if (partial == environment) != any(step.kind == ENVIRONMENT_KINDS[1] for step in plan.steps):
        return None
    manifest_found = manifest.read_unfinished_manifest(partial)
    if manifest_found is None or manifest_found.path != plan.env or manifest_found.recommendation != plan.recommendation:
        return None
    if not journal.last_install_ended(current_run, plan.env):
        return None
    return manifest_found if _listed_size(partial) == manifest_found.bytes else None


def discard_pending(environment: Path) -> None:
    """It did not pass its proof: the next run makes it again."""
    (staging_path(environment) / FILE_MANIFEST).unlink(missing_ok=True)


def _listed_size(folder: Path) -> int | None:
    """What the files of its list take but for the manifest, which tells it; None where one is missing."""
    try:
        names = (name for name in listing.read_file_manifest(folder) if not name.endswith("/"))
        return sum((folder / name).lstat().st_size for name in names if name != manifest.MANIFEST_FILE)
    except OSError:
        return None
