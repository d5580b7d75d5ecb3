"""Runs one call: finds the language, parses, dispatches, and turns every outcome into an exit code."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING

from ..core.errors import AppError, Cancelled, UsageError
from ..texts.translate import Translator
from .output import ERROR_HANDLER

if TYPE_CHECKING:
    from ..app import App
    from ..core.types import Language
    from .output import Output


def run(argv: Sequence[str]) -> int:
    """Run the program with these arguments and return the contract's exit code; raises KeyboardInterrupt for a Ctrl+C
    that no job waited for.
    """
    for stream in (sys.stdout, sys.stderr):
        # A pipe on Windows has an old code page: better a "?" than a broken run. pythonw has no streams at all.
        if stream is not None and hasattr(stream, "reconfigure"):
            stream.reconfigure(errors=ERROR_HANDLER)
    texts = Translator(_requested_language(argv))
    try:
        return _run(argv, texts)
    except AppError as error:
        _print_error(texts, error)
        if error.code == "output-unwritable":
            _discard_stdout()  # what could not be written is still kept there, and Python would try it again at its end
        return error.exit_code
    except BrokenPipeError:
        # The reader went away (`… | head`): there is nobody left to tell, not even at interpreter exit.
        _discard_stdout()
        return 0
    except Exception as error:  # noqa: BLE001 - the last door writes down whatever it is
        internal_error = _internal_error(error)
        _print_error(texts, internal_error)
        return internal_error.exit_code


def _internal_error(error: Exception) -> AppError:
    """The last door: whatever nobody foresaw is written down whole and said in one sentence."""
    import logging

    logging.getLogger(__name__).error("unforeseen", exc_info=error)
    return AppError("internal", detail=f"{type(error).__name__}: {error}")


def exit_code_for_interrupt(argv: Sequence[str]) -> int:
    """What is said and returned for a Ctrl+C that no job waited for."""
    cancelled = Cancelled("interrupted")
    _print_error(Translator(_requested_language(argv)), cancelled)
    return cancelled.exit_code


def _run(argv: Sequence[str], texts: Translator) -> int:
    from ..core.paths import data_dir
    from .parser import build_parser

    try:
        arguments = build_parser(texts).parse_args(argv)
        options = vars(arguments)
        if arguments.command is None and options.get("json"):
            raise UsageError("call", detail=texts.translate("cli.complaint.json"), command="gpu-assistant")
        data_dir_paths = data_dir(options.get("data_dir"))
    except SystemExit:  # --help and --version, which argparse has printed
        _create_output(texts, json=False).flush()
        raise
    except UsageError as error:
        # No command could be told from it, so it is said as where one answer was asked for.
        if "--json" in argv:
            _create_output(texts, json=True).write_error(error)
        raise
    from ..app import App
    from ..core.log import start_logging

    start_logging(data_dir_paths.logs, verbose=options.get("verbose", False))
    app = App(
        data_dir=options.get("data_dir"),
        wheelhouse=options.get("wheelhouse"),
        machine_file=options.get("machine"),
        mirrors=options.get("mirrors"),
        speed_limit=options.get("limit_rate"),
    )
    texts.other_computer, texts.terminal = app.simulated, app.terminal()
    if arguments.command is None:
        app.resuming = options.get("resume", False)
        return _run_window(app, options.get("lang"))
    from .commands import COMMANDS, EVENT_COMMANDS, SINGLE_RESULT_COMMANDS

    output = _create_output(texts, json=options.get("json", False), quiet=options.get("quiet", False))
    try:
        return _run_command(lambda: COMMANDS[arguments.command](app, arguments, output))
    except AppError as error:
        if output.json and arguments.command in SINGLE_RESULT_COMMANDS:
            output.write_error(error)
        elif output.json and arguments.command in EVENT_COMMANDS:
            output.write_end_event(error)
        raise


def _run_command(command: Callable[[], int]) -> int:
    """The command's exit code; whatever ends it is an AppError, but for a reader that went away."""
    try:
        return command()
    except (AppError, BrokenPipeError):
        raise
    except Exception as error:
        raise _internal_error(error) from error


def _create_output(texts: Translator, *, json: bool, quiet: bool = False) -> Output:
    from ..texts.localized import Texts
    from .output import Output

    return Output(
        Texts(texts.language, other_computer=texts.other_computer, terminal=texts.terminal), json=json, quiet=quiet
    )


def _run_window(app: App, language: Language | None) -> int:
    from ..system.probes import display_server_name, display_state

    match display_state():
        case "none":
            raise AppError("no-screen")
        case "silent":
            raise AppError("screen-silent", display=display_server_name())
        case "there":
            pass
    from ..gui.app import run as run_window

    return run_window(app, language=language)


def _requested_language(argv: Sequence[str]) -> Language:
    """The language of this call, known before parsing so that help and complaints speak it too; the last one counts."""
    language: Language | None = None
    for argument, following in zip_longest(argv, argv[1:], fillvalue=""):
        value = (
            following
            if argument == "--lang"
            else argument.removeprefix("--lang=")
            if argument.startswith("--lang=")
            else None
        )
        if value == "en":
            language = "en"
        elif value == "zh_CN":
            language = "zh_CN"
    if language is not None:
        return language
    from ..system.language import user_language

    return user_language()


def _print_error(texts: Translator, error: AppError) -> None:
    if sys.stderr is None:
        return
    print(texts.error_text(error), file=sys.stderr)
    for alternative in error.alternatives:
        print("  " + texts.translate(f"alternative.{alternative.code}.text", alternative.data), file=sys.stderr)


def _discard_stdout() -> None:
    import os

    devnull = os.open(os.devnull, os.O_WRONLY)
    os.dup2(devnull, sys.stdout.fileno())
