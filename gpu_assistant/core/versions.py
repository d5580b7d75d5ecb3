"""Version numbers and compute capabilities as values that compare by number: 580.65.06 < 580.105, 2.9 < 2.10.

Both keep the text that they were made from, so that a file is written back as it was read. In the catalog they are
fields, which `core/json.py` reads and writes through `decode_hook` and `encode_hook`. What a machine reports stays a
text there, because it may be anything; `Version.parse` and `Capability.parse` make a value of it.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, ClassVar, Self


class DottedNumber:
    """Integers joined by dots, compared part by part. The constructor raises ValueError for any other text.

    `pattern` is the form that a text has in the catalog.
    """

    __slots__ = ("_hash", "parts", "text")

    pattern: ClassVar[str]
    _form: ClassVar[re.Pattern[str]]

    def __init__(self, text: str) -> None:
        if self._form.fullmatch(text) is None:
            raise ValueError(f"{text!r} is no {type(self).__name__}")
        self.text = text
        self.parts = self._split(text)
        self._hash = hash(self.parts)

    @staticmethod
    def _split(text: str) -> tuple[int, ...]:
        return tuple(map(int, text.split(".")))

    @classmethod
    @lru_cache(maxsize=4096)
    def parse(cls, text: str | None) -> Self | None:
        """The number in a text from elsewhere; None for None and for a text of another form ("2.15.0+cu130")."""
        return cls(text) if text is not None and cls._form.fullmatch(text) is not None else None

    @classmethod
    @lru_cache(maxsize=4096)
    def from_catalog(cls, text: str) -> Self:
        """The number in a text of the form `pattern`; raises ValueError, as msgspec says it, for any other."""
        if re.fullmatch(cls.pattern, text, re.ASCII) is None:
            raise ValueError(f"Expected `str` matching regex '{cls.pattern}'")
        return cls(text)

    @property
    def major(self) -> int:
        """The first number."""
        return self.parts[0] if self.parts else 0

    @property
    def minor(self) -> int:
        """The second number; 0 where there is none."""
        return self.parts[1] if len(self.parts) > 1 else 0

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.text!r})"

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return self is other or (type(other) is type(self) and self.parts == other.parts)

    def __lt__(self, other: Self) -> bool:
        return self.parts < other.parts

    def __le__(self, other: Self) -> bool:
        return self.parts <= other.parts

    def __gt__(self, other: Self) -> bool:
        return self.parts > other.parts

    def __ge__(self, other: Self) -> bool:
        return self.parts >= other.parts


class Version(DottedNumber):
    """The number of a release, up to eight parts. Trailing zeros do not count: 580 equals 580.0."""

    __slots__ = ()

    pattern = r"^\d{1,9}(\.\d{1,9}){0,7}$"
    _form = re.compile(r"\d{1,9}(?:\.\d{1,9}){0,7}", re.ASCII)

    @staticmethod
    def _split(text: str) -> tuple[int, ...]:
        parts = [int(part) for part in text.split(".")]
        while parts and parts[-1] == 0:
            parts.pop()
        return tuple(parts)

    @property
    def series(self) -> Version:
        """Major and minor: 12.6.3 belongs to the series 12.6, 13 to 13.0."""
        return _series(self.major, self.minor)


def version_text(version: Version | None) -> str | None:
    """The text of a version that may be unknown."""
    return version.text if version is not None else None


def version_key(text: str | None) -> tuple[int, ...]:
    """A sort key for texts; those that are no version come first."""
    version = Version.parse(text)
    return version.parts if version is not None else ()


def format_cudnn_version(number: object) -> str | None:
    """cuDNN's version number: 91002 is 9.10.2 (from 9 on), 8907 is 8.9.7."""
    if not isinstance(number, int) or isinstance(number, bool) or number < 1000:
        return None
    major, rest = divmod(number, 10_000) if number >= 90_000 else divmod(number, 1000)
    return f"{major}.{rest // 100}.{rest % 100}"


class Capability(DottedNumber):
    """A CUDA compute capability: 8.9."""

    __slots__ = ()

    pattern = r"^\d{1,2}\.\d$"
    _form = re.compile(r"\d{1,9}\.\d{1,9}", re.ASCII)


@lru_cache(maxsize=512)
def _series(major: int, minor: int) -> Version:
    return Version(f"{major}.{minor}")


def decode_hook(kind: type[Any], value: object) -> object:
    """The value of a JSON string, for msgspec. Raises ValueError in msgspec's own words, to which it adds the field."""
    if kind is object:  # plain values, as they come
        return value
    if not issubclass(kind, DottedNumber):
        raise NotImplementedError(kind)
    if not isinstance(value, str):
        raise ValueError(f"Expected `str`, got `{type(value).__name__}`")
    return kind.from_catalog(value)


def encode_hook(value: object) -> str:
    """The JSON string of a value, for msgspec."""
    if isinstance(value, DottedNumber):
        return value.text
    raise NotImplementedError(type(value))


def schema_hook(kind: type[Any]) -> dict[str, str]:
    """The JSON Schema of a type, for msgspec."""
    if issubclass(kind, DottedNumber):
        return {"type": "string", "pattern": kind.pattern}
    raise NotImplementedError(kind)
