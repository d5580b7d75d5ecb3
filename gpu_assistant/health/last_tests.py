"""The last health test of each GPU: when, at which level and with what outcome; kept in the state folder.

The file is untrusted: what is malformed counts as no test.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Literal

import msgspec
from msgspec import Meta, Struct

from ..core import filesystem, json
from ..core.paths import DataDir
from ..core.results import Checks, Verdict
from .headline import Headline, select_headline

RECORD_NAME = "health-test.json"
MAX_CARDS = 64  # of which tests are kept; the oldest are dropped
MAX_TIMESTAMP = 32_503_680_000.0  # the year 3000 in seconds since the epoch, which every system's calendar knows
# The other ones say nothing about a card: none was tested, or the setup failed.
HEADLINES_OF_CARDS: frozenset[Headline] = frozenset({"asked", "asked-warn", "pass", "warn", "fail"})


class CardTest(Struct, frozen=True, kw_only=True):
    """A test of one GPU; `ended` in seconds since the epoch."""

    ended: Annotated[float, Meta(ge=0, le=MAX_TIMESTAMP)]
    level: Annotated[int, Meta(ge=1, le=3)]
    verdict: Verdict


class LastTests(Struct, frozen=True, kw_only=True):
    """The last test by the key of the GPU (`monitor.series.gpu_key`)."""

    schema: Literal["gpu-assistant/health-tests/1"] = "gpu-assistant/health-tests/1"
    cards: dict[str, CardTest] = {}


def read_last_tests(data: DataDir) -> LastTests:
    """What is kept; none where the file is missing or damaged."""
    try:
        return json.decode(filesystem.read_bytes(data.state / RECORD_NAME), LastTests)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return LastTests()


def record_test(data: DataDir, checks: Checks, gpu_keys: Iterable[str], ended: float) -> None:
    """Keep the outcome of a test of these GPUs, if it says anything about them. Raises AppError."""
    if checks.level is None or select_headline(checks) not in HEADLINES_OF_CARDS:
        return
    test = CardTest(ended=ended, level=checks.level, verdict=checks.verdict)
    cards = read_last_tests(data).cards | dict.fromkeys(gpu_keys, test)
    newest = sorted(cards.items(), key=lambda item: item[1].ended)[-MAX_CARDS:]
    json.write_file(data.claim(data.state) / RECORD_NAME, json.encode(LastTests(cards=dict(newest))))
