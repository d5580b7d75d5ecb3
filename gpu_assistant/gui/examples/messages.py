"""What the window says about example programs and what they show."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QCoreApplication

from ...core.types import Language
from ...examples.child_protocol import ExampleProgress
from ...examples.job import ExampleResult
from ...examples.programs import ExampleName
from ...texts.format import format_duration, short_name

translate = QCoreApplication.translate


def program_title(program: ExampleName) -> str:
    """The name of a program, as a choice."""
    return {
        "first-program": translate("Examples", "Read digits"),
        "picture-sorter": translate("Examples", "Sort my pictures"),
        "language-model": translate("Examples", "Language model speed"),
    }[program]


def program_heading(program: ExampleName) -> str:
    """The name of a program, as the title of its window."""
    return {
        "first-program": translate("Examples", "My first program: reading digits"),
        "picture-sorter": translate("Examples", "Sorting my own pictures"),
        "language-model": translate("Examples", "How fast a language model writes"),
    }[program]


def program_description(program: ExampleName, *, is_trained: bool) -> str:
    """What a program does, in two or three short sentences. `is_trained`: the user chose a trained model."""
    if program == "language-model" and is_trained:
        return translate("Examples", "Shows how fast your language model writes on this computer.")
    return {
        "first-program": translate(
            "Examples",
            "A small network learns to read digits. Nothing is downloaded.",
        ),
        "picture-sorter": translate(
            "Examples",
            "A network learns to sort your own pictures. They stay on this computer.",
        ),
        "language-model": translate(
            "Examples",
            "Shows how fast a language model writes here. It is untrained, so it writes nonsense, but as fast as a "
            "trained one. Nothing is downloaded.",
        ),
    }[program]


def device_text(device: str, name: str | None) -> str:
    """Where it runs: "RTX 4060" or "CPU"."""
    return short_name(name) if name else "CPU" if device == "cpu" else device


def percent(share: float) -> str:
    """A share of 0 to 1 as a whole percentage, never 100 before all is right."""
    value = round(100 * share)
    return "99" if value == 100 and share < 1 else str(value)


def result_title(result: ExampleResult) -> str:
    """What came of it, in one sentence."""
    last = result.last
    if last is None:
        return translate("Examples", "The program has finished")
    if last.rate is not None:
        return translate("Examples", "It writes {rate} tokens per second").format(rate=f"{last.rate:,.1f}")
    if last.score is None:
        return translate("Examples", "The program has finished")
    if result.program == "first-program":
        return translate("Examples", "Your network reads {percent}% of the digits").format(percent=percent(last.score))
    return translate("Examples", "Your network sorts {percent}% of the pictures correctly").format(
        percent=percent(last.score)
    )


def result_detail(result: ExampleResult, language: Language) -> str:
    """How long it took, where, and what the figure means."""
    duration = format_duration(result.seconds, language)
    device = device_text(result.device, result.name)
    last = result.last
    if last is not None and last.rate is not None:
        template = translate(
            "Examples",
            "{millions} million weights on {device}, in {time}. One token is about three quarters of a word.",
        )
        millions = "—" if last.parameters is None else f"{last.parameters / 1e6:,.0f}"
        return template.format(millions=millions, device=device, time=duration)
    template = translate("Examples", "It learned in {time} on {device} and was tested with pictures it had never seen.")
    return template.format(time=duration, device=device)


def step_text(progress: ExampleProgress, *, tokens: bool) -> str:
    """How far it is."""
    template = (
        translate("Examples", "Token {step} of {steps}") if tokens else translate("Examples", "Step {step} of {steps}")
    )
    return template.format(step=f"{progress.step:,}", steps=f"{progress.steps:,}")


def invitation(program: ExampleName) -> str:
    """What a program will show, before it runs."""
    return {
        "first-program": translate("Examples", "Press Run and watch the network learn to read."),
        "picture-sorter": translate(
            "Examples",
            "Choose a folder with a subfolder for each class, such as “cats” and “dogs”, and at least 20 pictures in "
            "each.",
        ),
        "language-model": translate("Examples", "Press Run to see how many tokens per second it writes."),
    }[program]


def failure_title(*, has_started: bool) -> str:
    """That a program came to no result, above the reason."""
    if has_started:
        return translate("Examples", "The program stopped before the end")
    return translate("Examples", "The program could not start")


def change_text(values: Sequence[float | None]) -> str:
    """The first and the last of the values that are known: "2.31 → 0.05"."""
    known = [f"{value:,.2f}" for value in values if value is not None]
    return " → ".join(dict.fromkeys((known[0], known[-1]))) if known else ""


def seconds_left(first: tuple[int, float] | None, progress: ExampleProgress, now: float) -> float | None:
    """What the remaining steps take at the speed since the first report, which was (step, seconds); None while that is
    not known, and for the last second.
    """
    if first is None or progress.step <= first[0] or progress.step >= progress.steps:
        return None
    seconds = (progress.steps - progress.step) * (now - first[1]) / (progress.step - first[0])
    return seconds if seconds >= 1 else None


def skipped_text(count: int) -> str:
    """How many files were no pictures that can be read."""
    return translate("Examples", "Files left out because they cannot be read: {count}").format(count=f"{count:,}")
