"""The sentences: one table, keyed by code, each text in every language side by side.

`resources/texts/<subject>.json` holds `{"code": {"en": "…", "zh_CN": "…"}}`. Places in braces are filled
with a message's data. Core rooms never hold sentences; the faces (`cli/`, `gui/`) ask here.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

import msgspec

from ..core import json
from ..core.errors import AppError
from ..core.message import Message, Value
from ..core.paths import resources
from ..core.plan import EndEvent, Event, Plan, PlanEvent, StepEvent
from ..core.recommendation import Recommendation
from ..core.results import Checks
from ..core.settings import Language
from .format import shown

Table = dict[str, dict[str, str]]


@lru_cache(maxsize=1)
def table() -> Table:
    """All texts of all subjects; a code stands in one file only."""
    texts: Table = {}
    for path in sorted((resources() / "texts").glob("*.json")):
        for code, text in json.decode(path.read_bytes(), Table).items():
            if code in texts:
                raise ValueError(f"text {code!r} stands twice, again in {path.name}")
            texts[code] = text
    return texts


class Texts:
    """The sentences in one language."""

    def __init__(self, language: Language) -> None:
        self.language = language

    def has(self, code: str) -> bool:
        """Whether there is a text for this code."""
        return code in table()

    def say(self, code: str, data: Mapping[str, Value] | None = None) -> str:
        """The sentence for a code; raises KeyError on an unknown code (a test knows them all)."""
        template = table()[code][self.language]
        return template.format(**{name: self.value(name, value) for name, value in (data or {}).items()})

    def value(self, name: str, value: Value) -> str:
        """A figure as people read it: `…_bytes` as GB, `…_seconds` as minutes, unknown as a dash.

        A value that is itself the code of a text ("@source.wheelhouse") is said in the same language.
        """
        if isinstance(value, str) and value.startswith("@"):
            return self.say(value[1:])
        return shown(name, value, self.language)

    def message(self, message: Message) -> str:
        """The sentence of a message."""
        return self.say(message.code, message.data)

    def error(self, error: AppError) -> str:
        """What is wrong and what to do, in one plain sentence."""
        return self.message(error.message)

    def recommendation(self, value: Recommendation) -> Recommendation:
        """The same recommendation with every text filled in."""
        return msgspec.structs.replace(
            value,
            reasons=tuple(msgspec.structs.replace(r, text=self.say(f"reason.{r.code}", r.data)) for r in value.reasons),
            warnings=tuple(
                msgspec.structs.replace(
                    w,
                    text=self.say(f"warning.{w.code}.text", w.data),
                    fix=self.say(f"warning.{w.code}.fix", w.data),
                )
                for w in value.warnings
            ),
            alternatives=tuple(
                msgspec.structs.replace(
                    a,
                    label=self.say(f"alternative.{a.code}.label", a.data),
                    text=self.say(f"alternative.{a.code}.text", a.data),
                )
                for a in value.alternatives
            ),
        )

    def plan(self, value: Plan) -> Plan:
        """The same plan with every step's texts filled in."""
        return msgspec.structs.replace(
            value,
            recommendation=self.recommendation(value.recommendation),
            steps=tuple(
                msgspec.structs.replace(
                    step,
                    title=self.say(f"step.{step.code}.title", step.data),
                    what=self.say(f"step.{step.code}.what", step.data),
                    undo=self.say(f"step.{step.code}.undo", step.data),
                )
                for step in value.steps
            ),
        )

    def checks(self, value: Checks) -> Checks:
        """The same checks with their sentences, and what mends the ones that did not pass."""
        return msgspec.structs.replace(
            value,
            checks=tuple(
                msgspec.structs.replace(
                    check,
                    text=self.say(f"check.{check.id}.{check.state}", check.data),
                    fix=self.say(f"check.{check.id}.fix", check.data) if check.state in ("warn", "fail") else None,
                )
                for check in value.checks
            ),
        )

    def event(self, value: Event) -> Event:
        """The same event with its message filled in."""
        if isinstance(value, PlanEvent):
            return PlanEvent(
                steps=tuple(
                    msgspec.structs.replace(step, title=self.say(f"step.{step.code}.title", step.data))
                    for step in value.steps
                )
            )
        if isinstance(value, StepEvent | EndEvent) and value.code is not None:
            return msgspec.structs.replace(value, message=self.say(value.code, value.data))
        return value
