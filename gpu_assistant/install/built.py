"""An environment that was built whole and has no name yet, because a restart or the user came before its proof."""

from __future__ import annotations

from pathlib import Path

from ..core.plan import Plan
from . import journal, listing, manifest
from .journal import MAKERS, Journal
from .listing import FILES
from .manifest import Manifest
from .removal import making


def built(plan: Plan, book: Journal) -> Manifest | None:
    """The manifest of what waits for its proof, made for this very recommendation; else None.

    Only what an install left that came to an end of its own: what a power loss left may be hollow. Every file of its
    list is there, and they come to the size that was written down when it was made.
    """
    environment = Path(plan.env)
    partial = making(environment)
    # What conda makes is made in its place, and is nobody else's.
    if (partial == environment) != any(step.kind == MAKERS[1] for step in plan.steps):
        return None
    found = manifest.written(partial)
    if found is None or found.path != plan.env or found.recommendation != plan.recommendation:
        return None
    if not journal.came_to_an_end(book, plan.env):
        return None
    return found if _size(partial) == found.bytes else None


def forget(environment: Path) -> None:
    """It did not pass its proof: the next run makes it again."""
    (making(environment) / FILES).unlink(missing_ok=True)


def _size(folder: Path) -> int | None:
    """What the files of its list take but for the manifest, which tells it; None where one is missing."""
    try:
        files = (name for name in listing.read(folder) if not name.endswith("/"))
        return sum((folder / name).lstat().st_size for name in files if name != manifest.MANIFEST)
    except OSError:
        return None
