"""Checks, samples and alarms as text.

What is the same for several GPUs is written once: eight with the same outcome are one line (`fold_checks`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeVar

from msgspec.structs import replace

from ...core.results import Alarm, Check, Checks, GpuSample, HealthTestCurve, Sample
from ...health.curves import MAX_CURVE_ROWS, curve_intervals
from ...health.rules import gpu_display_name
from ...texts.format import UNKNOWN_VALUE, format_memory, format_percent
from ..output import Output

if TYPE_CHECKING:
    from ...core.types import Value
    from ...texts.localized import Texts

ABSENT_GPU_STATES = ("lost", "gone")
CHECK_MARKS = {"pass": "✓", "warn": "!", "fail": "✗", "skip": "–"}
MessageData = dict[str, "Value"]
Foldable = TypeVar("Foldable", Check, Alarm)
FOLDED_SUBJECT = "folded_subject"  # what the GPUs of a folded check are called in its text
NAME_KEYS = ("device", "name")  # values that differ between GPUs by nature
MIN_RANGE_LENGTH = 3  # "0, 1", but "0–2"


def render_checks(checks: Checks, output: Output, headline: str | None = None) -> None:
    """Each check with what to do if it did not pass; last the verdict, or a health test's `headline`."""
    for check in checks.checks:
        output.write_line(f"{CHECK_MARKS[check.state]} {_check_sentence(check)}")
        if check.fix:
            output.write_line(f"    {check.fix}")
    if headline is None:
        output.write_line(output.translate(f"verdict.{checks.verdict}"))
    else:
        output.write_line(output.texts.translate(f"health.verdict.{headline}"))
        if headline != "nothing":
            output.write_line(checks.scope or "")
    for curve in checks.curves:
        _render_curve(curve, output, several=len(checks.curves) > 1)


def _render_curve(curve: HealthTestCurve, output: Output, *, several: bool) -> None:
    """A GPU's temperature, clock and power during the test: at most MAX_CURVE_ROWS lines; one line of `several`."""
    rows = curve_intervals(curve, 1 if several else MAX_CURVE_ROWS)
    if not rows:
        return
    start_temp = next((temp for temp in curve.temp if temp is not None), None)
    name = gpu_display_name(GpuSample(index=curve.gpu, name=curve.name), has_several=several)
    output.write_line(output.texts.translate("health.curve", {"name": name, "temp": start_temp}))
    for row in rows:
        parameters = {
            "until": f"{row.until / 60:.1f}",
            "temp": _rounded(row.temp),
            "most": row.temp_max,
            "clock": _rounded(row.clock_sm),
            "power_w": _rounded(row.power_w),
            "held": _rounded(None if row.throttled_share is None else 100 * row.throttled_share),
        }
        output.write_line("    " + output.texts.translate("health.curve.stretch", parameters))


def _check_sentence(check: Check) -> str:
    """A check's text. Where it starts with what several GPUs are called together, with a capital; a name keeps its own
    case ("cuDNN").
    """
    text, subject = check.text or "", check.data.get(FOLDED_SUBJECT)
    is_ours = isinstance(subject, str) and text.startswith(subject)
    return text[:1].upper() + text[1:] if is_ours else text


def _rounded(value: float | None) -> int | None:
    return None if value is None else round(value)


def render_sample(
    sample: Sample, output: Output, previous: Sample | None = None, *, pending_s: float | None = None
) -> None:
    """A sample on one line; several GPUs follow on a line each, with their numbers.

    A GPU that was absent in the `previous` sample too is left out. `pending_s`: for how many seconds the driver has
    not answered, if that has been printed before.
    """
    used_text = format_memory(sample.ram_used) if sample.ram_used is not None else UNKNOWN_VALUE
    total_text = format_memory(sample.ram_total) if sample.ram_total is not None else UNKNOWN_VALUE
    cpu = format_percent(sample.cpu) if sample.cpu is not None else UNKNOWN_VALUE
    parts = [output.translate("sample", cpu=cpu, used=used_text, total=total_text)]
    if len(sample.gpus) == 1:
        parts += [_gpu_sample_text(gpu, output) for gpu in sample.gpus]
    if pending_s is not None:
        parts.append(output.translate("waited", waited_seconds=pending_s))
    elif sample.nvml not in ("ready", "absent"):
        # The alarm says what to do about it.
        text_code = f"health.nvml.{sample.nvml}"
        parts.append(
            output.texts.translate(text_code if output.texts.has_text(text_code) else f"monitor.nvml.{sample.nvml}")
        )
    elif not sample.gpus:
        parts.append(output.translate("no-nvidia"))
    output.write_line(" | ".join(parts))
    if len(sample.gpus) > 1:
        unchanged = (
            {(gpu.index, gpu.uuid, gpu.state) for gpu in previous.gpus if gpu.state in ABSENT_GPU_STATES}
            if previous
            else ()
        )
        for gpu in sample.gpus:
            if (gpu.index, gpu.uuid, gpu.state) not in unchanged:
                output.write_line(f"    GPU {gpu.index}: {_gpu_sample_text(gpu, output)}")


