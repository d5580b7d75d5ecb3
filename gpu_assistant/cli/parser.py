"""The command line that can be typed: all commands and options of the contract, with help in the user's language.

It imports no command: `--help` must load neither structs nor services.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NoReturn, get_args

from .. import __version__
from ..core.errors import UsageError
from ..core.paths import check_path
from ..core.types import Addition, Channel, EnvironmentKind, Goal, Language, MirrorUse, WayName
from ..examples.programs import EXAMPLE_NAMES
from .streams import ERROR_HANDLER, stdout_encoding, write_stdout

if TYPE_CHECKING:
    from ..texts.translate import Translator

PROGRAM = "gpu-assistant"
CATALOG_ACTIONS = ("show", "update", "check")
BUNDLE_ACTIONS = ("create", "check")
TOOLKIT_METHODS = ("wheels", "archives", "installer")
HEALTH_LEVELS = (1, 2, 3)
DEFAULT_CONNECTIONS, MAX_CONNECTIONS = 8, 16
RATE_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9}  # as curl and wget have them: "500k", "5M"
MIN_RATE, MAX_RATE = 1000, 10**12  # bytes a second
SPAN_UNITS = {"m": 60, "h": 3600, "d": 86_400}
MAX_INTERVAL_S = 86_400.0  # a day
MAX_LOAD_MINUTES = 7 * 24 * 60.0  # a week
MAX_PORT = 65_535

# argparse's own messages, and the texts `cli.complaint.<code>` in their place; the first match counts.
ARGPARSE_MESSAGES = {
    r"the following arguments are required: (?P<what>.+)": "required",
    r"argument (?P<what>-.+?): invalid choice: (?P<given>.+?) \(choose from (?P<choices>.+)\)": "choice",
    r"argument (?P<what>.+?): invalid choice: (?P<given>.+?) \(choose from (?P<choices>.+)\)": "word",
    r"argument (?P<what>.+?): expected one argument": "empty",
    r"argument (?P<what>.+?): not allowed with argument (?P<other>.+)": "together",
    r"argument (?P<what>.+?): (?P<given>)(?P<rule>.+)": "rule",
}
# Options that may stand before or after the command: the command's own default must not overwrite a typed value.
INHERITED: dict[str, Any] = {"default": argparse.SUPPRESS}
ArgumentGroup = argparse._ArgumentGroup  # noqa: SLF001 - argparse names this type nowhere else


def build_parser(texts: Translator) -> Parser:
    """The parser of the whole command line."""
    return _ParserBuilder(texts).build()


class Parser(argparse.ArgumentParser):
    """An ArgumentParser that raises UsageError with a text in the user's language instead of exiting."""

    def __init__(self, texts: Translator, **options: Any) -> None:  # noqa: ANN401 - as argparse has them
        super().__init__(
            **options, add_help=False, allow_abbrev=False, formatter_class=partial(_HelpFormatter, texts=texts)
        )
        self._texts = texts
        self._argv: Sequence[str] = ()

    def error(self, message: str) -> NoReturn:
        """Raise UsageError("call"); a message that is not in `ARGPARSE_MESSAGES` stays in English."""
        for pattern, code in ARGPARSE_MESSAGES.items():
            if match := re.fullmatch(pattern, message, re.DOTALL):
                fields = match.groupdict()
                # Python's quotes around each value are no part of what is to be typed.
                fields |= {name: fields[name].replace("'", "") for name in ("given", "choices") if name in fields}
                # To Python 3.14 "-5M" is a value that breaks the rule, before that an option that does not exist.
                negative_number = self._negative_number_after(fields["what"]) if code in ("empty", "rule") else None
                fields |= {"given": negative_number} if negative_number is not None else {}
                message = self._texts.translate(f"cli.complaint.{code if negative_number is None else 'minus'}", fields)
                break
        raise UsageError("call", detail=message, command=self.prog)

    def _print_message(self, message: str, file: object = None) -> None:  # noqa: ARG002 - stdout alone
        """Write help or the version. Raises AppError, BrokenPipeError as `write_stdout` does."""
        write_stdout(message.encode(stdout_encoding(), errors=ERROR_HANDLER))

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:  # noqa: ANN401 - as argparse has them
        self._argv = tuple(args or ())
        return super().parse_known_args(args, namespace)

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:  # noqa: ANN401 - as argparse has them
        """Raise UsageError for unknown options; it names the command, whose help is the one to read."""
        arguments, unrecognized = self.parse_known_args(args, namespace)
        if unrecognized:
            command = f"{self.prog} {arguments.command}" if arguments.command is not None else self.prog
            fields = {"given": " ".join(unrecognized), "command": command}
            raise UsageError("call", detail=self._texts.translate("cli.complaint.unknown", fields), command=command)
        return arguments

    def _negative_number_after(self, option: str) -> str | None:
        """A negative number with a unit after `option`; a mere number is refused by the rule that it breaks."""
        names = option.split("/")
        candidates = (b for a, b in pairwise(self._argv) if a in names and re.match(r"-\.?\d(?!\d*\.?\d*$)", b))
        return next(candidates, None)


