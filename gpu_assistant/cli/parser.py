"""What can be typed: the commands and options of the contract, with help in the user's language."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NoReturn, get_args

from .. import __version__
from ..core.errors import UsageError
from ..core.paths import check_path_length
from ..core.types import Channel, EnvironmentKind, Goal, Language, MirrorUse
from .arguments import StoreExplicit
from .bundle import add_bundle_options as bundle_options
from .download import add_download_command_options as download_options
from .health import add_health_options as health_options
from .monitor import add_monitor_options as monitor_options
from .use import add_use_options as use_options

if TYPE_CHECKING:
    from ..texts.translate import Translator


class Parser(argparse.ArgumentParser):
    """An argument parser that raises our error, so that bad calls are said like all else."""

    texts: Translator
    _argv: Sequence[str] = ()

    def error(self, message: str) -> NoReturn:
        """Raise CallError; argparse's own words are said in the user's language where they are known."""
        for pattern, code in ARGPARSE_MESSAGES.items():
            if match := re.fullmatch(pattern, message, re.DOTALL):
                fields = match.groupdict()
                # Python's quotes around each word are no part of what is to be typed.
                fields |= {name: fields[name].replace("'", "") for name in ("given", "choices") if name in fields}
                negative_number = self._negative_number_after(fields["what"]) if code == "empty" else None
                fields |= {"given": negative_number} if negative_number is not None else {}
                message = self.texts.translate(f"cli.complaint.{code if negative_number is None else 'minus'}", fields)
                break
        raise UsageError("call", detail=message, command=self.prog)

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:  # noqa: ANN401 - as argparse has them
        """As argparse has it."""
        self._argv = tuple(args or ())
        return super().parse_known_args(args, namespace)

    def _negative_number_after(self, option: str) -> str | None:
        """A figure with a minus before it, which argparse takes for an option and not for what follows `option`."""
        names = option.split("/")
        candidates = (b for a, b in pairwise(self._argv) if a in names and re.match(r"-\.?\d", b))
        return next(candidates, None)

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:  # noqa: ANN401 - as argparse has them
        """Raise CallError, by the command's own name where there is one: its help is the one to read."""
        namespace_result, unrecognized = self.parse_known_args(args, namespace)
        if unrecognized:
            command = f"{self.prog} {namespace_result.command}" if namespace_result.command is not None else self.prog
            text = self.texts.translate("cli.complaint.unknown", {"given": " ".join(unrecognized), "command": command})
            raise UsageError("call", detail=text, command=command)
        return namespace_result


# What argparse writes, and the text that says the same.
ARGPARSE_MESSAGES = {
    r"the following arguments are required: (?P<what>.+)": "required",
    r"argument (?P<what>-.+?): invalid choice: (?P<given>.+?) \(choose from (?P<choices>.+)\)": "choice",
    r"argument (?P<what>.+?): invalid choice: (?P<given>.+?) \(choose from (?P<choices>.+)\)": "word",
    r"argument (?P<what>.+?): expected one argument": "empty",
    r"argument (?P<what>.+?): not allowed with argument (?P<other>.+)": "together",
    r"argument (?P<what>.+?): (?P<given>)(?P<rule>.+)": "rule",
}
ArgumentGroup = argparse._ArgumentGroup
# Bytes a second, as curl and wget are told them: "500k", "5M".
CATALOG_ACTIONS = ("show", "update", "check")
RATE_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9}
MIN_RATE, MAX_RATE = 1000, 10**12


