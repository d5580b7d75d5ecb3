"""Runs one call: finds the language, parses, dispatches, and turns every outcome into an exit code."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING

from ..core.errors import AppError, CallError, Cancelled
from ..texts.sentences import Sentences
from .plain import AS_FAR_AS_IT_CAN

if TYPE_CHECKING:
    from ..app import App
    from ..core.names import Language
    from .output import Output


def run(argv: Sequence[str]) -> int:
    """Run the program with these arguments and return the contract's exit code; raises KeyboardInterrupt for a Ctrl+C
    that no job waited for.
    """
    for stream in (sys.stdout, sys.stderr):
        # A pipe on Windows has an old code page: better a "?" than a broken run. pythonw has no streams at all.
        if stream is not None and hasattr(stream, "reconfigure"):
            stream.reconfigure(errors=AS_FAR_AS_IT_CAN)
    texts = Sentences(_language(argv))
    try:
        return _run(argv, texts)
    except AppError as error:
        _complain(texts, error)
        return error.exit_code
    except BrokenPipeError:
        # The reader went away (`… | head`): there is nobody left to tell, not even at interpreter exit.
        _silence_stdout()
        return 0
    except Exception as error:  # noqa: BLE001 - the last door writes down whatever it is
        unforeseen = _unforeseen(error)
        _complain(texts, unforeseen)
        return unforeseen.exit_code


def _unforeseen(error: Exception) -> AppError:
    """The last door: whatever nobody foresaw is written down whole and said in one sentence."""
    import logging

    logging.getLogger(__name__).error("unforeseen", exc_info=error)
    return AppError("internal", detail=f"{type(error).__name__}: {error}")


def interrupted(argv: Sequence[str]) -> int:
    """What is said and returned for a Ctrl+C that no job waited for."""
    stopped = Cancelled("interrupted")
    _complain(Sentences(_language(argv)), stopped)
    return stopped.exit_code


def _run(argv: Sequence[str], texts: Sentences) -> int:
    from ..core.paths import data_dir
    from .parser import build

    try:
        arguments = build(texts).parse_args(argv)
        options = vars(arguments)
        if arguments.command is None and options.get("json"):
            raise CallError("call", detail=texts.say("cli.complaint.json"), command="gpu-assistant")
        data = data_dir(options.get("data_dir"))
    except CallError as error:
        # No command could be told from it, so it is said as where one answer was asked for.
        if "--json" in argv:
            _output(texts, json=True).refusal(error)
        raise
    from ..app import App
    from ..core import log

    log.start(data.logs, verbose=options.get("verbose", False))
    app = App(
        data_dir=options.get("data_dir"),
        wheelhouse=options.get("wheelhouse"),
        machine_file=options.get("machine"),
        mirrors=options.get("mirrors"),
        speed_limit=options.get("limit_rate"),
    )
    texts.elsewhere, texts.terminal = app.simulated, app.terminal()
    if arguments.command is None:
        app.resuming = options.get("resume", False)
        return _window(app, options.get("lang"))
    from .commands import COMMANDS, EVENTS, ONE_ANSWER

    output = _output(texts, json=options.get("json", False), quiet=options.get("quiet", False))
    try:
        return _foreseen(lambda: COMMANDS[arguments.command](app, arguments, output))
    except AppError as error:
        if output.json and arguments.command in ONE_ANSWER:
            output.refusal(error)
        elif output.json and arguments.command in EVENTS:
            output.end(error)
        raise


def _foreseen(command: Callable[[], int]) -> int:
    """The command's exit code; whatever ends it is an AppError, but for a reader that went away."""
    try:
        return command()
    except (AppError, BrokenPipeError):
        raise
    except Exception as error:
        raise _unforeseen(error) from error


def _output(texts: Sentences, *, json: bool, quiet: bool = False) -> Output:
    from ..texts import Texts
    from .output import Output

    return Output(Texts(texts.language, elsewhere=texts.elsewhere, terminal=texts.terminal), json=json, quiet=quiet)


def _window(app: App, language: Language | None) -> int:
    from ..system.screen import named, screen

    match screen():
        case "none":
            raise AppError("no-screen")
        case "silent":
            raise AppError("screen-silent", display=named())
        case "there":
            pass
    from ..gui.run import run as run_window

    return run_window(app, language=language)


def _language(argv: Sequence[str]) -> Language:
    """The language of this call, known before parsing so that help and complaints speak it too; the last one counts."""
    chosen: Language | None = None
    for word, following in zip_longest(argv, argv[1:], fillvalue=""):
        given = following if word == "--lang" else word.removeprefix("--lang=") if word.startswith("--lang=") else None
        if given == "en":
            chosen = "en"
        elif given == "zh_CN":
            chosen = "zh_CN"
    if chosen is not None:
        return chosen
    from ..system.language import user_language

    return user_language()


def _complain(texts: Sentences, error: AppError) -> None:
    if sys.stderr is None:
        return
    print(texts.error(error), file=sys.stderr)
    for offer in error.offers:
        print("  " + texts.say(f"alternative.{offer.code}.text", offer.data), file=sys.stderr)


def _silence_stdout() -> None:
    import os

    devnull = os.open(os.devnull, os.O_WRONLY)
    os.dup2(devnull, sys.stdout.fileno())
