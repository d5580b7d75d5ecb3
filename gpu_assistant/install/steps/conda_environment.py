"""The environment of those who live with conda: made by their own conda, with the Python in it; nothing else of it."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from msgspec import Struct

from ...core import json
from ...core.errors import AppError, CallError
from ...core.plan import Plan, Step
from .. import conda, removal, undoing
from ..built import built
from ..conda import CHANNEL, META, Conda
from ..draft import Draft
from ..effects import Effect, TreeMade
from ..journal import Why
from ..occupied import ours, wrecked
from ..place import Ground, Place
from ..strangers import named
from ..work import Outcome, Work
from .kind import Kind, refuse_fields, refused, spec_of


class Program(Struct, frozen=True, forbid_unknown_fields=True):
    """`conda` is the full path of the program; None in a plan that is never carried out."""

    conda: str | None = None


class CondaEnvironment(Kind):
    """Stands where a plan for an environment of uv's has its Python: this one brings its own.

    conda writes the folder's path into its files, so the environment is made in its place; until it was proven, a
    file in it says that it is unfinished.
    """

    name: ClassVar[str] = "conda-environment"
    codes: ClassVar[tuple[str, ...]] = ("conda-environment",)
    stands_for: ClassVar[str] = "python-runtime"
    needs: ClassVar[tuple[str, ...]] = ("check-space",)

    def plan(self, draft: Draft) -> tuple[Step, ...]:
        """One, where the user chose conda; raises AppError("conda-missing"), CallError("conda-needs-network")."""
        if draft.made_by != "conda":
            return ()
        if draft.bundle is not None:
            raise CallError("conda-needs-network", path=str(draft.bundle))
        known = draft.machine.tools.conda if draft.machine.tools is not None else None
        if draft.conda is None and not (draft.simulated and known):
            raise AppError("conda-missing")
        program, env = str(draft.conda) if draft.conda is not None else None, str(draft.environment)
        return (
            Step(
                id="python",
                kind=self.name,
                code="conda-environment",
                needs=("space",),
                spec={"conda": program} if program is not None else {},
                data={"python": draft.series, "env": env, "channel": CHANNEL},
                # What conda will choose is known to conda alone.
                bytes=None,
                disk_bytes=None,
                minutes=None,
                commands=((program or "conda", *conda.words(env, draft.series)),),
            ),
        )

    def refuse(self, step: Step, plan: Plan, ground: Ground) -> None:
        """The only program that it runs is the conda that is found on this computer."""
        refuse_fields(step, spec=True)
        given = spec_of(step, Program).conda
        if plan.bundle is not None:
            raise refused(f"{step.id}: bundle")
        if plan.simulated and given is None:
            return
        if given is None or not Path(given).is_absolute():
            raise refused(f"{step.id}: {given}")
        if Path(given) != ground.system.program("conda"):
            raise AppError("conda-gone", path=given)

    def needs_network(self, step: Step) -> bool:  # noqa: ARG002
        """conda asks its channel, which no folder of files can serve."""
        return True

    def done(self, step: Step, work: Work) -> Outcome | None:
        """It stands, or a run that was stopped got as far; raises AppError("environment-differs") for uv's."""
        env = work.environment
        if ours(env, work.data) is not None:
            if not (env / META).is_dir():
                raise AppError("environment-differs", path=str(env))
        elif broken := wrecked(env, work.data):
            raise AppError("environment-damaged", path=str(env), files=named(broken))
        elif removal.said(env) != _mark(step, work) and built(work.plan, work.journal) is None:
            return None
        work.interpreter = work.system.environment_python(env)
        return Outcome(code="progress.python-here", data={**step.data, "path": str(work.interpreter)})

    def run(self, step: Step, work: Work) -> Outcome:
        """Raises AppError: conda-failed, conda-offline, conda-gone, disk-full."""
        env, program = work.environment, Path(str(spec_of(step, Program).conda))
        if not program.is_file():
            raise AppError("conda-gone", path=str(program))
        work.reporter.progress(done=0, total=None, unit="items", bottleneck="installing")
        # It has happened when the last step gives the environment its name.
        work.making = work.journal.intends(self.name, work.tree_made(env), step.id)
        removal.begin_in_place(env)
        try:
            maker = Conda(program, work.system, work.data, cancel=work.cancel, log=work.reporter.log)
            maker.create(env, work.python)
        except AppError:
            removal.discard(env)
            raise
        for path, content in work.system.conda_way_in(env, program).items():
            json.write_file(path, content)
        removal.say(env, _mark(step, work))
        work.interpreter = work.system.environment_python(env)
        return Outcome()

    def undo(self, effect: Effect, place: Place) -> Why | None:
        """Take it off conda's list, too, unless the user put files there."""
        why = undoing.revert(effect, place)
        home = place.system.user().home
        if isinstance(effect, TreeMade) and home is not None and not (Path(effect.path) / META).is_dir():
            conda.forget(Path(effect.path), Path(home))
        return why


def _mark(step: Step, work: Work) -> str:
    """What is written down when conda is done: the very command, so that another wish does not take it for its own."""
    return f"{' '.join((str(spec_of(step, Program).conda), *conda.words(str(work.environment), work.python)))}\n"
