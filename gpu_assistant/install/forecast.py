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
from .effects import FilesAdded, FileWritten, FolderCreated, FolderMoved, ProgramInstalled, TreeCreated
from .ledger import observe_state
from .place import Host
from .removal import partial_path, trash_path
from .strangers import MAX_NAMED, ForeignFiles, format_names, find_foreign_files
from .sweeping import has_content
from .takeback import UninstallItem


class UninstallState(Struct):
    """How it will be when the turn of a thing comes: files and folders of which nothing is left by then, new files that
    stand by then, and the folders that another environment needs, and which.
    """

    removed: set[Path] = field(default_factory=set)
    created: set[Path] = field(default_factory=set)
    retained: dict[Path, str] = field(default_factory=dict)


def preview(items: tuple[UninstallItem, ...], host: Host, state: UninstallState | None = None) -> tuple[UninstallItem, ...]:
    """The same items with the words for what will come of them; changes nothing. Raises AppError.

    `turn` is then how it is after all of them.
    """
    state = UninstallState() if state is None else state
    return tuple(_preview_item(item, host, state) for item in items)


def _preview_item(item: UninstallItem, host: Host, state: UninstallState) -> UninstallItem:
    removed, retained = state.removed, state.retained
    first, effect = item.effects[0], item.effects[0].effect
    if item.is_needed:
        needed_by = item.by or str(host.data.root)
        if isinstance(effect, TreeCreated | FilesAdded | FileWritten | FolderCreated):
            retained[Path(effect.path)] = needed_by
        return _with_code(item, "leave-needed", by=needed_by)
    if isinstance(effect, ProgramInstalled):
        from .steps import STEP_KINDS

        code, data = STEP_KINDS[first.kind].uninstall_notice(effect, first.step)
        return _with_code(item, code, **data)
    effect_state = observe_state(first, host)
    if effect_state == "changed" and not isinstance(effect, FolderCreated):
        return _with_code(item, "leave-changed")
    match effect:
        case TreeCreated():
            foreign = find_foreign_files(Path(effect.path), removed) if effect_state == "made" else ForeignFiles()
            if not foreign.user_files:
                _mark_removed(Path(effect.path), removed)
            item = _with_foreign_files(item, foreign)
            if foreign.records:
                list_text = package_list.format_user_packages(Path(effect.path), foreign.records)
                list_path = package_list.user_packages_path(Path(effect.path), list_text)
                state.created.add(list_path)
                item = _with_code(item, item.step.code, list=str(list_path))
        case FilesAdded():
            folder = Path(effect.path)
            changed_names = added.changed_files(folder, effect.receipt)
            removed |= {folder / name for name in {effect.receipt, *added.merged_files(folder, effect.receipt)} - {*changed_names}}
            item = _with_foreign_files(item, ForeignFiles(user_files=changed_names))
        case FolderMoved():
            original = Path(effect.path)
            if has_content(original) and original not in removed:
                return _with_code(item, "leave-taken")
            removed.add(Path(effect.to))
            removed.discard(original)
        case FolderCreated():
            item = _preview_folder(item, Path(effect.path), state)
        case FileWritten(before=None):
            removed.add(Path(effect.path))
    return item


def _preview_folder(item: UninstallItem, folder: Path, state: UninstallState) -> UninstallItem:
    try:
        remaining = tuple(islice(remaining_names(folder, state.removed, state.created), MAX_NAMED + 1))
    except OSError as error:
        raise storage_error(error, folder) from error
    if not remaining:
        _mark_removed(folder, state.removed)
        return item
    needed_by = item.by or next((needed_by for path, needed_by in state.retained.items() if folder in (path, *path.parents)), None)
    if needed_by is not None:
        return _with_code(replace(item, by=needed_by), "leave-needed", by=needed_by)
    return _with_code(item, "leave-filled", files=format_names(remaining))


def remaining_names(folder: Path, removed: Container[Path], created: Collection[Path] = ()) -> Iterator[str]:
    """What in a folder of ours will be there when these are `gone` and these are `new`, by its name in it; raises
    OSError.
    """
    yield from sorted(path.name for path in created if path.parent == folder and not os.path.lexists(path))
    with os.scandir(folder) as entries:
        for entry in sorted(entries, key=lambda entry: entry.name):
            path = folder / entry.name
            if path in removed:
                continue
            if not entry.is_dir(follow_symlinks=False):
                yield entry.name
            elif not any(path.iterdir()) or next(remaining_names(path, removed, created), None) is not None:
                yield f"{entry.name}/"


def _mark_removed(folder: Path, removed: set[Path]) -> None:
    removed |= {folder, partial_path(folder), trash_path(folder)}


def remaining_data(effect: TreeCreated | FolderCreated) -> dict[str, Value]:
    """What is still there of somebody else's, after it was taken back."""
    folder = Path(effect.path)
    try:
        names = tuple(remaining_names(folder, frozenset()))
    except OSError as error:
        raise storage_error(error, folder) from error
    return {"files": format_names(names), "kept": len(names)}


def _with_foreign_files(item: UninstallItem, foreign: ForeignFiles) -> UninstallItem:
    """With the one of its sentences that says all of this."""
    suffix = ("-packages" if foreign.packages else "") + ("-files" if foreign.user_files else "")
    return _with_code(
        item,
        item.step.code + suffix,
        packages=format_names(foreign.packages),
        count=len(foreign.packages),
        files=format_names(foreign.user_files),
        kept=len(foreign.user_files),
    )


def _with_code(item: UninstallItem, code: str, **data: Value) -> UninstallItem:
    return replace(item, step=replace(item.step, code=code, data={**item.step.data, **data}))
