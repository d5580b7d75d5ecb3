"""Texts of the install page: its title by stage, notes beside the steps, the two texts of a step's row."""

from __future__ import annotations

import re

from msgspec import Struct
from PySide6.QtCore import QCoreApplication

from .....core.errors import DRIVER_AWAITED_CODES
from .....core.message import Message
from .....core.recommendation import Alternative
from .....texts.format import format_counted, format_duration, format_estimated_duration, format_size
from .....texts.localized import Texts, step_download_text
from .... import messages
from ....language import texts as current_texts
from ...failure import Failure
from ...state import InstallStage, WizardState
from .progress import InstallProgress, StepProgress

translate = QCoreApplication.translate

# How the step of a driver that the user installs ends while the driver is not there.
DRIVER_BY_HAND_CODE = "progress.driver-by-hand"
MIN_SHOWN_MINUTES = 0.3  # of a step that waits


class InstallNote(Struct, frozen=True, kw_only=True):
    """An icon, a title, and one line or more."""

    icon: str
    title: str
    text: str


def awaits_driver(state: WizardState) -> bool:
    """Whether the install has ended because the driver that the user installs is not there yet."""
    code = state.end_event.code if state.end_event is not None else None
    return state.stage == "reboot-needed" and code in {f"error.{each}" for each in DRIVER_AWAITED_CODES}


def stage_title(state: WizardState) -> str:
    """The page's title."""
    if awaits_driver(state):
        return translate("InstallMessages", "Now install the driver")
    titles: dict[InstallStage, str] = {
        "running": translate("InstallMessages", "Installing"),
        "stopping": translate("InstallMessages", "Stopping…"),
        "done": translate("InstallMessages", "Installed"),
        "failed": translate("InstallMessages", "Installation stopped"),
        "cancelled": translate("InstallMessages", "You stopped the installation"),
        "reboot-needed": translate("InstallMessages", "A restart is needed"),
        "steps-skipped": translate("InstallMessages", "Done, except for what needs your permission"),
        "idle": translate("InstallMessages", "Install"),
    }
    return titles[state.stage]


def install_notes(
    state: WizardState, progress: InstallProgress | None, texts: Texts, *, only_download_kept: bool
) -> tuple[InstallNote, ...]:
    """The notes for the current stage. `only_download_kept`: a stopped install would repeat the running step."""
    stage = state.stage
    if stage == "failed" and state.failure is not None and state.failure.remedies[0] == "retry":
        kept = kept_work_text(progress, only_download_kept=False)
        return (InstallNote(icon="ok", title=translate("InstallMessages", "Nothing is lost"), text=kept),)
    if stage == "reboot-needed":
        return _restart_notes(state, progress, texts)
    if stage == "steps-skipped":
        return _skipped_notes(state, texts)
    if stage == "stopping":
        kept = kept_work_text(progress, only_download_kept=False)
        return (InstallNote(icon="ok", title=translate("InstallMessages", "You can continue later"), text=kept),)
    if stage == "running":
        text = kept_work_text(progress, only_download_kept=only_download_kept)
        interrupt_note = InstallNote(icon="ok", title=translate("InstallMessages", "Safe to interrupt"), text=text)
        return (*_driver_notes(progress, texts), interrupt_note)
    return ()


def restart_title() -> str:
    """The title of a restart's row."""
    return translate("InstallMessages", "Restart the computer")


def stopped_texts(progress: InstallProgress | None) -> tuple[str, str]:
    """What is there of an install that the user stopped, and how it goes on."""
    later = translate(
        "InstallMessages", "You can close the window and continue later from the first page of the setup."
    )
    step = progress.steps.get(progress.current_id or "") if progress is not None else None
    if step is not None and step.unit == "bytes" and step.done and step.total:
        template = translate("InstallMessages", "{done} of {total} downloaded")
        kept = messages.join_sentences(translate("InstallMessages", "Your download is kept."), later)
        if progress is not None and progress.has_installed_nothing:
            kept = translate(
                "InstallMessages",
                "Nothing is installed yet. Your download is kept, even if you go back; you can continue later from the "
                "first page of the setup.",
            )
        return template.format(done=format_size(step.done), total=format_size(step.total)), kept
    if progress is not None and progress.has_downloads:
        return translate("InstallMessages", "Your download is kept"), later
    return translate("InstallMessages", "Nothing was downloaded yet"), later


def primary_remedy_text(failure: Failure) -> str:
    """The button of the most promising remedy of a failed install."""
    remedy = failure.remedies[0]
    if remedy == "alternative":
        return alternative_button_text(failure.alternatives[0])
    return {
        "retry": translate("InstallMessages", "Try again"),
        "folder": translate("InstallMessages", "Choose another folder"),
        "back": translate("InstallMessages", "Back"),
    }[remedy]


def alternative_button_text(alternative: Alternative) -> str:
    """A verb and its object, short enough for a button."""
    version = alternative.change.get("pytorch")
    if version is None:
        return messages.alternative_texts(current_texts(), alternative)[1]
    return translate("InstallMessages", "Use PyTorch {version} instead").format(version=version)


def alternative_texts(texts: Texts, alternative: Alternative) -> tuple[str, str]:
    """An alternative's description and the text of its button."""
    return messages.alternative_texts(texts, alternative)[0], alternative_button_text(alternative)


