"""What a removal will find when its turn comes: what goes, what stays and why, said before and after in one way."""

from __future__ import annotations

import os
from collections.abc import Collection, Container, Iterator
from itertools import islice
from pathlib import Path

from msgspec import Struct, field
from msgspec.structs import replace

from ..core.json import storage_error
from ..core.names import Value
from . import added, package_list
from .effects import FilesAdded, FileWritten, FolderMade, FolderMoved, ProgramInstalled, TreeMade
from .ledger import look
from .place import Place
from .removal import partial_path, trash_path
from .strangers import NAMED, Strangers, named, strangers
from .sweeping import holds_anything
from .takeback import Item


class Turn(Struct):
    """How it will be when the turn of a thing comes: files and folders of which nothing is left by then, new files that
    stand by then, and the folders that another environment needs, and which.
    """

    gone: set[Path] = field(default_factory=set)
    new: set[Path] = field(default_factory=set)
    held: dict[Path, str] = field(default_factory=dict)


def forecast(found: tuple[Item, ...], place: Place, turn: Turn | None = None) -> tuple[Item, ...]:
    """The same items with the words for what will come of them; changes nothing. Raises AppError.

    `turn` is then how it is after all of them.
    """
    turn = Turn() if turn is None else turn
    return tuple(_told(item, place, turn) for item in found)


def _told(item: Item, place: Place, turn: Turn) -> Item:
    gone, held = turn.gone, turn.held
    first, effect = item.effects[0], item.effects[0].effect
    if item.needed:
        by = item.by or str(place.data.root)
        if isinstance(effect, TreeMade | FilesAdded | FileWritten | FolderMade):
            held[Path(effect.path)] = by
        return _as(item, "leave-needed", by=by)
    if isinstance(effect, ProgramInstalled):
        from .steps import KINDS

        code, data = KINDS[first.kind].leaving(effect, first.step)
        return _as(item, code, **data)
    sight = look(first, place)
    if sight == "changed" and not isinstance(effect, FolderMade):
        return _as(item, "leave-changed")
    match effect:
        case TreeMade():
            theirs = strangers(Path(effect.path), gone) if sight == "made" else Strangers()
            if not theirs.stay:
                _goes(Path(effect.path), gone)
            item = _with(item, theirs)
            if theirs.records:
                text = package_list.listed(Path(effect.path), theirs.records)
                kept = package_list.place(Path(effect.path), text)
                turn.new.add(kept)
                item = _as(item, item.step.code, list=str(kept))
        case FilesAdded():
            folder = Path(effect.path)
            stay = added.changed(folder, effect.receipt)
            gone |= {folder / name for name in {effect.receipt, *added.files(folder, effect.receipt)} - {*stay}}
            item = _with(item, Strangers(stay=stay))
        case FolderMoved():
            back = Path(effect.path)
            if holds_anything(back) and back not in gone:
                return _as(item, "leave-taken")
            gone.add(Path(effect.to))
            gone.discard(back)
        case FolderMade():
            item = _folder(item, Path(effect.path), turn)
        case FileWritten(before=None):
            gone.add(Path(effect.path))
    return item


def _folder(item: Item, folder: Path, turn: Turn) -> Item:
    try:
        left = tuple(islice(left_below(folder, turn.gone, turn.new), NAMED + 1))
    except OSError as error:
        raise storage_error(error, folder) from error
    if not left:
        _goes(folder, turn.gone)
        return item
    by = item.by or next((by for path, by in turn.held.items() if folder in (path, *path.parents)), None)
    if by is not None:
        return _as(replace(item, by=by), "leave-needed", by=by)
    return _as(item, "leave-filled", files=named(left))


def left_below(folder: Path, gone: Container[Path], new: Collection[Path] = ()) -> Iterator[str]:
    """What in a folder of ours will be there when these are `gone` and these are `new`, by its name in it; raises
    OSError.
    """
    yield from sorted(path.name for path in new if path.parent == folder and not os.path.lexists(path))
    with os.scandir(folder) as entries:
        for entry in sorted(entries, key=lambda entry: entry.name):
            path = folder / entry.name
            if path in gone:
                continue
            if not entry.is_dir(follow_symlinks=False):
                yield entry.name
            elif not any(path.iterdir()) or next(left_below(path, gone, new), None) is not None:
                yield f"{entry.name}/"


def _goes(folder: Path, gone: set[Path]) -> None:
    gone |= {folder, partial_path(folder), trash_path(folder)}


def left_in(effect: TreeMade | FolderMade) -> dict[str, Value]:
    """What is still there of somebody else's, after it was taken back."""
    folder = Path(effect.path)
    try:
        names = tuple(left_below(folder, frozenset()))
    except OSError as error:
        raise storage_error(error, folder) from error
    return {"files": named(names), "kept": len(names)}


def _with(item: Item, theirs: Strangers) -> Item:
    """With the one of its sentences that says all of this."""
    ending = ("-packages" if theirs.packages else "") + ("-files" if theirs.stay else "")
    return _as(
        item,
        item.step.code + ending,
        packages=named(theirs.packages),
        count=len(theirs.packages),
        files=named(theirs.stay),
        kept=len(theirs.stay),
    )


def _as(item: Item, code: str, **data: Value) -> Item:
    return replace(item, step=replace(item.step, code=code, data={**item.step.data, **data}))
