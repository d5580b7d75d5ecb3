"""What can be typed: the commands and options of the contract, with help in the user's language."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NoReturn, get_args

from .. import __version__
from ..core.errors import CallError
from ..core.names import Channel, EnvironmentKind, Goal, Language, MirrorUse
from ..core.paths import refuse_too_long
from .bundle import options as bundle_options
from .download import options as download_options
from .health import options as health_options
from .idle import Given
from .monitor import options as monitor_options
from .use import options as use_options

if TYPE_CHECKING:
    from ..texts.sentences import Sentences


class Parser(argparse.ArgumentParser):
    """An argument parser that raises our error, so that bad calls are said like all else."""

    texts: Sentences
    _words: Sequence[str] = ()

    def error(self, message: str) -> NoReturn:
        """Raise CallError; argparse's own words are said in the user's language where they are known."""
        for pattern, code in COMPLAINTS.items():
            if found := re.fullmatch(pattern, message, re.DOTALL):
                told = found.groupdict()
                # Python's quotes around each word are no part of what is to be typed.
                told |= {name: told[name].replace("'", "") for name in ("given", "choices") if name in told}
                behind = self._behind(told["what"]) if code == "empty" else None
                told |= {"given": behind} if behind is not None else {}
                message = self.texts.say(f"cli.complaint.{code if behind is None else 'minus'}", told)
                break
        raise CallError("call", detail=message, command=self.prog)

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:  # noqa: ANN401 - as argparse has them
        """As argparse has it."""
        self._words = tuple(args or ())
        return super().parse_known_args(args, namespace)

    def _behind(self, option: str) -> str | None:
        """A figure with a minus before it, which argparse takes for an option and not for what follows `option`."""
        names = option.split("/")
        following = (b for a, b in pairwise(self._words) if a in names and re.match(r"-\.?\d", b))
        return next(following, None)

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:  # noqa: ANN401 - as argparse has them
        """Raise CallError, by the command's own name where there is one: its help is the one to read."""
        found, rest = self.parse_known_args(args, namespace)
        if rest:
            command = f"{self.prog} {found.command}" if found.command is not None else self.prog
            told = self.texts.say("cli.complaint.unknown", {"given": " ".join(rest), "command": command})
            raise CallError("call", detail=told, command=command)
        return found


# What argparse writes, and the text that says the same.
COMPLAINTS = {
    r"the following arguments are required: (?P<what>.+)": "required",
    r"argument (?P<what>-.+?): invalid choice: (?P<given>.+?) \(choose from (?P<choices>.+)\)": "choice",
    r"argument (?P<what>.+?): invalid choice: (?P<given>.+?) \(choose from (?P<choices>.+)\)": "word",
    r"argument (?P<what>.+?): expected one argument": "empty",
    r"argument (?P<what>.+?): not allowed with argument (?P<other>.+)": "together",
    r"argument (?P<what>.+?): (?P<given>)(?P<rule>.+)": "rule",
}
Options = argparse._ArgumentGroup
# Bytes a second, as curl and wget are told them: "500k", "5M".
ACTIONS = ("show", "update", "check")
UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9}
LEAST_RATE, MOST_RATE = 1000, 10**12


