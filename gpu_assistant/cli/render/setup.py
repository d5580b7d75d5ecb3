"""Results as people read them in a terminal.

What is the same of several cards, told once: eight alike are one line, and who differs has its own.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeVar

from msgspec.structs import replace

from ...core.machine import Machine
from ...core.plan import Plan, alternative_command, needs_manual_driver, requirements_text
from ...core.price import plan_cost, plan_duration
from ...core.recommendation import DriverAdvice, Recommendation
from ...core.results import Alarm, Check, Checks, GpuSample, HealthTestCurve, Sample
from ...texts import localized
from ...texts.format import UNKNOWN_VALUE, format_memory
from ...texts.terminal import Terminal
from ..output import Output

if TYPE_CHECKING:
    from ...core.types import Value
    from ...install.jobs.create_bundle import CreateBundleJob
    from ...texts.localized import Texts


# What installers of the system's own take is not in a plan's figures.
SYSTEM_INSTALLER_STEPS = ("nvidia-driver", "vc-redist")
ABSENT_GPU_STATES = ("lost", "gone")
CHECK_MARKS = {"pass": "✓", "warn": "!", "fail": "✗", "skip": "–"}


def render_recommendation(result: Recommendation, machine: Machine, age_days: int | None, output: Output) -> None:
    """The versions, the reasons with their sources, what else would work, and how old the facts are (in days)."""
    rows = []
    if result.pytorch is not None:
        rows.append(("PyTorch", f"{result.pytorch.version} ({result.pytorch.variant})"))
    if result.tensorflow is not None:
        rows.append(("TensorFlow", result.tensorflow.version))
    rows.append(("Python", result.python or output.translate("no-python")))
    hidden_parts = _irrelevant_parts(result, machine)
    parts = [
        ("driver", output.translate("row.driver"), _driver_action_code(result.driver), result.driver.recommended),
        ("cuda_toolkit", "CUDA Toolkit", _toolkit_action_code(result), result.cuda_toolkit.version),
        ("cudnn", "cuDNN", f"part-action.{result.cudnn.action}", result.cudnn.version),
    ]
    minimum_driver = result.driver.minimum
    for part, name, code, version in parts:
        if part not in hidden_parts:
            rows.append(
                (name, output.translate(code, version=version, minimum=minimum_driver, below=result.driver.below))
            )
    output.write_table(rows)
    sources: dict[str, int] = {}
    # A full-width stop brings its own gap.
    separator = "" if output.texts.language == "zh_CN" else " "
    for reason in result.reasons:
        if reason.about not in hidden_parts:
            footnote = f"{separator}[{sources.setdefault(reason.source, len(sources) + 1)}]" if reason.source else ""
            output.write_line(f"  • {reason.text}{footnote}")
    for warning in result.warnings:
        output.write_line(f"  ! {warning.text}{separator}{warning.fix or ''}".rstrip())
    for alternative in result.alternatives:
        output.write_line(f"  → {alternative.text}")
    for source, number in sources.items():
        output.write_line(f"[{number}] {source}")
    if age_days is not None:
        output.write_line(output.translate("facts-of", date=result.catalog_date, age_days=age_days))


def _driver_action_code(driver: DriverAdvice) -> str:
    """The words for the driver: a number that nobody knows is left out of them."""
    version_unknown = driver.needs_install and driver.recommended is None
    has_upper_bound = version_unknown and driver.below is not None and driver.action != "back"
    return (
        f"driver-action.{driver.action}"
        + ("-unnamed" if version_unknown else "")
        + ("-below" if has_upper_bound else "")
    )


def _toolkit_action_code(recommendation: Recommendation) -> str:
    """The words for the toolkit: one that was asked for, and that nobody knows for this computer, is not unneeded."""
    unavailable = any(
        reason.code in ("toolkit-impossible", "toolkit-no-installer") for reason in recommendation.reasons
    )
    return f"part-action.{recommendation.cuda_toolkit.action}" + ("-known" if unavailable else "")


def _irrelevant_parts(recommendation: Recommendation, machine: Machine) -> set[str]:
    """The parts that are NVIDIA's alone, where no card or driver is NVIDIA's and nothing is to be done about them; who
    asked for the toolkit hears why there is none.
    """
    if machine.gpus_of("nvidia") or machine.driver is not None:
        return set()
    requested = {"cuda_toolkit"} if recommendation.goal in ("cuda-dev", "all") else set()
    actions = {
        "driver": recommendation.driver.action,
        "cuda_toolkit": recommendation.cuda_toolkit.action,
        "cudnn": recommendation.cudnn.action,
    }
    return {name for name, action in actions.items() if action == "none"} - requested


def render_plan(plan: Plan, output: Output) -> None:
    """Every step with what it does, the commands, and how it is undone."""
    terminal = output.texts.terminal or Terminal(system=plan.os.system if plan.os is not None else "linux")
    for number, step in enumerate(plan.steps, 1):
        download_text = localized.step_download_text(step.code, step.bytes, step.data, output.texts)
        costs = [download_text] if download_text else []
        if step.minutes:
            costs.append(localized.duration_text(step.minutes, output.texts, at_least=step.minutes_least))
        if step.needs_admin:
            costs.append(output.translate("needs-admin"))
        title = output.translate("costs", title=step.title, names=", ".join(costs)) if costs else step.title
        output.write_line(f"{number}. {title}")
        output.write_line(f"   {step.what}")
        if step.now is not None:
            output.write_line(f"   → {step.now.text}")
        for command in step.commands:
            output.write_line("   $ " + terminal.command_line(command))
        requirements = requirements_text(step)
        if requirements is not None:
            output.write_line("   requirements.in:\n" + textwrap.indent(requirements, "     "))
        alternative = alternative_command(step)
        if alternative is not None:
            output.write_line(f"   {output.translate('other-way')}\n   $ {alternative}")
        if step.undo:
            output.write_line("   " + output.translate("undo", how=step.undo))
    _render_costs(plan, output, output.write_line)


def render_plan_summary(plan: Plan, output: Output) -> None:
    """The steps' titles and the price, before asking whether to go on."""
    for number, step in enumerate(plan.steps, 1):
        output.write_note(f"{number}. {step.title}")
        if step.now is not None:
            output.write_note(f"   → {step.now.text}")
    _render_costs(plan, output, output.write_note)


