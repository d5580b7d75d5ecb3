"""What a step can do to the world, as the journal keeps it: enough to see whether it is there, and to take it back."""

from __future__ import annotations

import os

from msgspec import Struct

from ..core.names import Value


class FolderCreated(Struct, frozen=True, kw_only=True, tag_field="effect", tag="folder"):
    """An empty folder for others to lie in."""

    path: str


class TreeCreated(Struct, frozen=True, kw_only=True, tag_field="effect", tag="tree"):
    """A folder that appears whole, by a rename; `removal.py` knows what in it is ours.

    `stood`: an empty one was there before, so it is not ours to take away.
    """

    path: str
    stood: bool = False


class FolderMoved(Struct, frozen=True, kw_only=True, tag_field="effect", tag="moved"):
    """A folder of the user's that stood in the way, and where it is now."""

    path: str
    to: str


class FilesAdded(Struct, frozen=True, kw_only=True, tag_field="effect", tag="files"):
    """Files among others in a folder; `receipt` is the name of the file there that lists them."""

    path: str
    receipt: str


class FileWritten(Struct, frozen=True, kw_only=True, tag_field="effect", tag="file"):
    """A file that is replaced whole: `sha256` of its new text, `before` its old bytes (None: there was none)."""

    path: str
    sha256: str
    before: bytes | None = None


class VariableSet(Struct, frozen=True, kw_only=True, tag_field="effect", tag="variable"):
    """One of the user's environment variables; `before` and `before_expand` are what it was (None: there was none)."""

    name: str
    value: str
    expand: bool = False
    before: str | None = None
    before_expand: bool = False


class PathEntryAdded(Struct, frozen=True, kw_only=True, tag_field="effect", tag="path-entry"):
    """A folder at the end of the user's PATH; `before` is a backup of the whole text."""

    folder: str
    before: str | None = None
    before_expand: bool = False


class LoginCommandSet(Struct, frozen=True, kw_only=True, tag_field="effect", tag="at-login"):
    """The command that runs after the next login."""

    words: tuple[str, ...]


class ProgramInstalled(Struct, frozen=True, kw_only=True, tag_field="effect", tag="program"):
    """A program that its own installer put there; the kind that installed it says how it is seen and removed.

    Versions are as the maker writes them; `before` is None where there was none.
    """

    name: str
    after: str
    before: str | None = None
    more: dict[str, Value] = {}


Effect = (
    FolderCreated
    | TreeCreated
    | FolderMoved
    | FilesAdded
    | FileWritten
    | VariableSet
    | PathEntryAdded
    | LoginCommandSet
    | ProgramInstalled
)


def effect_key(effect: Effect) -> tuple[str, str]:  # noqa: PLR0911 - one for each effect
    """Equal for effects on the same thing."""
    match effect:
        case FolderCreated() | TreeCreated() | FileWritten():
            return "place", os.path.normcase(effect.path)
        case FolderMoved():
            return "moved", os.path.normcase(effect.to)
        case FilesAdded():
            return "files", os.path.normcase(f"{effect.path}/{effect.receipt}")
        case VariableSet():
            return "variable", effect.name.upper()
        case PathEntryAdded():
            return "path-entry", os.path.normcase(effect.folder)
        case LoginCommandSet():
            return "at-login", ""
        case ProgramInstalled():
            return "program", effect.name
