"""`Texts` fills in the texts of the core's structs; also sizes and durations of a plan as text."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from functools import reduce

import msgspec

from ..core.plan import CurrentState, EndEvent, Event, Plan, PlanEvent, StepEvent
from ..core.plan_cost import PlanCost, step_cost
from ..core.recommendation import Reason, Recommendation, Way, WayCost
from ..core.results import Alarm, Check, Checks, Health
from ..core.types import Value, device_name
from .format import UNKNOWN_VALUE, join_list, uncapitalize
from .translate import Translator


class Texts(Translator):
    """All texts in one language, also for recommendations, plans, checks, alarms and events."""

    def localize_recommendation(self, value: Recommendation) -> Recommendation:
        """The same recommendation with every text filled in."""
        return msgspec.structs.replace(
            value,
            reasons=tuple(
                msgspec.structs.replace(r, text=self.translate(f"reason.{r.code}", r.data)) for r in value.reasons
            ),
            warnings=tuple(
                msgspec.structs.replace(
                    w,
                    text=self.translate(f"warning.{w.code}.text", w.data),
                    fix=self.translate(f"warning.{w.code}.fix", w.data),
                )
                for w in value.warnings
            ),
            alternatives=tuple(
                msgspec.structs.replace(
                    a,
                    label=self.translate(f"alternative.{a.code}.label", a.data),
                    text=self.translate(f"alternative.{a.code}.text", a.data),
                )
                for a in value.alternatives
            ),
            ways=tuple(
                msgspec.structs.replace(way, text=self.translate("way.text", {"name": name, "line": line}))
                for way in value.ways
                for name, line in (self.way_texts(way),)
            ),
        )

    def way_texts(self, way: Way) -> tuple[str, str]:
        """The name of a way, and what it installs in one line."""
        program = f"PyTorch {way.pytorch.version}" if way.pytorch is not None else None
        if program is None and way.tensorflow is not None:
            program = f"TensorFlow {way.tensorflow.version}"
        data: dict[str, Value] = {"program": program}
        lacks = "".join(self.translate(f"way.lacks.{each}") for each in way.lacks or ())
        return self.translate(f"way.{way.id}.name"), self.translate(f"way.{way.id}.line", data) + lacks

    def way_benefit(self, way: Way) -> str:
        """What speaks for a way, in one short sentence."""
        return self.translate(f"way.{way.id}.benefit")

    def brief_text(self, reason: Reason) -> str:
        """A reason in one short sentence for a beginner; its full text where it is plain enough."""
        code = f"brief.{reason.code}"
        return self.translate(code if self.has_text(code) else f"reason.{reason.code}", reason.data)

    def localize_plan(self, value: Plan) -> Plan:
        """The same plan with every step's texts filled in."""
        return msgspec.structs.replace(
            value,
            recommendation=self.localize_recommendation(value.recommendation),
            steps=tuple(
                msgspec.structs.replace(
                    step,
                    title=self.translate(f"step.{step.code}.title", step.data),
                    what=self.translate(f"step.{step.code}.what", step.data),
                    undo=self.translate(f"step.{step.code}.undo", step.data),
                    now=self._localize_current_state(step.now),
                )
                for step in value.steps
            ),
        )

    def _localize_current_state(self, value: CurrentState | None) -> CurrentState | None:
        return (
            msgspec.structs.replace(value, text=self.translate(value.code, value.data)) if value is not None else None
        )

    def localize_checks(self, value: Checks) -> Checks:
        """The same checks with their texts, what to do about those that did not pass, and the verdict's scope."""
        covers, leaves_out = self._area_texts(value.covers), self._area_texts(value.leaves_out)
        scope = self.scope_text(value) if value.level is not None else None
        return msgspec.structs.replace(
            value,
            checks=tuple(
                msgspec.structs.replace(
                    check,
                    text=self.check_text(check),
                    fix=self._check_fix(check) if check.state in ("warn", "fail") else None,
                )
                for check in value.checks
            ),
            covers=covers,
            leaves_out=leaves_out,
            scope=scope,
        )

    def scope_text(self, value: Checks, *, max_items: int | None = None, with_covered: bool = True) -> str:
        """What a verdict covers (unless a list beside it says so) and what it leaves out: of the latter the first
        `max_items` (None: all), the others as a number.
        """
        shown_areas = (
            value.leaves_out
            if max_items is None or len(value.leaves_out) <= max_items + 1
            else value.leaves_out[:max_items]
        )
        areas_text = self._join_texts(self._area_texts(shown_areas))
        omitted = len(value.leaves_out) - len(shown_areas)
        if omitted:
            areas_text = self.translate("health.more-json", {"listed": areas_text, "count": omitted})
        if not value.covers:
            return self.translate("health.scope-nothing", {"leaves_out": areas_text})
        if not with_covered:
            return self.translate("health.scope-left-out", {"leaves_out": areas_text})
        return self.translate(
            "health.scope", {"covers": self._join_texts(self._area_texts(value.covers)), "leaves_out": areas_text}
        )

    def _area_texts(self, areas: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(self.translate(f"health.area.{area}") for area in areas)

    def health_level_name(self, level: int) -> str:
        """The name of a level of the health test."""
        return self.translate(f"health.level.{level}")

    def check_text(self, check: Check) -> str:
        """A check's sentence, or that of the `alarm` that rang; where only we say from when on something counts, that
        stands beside it.
        """
        alarm, evidence = check.data.get("alarm"), self.check_evidence(check)
        if not alarm:
            return evidence
        return self.translate(
            "health.told", {"title": self.translate(f"health.{alarm}.title", check.data), "evidence": evidence}
        )

    def check_evidence(self, check: Check) -> str:
        """What there is to read below `check_headline`: a check's sentence, or only the evidence of the `alarm`."""
        alarm, case = check.data.get("alarm"), _text_case(check)
        code = f"health.{alarm}.evidence" if alarm else f"check.{check.id}.{check.state}{f'-{case}' if case else ''}"
        text = self.translate(code, check.data)
        if check.data.get("own") and check.state in ("warn", "fail"):
            text += ("" if self.language == "zh_CN" else " ") + self.translate("health.own-check")
        return text

    def check_headline(self, check: Check) -> str:
        """What a check that did not pass found, with its figure: "The card runs hot: 86 °C"; the title of the `alarm`
        that rang; "" for a check without a headline.
        """
        alarm, case = check.data.get("alarm"), _text_case(check)
        if alarm:
            return self.translate(f"health.{alarm}.title", check.data)
        codes = (f"check.{check.id}.headline{suffix}" for suffix in (f"-{case}", f"-{check.state}", ""))
        return next((self.translate(code, check.data) for code in codes if self.has_text(code)), "")

    def check_remark(self, check: Check) -> str:
        """What a check says beyond its headline; "" where only its whole sentence says it."""
        code = f"check.{check.id}.{check.state}-remark"
        is_own_text = not check.data.get("alarm") and self.has_text(code)
        return self.translate(code, check.data) if is_own_text else ""

    def _check_fix(self, check: Check) -> str:
        """What to do about a check: the text of its case, of its reason, of an equivalent alarm, or of the check."""
        alarm, case = check.data.get("alarm") or check.data.get("advice"), _text_case(check)
        reason_code = str(check.data.get("reason")).replace("@verify.reason.", "verify.fix.")
        case_code = f"check.{check.id}.fix-{case}"
        if not alarm and case and self.has_text(case_code):
            return self.translate(case_code, check.data)
        if not alarm and reason_code.startswith("verify.fix.") and self.has_text(reason_code):
            return self.translate(reason_code, check.data)
        return self.translate(f"health.{alarm}.fix" if alarm else f"check.{check.id}.fix", check.data)

    def _join_texts(self, items: tuple[str, ...]) -> str:
        """Items separated by commas; a dash for none."""
        if not items:
            return UNKNOWN_VALUE
        return reduce(lambda joined, item: self.translate("health.and", {"list": joined, "next": item}), items)

    def localize_health(self, value: Health) -> Health:
        """The same health with the texts of its state and of every alarm."""
        alarms = tuple(self.localize_alarm(alarm) for alarm in value.alarms)
        has_problem = value.state in ("warn", "error")
        state = f"{value.state}-all" if value.state in ("well", "untold") and value.cards > 1 else value.state
        text = alarms[0].title if has_problem and alarms else self.translate(f"health.state.{state}")
        return msgspec.structs.replace(value, alarms=alarms, text=text)

    def most_severe_alarm_title(self, value: Health) -> str:
        """The first alarm's title; of several GPUs all that have this alarm, and what is wrong with them in short.

        Requires an alarm.
        """
        alarm = value.alarms[0]
        if alarm.gpu is None or value.cards < 2:
            return self.localize_alarm(alarm).title or ""
        gpus = [each.gpu for each in value.alarms if each.id == alarm.id and each.gpu is not None]
        return self.title_of_gpus(gpus, uncapitalize(self.alarm_state(alarm)))

    def title_of_gpus(self, gpus: Iterable[int], title: str, *, later: Collection[int] = ()) -> str:
        """A title that is true of these GPUs, and of those `later`: "GPU 0, later also GPU 5: at the power limit"."""
        of_gpus = self.gpu_numbers(gpus)
        if later:
            of_gpus = self.translate("health.gpus-then", {"first": of_gpus, "later": self.gpu_numbers(later)})
        return self.translate("health.of-card", {"of_gpus": of_gpus, "title": title})

    def alarm_state(self, alarm: Alarm) -> str:
        """An alarm of a GPU in two or three words, for a table or several GPUs."""
        return self.translate(f"health.{alarm.id}.short")

    def calm_alarm_state(self, alarm: Alarm) -> str:
        """The state of a GPU whose alarm is only information, and why that is no problem where a text says so."""
        code = f"health.{alarm.id}.alone"
        return self.translate(code) if self.has_text(code) else self.alarm_state(alarm)

    def gpu_numbers(self, gpus: Iterable[int]) -> str:
        """GPUs by their numbers: "GPU 0 and 1", "GPU 0, 2 and 5–7"."""
        runs: list[list[int]] = []
        for gpu in sorted(gpus):
            if runs and gpu == runs[-1][-1] + 1:
                runs[-1].append(gpu)
            else:
                runs.append([gpu])
        numbers = [
            part for run in runs for part in ([f"{run[0]}–{run[-1]}"] if len(run) > 2 else [str(gpu) for gpu in run])
        ]
        return self.join_gpu_numbers(numbers)

    def join_gpu_numbers(self, numbers: Iterable[str]) -> str:
        """GPUs by their numbers in this order: "GPU 7, 6 and 0"."""
        *others, last = numbers
        first = join_list(others, self.language)
        return f"GPU {self.translate('health.gpus', {'first': first, 'last': last}) if first else last}"

    def localize_alarm(self, alarm: Alarm) -> Alarm:
        """The same alarm with its texts; a limit from our catalog instead of the driver is described as such."""
        title, fix = (self.translate(f"health.{alarm.id}.{part}", alarm.data) for part in ("title", "fix"))
        separator = "" if self.language == "zh_CN" else " "
        evidence = separator.join(filter(None, (self.alarm_evidence(alarm), self.alarm_limit_note(alarm))))
        return msgspec.structs.replace(alarm, title=title, evidence=evidence, fix=fix)

    def alarm_evidence(self, alarm: Alarm) -> str:
        """What was read that an alarm is about, in one sentence, without who set the limit."""
        return self.translate(f"health.{alarm.id}.evidence", alarm.data)

    def alarm_cause(self, alarm: Alarm) -> str:
        """As `alarm_evidence`, without a slowed down GPU's clock, which is told beside it where it is known."""
        code = f"health.{alarm.id}.cause"
        return self.translate(code, alarm.data) if self.has_text(code) else self.alarm_evidence(alarm)

    def alarm_limit_note(self, alarm: Alarm) -> str:
        """That we chose the limit of an alarm ourselves; "" where it is the driver's or the manufacturer's."""
        return self.translate("health.own") if alarm.source is None and alarm.gpu is not None else ""

    def localize_event(self, value: Event) -> Event:
        """The same event with its message filled in."""
        if isinstance(value, PlanEvent):
            return PlanEvent(
                steps=tuple(
                    msgspec.structs.replace(
                        step,
                        title=self.translate(f"step.{step.code}.title", step.data),
                        what=self.translate(f"step.{step.code}.what", step.data),
                        now=self._localize_current_state(step.now),
                    )
                    for step in value.steps
                )
            )
        if isinstance(value, StepEvent | EndEvent) and value.code is not None:
            return msgspec.structs.replace(value, message=self.translate(value.code, value.data))
        return value


def download_text(cost: PlanCost, texts: Translator) -> str | None:
    """A plan's download: "2.6 GB", "about 2.6 GB", "at least 2.6 GB"; None where it is unknown."""
    if not cost.bytes and not cost.is_exact:
        return None
    if not cost.bytes:
        return texts.translate("price.none")
    return _size_text(
        cost.bytes,
        texts,
        is_estimate=cost.measured_release is not None or cost.estimated_bytes > 0,
        is_lower_bound=bool(cost.unknown_parts),
    )


def known_download_text(cost: PlanCost, texts: Translator) -> str | None:
    """A plan's download as far as its size is known: "2.6 GB", "about 2.6 GB"; None where none of it is."""
    if not cost.bytes:
        return None
    is_estimate = cost.measured_release is not None or cost.estimated_bytes > 0
    return _size_text(cost.bytes, texts, is_estimate=is_estimate, is_lower_bound=False)


def unknown_parts_text(cost: PlanCost, texts: Translator) -> str:
    """The names of the parts of unknown size that the download leaves out."""
    return join_list((texts.translate(f"price.part.{part}") for part in cost.unknown_parts), texts.language)


def disk_text(cost: PlanCost, texts: Translator) -> str | None:
    """A plan's disk usage; None where it is unknown."""
    if cost.disk_bytes is None:
        return None
    is_estimate = cost.disk_estimated and not cost.disk_incomplete
    return _size_text(cost.disk_bytes, texts, is_estimate=is_estimate, is_lower_bound=cost.disk_estimated)


def step_download_text(code: str, count: int | None, data: Mapping[str, Value], texts: Translator) -> str:
    """A step's download; empty where it has none or its size is unknown."""
    cost = step_cost(code, count, data)
    if not cost.is_known:
        return ""
    is_lower_bound = cost.unknown_part is not None
    return _size_text(
        cost.bytes,
        texts,
        is_estimate=(cost.measured_release is not None or cost.is_estimate) and not is_lower_bound,
        is_lower_bound=is_lower_bound,
    )


def way_cost_texts(cost: WayCost, texts: Translator) -> tuple[str, ...]:
    """What a way costs: the download, the user's own work, administrator prompts, restarts."""
    items = [_way_size_text(cost, texts)]
    if cost.manual_driver:
        items.append(texts.translate("way.cost.manual"))
    if cost.admin_prompts or not cost.manual_driver:
        items.append(prompts_text(cost.admin_prompts, texts))
    return (*items, restarts_text(cost.restarts, texts))


def way_summary_text(cost: WayCost, texts: Translator, *, brief: bool = False) -> str:
    """What a way costs, in two lines, so that two ways can be compared line by line: "Download: about 3.6 GB", if that
    is known, and "1 administrator prompt · 1 restart", `brief` "1 admin prompt".
    """
    prompts = (_brief_prompts_text if brief else prompts_text)(cost.admin_prompts, texts)
    effort = f"{prompts} · {restarts_text(cost.restarts, texts)}"
    if cost.package_bytes is None:
        return effort
    code = "way.summary.size-beside-driver" if cost.driver_bytes is None else "way.summary.size"
    return f"{texts.translate(code, {'bytes': cost.package_bytes + (cost.driver_bytes or 0)})}\n{effort}"


def effort_texts(prompts: int, restarts: int, texts: Translator) -> tuple[str, str]:
    """What the user has to do: "1 administrator prompt" and "and 1 restart", or what is not needed."""
    if not prompts and restarts:
        return restarts_text(restarts, texts), texts.translate("effort.no-prompt")
    restarts_too = texts.translate("effort.restarts" if restarts else "effort.no-restart", {"count": restarts})
    return prompts_text(prompts, texts), restarts_too


def brief_effort_text(prompts: int, restarts: int, texts: Translator) -> str:
    """The first of `effort_texts` where there is little room: "1 admin prompt"."""
    if not prompts and restarts:
        return restarts_text(restarts, texts)
    return _brief_prompts_text(prompts, texts)


def _brief_prompts_text(count: int, texts: Translator) -> str:
    return texts.translate("effort.prompts" if count else "effort.prompts-none", {"count": count})


def prompts_text(count: int, texts: Translator) -> str:
    """ "No administrator prompt", "1 administrator prompt"."""
    return texts.translate("way.cost.prompts" if count else "way.cost.prompts-none", {"count": count})


def restarts_text(count: int, texts: Translator) -> str:
    """ "No restart", "1 restart"."""
    return texts.translate("way.cost.restarts" if count else "way.cost.restarts-none", {"count": count})


def _way_size_text(cost: WayCost, texts: Translator) -> str:
    if cost.package_bytes is None:
        return texts.translate("way.cost.size-unknown")
    if cost.driver_bytes is None:
        return texts.translate("way.cost.size-beside-driver", {"bytes": cost.package_bytes})
    data: dict[str, Value] = {"bytes": cost.package_bytes + cost.driver_bytes, "driver_bytes": cost.driver_bytes}
    return texts.translate("way.cost.size-with-driver" if cost.driver_bytes else "way.cost.size", data)


def duration_text(minutes: float, texts: Translator, *, at_least: bool) -> str:
    """A duration in minutes: "7 minutes", "at least 7 minutes"."""
    return texts.translate("price.time-at-least" if at_least else "price.time", {"work_seconds": 60 * minutes})


def _size_text(count: int, texts: Translator, *, is_estimate: bool, is_lower_bound: bool) -> str:
    code = "price.about" if is_estimate else "price.at-least" if is_lower_bound else "price.exact"
    return texts.translate(code, {"bytes": count})


def _text_case(check: Check) -> Value:
    """Which of a check's texts applies; "cpu": the memory that was tested is the computer's own."""
    if check.id == "memory-test" and check.data.get("device") == device_name("cpu"):
        return "cpu"
    return check.data.get("case")
