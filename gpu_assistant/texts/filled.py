"""What the faces say: sentences by code, and whole structs with their texts filled in."""

from __future__ import annotations

from functools import reduce

import msgspec

from ..core.health import Alarm, Health
from ..core.plan import EndEvent, Event, Now, Plan, PlanEvent, StepEvent
from ..core.recommendation import Recommendation
from ..core.results import Check, Checks
from .format import UNKNOWN
from .sentences import Sentences


class Texts(Sentences):
    """The sentences in one language, also for the structs that a road's stages pass on."""

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
                    now=self._now(step.now),
                )
                for step in value.steps
            ),
        )

    def _now(self, value: Now | None) -> Now | None:
        return msgspec.structs.replace(value, text=self.say(value.code, value.data)) if value is not None else None

    def checks(self, value: Checks) -> Checks:
        """The same checks with their sentences, what mends the ones that did not pass, and what the verdict covers."""
        covers, leaves_out = self._areas(value.covers), self._areas(value.leaves_out)
        scope = self.scope(value) if value.level is not None else None
        return msgspec.structs.replace(
            value,
            checks=tuple(
                msgspec.structs.replace(
                    check,
                    text=self._said(check),
                    fix=self._mend(check) if check.state in ("warn", "fail") else None,
                )
                for check in value.checks
            ),
            covers=covers,
            leaves_out=leaves_out,
            scope=scope,
        )

    def scope(self, value: Checks, *, most: int | None = None, more: str = "health.more") -> str:
        """What a verdict covers and what not: of the latter the first `most` (None: all), the others as a number."""
        rest = value.leaves_out if most is None or len(value.leaves_out) <= most + 1 else value.leaves_out[:most]
        listed = self._list(self._areas(rest))
        left = len(value.leaves_out) - len(rest)
        if left:
            listed = self.say(more, {"listed": listed, "count": left})
        return self.say("health.scope", {"covers": self._list(self._areas(value.covers)), "leaves_out": listed})

    def _areas(self, areas: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(self.say(f"health.area.{area}") for area in areas)

    def _said(self, check: Check) -> str:
        """A check's sentence, or that of the `alarm` that rang; where only we say from when on something counts, that
        stands beside it.
        """
        alarm, case = check.data.get("alarm"), check.data.get("case")
        if alarm:
            parts = {part: self.say(f"health.{alarm}.{part}", check.data) for part in ("title", "evidence")}
            text = self.say("health.told", parts)
        else:
            text = self.say(f"check.{check.id}.{check.state}{f'-{case}' if case else ''}", check.data)
        if check.data.get("own") and check.state in ("warn", "fail"):
            text += ("" if self.language == "zh_CN" else " ") + self.say("health.own-check")
        return text

    def _mend(self, check: Check) -> str:
        """What to do: as an alarm of the monitor's advises, where one says the same; a case may have its own."""
        alarm, case = check.data.get("alarm") or check.data.get("advice"), check.data.get("case")
        own = f"check.{check.id}.fix-{case}"
        if not alarm and case and self.has(own):
            return self.say(own, check.data)
        return self.say(f"health.{alarm}.fix" if alarm else f"check.{check.id}.fix", check.data)

    def _list(self, words: tuple[str, ...]) -> str:
        """Words one after the other; a dash for none."""
        if not words:
            return UNKNOWN
        return reduce(lambda so_far, word: self.say("health.and", {"list": so_far, "next": word}), words)

    def health(self, value: Health) -> Health:
        """The same state with its sentence, and every alarm's."""
        alarms = tuple(self.alarm(alarm) for alarm in value.alarms)
        worry = value.state in ("warn", "error")
        state = f"{value.state}-all" if value.state in ("well", "untold") and value.cards > 1 else value.state
        text = alarms[0].title if worry and alarms else self.say(f"health.state.{state}")
        return msgspec.structs.replace(value, alarms=alarms, text=text)

    def gravest(self, value: Health) -> str:
        """The first alarm's title, with the card's number where there are several; there must be an alarm."""
        alarm = value.alarms[0]
        title = self.alarm(alarm).title
        if alarm.gpu is None or value.cards < 2:
            return title or ""
        return self.say("health.of-card", {"number": alarm.gpu, "title": title})

    def alarm(self, alarm: Alarm) -> Alarm:
        """The same alarm with its sentences; a limit of a card's that nobody but us names is called ours."""
        title, evidence, fix = (
            self.say(f"health.{alarm.id}.{part}", alarm.data) for part in ("title", "evidence", "fix")
        )
        if alarm.source is None and alarm.gpu is not None:
            gap = "" if self.language == "zh_CN" else " "
            evidence = f"{evidence}{gap}{self.say('health.own')}"
        return msgspec.structs.replace(alarm, title=title, evidence=evidence, fix=fix)

    def event(self, value: Event) -> Event:
        """The same event with its message filled in."""
        if isinstance(value, PlanEvent):
            return PlanEvent(
                steps=tuple(
                    msgspec.structs.replace(
                        step,
                        title=self.say(f"step.{step.code}.title", step.data),
                        what=self.say(f"step.{step.code}.what", step.data),
                        now=self._now(step.now),
                    )
                    for step in value.steps
                )
            )
        if isinstance(value, StepEvent | EndEvent) and value.code is not None:
            return msgspec.structs.replace(value, message=self.say(value.code, value.data))
        return value