def build(texts: Sentences) -> Parser:  # noqa: PLR0915 - one line an option
    """The whole parser."""

    def say(code: str) -> str:
        return texts.say(f"cli.{code}")

    def path(text: str) -> str:
        # An unset variable of a script must not quietly mean "the usual place".
        if not text.strip():
            raise argparse.ArgumentTypeError(say("range.path"))
        refuse_too_long(text)
        return text

    def word(text: str) -> str:
        if not text.strip():
            raise argparse.ArgumentTypeError("expected one argument")
        return text.strip()

    def series(text: str) -> str:
        if not re.fullmatch(r"\s*\d+\.\d+(\.\d+)?\s*", text, re.ASCII):
            raise argparse.ArgumentTypeError(texts.say("cli.range.python", {"given": word(text)}))
        return text.strip()

    def device(text: str) -> str:
        if not re.fullmatch(r"cpu|cuda(:\d{1,3})?", text.strip().lower(), re.ASCII):
            raise argparse.ArgumentTypeError(say("range.device"))
        return text.strip().lower()

    class Formatter(argparse.HelpFormatter):
        def add_usage(self, usage: Any, actions: Any, groups: Any, prefix: str | None = None) -> None:  # noqa: ANN401
            super().add_usage(usage, actions, groups, say("usage") + " " if prefix is None else prefix)

    Parser.texts = texts
    common = Parser(add_help=False)
    group = common.add_argument_group(say("group.common"))
    # SUPPRESS: given before or after the command, and the command's own default never overwrites it.
    quiet: dict[str, Any] = {"default": argparse.SUPPRESS}
    seen: dict[str, Any] = {"action": Given}
    group.add_argument("-h", "--help", action="help", help=say("opt.help"))
    group.add_argument("--lang", choices=get_args(Language), help=say("opt.lang"), **quiet)
    group.add_argument("--json", action="store_true", help=say("opt.json"), **quiet)
    group.add_argument("--quiet", action="store_true", help=say("opt.quiet"), **quiet)
    group.add_argument("--verbose", action="store_true", help=say("opt.verbose"), **quiet)
    group.add_argument("--data-dir", metavar="DIR", type=path, help=say("opt.data-dir"), **quiet)
    group.add_argument("--wheelhouse", metavar="DIR", type=path, help=say("opt.wheelhouse"), **quiet)

    def rate(text: str) -> int:
        found = re.fullmatch(r"(\d+(?:\.\d+)?)([kmg]?)b?", text.strip(), re.IGNORECASE | re.ASCII)
        most = float(found[1]) * UNITS[found[2].lower()] if found is not None else 0
        if not LEAST_RATE <= most <= MOST_RATE:
            raise argparse.ArgumentTypeError(say("range.limit-rate"))
        return int(most)

    def fetching(command: Options) -> None:
        command.add_argument("--mirrors", choices=get_args(MirrorUse), help=say("opt.mirrors"), **quiet)
        command.add_argument("--limit-rate", metavar="RATE", type=rate, help=say("opt.limit-rate"))

    def machine(command: Options, use: str = "machine") -> None:
        command.add_argument("--machine", metavar="FILE", type=path, help=say(f"opt.{use}"), **quiet)

    def environment(command: Options) -> None:
        command.add_argument("--env", metavar="DIR", type=path, help=say("opt.env"))

    def made_by(command: Options) -> None:
        kinds = get_args(EnvironmentKind)
        command.add_argument("--environment", choices=kinds, default="venv", help=say("opt.environment"), **seen)

    def planned(command: Options, use: str = "machine") -> None:
        machine(command, use)
        command.add_argument("--goal", choices=get_args(Goal), default="pytorch", help=say("opt.goal"), **seen)
        command.add_argument("--channel", choices=get_args(Channel), default="studio", help=say("opt.channel"), **seen)
        command.add_argument("--pytorch", metavar="VERSION", type=word, help=say("opt.pytorch"))
        command.add_argument("--variant", metavar="TAG", type=word, help=say("opt.variant"))
        command.add_argument("--python", metavar="X.Y", type=series, help=say("opt.python"))
        command.add_argument("--toolkit", choices=("archives", "installer"), help=say("opt.toolkit"))
        command.add_argument("--wsl2", choices=("install",), help=say("opt.wsl2"))

    parser = Parser(
        prog="gpu-assistant",
        parents=[common],
        add_help=False,
        description=say("about"),
        allow_abbrev=False,
        formatter_class=Formatter,
    )
    group = parser.add_argument_group(say("group.options"))
    group.add_argument("--version", action="version", version=f"GPU Assistant {__version__}", help=say("opt.version"))
    group.add_argument("--resume", action="store_true", help=say("opt.resume-window"))
    machine(group, "machine-window")
    commands = parser.add_subparsers(
        dest="command", metavar="COMMAND", title=say("group.commands"), parser_class=Parser
    )

    def add(name: str) -> Options:
        text = say(f"cmd.{name}")
        command = commands.add_parser(
            name,
            help=text,
            description=text,
            parents=[common],
            add_help=False,
            allow_abbrev=False,
            formatter_class=Formatter,
        )
        return command.add_argument_group(say("group.options"))

    machine(add("detect"))

    command = add("recommend")
    planned(command)

    command = add("plan")
    planned(command)
    environment(command)
    made_by(command)

    command.add_argument("--online", action="store_true", help=say("opt.online"))
    command.add_argument("--output", metavar="FILE", type=path, help=say("opt.output"))

    command = add("install")
    planned(command)
    environment(command)
    made_by(command)
    command.add_argument("--plan", metavar="FILE", type=path, help=say("opt.plan"))
    fetching(command)
    command.add_argument("--bundle", metavar="DIR", type=path, help=say("opt.bundle"))
    command.add_argument("--dry-run", action="store_true", help=say("opt.dry-run"))
    command.add_argument("--yes", "-y", action="store_true", help=say("opt.yes"))
    command.add_argument("--resume", action="store_true", help=say("opt.resume"))

    command = add("uninstall")
    what = command.add_mutually_exclusive_group()
    environment(what)
    what.add_argument("--all", action="store_true", help=say("opt.all"))
    command.add_argument("--keep-environments", action="store_true", help=say("opt.keep-environments"))
    command.add_argument("--dry-run", action="store_true", help=say("opt.dry-run"))
    command.add_argument("--yes", "-y", action="store_true", help=say("opt.yes"))

    command = add("use")
    environment(command)
    use_options(command, say, path=path)

    environment(add("verify"))

    command = add("bench")
    environment(command)
    length = command.add_mutually_exclusive_group()
    length.add_argument("--quick", action="store_true", help=say("opt.quick"))
    length.add_argument("--full", action="store_true", help=say("opt.full"))
    length.add_argument("--history", action="store_true", help=say("opt.bench-history"))
    command.add_argument("--device", metavar="cpu|cuda:N", type=device, help=say("opt.device"))

    command = add("health")
    environment(command)
    health_options(command, say, device=device)

    command = add("download")
    download_options(command, say, path=path)
    fetching(command)

    command = add("bundle")
    bundle_options(command, say, path=path)
    fetching(command)
    planned(command, "bundle-machine")
    made_by(command)

    monitor_options(add("monitor"), say, path=path)

    command = add("catalog")
    command.add_argument("action", choices=ACTIONS, metavar="|".join(ACTIONS), help=say("opt.catalog-action"))
    command.add_argument("what", nargs="?", metavar="SUBJECT|DIR", type=path, help=say("opt.catalog-what"))
    return parser