class _HelpFormatter(argparse.HelpFormatter):
    """argparse's own, with "usage:" in the user's language."""

    def __init__(self, prog: str, *, texts: Translator) -> None:
        super().__init__(prog)
        self._texts = texts

    def add_usage(self, usage: Any, actions: Any, groups: Any, prefix: str | None = None) -> None:  # noqa: ANN401
        super().add_usage(
            usage, actions, groups, self._texts.translate("cli.usage") + " " if prefix is None else prefix
        )


class StoreExplicit(argparse.Action):
    """Stores a value and adds its name to `namespace.given`: a default alone looks the same as a typed value."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,  # noqa: ARG002
        namespace: argparse.Namespace,
        values: str | Sequence[Any] | None,
        option_string: str | None = None,  # noqa: ARG002
    ) -> None:
        setattr(namespace, self.dest, values)
        namespace.given = {*getattr(namespace, "given", ()), self.dest}


class _ArgumentTypes:
    """Checks and converts single values; each method raises ArgumentTypeError with a text."""

    def __init__(self, texts: Translator) -> None:
        self._texts = texts

    def _error(self, code: str, **data: str) -> argparse.ArgumentTypeError:
        return argparse.ArgumentTypeError(self._texts.translate(f"cli.range.{code}", data))

    def path(self, text: str) -> str:
        # An unset variable in a script must not select the default silently.
        if not text.strip():
            raise self._error("path")
        check_path(text)
        return text

    def non_empty(self, text: str) -> str:
        if not text.strip():
            raise argparse.ArgumentTypeError("expected one argument")
        return text.strip()

    def python_series(self, text: str) -> str:
        if not re.fullmatch(r"\s*\d+\.\d+(\.\d+)?\s*", text, re.ASCII):
            raise self._error("python", given=self.non_empty(text))
        return text.strip()

    def device(self, text: str) -> str:
        """ "cpu", "cuda" or "cuda:N"."""
        if not re.fullmatch(r"cpu|cuda(:\d{1,3})?", text.strip().lower(), re.ASCII):
            raise self._error("device")
        return text.strip().lower()

    def single_device(self, text: str) -> str:
        """Without "cuda", which means the largest GPU for a benchmark and would be ambiguous for a health test."""
        if (name := self.device(text)) == "cuda":
            raise self._error("device")
        return name

    def rate(self, text: str) -> int:
        """Parse a rate such as "5M" into bytes per second."""
        match = re.fullmatch(r"(\d+(?:\.\d+)?)([kmg]?)b?", text.strip(), re.IGNORECASE | re.ASCII)
        bytes_per_second = float(match[1]) * RATE_UNITS[match[2].lower()] if match is not None else 0
        if not MIN_RATE <= bytes_per_second <= MAX_RATE:
            raise self._error("limit-rate")
        return int(bytes_per_second)

    def checksum(self, text: str) -> str:
        if not re.fullmatch(r"[0-9A-Fa-f]{64}", text):
            raise self._error("sha256")
        return text.lower()

    def connections(self, text: str) -> int:
        if not text.isdecimal() or not 1 <= int(text) <= MAX_CONNECTIONS:
            raise self._error("connections")
        return int(text)

    def load_minutes(self, text: str) -> float:
        return self._positive_number(text, MAX_LOAD_MINUTES, "minutes")

    def interval(self, text: str) -> float:
        """Parse an interval in seconds."""
        return self._positive_number(text, MAX_INTERVAL_S, "interval")

    def _positive_number(self, text: str, maximum: float, code: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = 0.0
        if not 0 < value <= maximum:
            raise self._error(code)
        return value

    def count(self, text: str) -> int:
        if not text.isdecimal() or int(text) < 1:
            raise self._error("count")
        return int(text)

    def port(self, text: str) -> int:
        if not text.isdecimal() or int(text) > MAX_PORT:
            raise self._error("port")
        return int(text)

    def time_span(self, text: str) -> int:
        """Seconds of "30m", "2h", "7d"."""
        match = re.fullmatch(r"([1-9]\d{0,4})([mhd])", text, re.ASCII)
        if match is None:
            raise self._error("span")
        return int(match[1]) * SPAN_UNITS[match[2]]


class _ParserBuilder:
    """Adds all commands, in the order in which the help lists them."""

    def __init__(self, texts: Translator) -> None:
        self._texts = texts
        self._types = _ArgumentTypes(texts)
        self._common = self._common_options()
        self._parser = Parser(texts, prog=PROGRAM, parents=[self._common], description=self._text("about"))
        self._add_global_options()
        self._commands = self._parser.add_subparsers(
            dest="command", metavar="COMMAND", title=self._text("group.commands")
        )

    def build(self) -> Parser:
        """Create the parser with all commands."""
        self._add_machine_option(self._add_command("detect"))
        self._add_recommend_command()
        self._add_plan_command()
        self._add_install_command()
        self._add_uninstall_command()
        self._add_use_command()
        verify = self._add_command("verify")
        self._add_environment_option(verify)
        self._add_flag(verify, "files", "verify-files")
        self._add_bench_command()
        self._add_fit_command()
        self._add_example_command()
        self._add_health_command()
        self._add_download_command()
        self._add_bundle_command()
        self._add_monitor_command()
        self._add_catalog_command()
        return self._parser

    def _text(self, code: str) -> str:
        return self._texts.translate(f"cli.{code}")

    def _help(self, option: str) -> str:
        return self._text(f"opt.{option}")

    def _common_options(self) -> Parser:
        common = Parser(self._texts)
        group = common.add_argument_group(self._text("group.common"))
        group.add_argument("-h", "--help", action="help", help=self._help("help"))
        group.add_argument("--lang", choices=get_args(Language), help=self._help("lang"), **INHERITED)
        for name in ("json", "quiet", "verbose"):
            group.add_argument(f"--{name}", action="store_true", help=self._help(name), **INHERITED)
        for name in ("data-dir", "wheelhouse"):
            group.add_argument(f"--{name}", metavar="DIR", type=self._types.path, help=self._help(name), **INHERITED)
        return common

    def _add_global_options(self) -> None:
        """Options of the program without a command, which opens the window."""
        group = self._parser.add_argument_group(self._text("group.options"))
        version = f"GPU Assistant {__version__}"
        group.add_argument("--version", action="version", version=version, help=self._help("version"))
        self._add_flag(group, "resume", "resume-window")
        self._add_flag(group, "minimized")
        self._add_machine_option(group, "machine-window")

    def _add_command(self, name: str) -> ArgumentGroup:
        """A new command; returns the group of its own options."""
        text = self._text(f"cmd.{name}")
        command = self._commands.add_parser(
            name, texts=self._texts, help=text, description=text, parents=[self._common]
        )
        return command.add_argument_group(self._text("group.options"))

    def _add_flag(self, command: ArgumentGroup, name: str, help_code: str | None = None) -> None:
        command.add_argument(f"--{name}", action="store_true", help=self._help(help_code or name))

    def _add_path_option(self, command: ArgumentGroup, name: str, metavar: str) -> None:
        command.add_argument(f"--{name}", metavar=metavar, type=self._types.path, help=self._help(name))

    def _add_machine_option(self, command: ArgumentGroup, help_code: str = "machine") -> None:
        command.add_argument(
            "--machine", metavar="FILE", type=self._types.path, help=self._help(help_code), **INHERITED
        )

    def _add_environment_option(self, command: ArgumentGroup) -> None:
        self._add_path_option(command, "env", "DIR")

    def _add_choice_option(self, command: ArgumentGroup, name: str, choices: Sequence[str], default: str) -> None:
        command.add_argument(f"--{name}", choices=choices, default=default, action=StoreExplicit, help=self._help(name))

    def _add_environment_kind_option(self, command: ArgumentGroup) -> None:
        self._add_choice_option(command, "environment", get_args(EnvironmentKind), "venv")

    def _add_download_options(self, command: ArgumentGroup) -> None:
        """Options of all commands that download."""
        command.add_argument("--mirrors", choices=get_args(MirrorUse), help=self._help("mirrors"), **INHERITED)
        command.add_argument("--limit-rate", metavar="RATE", type=self._types.rate, help=self._help("limit-rate"))

    def _add_plan_options(self, command: ArgumentGroup, machine_help_code: str = "machine") -> None:
        """Options that decide what is recommended."""
        types = self._types
        self._add_machine_option(command, machine_help_code)
        self._add_choice_option(command, "goal", get_args(Goal), "pytorch")
        self._add_choice_option(command, "channel", get_args(Channel), "studio")
        command.add_argument("--pytorch", metavar="VERSION", type=types.non_empty, help=self._help("pytorch"))
        command.add_argument("--variant", metavar="TAG", type=types.non_empty, help=self._help("variant"))
        command.add_argument("--python", metavar="X.Y", type=types.python_series, help=self._help("python"))
        command.add_argument("--toolkit", choices=TOOLKIT_METHODS, help=self._help("toolkit"))
        command.add_argument("--wsl2", choices=("install",), help=self._help("wsl2"))
        command.add_argument("--way", choices=get_args(WayName), help=self._help("way"))

    def _add_yes_option(self, command: ArgumentGroup) -> None:
        command.add_argument("--yes", "-y", action="store_true", help=self._help("yes"))

    def _add_recommend_command(self) -> None:
        command = self._add_command("recommend")
        self._add_plan_options(command)
        self._add_flag(command, "why")

    def _add_plan_command(self) -> None:
        command = self._add_command("plan")
        self._add_plan_options(command)
        self._add_environment_option(command)
        self._add_environment_kind_option(command)
        network = command.add_mutually_exclusive_group()
        self._add_flag(network, "online")
        self._add_flag(network, "offline")
        self._add_path_option(command, "output", "FILE")

    def _add_install_command(self) -> None:
        command = self._add_command("install")
        self._add_plan_options(command)
        self._add_environment_option(command)
        self._add_environment_kind_option(command)
        self._add_path_option(command, "plan", "FILE")
        self._add_download_options(command)
        self._add_path_option(command, "bundle", "DIR")
        self._add_origin_options(command)
        self._add_flag(command, "dry-run")
        self._add_yes_option(command)
        self._add_flag(command, "resume")

    def _add_origin_options(self, command: ArgumentGroup) -> None:
        """What proves who made a bundle."""
        command.add_argument("--expect", metavar="SHA256", type=self._types.checksum, help=self._help("expect"))
        command.add_argument("--public-key", metavar="KEY", type=self._types.path, help=self._help("public-key"))

    def _add_uninstall_command(self) -> None:
        command = self._add_command("uninstall")
        scope = command.add_mutually_exclusive_group()
        self._add_environment_option(scope)
        self._add_flag(scope, "all")
        self._add_flag(command, "keep-environments")
        self._add_flag(command, "driver", "uninstall-driver")
        self._add_flag(command, "dry-run")
        self._add_yes_option(command)

    def _add_use_command(self) -> None:
        command = self._add_command("use")
        self._add_environment_option(command)
        self._add_flag(command, "menu")
        self._add_flag(command, "kernel")
        self._add_flag(command, "jupyter")
        command.add_argument("--add", choices=get_args(Addition), help=self._help("add"))
        self._add_flag(command, "remove-added")
        self._add_path_option(command, "editor", "FOLDER")
        self._add_path_option(command, "lock", "FILE")

    def _add_bench_command(self) -> None:
        command = self._add_command("bench")
        self._add_environment_option(command)
        scope = command.add_mutually_exclusive_group()
        self._add_flag(scope, "quick")
        self._add_flag(scope, "full")
        self._add_flag(scope, "history", "bench-history")
        scope.add_argument("--judge", metavar="FILE", type=self._types.path, help=self._help("bench-judge"))
        command.add_argument("--device", metavar="cpu|cuda:N", type=self._types.device, help=self._help("device"))
        self._add_path_option(command, "report", "FILE")

    def _add_fit_command(self) -> None:
        command, types = self._add_command("fit"), self._types
        command.add_argument("--model", metavar="NAME", type=types.non_empty, help=self._help("fit-model"))
        self._add_machine_option(command)
        self._add_flag(command, "measure")
        self._add_environment_option(command)

    def _add_example_command(self) -> None:
        command, types = self._add_command("example"), self._types
        programs = ", ".join(EXAMPLE_NAMES)
        command.add_argument(
            "program",
            choices=EXAMPLE_NAMES,
            metavar="PROGRAM",
            help=self._texts.translate("cli.opt.example-name", {"programs": programs}),
        )
        self._add_environment_option(command)
        command.add_argument(
            "--device", metavar="cpu|cuda:N", type=types.single_device, help=self._help("example-device")
        )
        self._add_path_option(command, "pictures", "DIR")
        self._add_path_option(command, "weights", "PATH")
        command.add_argument("--save", metavar="FILE", type=types.path, help=self._help("example-save"))

    def _add_health_command(self) -> None:
        command, types = self._add_command("health"), self._types
        self._add_environment_option(command)
        command.add_argument("--level", type=int, choices=HEALTH_LEVELS, default=1, help=self._help("level"))
        command.add_argument("--minutes", metavar="M", type=types.load_minutes, help=self._help("minutes"))
        command.add_argument("--device", metavar="cpu|cuda:N", type=types.single_device, help=self._help("test-device"))
        self._add_path_option(command, "report", "FILE")

    def _add_download_command(self) -> None:
        command, types = self._add_command("download"), self._types
        command.add_argument("urls", metavar="URL", nargs="+", help=self._help("urls"))
        command.add_argument("-o", dest="file", metavar="FILE", type=types.path, required=True, help=self._help("file"))
        command.add_argument("--sha256", metavar="H", type=types.checksum, help=self._help("sha256"))
        command.add_argument(
            "--connections",
            metavar="N",
            type=types.connections,
            default=DEFAULT_CONNECTIONS,
            help=self._help("connections"),
        )
        self._add_download_options(command)

    def _add_bundle_command(self) -> None:
        command = self._add_command("bundle")
        command.add_argument(
            "action", choices=BUNDLE_ACTIONS, metavar="|".join(BUNDLE_ACTIONS), help=self._help("bundle-action")
        )
        command.add_argument("folder", metavar="DIR", type=self._types.path, help=self._help("bundle-folder"))
        self._add_path_option(command, "sign", "KEY")
        self._add_origin_options(command)
        self._add_flag(command, "dry-run")
        self._add_download_options(command)
        self._add_plan_options(command, "bundle-machine")
        self._add_environment_kind_option(command)

    def _add_monitor_command(self) -> None:
        command, types = self._add_command("monitor"), self._types
        command.add_argument("--interval", metavar="S", type=types.interval, help=self._help("interval"))
        command.add_argument("--count", metavar="N", type=types.count, help=self._help("count"))
        self._add_flag(command, "processes")
        self._add_path_option(command, "csv", "FILE")
        command.add_argument("--history", metavar="SPAN", type=types.time_span, help=self._help("history"))
        command.add_argument("--serve-metrics", metavar="PORT", type=types.port, help=self._help("serve-metrics"))
        command.add_argument("--metrics-address", metavar="ADDRESS", help=self._help("metrics-address"))

    def _add_catalog_command(self) -> None:
        command = self._add_command("catalog")
        command.add_argument(
            "action", choices=CATALOG_ACTIONS, metavar="|".join(CATALOG_ACTIONS), help=self._help("catalog-action")
        )
        command.add_argument(
            "what", nargs="?", metavar="SUBJECT|DIR", type=self._types.path, help=self._help("catalog-what")
        )
        self._add_flag(command, "against-index")
