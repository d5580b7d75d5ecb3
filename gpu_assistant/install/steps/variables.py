"""The user's environment variables: set, and PATH added to once, without damaging what is there."""

from __future__ import annotations

import re
from pathlib import Path, PurePath, PurePosixPath, PureWindowsPath
from typing import ClassVar

from msgspec import Struct

from ...core.plan import Now, Plan, Step
from ...system.base import System
from ..draft import Draft
from ..effects import PathEntry, VariableSet
from ..place import Ground
from ..work import Outcome, Work
from .kind import Kind, refuse_fields, refused, spec_of

# What the guides set for CUDA and cuDNN; a plan sets no other variable.
ALLOWED = re.compile(r"(CUDA_PATH(_V\d{1,2}_\d{1,2})?|CUDA_HOME|CUDNN_PATH)\Z")
PATH = {"windows": "Path"}
_ODD = re.compile(r'[\x00-\x1f"%;]')


class Spec(Struct, frozen=True, forbid_unknown_fields=True):
    """`set` names variables and the folders that they hold; `path` lists folders for the end of PATH."""

    set: dict[str, str] = {}
    path: tuple[str, ...] = ()


class Variables(Kind):
    """All folders lie below the data folder: a plan puts no other one on anybody's PATH."""

    name: ClassVar[str] = "variables"
    codes: ClassVar[tuple[str, ...]] = ("variables",)

    def plan(self, draft: Draft) -> tuple[Step, ...]:
        """One step for all that the kinds before it want to be found by; none where they want nothing."""
        if not draft.variables and not draft.on_path:
            return ()
        return (
            Step(
                id="variables",
                kind=self.name,
                code="variables",
                needs=tuple(dict.fromkeys(draft.variable_owners)),
                data={"names": ", ".join(draft.variables), "folders": ", ".join(draft.on_path) or None},
                spec={"set": dict(draft.variables), "path": list(draft.on_path)},
                bytes=0,
                disk_bytes=0,
                minutes=0.0,
            ),
        )

    def refuse(self, step: Step, plan: Plan, ground: Ground) -> None:
        """Known names, and folders below the data folder."""
        refuse_fields(step, spec=True)
        spec = spec_of(step, Spec)
        for name in spec.set:
            if ALLOWED.match(name) is None:
                raise refused(f"{step.id}: {name}")
        # A simulated plan, which is never carried out, may be another system's.
        plain: type[PurePath] = type(ground.data.root)
        if plan.simulated:
            plain = PureWindowsPath if re.match(r"[A-Za-z]:", next(iter(_folders(spec)), "")) else PurePosixPath
        for folder in _folders(spec):
            path = plain(folder)
            inside = plan.simulated or ground.data.root in Path(folder).parents
            if not path.is_absolute() or ".." in path.parts or _ODD.search(folder) or not inside:
                raise refused(f"{step.id}: {folder}")

    def find(self, step: Step, plan: Plan, ground: Ground) -> Now | None:  # noqa: ARG002
        """That nothing is left to set."""
        return Now(code="now.set") if _all_set(step, ground.system) else None

    def done(self, step: Step, work: Work) -> Outcome | None:
        """Every variable has its value, and every folder is on PATH."""
        return Outcome() if _all_set(step, work.system) else None

    def run(self, step: Step, work: Work) -> Outcome:
        """Raises AppError: variable-unusable, no-user-variables, path-too-long, path-not-addable."""
        spec, variables = spec_of(step, Spec), work.system.variables
        for name, value in spec.set.items():
            before = variables.get(name)
            if before is not None and before.value == value:
                continue
            effect = VariableSet(
                name=name,
                value=value,
                before=before.value if before is not None else None,
                before_expand=before is not None and before.expand,
            )
            with work.effect(step, effect):
                variables.set(name, value)
        backup = variables.get(_path_name(work.system))
        for folder in spec.path:
            if variables.has_on_path(Path(folder)):
                continue
            entry = PathEntry(
                folder=folder,
                before=backup.value if backup is not None else None,
                before_expand=backup is not None and backup.expand,
            )
            _add(step, entry, work)
        return Outcome(code="progress.variables")


def _all_set(step: Step, system: System) -> bool:
    spec, variables = spec_of(step, Spec), system.variables
    values = {name: variables.get(name) for name in spec.set}
    same = all(now is not None and now.value == spec.set[name] for name, now in values.items())
    return same and all(variables.has_on_path(Path(folder)) for folder in spec.path)


def _add(step: Step, entry: PathEntry, work: Work) -> None:
    number = work.journal.intends(step.kind, entry, step.id)
    if work.system.variables.add_to_path(Path(entry.folder)):
        work.journal.happened(number)
    else:  # it is there already in another writing, which is not ours
        work.journal.found(work.journal.path.name, number, there=False)


def _folders(spec: Spec) -> tuple[str, ...]:
    return (*spec.set.values(), *spec.path)


def _path_name(system: System) -> str:
    return PATH.get(system.name, "PATH")
