"""Runs one call of the program: language, parsing, dispatch, exit code.

    __main__ -> run -> parser.build_parser       what was typed
                  |-> app.App                    the services
                  |-> commands.COMMANDS[name]    runs jobs (jobs.py), writes to Output (output.py, render/, progress.py)
                  `-> gui.app.run                without a command

Every failure reaches `run` as an AppError: its text goes to stderr, with --json also to stdout, and its `exit_code` is
returned.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING

from ..core.errors import AppError, Cancelled, UsageError
from ..texts.translate import Translator
from .streams import allow_any_character, discard_stdout, write_stdout

if TYPE_CHECKING:
    import argparse
    from pathlib import Path

    from ..app import App
    from ..core.types import Language
    from .output import Output


def run(argv: Sequence[str]) -> int:
    """Run the program with these arguments and return the contract's exit code.

    Raises KeyboardInterrupt for a Ctrl+C that no job handled.
    """
    allow_any_character()
    texts = Translator(_requested_language(argv))
    try:
        return _run(argv, texts)
    except AppError as error:
        _print_error(texts, error)
        if error.code == "output-unwritable":
            discard_stdout()
        return error.exit_code
    except BrokenPipeError:
        discard_stdout()
        return 0
    except Exception as error:  # noqa: BLE001 - the last handler logs whatever comes
        internal_error = _internal_error(error)
        _print_error(texts, internal_error)
        return internal_error.exit_code


def exit_code_for_interrupt(argv: Sequence[str]) -> int:
    """Print the text for a Ctrl+C that no job handled, and return its exit code."""
    cancelled = Cancelled("interrupted")
    _print_error(Translator(_requested_language(argv)), cancelled)
    return cancelled.exit_code


def _run(argv: Sequence[str], texts: Translator) -> int:
    arguments, log_folder = _parse_arguments(argv, texts)
    options = vars(arguments)
    app = _create_app(arguments, log_folder)
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


def _parse_arguments(argv: Sequence[str], texts: Translator) -> tuple[argparse.Namespace, Path]:
    """What was typed, and the folder of the log. Raises UsageError, and SystemExit after --help and --version."""
    from ..core.paths import data_dir
    from .parser import PROGRAM, build_parser

    try:
        arguments: argparse.Namespace = build_parser(texts).parse_args(argv)
        if arguments.command is None and vars(arguments).get("json"):
            raise UsageError("call", detail=texts.translate("cli.complaint.json"), command=PROGRAM)
        return arguments, data_dir(vars(arguments).get("data_dir")).logs
    except SystemExit:
        write_stdout()  # what argparse printed
        raise
    except BrokenPipeError:
        raise
    except OSError as error:  # the same, where stdout is not buffered
        from ..core.errors import os_error_text

        raise AppError("output-unwritable", detail=os_error_text(error)) from error
    except UsageError as error:
        # The command may be unknown, so the error is written as for a command with a single result.
        if "--json" in argv:
            _create_output(texts, json=True).write_error(error)
        raise


def _create_app(arguments: argparse.Namespace, log_folder: Path) -> App:
    """The services for these arguments; starts the log."""
    from ..app import App
    from ..core.log import start_logging

    options = vars(arguments)
    start_logging(log_folder, verbose=options.get("verbose", False))
    return App(
        data_dir=options.get("data_dir"),
        wheelhouse=options.get("wheelhouse"),
        machine_file=options.get("machine"),
        mirrors=options.get("mirrors"),
        speed_limit=options.get("limit_rate"),
    )


def _run_command(command: Callable[[], int]) -> int:
    """The command's exit code; any exception but BrokenPipeError becomes an AppError."""
    try:
        return command()
    except (AppError, BrokenPipeError):
        raise
    except Exception as error:
        raise _internal_error(error) from error


def _internal_error(error: Exception) -> AppError:
    """Log an unexpected exception with its traceback, and name it in one sentence."""
    import logging

    logging.getLogger(__name__).error("unexpected exception", exc_info=error)
    return AppError("internal", detail=f"{type(error).__name__}: {error}")


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
    """The language of this call; found before parsing, so that help and usage errors use it. The last --lang counts."""
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
