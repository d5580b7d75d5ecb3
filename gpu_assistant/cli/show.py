"""Results as people read them in a terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from typing import TYPE_CHECKING

from ..core.machine import Machine
from ..core.plan import Plan, awaits_driver, other_way, requirements
from ..core.price import price, time
from ..core.recommendation import DriverAdvice, Recommendation
from ..core.results import Checks, Curve, GpuSample, Sample
from ..texts import price as prices
from ..texts.format import UNKNOWN, memory
from ..texts.terminal import Terminal
from .output import Output

if TYPE_CHECKING:
    from ..install.bundle.create import CreateJob

# What installers of the system's own take is not in a plan's figures.
BESIDE = ("nvidia-driver", "vc-redist")
AWAY = ("lost", "gone")
MARKS = {"pass": "✓", "warn": "!", "fail": "✗", "skip": "–"}


def recommendation(value: Recommendation, found: Machine, days: int | None, output: Output) -> None:
    """The versions, the reasons with their sources, what else would work, and how old the facts are (in days)."""
    rows = []
    if value.pytorch is not None:
        rows.append(("PyTorch", f"{value.pytorch.version} ({value.pytorch.variant})"))
    if value.tensorflow is not None:
        rows.append(("TensorFlow", value.tensorflow.version))
    rows.append(("Python", value.python or output.say("no-python")))
    hidden = _of_no_concern(value, found)
    parts = [
        ("driver", output.say("row.driver"), _driver_action(value.driver), value.driver.recommended),
        ("cuda_toolkit", "CUDA Toolkit", _toolkit_action(value), value.cuda_toolkit.version),
        ("cudnn", "cuDNN", f"part-action.{value.cudnn.action}", value.cudnn.version),
    ]
    lowest = value.driver.minimum
    for part, name, code, version in parts:
        if part not in hidden:
            rows.append((name, output.say(code, version=version, minimum=lowest, below=value.driver.below)))
    output.table(rows)
    sources: dict[str, int] = {}
    # A full-width stop brings its own gap.
    gap = "" if output.texts.language == "zh_CN" else " "
    for reason in value.reasons:
        if reason.about not in hidden:
            mark = f"{gap}[{sources.setdefault(reason.source, len(sources) + 1)}]" if reason.source else ""
            output.line(f"  • {reason.text}{mark}")
    for warning in value.warnings:
        output.line(f"  ! {warning.text}{gap}{warning.fix or ''}".rstrip())
    for other in value.alternatives:
        output.line(f"  → {other.text}")
    for source, number in sources.items():
        output.line(f"[{number}] {source}")
    if days is not None:
        output.line(output.say("facts-of", date=value.catalog_date, age_days=days))


def _driver_action(advice: DriverAdvice) -> str:
    """The words for the driver: a number that nobody knows is left out of them."""
    unnamed = advice.changes and advice.recommended is None
    bounded = unnamed and advice.below is not None and advice.action != "back"
    return f"driver-action.{advice.action}" + ("-unnamed" if unnamed else "") + ("-below" if bounded else "")


def _toolkit_action(value: Recommendation) -> str:
    """The words for the toolkit: one that was asked for, and that nobody knows for this computer, is not unneeded."""
    lacking = any(reason.code in ("toolkit-impossible", "toolkit-no-installer") for reason in value.reasons)
    return f"part-action.{value.cuda_toolkit.action}" + ("-known" if lacking else "")


def _of_no_concern(value: Recommendation, found: Machine) -> set[str]:
    """The parts that are NVIDIA's alone, where no card or driver is NVIDIA's and nothing is to be done about them; who
    asked for the toolkit hears why there is none.
    """
    if found.gpus_of("nvidia") or found.driver is not None:
        return set()
    asked = {"cuda_toolkit"} if value.goal in ("cuda-dev", "all") else set()
    actions = {
        "driver": value.driver.action,
        "cuda_toolkit": value.cuda_toolkit.action,
        "cudnn": value.cudnn.action,
    }
    return {name for name, action in actions.items() if action == "none"} - asked


def plan(value: Plan, output: Output) -> None:
    """Every step with what it does, the commands, and how it is undone."""
    typed = output.texts.terminal or Terminal(system=value.os.system if value.os is not None else "linux")
    for number, step in enumerate(value.steps, 1):
        fetched = prices.of_step(step.code, step.bytes, step.data, output.texts)
        figures = [fetched] if fetched else []
        if step.minutes:
            figures.append(prices.lasts(step.minutes, output.texts, least=step.minutes_least))
        if step.needs_admin:
            figures.append(output.say("needs-admin"))
        title = output.say("costs", title=step.title, names=", ".join(figures)) if figures else step.title
        output.line(f"{number}. {title}")
        output.line(f"   {step.what}")
        if step.now is not None:
            output.line(f"   → {step.now.text}")
        for command in step.commands:
            output.line("   $ " + typed.line(command))
        asked = requirements(step)
        if asked is not None:
            output.line("   requirements.in:\n" + textwrap.indent(asked, "     "))
        other = other_way(step)
        if other is not None:
            output.line(f"   {output.say('other-way')}\n   $ {other}")
        if step.undo:
            output.line("   " + output.say("undo", how=step.undo))
    _price(value, output, output.line)


def plan_brief(value: Plan, output: Output) -> None:
    """The steps' titles and the price, before asking whether to go on."""
    for number, step in enumerate(value.steps, 1):
        output.note(f"{number}. {step.title}")
        if step.now is not None:
            output.note(f"   → {step.now.text}")
    _price(value, output, output.note)