def render_bundle_plan(job: CreateBundleJob, output: Output) -> None:
    """What making a bundle would do, what it would fetch, and what cannot be in it."""
    for number, step in enumerate(job.steps(), 1):
        output.write_line(f"{number}. " + output.texts.translate(f"step.{step.code}.title", step.data))
        output.write_line("   " + output.texts.translate(f"step.{step.code}.what", step.data))
    output.write_line(
        output.translate("bundle-price", fetched=_download_size_text(job.bundled_plan, output), path=str(job.folder))
    )
    render_left_out(job.excluded_codes, output)


def render_left_out(codes: tuple[str, ...], output: Output) -> None:
    """What a bundle cannot hold, by the codes of its steps."""
    for code in codes:
        output.write_note(output.translate("bundle-left-out", step=output.texts.translate(f"bundle.left-out.{code}")))


def _download_size_text(plan: Plan, output: Output) -> str:
    """How much a plan downloads, as far as it is known, and what is not counted."""
    total, unknown = plan_cost(plan), output.translate("price-unknown")
    known_text = localized.download_text(total, output.texts)
    text, missing_parts = known_text or unknown, localized.unknown_parts_text(total, output.texts) if known_text else ""
    if total.measured_release is not None:
        text = output.translate("price-measured", fetched=text, measured=total.measured_release)
    return output.translate("price-lacks", fetched=text, parts=missing_parts) if missing_parts else text