def render_processes(sample: Sample, output: Output) -> None:
    """The processes on each GPU: number, name and memory, the largest first."""
    for gpu in sample.gpus:
        listed = sorted(gpu.processes or (), key=lambda each: -(each.mem_used or 0))
        for process in listed:
            used_text = format_memory(process.mem_used) if process.mem_used is not None else UNKNOWN_VALUE
            output.write_line(
                "    "
                + output.translate("process", gpu=gpu.index, pid=str(process.pid), name=process.name, used=used_text)
            )
        if gpu.state == "ready" and not listed:
            code = "processes-untold" if gpu.processes is None else "processes-none"
            output.write_line("    " + output.translate(code, gpu=gpu.index))


def _gpu_sample_text(gpu: GpuSample, output: Output) -> str:
    name = gpu.name or f"GPU {gpu.index}"
    if gpu.state != "ready":
        return f"{name} {output.texts.translate(f'monitor.gpu.{gpu.state}')}"
    parts = [
        format_percent(gpu.util) if gpu.util is not None else UNKNOWN_VALUE,
        format_memory(gpu.mem_used) if gpu.mem_used is not None else UNKNOWN_VALUE,
        f"{gpu.temp} °C" if gpu.temp is not None else UNKNOWN_VALUE,
        f"{gpu.power_w:.0f} W" if gpu.power_w is not None else UNKNOWN_VALUE,
    ]
    return f"{name} {' '.join(parts)}"


def fold_checks(checks: Sequence[Check], texts: Texts) -> tuple[Check, ...]:
    """One check for all GPUs with the same outcome; numbers that differ become a range ("61–64")."""
    return _fold(checks, texts, lambda check: (check.id, check.state), lambda check: _gpu_index(check.data.get("gpu")))


def fold_alarms(alarms: Sequence[Alarm], texts: Texts, cards: int) -> tuple[Alarm, ...]:
    """One alarm for all of the `cards` with the same one, as `fold_checks`."""
    return _fold(alarms, texts, lambda alarm: (alarm.id, alarm.level), lambda alarm: alarm.gpu, cards)


def _fold(
    items: Sequence[Foldable],
    texts: Texts,
    kind_of: Callable[[Foldable], tuple[str, str]],
    gpu_of: Callable[[Foldable], int | None],
    gpu_count: int | None = None,
) -> tuple[Foldable, ...]:
    groups: dict[object, list[Foldable]] = {}
    for position, item in enumerate(items):
        unique_position = position if gpu_of(item) is None else None
        groups.setdefault((unique_position, kind_of(item), _comparison_key(item.data)), []).append(item)
    total_gpus = gpu_count or len({index for item in items if (index := gpu_of(item)) is not None})
    # Groups of the same kind stand together, in the order of their first item.
    order = {name: position for position, (name, _) in reversed(list(enumerate(kind_of(item) for item in items)))}
    ordered_groups = sorted(groups.values(), key=lambda group: order[kind_of(group[0])[0]])
    return tuple(
        _merge_group(group, [index for item in group if (index := gpu_of(item)) is not None], total_gpus, texts)
        for group in ordered_groups
    )


def _merge_group(group: list[Foldable], gpus: list[int], total_gpus: int, texts: Texts) -> Foldable:
    first = group[0]
    if len(group) == 1:
        return first
    subject = texts.translate("cli.cards-all", {"count": total_gpus})
    if len(gpus) < total_gpus:
        subject = texts.translate("cli.cards-some", {"gpus": f"GPU {_format_indexes(gpus)}"})
    data: MessageData = {key: _value_range(key, [each.data.get(key) for each in group], texts) for key in first.data}
    names = {name: subject for name in NAME_KEYS if data.get(name) is not None}
    return replace(first, data={**data, **names, FOLDED_SUBJECT: subject})


def _comparison_key(data: MessageData) -> tuple[tuple[str, object], ...]:
    """The values that must be equal to fold two items: texts and None; numbers may differ."""
    comparable = {key: None if _is_number(value) else (value,) for key, value in data.items() if key not in NAME_KEYS}
    return tuple(sorted(comparable.items()))


def _value_range(key: str, values: list[Value], texts: Texts) -> Value:
    numbers = [value for value in values if isinstance(value, int | float)]
    if not _is_number(values[0]):
        return values[0]
    low, high = (texts.format_value(key, value) for value in (min(numbers), max(numbers)))
    return values[0] if low == high else f"{low}–{high}"


def _is_number(value: Value) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _gpu_index(value: Value) -> int | None:
    return value if isinstance(value, int) else None


def _format_indexes(gpus: list[int]) -> str:
    """ "0–2, 4, 5" """
    runs: list[list[int]] = []
    for index in sorted(gpus):
        if runs and index == runs[-1][-1] + 1:
            runs[-1].append(index)
        else:
            runs.append([index])
    parts = (f"{run[0]}–{run[-1]}" if len(run) >= MIN_RANGE_LENGTH else ", ".join(map(str, run)) for run in runs)
    return ", ".join(parts)