def bundle(job: CreateJob, output: Output) -> None:
    """What making a bundle would do, what it would fetch, and what cannot be in it."""
    for number, step in enumerate(job.steps(), 1):
        output.line(f"{number}. " + output.texts.say(f"step.{step.code}.title", step.data))
        output.line("   " + output.texts.say(f"step.{step.code}.what", step.data))
    output.line(output.say("bundle-price", fetched=_fetched(job.gathered, output), path=str(job.folder)))
    not_in_it(job.left_out, output)


def not_in_it(codes: tuple[str, ...], output: Output) -> None:
    """What a bundle cannot hold, by the codes of its steps."""
    for code in codes:
        output.note(output.say("bundle-left-out", step=output.texts.say(f"bundle.left-out.{code}")))


def _fetched(value: Plan, output: Output) -> str:
    """How much a plan downloads, as far as it is known, and what is not counted."""
    found, unknown = price(value), output.say("price-unknown")
    told = prices.fetched(found, output.texts)
    fetched, lacking = told or unknown, prices.lacking(found, output.texts) if told else ""
    if found.measured is not None:
        fetched = output.say("price-measured", fetched=fetched, measured=found.measured)
    return output.say("price-lacks", fetched=fetched, parts=lacking) if lacking else fetched


def _price(value: Plan, output: Output, say: Callable[[str], None]) -> None:
    found = price(value)
    kept = prices.kept(found, output.texts) or output.say("price-unknown")
    say(output.say("price", env=value.env, fetched=_fetched(value, output), kept=kept))
    if not found.exact or found.disk_about:
        say(output.say("price-online"))
    mbits = next((step.data.get("mbits") for step in value.steps if step.kind == "download"), None)
    lasts = time(value, found)
    if lasts is not None and mbits is not None:
        code = "price-time-least" if lasts.least else "price-time"
        say(output.say(code, work_seconds=60 * lasts.minutes, mbits=mbits))
    beside = [output.texts.say(f"price.part.{step.kind}") for step in value.steps if step.kind in BESIDE]
    if beside:
        say(output.say("price-besides", parts=("、" if output.texts.language == "zh_CN" else ", ").join(beside)))
    if awaits_driver(value):
        say(output.say("driver-first"))
    if value.simulated:
        say(output.say("folders-simulated"))


def checks(value: Checks, output: Output, which: str | None = None) -> None:
    """Each check in a line, the mend below the ones that did not pass, the verdict last; `which`: a health test's
    headline.
    """
    for check in value.checks:
        text = check.text or ""
        output.line(f"{MARKS[check.state]} {text[:1].upper()}{text[1:]}")
        if check.fix:
            output.line(f"    {check.fix}")
    if which is None:
        output.line(output.say(f"verdict.{value.verdict}"))
    else:
        output.line(output.texts.say(f"health.verdict.{which}"))
        if which != "nothing":
            output.line(value.scope or "")
    for curve in value.curves:
        _curve(curve, output, several=len(value.curves) > 1)