def build_parser(texts: Translator) -> Parser:  # noqa: PLR0915 - one line an option
    """The whole parser."""

    def translate(code: str) -> str:
        return texts.translate(f"cli.{code}")

    def path(text: str) -> str:
        # An unset variable of a script must not quietly mean "the usual place".
        if not text.strip():
            raise argparse.ArgumentTypeError(translate("range.path"))
        check_path_length(text)
        return text

    def non_empty(text: str) -> str:
        if not text.strip():
            raise argparse.ArgumentTypeError("expected one argument")
        return text.strip()

    def python_series(text: str) -> str:
        if not re.fullmatch(r"\s*\d+\.\d+(\.\d+)?\s*", text, re.ASCII):
            raise argparse.ArgumentTypeError(texts.translate("cli.range.python", {"given": non_empty(text)}))
        return text.strip()

    def device(text: str) -> str:
        if not re.fullmatch(r"cpu|cuda(:\d{1,3})?", text.strip().lower(), re.ASCII):
            raise argparse.ArgumentTypeError(translate("range.device"))
        return text.strip().lower()

    class Formatter(argparse.HelpFormatter):
        def add_usage(self, usage: Any, actions: Any, groups: Any, prefix: str | None = None) -> None:  # noqa: ANN401
            super().add_usage(usage, actions, groups, translate("usage") + " " if prefix is None else prefix)

    Parser.texts = texts
    common = Parser(add_help=False)
    group = common.add_argument_group(translate("group.common"))
    # SUPPRESS: given before or after the command, and the command's own default never overwrites it.
    inherited: dict[str, Any] = {"default": argparse.SUPPRESS}
    explicit: dict[str, Any] = {"action": StoreExplicit}
    group.add_argument("-h", "--help", action="help", help=translate("opt.help"))
    group.add_argument("--lang", choices=get_args(Language), help=translate("opt.lang"), **inherited)
    group.add_argument("--json", action="store_true", help=translate("opt.json"), **inherited)
    group.add_argument("--quiet", action="store_true", help=translate("opt.quiet"), **inherited)
    group.add_argument("--verbose", action="store_true", help=translate("opt.verbose"), **inherited)
    group.add_argument("--data-dir", metavar="DIR", type=path, help=translate("opt.data-dir"), **inherited)
    group.add_argument("--wheelhouse", metavar="DIR", type=path, help=translate("opt.wheelhouse"), **inherited)

    def rate(text: str) -> int:
        match = re.fullmatch(r"(\d+(?:\.\d+)?)([kmg]?)b?", text.strip(), re.IGNORECASE | re.ASCII)
        bytes_per_second = float(match[1]) * RATE_UNITS[match[2].lower()] if match is not None else 0
        if not MIN_RATE <= bytes_per_second <= MAX_RATE:
            raise argparse.ArgumentTypeError(translate("range.limit-rate"))
        return int(bytes_per_second)

    def add_download_options(command: ArgumentGroup) -> None:
        command.add_argument("--mirrors", choices=get_args(MirrorUse), help=translate("opt.mirrors"), **inherited)
        command.add_argument("--limit-rate", metavar="RATE", type=rate, help=translate("opt.limit-rate"))

    def add_machine_option(command: ArgumentGroup, help_key: str = "machine") -> None:
        command.add_argument("--machine", metavar="FILE", type=path, help=translate(f"opt.{help_key}"), **inherited)

    def add_environment_option(command: ArgumentGroup) -> None:
        command.add_argument("--env", metavar="DIR", type=path, help=translate("opt.env"))

    def add_environment_kind_option(command: ArgumentGroup) -> None:
        kinds = get_args(EnvironmentKind)
        command.add_argument(
            "--environment", choices=kinds, default="venv", help=translate("opt.environment"), **explicit
        )

    def add_plan_options(command: ArgumentGroup, help_key: str = "machine") -> None:
        add_machine_option(command, help_key)
        command.add_argument(
            "--goal", choices=get_args(Goal), default="pytorch", help=translate("opt.goal"), **explicit
        )
        command.add_argument(
            "--channel", choices=get_args(Channel), default="studio", help=translate("opt.channel"), **explicit
        )
        command.add_argument("--pytorch", metavar="VERSION", type=non_empty, help=translate("opt.pytorch"))
        command.add_argument("--variant", metavar="TAG", type=non_empty, help=translate("opt.variant"))
        command.add_argument("--python", metavar="X.Y", type=python_series, help=translate("opt.python"))
        command.add_argument("--toolkit", choices=("archives", "installer"), help=translate("opt.toolkit"))
        command.add_argument("--wsl2", choices=("install",), help=translate("opt.wsl2"))

    parser = Parser(
        prog="gpu-assistant",
        parents=[common],
        add_help=False,
        description=translate("about"),
        allow_abbrev=False,
        formatter_class=Formatter,
    )
    group = parser.add_argument_group(translate("group.options"))
    group.add_argument(
        "--version", action="version", version=f"GPU Assistant {__version__}", help=translate("opt.version")
    )
    group.add_argument("--resume", action="store_true", help=translate("opt.resume-window"))
    add_machine_option(group, "machine-window")
    commands = parser.add_subparsers(
        dest="command", metavar="COMMAND", title=translate("group.commands"), parser_class=Parser
    )

    def add_command(name: str) -> ArgumentGroup:
        text = translate(f"cmd.{name}")
        command = commands.add_parser(
            name,
            help=text,
            description=text,
            parents=[common],
            add_help=False,
            allow_abbrev=False,
            formatter_class=Formatter,
        )
        return command.add_argument_group(translate("group.options"))

    add_machine_option(add_command("detect"))

    command = add_command("recommend")
    add_plan_options(command)

    command = add_command("plan")
    add_plan_options(command)
    add_environment_option(command)
    add_environment_kind_option(command)

    command.add_argument("--online", action="store_true", help=translate("opt.online"))
    command.add_argument("--output", metavar="FILE", type=path, help=translate("opt.output"))

    command = add_command("install")
    add_plan_options(command)
    add_environment_option(command)
    add_environment_kind_option(command)
    command.add_argument("--plan", metavar="FILE", type=path, help=translate("opt.plan"))
    add_download_options(command)
    command.add_argument("--bundle", metavar="DIR", type=path, help=translate("opt.bundle"))
    command.add_argument("--dry-run", action="store_true", help=translate("opt.dry-run"))
    command.add_argument("--yes", "-y", action="store_true", help=translate("opt.yes"))
    command.add_argument("--resume", action="store_true", help=translate("opt.resume"))

    command = add_command("uninstall")
    scope = command.add_mutually_exclusive_group()
    add_environment_option(scope)
    scope.add_argument("--all", action="store_true", help=translate("opt.all"))
    command.add_argument("--keep-environments", action="store_true", help=translate("opt.keep-environments"))
    command.add_argument("--dry-run", action="store_true", help=translate("opt.dry-run"))
    command.add_argument("--yes", "-y", action="store_true", help=translate("opt.yes"))

    command = add_command("use")
    add_environment_option(command)
    use_options(command, translate, path=path)

    add_environment_option(add_command("verify"))

    command = add_command("bench")
    add_environment_option(command)
    mode = command.add_mutually_exclusive_group()
    mode.add_argument("--quick", action="store_true", help=translate("opt.quick"))
    mode.add_argument("--full", action="store_true", help=translate("opt.full"))
    mode.add_argument("--history", action="store_true", help=translate("opt.bench-history"))
    command.add_argument("--device", metavar="cpu|cuda:N", type=device, help=translate("opt.device"))

    command = add_command("health")
    add_environment_option(command)
    health_options(command, translate, device=device)

    command = add_command("download")
    download_options(command, translate, path=path)
    add_download_options(command)

    command = add_command("bundle")
    bundle_options(command, translate, path=path)
    add_download_options(command)
    add_plan_options(command, "bundle-machine")
    add_environment_kind_option(command)

    monitor_options(add_command("monitor"), translate, path=path)

    command = add_command("catalog")
    command.add_argument(
        "action", choices=CATALOG_ACTIONS, metavar="|".join(CATALOG_ACTIONS), help=translate("opt.catalog-action")
    )
    command.add_argument("what", nargs="?", metavar="SUBJECT|DIR", type=path, help=translate("opt.catalog-what"))
    return parser
