"""Runs one call of the program: language, parsing, dispatch, exit code.

    __main__ -> run -> parser.build_parser       what was typed
                  |-> app.App                    the services
                  |-> commands.COMMANDS[name]    runs jobs (jobs.py), writes to Output (output.py, render/, progress.py)
                  `-> gui.app.run                without a command

Every failure reaches `run` as an AppError: its text goes to stderr, with --json also to stdout, and its `exit_code` is
returned.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import zip_longest
from typing import TYPE_CHECKING

from ..core.errors import AppError, Cancelled, UsageError
from ..texts.translate import Translator
from .streams import allow_any_character, discard_stdout, write_stderr

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


def exit_code_for_interrupt(argv: Sequence[str]) -> int:
    """Print the text for a Ctrl+C that no job handled, and return its exit code."""
    cancelled = Cancelled("interrupted")
    _print_error(Translator(_requested_language(argv)), cancelled)
    return cancelled.exit_code


def _run(argv: Sequence[str], texts: Translator) -> int:
    # Until a command runs, a refusal is one object, whatever the command.
    with _json_errors(lambda error: _create_output(texts, json=True).write_error(error), wanted="--json" in argv):
        arguments, log_folder = _parse_arguments(argv, texts)
        app = _create_app(arguments, log_folder)
        texts.other_computer, texts.terminal = app.simulated, app.terminal()
    options = vars(arguments)
    if arguments.command is None:
        app.resuming = options.get("resume", False)
        app.starts_minimized = options.get("minimized", False)
        with _internal_errors():
            return _run_window(app, options.get("lang"))
    from .commands import COMMANDS, OBJECT_COMMANDS

    output = _create_output(texts, json=options.get("json", False), quiet=options.get("quiet", False))
    write_error = output.write_error if arguments.command in OBJECT_COMMANDS else output.write_end_event
    with _json_errors(write_error, wanted=output.json):
        return COMMANDS[arguments.command](app, arguments, output)


@contextmanager
def _json_errors(write_error: Callable[[AppError], None], *, wanted: bool) -> Iterator[None]:
    """Raise AppError for every exception of the block but BrokenPipeError and, where `wanted`, write it to stdout."""
    try:
        with _internal_errors():
            yield
    except AppError as error:
        if wanted and error.code != "output-unwritable":
            try:
                write_error(error)
            except (AppError, BrokenPipeError):  # the reason of the refusal counts, and is on stderr
                discard_stdout()
        raise


@contextmanager
def _internal_errors() -> Iterator[None]:
    """Name any unexpected exception of the block in one sentence, and log it with its traceback."""
    try:
        yield
    except (AppError, BrokenPipeError):
        raise
    except Exception as error:
        import logging

        logger = logging.getLogger(__name__)
        if logger.hasHandlers():  # without a log, logging itself would print a traceback
            logger.error("unexpected exception", exc_info=error)
        raise AppError("internal", detail=f"{type(error).__name__}: {error}") from error


def _parse_arguments(argv: Sequence[str], texts: Translator) -> tuple[argparse.Namespace, Path]:
    """What was typed, and the folder of the log. Raises UsageError, and SystemExit after --help and --version."""
    from ..core.paths import data_dir
    from .parser import PROGRAM, build_parser

    arguments: argparse.Namespace = build_parser(texts).parse_args(argv)
    if arguments.command is None and vars(arguments).get("json"):
        raise UsageError("call", detail=texts.translate("cli.complaint.json"), command=PROGRAM)
    return arguments, data_dir(vars(arguments).get("data_dir")).logs


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
    write_stderr(texts.error_text(error))
    for alternative in error.alternatives:
        write_stderr("  " + texts.translate(f"alternative.{alternative.code}.text", alternative.data))