def _driver_notes(progress: InstallProgress | None, texts: Texts) -> tuple[InstallNote, ...]:
    """What the user can do while the rest is downloaded: install the driver that is left to him."""
    steps = progress.steps.values() if progress is not None else ()
    step = next((s for s in steps if s.message is not None and s.message.code == DRIVER_BY_HAND_CODE), None)
    if step is None:
        return ()
    later = translate("InstallMessages", "The setup continues meanwhile: restart only when this page asks you to.")
    space = "" if texts.language == "zh_CN" else " "
    text = f"{texts.translate(f'step.{step.code}.what', step.data)}{space}{later}"
    return (InstallNote(icon="driver", title=translate("InstallMessages", "Meanwhile, install the driver"), text=text),)


def kept_work_text(progress: InstallProgress | None, *, only_download_kept: bool) -> str:
    """What is kept if the install is stopped now. `only_download_kept`: it would repeat the running step."""
    if only_download_kept:
        return translate("InstallMessages", "Your download is kept.")
    if progress is None or not progress.has_downloads:
        return translate("InstallMessages", "Next time, the setup continues from here.")
    return translate("InstallMessages", "Your download is kept; next time, the setup continues from here.")


def _restart_notes(state: WizardState, progress: InstallProgress | None, texts: Texts) -> tuple[InstallNote, ...]:
    """What the restart is for, what has to be done before it, and which steps follow it."""
    notes = []
    current_step = progress.steps.get(progress.current_id or "") if progress is not None else None
    if current_step is not None and current_step.data.get("enrol"):
        # Secure Boot asks for the key once, during the restart, where no help can be shown.
        title = translate("InstallMessages", "Before you restart: read this")
        notes.append(
            InstallNote(
                icon="shield", title=title, text=texts.translate(f"step.{current_step.code}.what", current_step.data)
            )
        )
    end = state.end_event
    text = messages.message_text(texts, Message(end.code, end.data)) if end is not None and end.code is not None else ""
    waiting = [step for step in progress.steps.values() if step.state == "waiting"] if progress is not None else []
    if waiting:
        first = texts.translate(f"step.{waiting[0].code}.title", waiting[0].data)
        several_template = translate("InstallMessages", "{n} steps are left; the first is: {title}.")
        single_template = translate("InstallMessages", "One step is left: {title}.")
        remaining_text = (several_template if len(waiting) > 1 else single_template).format(n=len(waiting), title=first)
        text = f"{text}{'' if texts.language == 'zh_CN' else ' '}{remaining_text}"
    title = translate("InstallMessages", "Restart now or later")
    if awaits_driver(state):
        title = translate("InstallMessages", "Install the driver, then restart")
    notes.append(InstallNote(icon="restart", title=title, text=text))
    return tuple(notes)


def _skipped_notes(state: WizardState, texts: Texts) -> tuple[InstallNote, ...]:
    """Which steps were skipped, and how they can be done later."""
    steps = state.plan.steps if state.plan is not None else ()
    titles = [texts.translate(f"step.{step.code}.title", step.data) for step in steps if step.id in state.skipped_steps]
    skipped_note = InstallNote(
        icon="shield",
        title=translate("InstallMessages", "Skipped, because administrator rights were refused"),
        text="\n".join(f"• {each}" for each in titles),
    )
    retry_note = InstallNote(
        icon="restart",
        title=translate("InstallMessages", "Do it now or later"),
        text=translate(
            "InstallMessages",
            "Press “Ask again” and agree when the system asks. You can also do it later from the "
            "setup's first page. Everything else is done.",
        ),
    )
    return skipped_note, retry_note


def split_first_sentence(text: str) -> tuple[str, str]:
    """The first sentence, and the rest, which may be empty. A dot within a version or a name ends no sentence."""
    match = re.match(r"(.+?(?:[.!?](?=\s)|[。！？]))\s*(.*)", text, re.DOTALL)
    return (match.group(1), match.group(2)) if match is not None else (text, "")


def step_detail(step: StepProgress, texts: Texts, *, message_shown: bool) -> str:
    """The second line of a step's row; `message_shown` says whether the step's message may stand there."""
    if step.state == "running" and step.unit == "items" and step.total:
        return format_counted(translate("InstallMessages", "{count} packages"), count=step.total)
    if step.state == "running" and step.unit == "bytes":
        return ""  # the panel of the running step tells it
    if step.state == "cancelled" and step.unit == "bytes" and step.done and step.total:
        return f"{format_size(step.done)} / {format_size(step.total)}"
    if step.state == "done" and step.unit == "bytes":
        # The step's message is only the last file's name.
        return format_size(step.total) if step.total else ""
    if step.state in ("running", "done", "skipped", "failed") and message_shown and step.message is not None:
        return texts.message_text(step.message)
    return ""


def step_amount(step: StepProgress, texts: Texts) -> str:
    """The text at the right of a step's row: its duration, or before it began its size or expected duration. How far
    the running one is stands in its panel.
    """
    if step.state == "running":
        return ""
    if step.state == "cancelled":
        return translate("InstallMessages", "stopped")
    if step.reported_seconds is not None:
        return format_duration(step.reported_seconds, texts.language)
    if step.state != "waiting":
        return ""
    size = step_download_text(step.code, step.bytes, step.data, texts)
    if not size and step.minutes is not None and step.minutes >= MIN_SHOWN_MINUTES:
        template = translate("InstallMessages", "about {time}")
        return template.format(time=format_estimated_duration(60 * step.minutes, texts.language))
    return translate("InstallMessages", "{size} to download").format(size=size) if size else ""
