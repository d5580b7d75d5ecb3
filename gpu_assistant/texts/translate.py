"""The table of texts by code, with each text in every language.

`resources/texts/<subject>.json` holds `{"code": {"en": "…", "zh_CN": "…"}}`; fields in braces are filled with a
message's data. Rooms below pass codes and data; `cli/` and `gui/` translate them here. An explanation follows each
term that a beginner may not know.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING

from ..core.paths import resources_dir
from .format import format_value, join_list, use_singular

if TYPE_CHECKING:
    from ..core.errors import AppError
    from ..core.message import Message
    from ..core.types import Language, Value
    from .terminal import Terminal


TextTable = dict[str, dict[str, str]]
EMPTY_TEXT = {"en": "{}"}
# Texts about the examined computer, which with a machine file is not the user's own.
COMPUTER_CODES = (
    "brief.",
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
OTHER_COMPUTER_PHRASES = {
    "en": (("this computer", "that computer"), ("This computer", "That computer")),
    "zh_CN": (("这台电脑", "那台电脑"),),
}


@lru_cache(maxsize=1)
def load_texts() -> TextTable:
    """All texts of all files; each code is in one file only."""
    texts: TextTable = {}
    for path in sorted((resources_dir() / "texts").glob("*.json")):
        for code, text in json.loads(path.read_bytes()).items():
            if code in texts:
                raise ValueError(f"text {code!r} stands twice, again in {path.name}")
            texts[code] = text
    return texts


_CJK_GAP = re.compile(r"(?<=[\u4e00-\u9fff）]) (?=[\u4e00-\u9fff])|(?<=[。，；：！？]) ")
_PLACEHOLDER_MARK = "\ue000"  # where something is filled in later
_LEADING_PLACEHOLDER = re.compile(r"\{(?P<name>\w+)\}")
_BUILD = re.compile(r"(?P<version>\d+(\.\d+)+)\+(cu(?P<cuda>\d+)(?P<minor>\d)|(?P<kind>cpu|xpu|rocm)[\d.]*)")
_BUILD_NAMES = frozenset({"build", "recommended"})
# In texts that mention PyTorch already: "2.13.0 (CPU build)".
_VERSION_NAMES = frozenset({"expected", "value"})
# The frameworks of an environment: "PyTorch 2.15.0+cu132 + TensorFlow 2.21.0".
_PYTORCH_BUILD = re.compile(f"PyTorch {_BUILD.pattern}")
_RELEASE_NAMES = frozenset({"release", "measured"})
_TAG = re.compile(r"cu(?P<cuda>\d+)(?P<minor>\d)|(?P<kind>cpu|xpu|rocm)[\d.]*")
_TAG_NAMES = frozenset({"variant", "default"})


def _match_build(name: str, value: Value) -> re.Match[str] | None:
    """A PyTorch version with its local version label, as pip writes it: "2.14.1+cu126"."""
    return _BUILD.fullmatch(value) if name in _BUILD_NAMES | _VERSION_NAMES and isinstance(value, str) else None


def _match_tag(name: str, value: Value) -> re.Match[str] | None:
    """The variant in a PyTorch version's local label: "cu126"."""
    return _TAG.fullmatch(value) if name in _TAG_NAMES and isinstance(value, str) else None


def _has_own_wording(name: str, value: Value) -> bool:
    """Whether a value is replaced by a text of ours: a PyTorch build, or the code of a text."""
    is_text_code = isinstance(value, str) and value.startswith("@")
    is_release_text = (
        isinstance(value, str)
        and name in _RELEASE_NAMES
        and (" + " in value or _PYTORCH_BUILD.search(value) is not None)
    )
    return (
        is_text_code or is_release_text or _match_build(name, value) is not None or _match_tag(name, value) is not None
    )


def remove_cjk_gaps(text: str) -> str:
    """Remove spaces between Chinese characters, which templates have for Latin text in a placeholder."""
    return _CJK_GAP.sub("", text)


def _format_chinese(template: str, values: Mapping[str, str], data: Mapping[str, Value]) -> str:
    """Fill in a template, then remove such spaces, but not those within file names and other values."""
    foreign = [name for name, value in data.items() if isinstance(value, str) and not _has_own_wording(name, value)]
    placeholders = {name: f"{_PLACEHOLDER_MARK}{index}{_PLACEHOLDER_MARK}" for index, name in enumerate(foreign)}
    text = remove_cjk_gaps(template.format(**{**values, **placeholders}))
    for name, placeholder in placeholders.items():
        text = text.replace(placeholder, values[name])
    return text