def _render_costs(plan: Plan, output: Output, write: Callable[[str], None]) -> None:
    total = plan_cost(plan)
    disk_text = localized.disk_text(total, output.texts) or output.translate("price-unknown")
    write(output.translate("price", env=plan.env, fetched=_download_size_text(plan, output), kept=disk_text))
    if not total.is_exact or total.disk_estimated:
        write(output.translate("price-online"))
    mbits = next((step.data.get("mbits") for step in plan.steps if step.kind == "download"), None)
    duration = plan_duration(plan, total)
    if duration is not None and mbits is not None:
        code = "price-time-least" if duration.is_lower_bound else "price-time"
        write(output.translate(code, work_seconds=60 * duration.minutes, mbits=mbits))
    uncounted = [
        output.texts.translate(f"price.part.{step.kind}") for step in plan.steps if step.kind in SYSTEM_INSTALLER_STEPS
    ]
    if uncounted:
        write(
            output.translate(
                "price-besides", parts=("、" if output.texts.language == "zh_CN" else ", ").join(uncounted)
            )
        )
    if needs_manual_driver(plan):
        write(output.translate("driver-first"))
    if plan.simulated:
        write(output.translate("folders-simulated"))


def render_checks(checks: Checks, output: Output, headline: str | None = None) -> None:
    """Each check in a line, the mend below the ones that did not pass, the verdict last; `which`: a health test's
    headline.
    """
    for check in checks.checks:
        check_text = check.text or ""
        output.write_line(f"{CHECK_MARKS[check.state]} {check_text[:1].upper()}{check_text[1:]}")
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
    """How a card was along the test: a line for each minute, or for more of them where it was long; one for the whole
    of it where there are several cards.
    """
    from ...health.baselines import gpu_display_name
    from ...health.checks import MAX_CURVE_ROWS, curve_intervals

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


def _rounded(value: float | None) -> int | None:
    return None if value is None else round(value)


def render_sample(
    sample: Sample, output: Output, previous: Sample | None = None, *, pending_s: float | None = None
) -> None:
    """One moment on one line; several cards below it, each with its number. Of one that is lost or gone, and was so
    `before`, nothing is said again. `waited`: for how many seconds the driver has not answered, once that was said.
    """
    used_text = format_memory(sample.ram_used) if sample.ram_used is not None else UNKNOWN_VALUE
    total_text = format_memory(sample.ram_total) if sample.ram_total is not None else UNKNOWN_VALUE
    cpu = f"{sample.cpu:.0f} %" if sample.cpu is not None else UNKNOWN_VALUE
    parts = [output.translate("sample", cpu=cpu, used=used_text, total=total_text)]
    if len(sample.gpus) == 1:
        parts += [_gpu_sample_text(gpu, output) for gpu in sample.gpus]
    if pending_s is not None:
        parts.append(output.translate("waited", waited_seconds=pending_s))
    elif sample.nvml not in ("ready", "absent"):
        # What to do about it stands below the alarm.
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
    """What uses each card: number, name and memory, the largest first."""
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
        f"{gpu.util} %" if gpu.util is not None else UNKNOWN_VALUE,
        format_memory(gpu.mem_used) if gpu.mem_used is not None else UNKNOWN_VALUE,
        f"{gpu.temp} °C" if gpu.temp is not None else UNKNOWN_VALUE,
        f"{gpu.power_w:.0f} W" if gpu.power_w is not None else UNKNOWN_VALUE,
    ]
    return f"{name} {' '.join(parts)}"


MessageData = dict[str, "Value"]
Foldable = TypeVar("Foldable", Check, Alarm)
NAME_KEYS = ("device", "name")  # what a card is called in sentences, and so not the same of two
MIN_RANGE_LENGTH = 3  # "0, 1", but "0–2"


def fold_checks(checks: Sequence[Check], texts: Texts) -> tuple[Check, ...]:
    """Those of the same kind and state are one; numbers that differ are told from the lowest to the highest."""
    return _fold(checks, texts, lambda check: (check.id, check.state), lambda check: _gpu_index(check.data.get("gpu")))


def fold_alarms(alarms: Sequence[Alarm], texts: Texts, cards: int) -> tuple[Alarm, ...]:
    """The same for alarms, of so many `cards`."""
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
    # Who differs stands beside the others.
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
    return replace(first, data=data | {name: subject for name in NAME_KEYS if data.get(name) is not None})


def _comparison_key(data: MessageData) -> tuple[tuple[str, object], ...]:
    """What must be equal: words and what is unknown; numbers may differ."""
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
