"""The sentences: one table, keyed by code, each text in every language side by side.

`resources/texts/<subject>.json` holds `{"code": {"en": "…", "zh_CN": "…"}}`. Places in braces are filled
with a message's data. Core rooms never hold sentences; the faces (`cli/`, `gui/`) ask here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING

from ..core.names import Language, Value
from ..core.paths import resources
from .format import shown, singular
from .terminal import Terminal

if TYPE_CHECKING:
    from ..core.errors import AppError
    from ..core.message import Message

Table = dict[str, dict[str, str]]
NO_TEXT = {"en": "{}"}
# What speaks of the computer that is looked at; elsewhere it is another one than that which people sit at.
OF_THE_COMPUTER = (
    "choice.",
    "cli.finding.",
    "cli.part-action.",
    "detect.",
    "error.choice-impossible",
    "error.conda-missing",
    "error.no-python",
    "error.setup-",
    "idle.",
    "reason.",
    "step.",
    "warning.",
)
ELSEWHERE = {
    "en": (("this computer", "that computer"), ("This computer", "That computer")),
    "zh_CN": (("这台电脑", "那台电脑"),),
}


@lru_cache(maxsize=1)
def table() -> Table:
    """All texts of all subjects; a code stands in one file only."""
    texts: Table = {}
    for path in sorted((resources() / "texts").glob("*.json")):
        for code, text in json.loads(path.read_bytes()).items():
            if code in texts:
                raise ValueError(f"text {code!r} stands twice, again in {path.name}")
            texts[code] = text
    return texts


_GAP = re.compile(r"(?<=[\u4e00-\u9fff）]) (?=[\u4e00-\u9fff])|(?<=[。，；：！？]) ")
_PLACE = "\ue000"  # where something is filled in later
_FIRST = re.compile(r"\{(?P<name>\w+)\}")
_BUILD = re.compile(r"(?P<version>\d+(\.\d+)+)\+(cu(?P<cuda>\d+)(?P<minor>\d)|(?P<kind>cpu|xpu|rocm)[\d.]*)")
_BUILDS = frozenset({"build", "recommended"})
# Where a sentence says already that it is PyTorch: "2.13.0 (CPU build)".
_VERSIONS = frozenset({"expected", "value"})
# What an environment holds, or was judged by: "PyTorch 2.15.0+cu132 + TensorFlow 2.21.0".
_HELD = re.compile(f"PyTorch {_BUILD.pattern}")
_RELEASES = frozenset({"release", "measured"})
_TAG = re.compile(r"cu(?P<cuda>\d+)(?P<minor>\d)|(?P<kind>cpu|xpu|rocm)[\d.]*")
_TAGS = frozenset({"variant", "default"})


def _build(name: str, value: Value) -> re.Match[str] | None:
    """A PyTorch build as pip writes it: "2.14.1+cu126"."""
    return _BUILD.fullmatch(value) if name in _BUILDS | _VERSIONS and isinstance(value, str) else None


def _tag(name: str, value: Value) -> re.Match[str] | None:
    """What pip's tag says of a PyTorch build: "cu126"."""
    return _TAG.fullmatch(value) if name in _TAGS and isinstance(value, str) else None


def _ours(name: str, value: Value) -> bool:
    """Whether a value is said in words of ours: a build's name, a text's code."""
    said = isinstance(value, str) and value.startswith("@")
    held = isinstance(value, str) and name in _RELEASES and (" + " in value or _HELD.search(value) is not None)
    return said or held or _build(name, value) is not None or _tag(name, value) is not None


def closed_up(said: str) -> str:
    """A sentence without gaps between Chinese words: where one of ours was filled in, they were meant for Latin."""
    return _GAP.sub("", said)


def _filled_close(template: str, values: Mapping[str, str], data: Mapping[str, Value]) -> str:
    """Filled and closed up; but somebody's file or name keeps the spaces that it has."""
    foreign = [name for name, value in data.items() if isinstance(value, str) and not _ours(name, value)]
    places = {name: f"{_PLACE}{index}{_PLACE}" for index, name in enumerate(foreign)}
    said = closed_up(template.format(**{**values, **places}))
    for name, place in places.items():
        said = said.replace(place, values[name])
    return said


class Sentences:
    """The sentences in one language; `elsewhere`: about the computer of a machine file. `terminal` makes their
    command lines such as can be typed here; None leaves them as they stand.
    """

    def __init__(self, language: Language, *, elsewhere: bool = False, terminal: Terminal | None = None) -> None:
        self.language = language
        self.elsewhere = elsewhere
        self.terminal = terminal

    def has(self, code: str) -> bool:
        """Whether there is a text for this code."""
        return code in table()

    def say(self, code: str, data: Mapping[str, Value] | None = None) -> str:
        """The sentence for a code; raises KeyError on an unknown code (a test knows them all)."""
        template = table()[code][self.language]
        if self.elsewhere and code.startswith(OF_THE_COMPUTER):
            for here, there in ELSEWHERE[self.language]:
                template = template.replace(here, there)
        template = singular(template, data or {})
        values = {name: self.value(name, value) for name, value in (data or {}).items()}
        if self.terminal is not None:
            template = self.terminal.filled(template, lambda word: word.format(**values))
        # Our own words begin or end in Chinese, where their place has the gaps of Latin letters.
        close = self.language == "zh_CN" and any(_ours(name, value) for name, value in (data or {}).items())
        said = _filled_close(template, values, data or {}) if close else template.format(**values)
        first = _FIRST.match(template)
        if first is not None and str((data or {}).get(first["name"])).startswith("@"):
            # Our own words at the head of a sentence: "this NVIDIA card". Somebody's names stay as they are.
            said = said[:1].upper() + said[1:]
        return said

    def value(self, name: str, value: Value) -> str:
        """A figure as people read it: `…_bytes` as GB, `…_seconds` as minutes, unknown as a dash.

        A value that is itself the code of a text ("@source.wheelhouse") is said in the same language; whatever else
        begins so is somebody's own words.
        """
        if isinstance(value, str) and value.startswith("@") and "{" not in table().get(value[1:], NO_TEXT)["en"]:
            return self.say(value[1:])
        build = _build(name, value)
        if build is not None:
            return self._build_words(build, "built" if name in _VERSIONS else "build")
        if isinstance(value, str) and name in _RELEASES:
            one, both, other = _HELD.sub(self._build_words, value).partition(" + ")
            value = self.say("release.both", {"one": one, "other": other}) if both else one
        if isinstance(value, str) and _tag(name, value) is not None:
            return self.variant(value)
        return shown(name, value, self.language)

    def _build_words(self, build: re.Match[str], words: str = "build") -> str:
        """A build as people say it: the tag behind the plus is pip's language."""
        version, cuda, minor, kind = build["version"], build["cuda"], build["minor"], build["kind"]
        if cuda is not None:
            return self.say(f"{words}.cuda", {"version": version, "cuda": f"{cuda}.{minor}"})
        return self.say(f"{words}.{kind}", {"version": version})

    def variant(self, tag: str) -> str:
        """The kind of a PyTorch build as people say it, from pip's tag ("cu126"); a tag of another make is kept."""
        found = _TAG.fullmatch(tag)
        if found is None:
            return tag
        if found["cuda"] is not None:
            return self.say("variant.cuda", {"cuda": f"{found['cuda']}.{found['minor']}"})
        return self.say(f"variant.{found['kind']}")

    def message(self, message: Message) -> str:
        """The sentence of a message."""
        return self.say(message.code, message.data)

    def error(self, error: AppError) -> str:
        """What is wrong and what to do, in one plain sentence."""
        return self.message(error.message)
