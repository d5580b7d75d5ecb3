"""Results as people read them in a terminal."""

from __future__ import annotations

import shlex
from collections.abc import Callable

from ..core.machine import Gpu, Machine
from ..core.plan import Plan
from ..core.recommendation import Recommendation
from ..core.results import Benchmark, Checks, GpuSample, Sample
from ..texts.format import UNKNOWN, memory, size
from .output import Output

MARKS = {"pass": "✓", "warn": "!", "fail": "✗", "skip": "–"}


def machine(found: Machine, output: Output) -> None:
    """The computer as a table."""
    rows = [
        (output.say("row.gpu"), "\n".join(_gpu(gpu) for gpu in found.gpus) or output.say("none")),
        (output.say("row.driver"), _driver(found, output)),
        (output.say("row.system"), " · ".join(filter(None, (found.os.name, found.os.version, found.os.arch)))),
    ]
    if found.cpu is not None:
        cores = output.say("cores", cores=found.cpu.cores, threads=found.cpu.threads)
        rows.append((output.say("row.cpu"), f"{found.cpu.name or UNKNOWN} · {cores}"))
    if found.memory_bytes is not None:
        rows.append((output.say("row.memory"), memory(found.memory_bytes)))
    if found.disks:
        free = [
            output.say("disk", path=disk.path, free_bytes=disk.free_bytes, total_bytes=disk.total_bytes)
            for disk in found.disks
        ]
        rows.append((output.say("row.disks"), "\n".join(free)))
    if found.pythons:
        rows.append((output.say("row.pythons"), "\n".join(_python(found, output))))
    output.table(rows)
    for note in found.notes:
        output.note(output.texts.say(note.code, {"detail": note.detail, "probe": note.probe}))


def _gpu(gpu: Gpu) -> str:
    parts = [gpu.name or gpu.pci_id or UNKNOWN]
    if gpu.memory_bytes:
        parts.append(memory(gpu.memory_bytes))
    return " · ".join(parts)


def _driver(found: Machine, output: Output) -> str:
    if found.driver is None:
        return output.say("no-driver") if found.gpus_of("nvidia") else output.say("no-nvidia")
    return output.say("driver", version=found.driver.version, cuda=found.driver.cuda_max)


def _python(found: Machine, output: Output) -> list[str]:
    return [
        f"{python.version}  {python.path}"
        + ("  " + output.say("with-torch", version=python.torch.version) if python.torch else "")
        for python in found.pythons or ()
    ]


def recommendation(value: Recommendation, output: Output) -> None:
    """The versions, the reasons, and what else would work."""
    rows = []
    if value.pytorch is not None:
        rows.append(("PyTorch", f"{value.pytorch.version} ({value.pytorch.variant})"))
    if value.tensorflow is not None:
        rows.append(("TensorFlow", value.tensorflow.version))
    rows.append(("Python", value.python or UNKNOWN))
    driver = output.say(f"driver-action.{value.driver.action}", version=value.driver.recommended)
    rows.append((output.say("row.driver"), driver))
    for name, advice in (("CUDA Toolkit", value.cuda_toolkit), ("cuDNN", value.cudnn)):
        rows.append((name, output.say(f"part-action.{advice.action}", version=advice.version)))
    output.table(rows)
    for reason in value.reasons:
        output.line(f"  • {reason.text}")
    for warning in value.warnings:
        output.line(f"  ! {warning.text} {warning.fix or ''}".rstrip())
    for other in value.alternatives:
        output.line(f"  → {other.text}")


def plan(value: Plan, output: Output) -> None:
    """Every step with what it does, the commands, and how it is undone."""
    for number, step in enumerate(value.steps, 1):
        figures = [size(step.bytes)] if step.bytes else []
        if step.needs_admin:
            figures.append(output.say("needs-admin"))
        output.line(f"{number}. {step.title}" + (f"  ({', '.join(figures)})" if figures else ""))
        output.line(f"   {step.what}")
        for command in step.commands:
            output.line("   $ " + shlex.join(command))
        if step.undo:
            output.line("   " + output.say("undo", how=step.undo))
    _price(value, output, output.line)


def plan_brief(value: Plan, output: Output) -> None:
    """The steps' titles and the price, before asking whether to go on."""
    for number, step in enumerate(value.steps, 1):
        output.note(f"{number}. {step.title}")
    _price(value, output, output.note)


def _price(value: Plan, output: Output, say: Callable[[str], None]) -> None:
    say(output.say("price", bytes=value.bytes, disk_bytes=value.disk_bytes, env=value.env))


def checks(value: Checks, output: Output) -> None:
    """Each check in a line, the mend below the ones that did not pass, the verdict last."""
    for check in value.checks:
        output.line(f"{MARKS[check.state]} {check.text}")
        if check.fix:
            output.line(f"    {check.fix}")
    output.line(output.say(f"verdict.{value.verdict}"))


def benchmark(value: Benchmark, output: Output) -> None:
    """Median and quartiles of each workload."""
    names = {device.id: device.name or device.id for device in value.devices}
    for result in value.results:
        what = output.say(
            "bench-row",
            workload=output.texts.say(f"bench.workload.{result.id}"),
            dtype=result.dtype,
            size="×".join(str(side) for side in result.size),
        )
        figure = output.say(
            "bench-extrapolated" if result.extrapolated else "bench-figure",
            median=float(result.median),
            q1=float(result.q1),
            q3=float(result.q3),
            unit=result.unit,
            runs=result.runs,
        )
        output.line(f"{names.get(result.device, result.device)}: {what}: {figure}")
    for code, factor in value.speedup.items():
        output.line(output.say("speedup", what=code, factor=factor))
    for note in value.notes:
        output.line("  ! " + output.texts.say(note))
    if value.verdict:
        output.line(output.texts.say(value.verdict))


def sample(value: Sample, output: Output) -> None:
    """One moment on one line."""
    used = memory(value.ram_used) if value.ram_used is not None else UNKNOWN
    total = memory(value.ram_total) if value.ram_total is not None else UNKNOWN
    cpu = f"{value.cpu:.0f} %" if value.cpu is not None else UNKNOWN
    parts = [output.say("sample", cpu=cpu, used=used, total=total)]
    parts += [_gpu_sample(gpu) for gpu in value.gpus]
    if not value.gpus:
        parts.append(output.say("no-nvidia"))
    output.line(" | ".join(parts))


def _gpu_sample(gpu: GpuSample) -> str:
    figures = [
        f"{gpu.util} %" if gpu.util is not None else UNKNOWN,
        memory(gpu.mem_used) if gpu.mem_used is not None else UNKNOWN,
        f"{gpu.temp} °C" if gpu.temp is not None else UNKNOWN,
        f"{gpu.power_w:.0f} W" if gpu.power_w is not None else UNKNOWN,
    ]
    return f"{gpu.name or f'GPU {gpu.index}'} {' '.join(figures)}"