class Translator:
    """The sentences in one language; `elsewhere`: about the computer of a machine file. `terminal` makes their
    command lines such as can be typed here; None leaves them as they stand.
    """

    def __init__(self, language: Language, *, other_computer: bool = False, terminal: Terminal | None = None) -> None:
        self.language = language
        self.other_computer = other_computer
        self.terminal = terminal

    def has_text(self, code: str) -> bool:
        """Whether this code has a text."""
        return code in load_texts()

    def translate(self, code: str, data: Mapping[str, Value] | None = None) -> str:
        """The text of a code, filled with the figures; raises KeyError for an unknown code."""
        template = load_texts()[code][self.language]
        if self.other_computer and code.startswith(COMPUTER_CODES):
            for this_computer, that_computer in OTHER_COMPUTER_PHRASES[self.language]:
                template = template.replace(this_computer, that_computer)
        template = use_singular(template, data or {})
        values = {name: self.format_value(name, value) for name, value in (data or {}).items()}
        if self.terminal is not None:
            template = self.terminal.fill_commands(template, lambda argument: argument.format(**values))
        # Texts of ours are Chinese, while their placeholders have spaces for Latin letters.
        remove_gaps = self.language == "zh_CN" and any(
            _has_own_wording(name, value) for name, value in (data or {}).items()
        )
        text = _format_chinese(template, values, data or {}) if remove_gaps else template.format(**values)
        leading = _LEADING_PLACEHOLDER.match(template)
        if leading is not None and str((data or {}).get(leading["name"])).startswith("@"):
            # Capitalize a text of ours ("this NVIDIA card") at a sentence's start, but not a name.
            text = text[:1].upper() + text[1:]
        return text

    def format_value(self, name: str, value: Value) -> str:
        """A figure as text: `…_bytes` as GB, `…_seconds` as minutes, None as a dash.

        A value that is itself the code of a text ("@source.wheelhouse"), or several ("@a, @b"), is said in the same
        language; whatever else begins so is somebody's own words.
        """
        if isinstance(value, str) and value.startswith("@"):
            codes = [code.removeprefix("@") for code in value.split(", @")]
            if all("{" not in load_texts().get(code, EMPTY_TEXT)["en"] for code in codes):
                return join_list((self.translate(code) for code in codes), self.language)
        build = _match_build(name, value)
        if build is not None:
            return self._build_text(build, "built" if name in _VERSION_NAMES else "build")
        if isinstance(value, str) and name in _RELEASE_NAMES:
            first, separator, other = _PYTORCH_BUILD.sub(self._build_text, value).partition(" + ")
            value = self.translate("release.both", {"one": first, "other": other}) if separator else first
        if isinstance(value, str) and _match_tag(name, value) is not None:
            return self.variant_name(value)
        return format_value(name, value, self.language)

    def _build_text(self, build: re.Match[str], prefix: str = "build") -> str:
        """A PyTorch build as text, without pip's local version label."""
        version, cuda, minor, kind = build["version"], build["cuda"], build["minor"], build["kind"]
        if cuda is not None:
            return self.translate(f"{prefix}.cuda", {"version": version, "cuda": f"{cuda}.{minor}"})
        return self.translate(f"{prefix}.{kind}", {"version": version})

    def variant_name(self, tag: str) -> str:
        """The kind of a PyTorch build as text, from its variant ("cu126"); an unknown variant is returned as it is."""
        match = _TAG.fullmatch(tag)
        if match is None:
            return tag
        if match["cuda"] is not None:
            return self.translate("variant.cuda", {"cuda": f"{match['cuda']}.{match['minor']}"})
        return self.translate(f"variant.{match['kind']}")

    def message_text(self, message: Message) -> str:
        """The text of a message."""
        return self.translate(message.code, message.data)

    def error_text(self, error: AppError) -> str:
        """The text of an error: what is wrong and what to do."""
        return self.message_text(error.message)


_TERM_CODE = re.compile(r"term\.(.+)\.name\Z")


def explain_terms(texts: Translator, *shown_texts: str) -> tuple[str, ...]:
    """The explanations of the terms in a text, in the order of their appearance."""
    text = "\n".join(shown_texts)
    positions: list[tuple[int, str]] = []
    for pattern, sentence in _term_patterns(texts.language):
        match = pattern.search(text)
        if match is not None:
            positions.append((match.start(), sentence))
    return tuple(sentence for _, sentence in sorted(positions))


@lru_cache(maxsize=2)
def _term_patterns(language: Language) -> tuple[tuple[re.Pattern[str], str], ...]:
    """(pattern, explanation) of each term; cached, since the window asks for every card that it shows."""
    texts = Translator(language)
    terms = []
    for code in load_texts():
        match = _TERM_CODE.match(code)
        if match is not None:
            name, meaning = texts.translate(code), texts.translate(f"term.{match[1]}.meaning")
            terms.append((_term_pattern(name), texts.translate("term.explained", {"name": name, "meaning": meaning})))
    return tuple(terms)


def _term_pattern(name: str) -> re.Pattern[str]:
    """A pattern for a whole word or its plural; in Chinese, for the characters anywhere."""
    return re.compile(rf"(?<![A-Za-z_-]){re.escape(name)}(?:e?s|2)?(?![A-Za-z])" if name.isascii() else re.escape(name))
