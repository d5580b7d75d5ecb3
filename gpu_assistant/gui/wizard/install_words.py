"""What the install page says beside the steps: how it stands, whether one may leave, what comes after a restart."""

from __future__ import annotations

from msgspec import Struct
from PySide6.QtCore import QCoreApplication

from ...core.message import Message
from ...texts import Texts
from ...texts.format import duration, size
from ...texts.price import of_step
from . import words as said
from .facts import Facts, Stage
from .progress import Progress, StepProgress

translate = QCoreApplication.translate


class Note(Struct, frozen=True, kw_only=True):
    """An icon, a few words, one line or more."""

    icon: str
    title: str
    line: str


def title(stage: Stage) -> str:
    """The page's title."""
    return {
        "running": translate("InstallWords", "Installing"),
        "stopping": translate("InstallWords", "Stopping…"),
        "done": translate("InstallWords", "Installed"),
        "failed": translate("InstallWords", "The install stopped"),
        "cancelled": translate("InstallWords", "Stopped"),
        "reboot-needed": translate("InstallWords", "A restart is needed"),
        "left-out": translate("InstallWords", "Done, but for what needs your consent"),
        "idle": translate("InstallWords", "Install"),
    }[stage]


def notes(facts: Facts, progress: Progress | None, texts: Texts, *, late: bool) -> tuple[Note, ...]:
    """The remarks of now; `late` where the next start would make the running step again."""
    stage = facts.stage
    if stage == "cancelled":
        line = translate("InstallWords", "What is downloaded is kept. Go on whenever you like.")
        if progress is not None and not progress.came:
            line = translate("InstallWords", "Nothing was downloaded yet. Go on whenever you like.")
        return (Note(icon="ok", title=translate("InstallWords", "Stopped where you said"), line=line),)
    if stage == "reboot-needed":
        return _restart(facts, progress, texts)
    if stage == "left-out":
        return _left_out(facts, texts)
    if stage in ("running", "stopping"):
        line = translate("InstallWords", "The next start goes on from here.")
        line = kept(progress, late=True) if late else line
        return (Note(icon="ok", title=translate("InstallWords", "Safe to interrupt"), line=line),)
    return ()


def kept(progress: Progress | None, *, late: bool) -> str:
    """What who stops now has later; `late` where the next start would make the running step again."""
    if late:
        return translate("InstallWords", "What is downloaded is kept.")
    if progress is None or not progress.came:
        return translate("InstallWords", "The next start goes on from here.")
    return translate("InstallWords", "What is downloaded is kept; the next start goes on from here.")


def _restart(facts: Facts, progress: Progress | None, texts: Texts) -> tuple[Note, ...]:
    """What the restart is for, what has to be done before it, and what goes on after it."""
    found = []
    asked = progress.steps.get(progress.current or "") if progress is not None else None
    if asked is not None and asked.data.get("enrol"):
        # Secure Boot's blue screen comes once, with nobody there to explain it.
        before = translate("InstallWords", "Before you restart: read this")
        found.append(Note(icon="shield", title=before, line=texts.say(f"step.{asked.code}.what", asked.data)))
    end = facts.end
    line = said.say(texts, Message(end.code, end.data)) if end is not None and end.code is not None else ""
    left = [step for step in progress.steps.values() if step.state == "waiting"] if progress is not None else []
    if left:
        first = texts.say(f"step.{left[0].code}.title", left[0].data)
        more = translate("InstallWords", "{n} steps are left; the first is: {title}.")
        last = translate("InstallWords", "One step is left: {title}.")
        rest = (more if len(left) > 1 else last).format(n=len(left), title=first)
        line = f"{line}{'' if texts.language == 'zh_CN' else ' '}{rest}"
    found.append(Note(icon="restart", title=translate("InstallWords", "Restart now or later"), line=line))
    return tuple(found)


def _left_out(facts: Facts, texts: Texts) -> tuple[Note, ...]:
    """Which steps were left out, and how they can be done later."""
    steps = facts.plan.steps if facts.plan is not None else ()
    titles = [texts.say(f"step.{step.code}.title", step.data) for step in steps if step.id in facts.left_out]
    what = Note(
        icon="shield",
        title=translate("InstallWords", "Left out, because administrator rights were refused"),
        line="\n".join(f"• {each}" for each in titles),
    )
    how = Note(
        icon="restart",
        title=translate("InstallWords", "Do it now or later"),
        line=translate(
            "InstallWords",
            "Press “Ask again” and agree when the system asks. Later, the setup's first page offers to go on from here."
            " Everything else is done and stays.",
        ),
    )
    return what, how


def detail(step: StepProgress, texts: Texts, *, told: bool) -> str:
    """The second line of a step's row; `told` says whether what happened is said there."""
    if step.state == "running" and step.unit == "bytes" and step.done is not None:
        return f"{size(step.done)} / {size(step.total)}" if step.total else size(step.done)
    if step.state == "done" and step.unit == "bytes":
        # The last file's name says nothing about the step.
        return size(step.total) if step.total else ""
    if step.state in ("running", "done", "skipped", "failed") and told and step.message is not None:
        return texts.message(step.message)
    return ""


def right(step: StepProgress, texts: Texts) -> str:
    """What stands at the right of a step's row: how far, how long, or how much."""
    if step.state == "running":
        return f"{round(100 * step.fraction)} %" if step.fraction is not None else ""
    if step.seconds_worth_saying is not None:
        return duration(step.seconds_worth_saying, texts.language)
    return of_step(step.code, step.bytes, step.data, texts) if step.state == "waiting" else ""