def _curve(curve: Curve, output: Output, *, several: bool) -> None:
    """How a card was along the test: a line for each minute, or for more of them where it was long; one for the whole
    of it where there are several cards.
    """
    from ..health.curves import MOST_ROWS, stretches
    from ..health.figures import card_name

    rows = stretches(curve, 1 if several else MOST_ROWS)
    if not rows:
        return
    first = next((temp for temp in curve.temp if temp is not None), None)
    name = card_name(GpuSample(index=curve.gpu, name=curve.name), several=several)
    output.line(output.texts.say("health.curve", {"name": name, "temp": first}))
    for row in rows:
        figures = {
            "until": f"{row.until / 60:.1f}",
            "temp": _whole(row.temp),
            "most": row.temp_max,
            "clock": _whole(row.clock_sm),
            "power_w": _whole(row.power_w),
            "held": _whole(None if row.held is None else 100 * row.held),
        }
        output.line("    " + output.texts.say("health.curve.stretch", figures))


def _whole(value: float | None) -> int | None:
    return None if value is None else round(value)


def sample(value: Sample, output: Output, before: Sample | None = None, *, waited: float | None = None) -> None:
    """One moment on one line; several cards below it, each with its number. Of one that is lost or gone, and was so
    `before`, nothing is said again. `waited`: for how many seconds the driver has not answered, once that was said.
    """
    used = memory(value.ram_used) if value.ram_used is not None else UNKNOWN
    total = memory(value.ram_total) if value.ram_total is not None else UNKNOWN
    cpu = f"{value.cpu:.0f} %" if value.cpu is not None else UNKNOWN
    parts = [output.say("sample", cpu=cpu, used=used, total=total)]
    if len(value.gpus) == 1:
        parts += [_gpu_sample(gpu, output) for gpu in value.gpus]
    if waited is not None:
        parts.append(output.say("waited", waited_seconds=waited))
    elif value.nvml not in ("ready", "absent"):
        # What to do about it stands below the alarm.
        short = f"health.nvml.{value.nvml}"
        parts.append(output.texts.say(short if output.texts.has(short) else f"monitor.nvml.{value.nvml}"))
    elif not value.gpus:
        parts.append(output.say("no-nvidia"))
    output.line(" | ".join(parts))
    if len(value.gpus) > 1:
        told = {(gpu.index, gpu.uuid, gpu.state) for gpu in before.gpus if gpu.state in AWAY} if before else ()
        for gpu in value.gpus:
            if (gpu.index, gpu.uuid, gpu.state) not in told:
                output.line(f"    GPU {gpu.index}: {_gpu_sample(gpu, output)}")


def processes(value: Sample, output: Output) -> None:
    """What uses each card: number, name and memory, the largest first."""
    for gpu in value.gpus:
        known = sorted(gpu.processes or (), key=lambda each: -(each.mem_used or 0))
        for each in known:
            used = memory(each.mem_used) if each.mem_used is not None else UNKNOWN
            output.line("    " + output.say("process", gpu=gpu.index, pid=str(each.pid), name=each.name, used=used))
        if gpu.state == "ready" and not known:
            code = "processes-untold" if gpu.processes is None else "processes-none"
            output.line("    " + output.say(code, gpu=gpu.index))


def _gpu_sample(gpu: GpuSample, output: Output) -> str:
    name = gpu.name or f"GPU {gpu.index}"
    if gpu.state != "ready":
        return f"{name} {output.texts.say(f'monitor.gpu.{gpu.state}')}"
    figures = [
        f"{gpu.util} %" if gpu.util is not None else UNKNOWN,
        memory(gpu.mem_used) if gpu.mem_used is not None else UNKNOWN,
        f"{gpu.temp} °C" if gpu.temp is not None else UNKNOWN,
        f"{gpu.power_w:.0f} W" if gpu.power_w is not None else UNKNOWN,
    ]
    return f"{name} {' '.join(figures)}"
