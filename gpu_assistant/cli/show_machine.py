"""The computer as people read it in a terminal: a table, and below it what matters for a setup."""

from __future__ import annotations

from collections.abc import Iterator

from ..core.machine import Gpu, Machine, ProbeNote, Python
from ..texts.format import memory
from .output import Output


def machine(found: Machine, output: Output) -> None:
    """All that is known."""
    output.table([(output.say(f"row.{name}"), "\n".join(lines)) for name, lines in _rows(found, output) if lines])
    for code in _findings(found):
        output.line("  • " + output.say(f"finding.{code}"))
    for python in found.pythons or ():
        if python.torch is not None and python.torch.error is not None:
            output.line("  • " + output.say("finding.torch-error", path=python.path))
    for folder in (found.user.onedrive or ()) if found.user is not None else ():
        output.line("  • " + output.say("finding.onedrive", path=folder))
    for note in found.notes:
        output.line("  ! " + _unknown(note, output))


def _rows(found: Machine, output: Output) -> Iterator[tuple[str, list[str]]]:
    yield "gpu", [_gpu(gpu, output) for gpu in found.gpus] or [output.say("none")]
    if found.gpus_of("nvidia") or found.driver is not None or not found.gpus:
        yield "driver", [_driver(found, output)]
    system = found.os
    named = (system.name or output.say(f"system.{system.system}"), system.version, system.arch)
    yield "system", [" · ".join(filter(None, named))]
    if found.cpu is not None:
        known = found.cpu.cores is not None and found.cpu.threads is not None
        cores = output.say("cores", cores=found.cpu.cores, threads=found.cpu.threads) if known else None
        yield "cpu", list(filter(None, [" · ".join(filter(None, (found.cpu.name, cores)))]))
    if found.memory_bytes is not None:
        yield "memory", [memory(found.memory_bytes)]
    yield (
        "disks",
        [
            output.say("disk", path=disk.path, free_bytes=disk.free_bytes, total_bytes=disk.total_bytes)
            if disk.free_bytes is not None and disk.total_bytes is not None
            else output.say("disk-unknown", path=disk.path)
            for disk in found.disks or ()
        ],
    )
    yield "toolkits", [f"{one.version or output.say('no-version')}  {one.path}" for one in found.cuda_toolkits or ()]
    yield "cudnn", [f"{one.version or output.say('no-version')}  {one.path}" for one in found.cudnn or ()]
    yield "pythons", [_python(python, output) for python in found.pythons or ()]
    if found.tools is not None:
        tools = (
            ("Visual C++", found.tools.vc_redist),
            ("MSVC", found.tools.msvc),
            ("GCC", found.tools.gcc),
            ("conda", found.tools.conda),
            ("git", found.tools.git),
        )
        yield "tools", list(filter(None, [" · ".join(f"{name} {version}" for name, version in tools if version)]))
    if found.network is not None and found.network.proxy is not None:
        yield "proxy", [found.network.proxy]


def _gpu(gpu: Gpu, output: Output) -> str:
    parts = [gpu.name or gpu.pci_id or output.say("no-name")]
    if gpu.memory_bytes:
        parts.append(memory(gpu.memory_bytes))
    if gpu.compute_capability is not None:
        parts.append(output.say("capability", capability=gpu.compute_capability))
    return " · ".join(parts)


def _driver(found: Machine, output: Output) -> str:
    if found.driver is None:
        return output.say("no-driver") if found.gpus_of("nvidia") else output.say("no-nvidia")
    if found.driver.cuda_max is None:
        return found.driver.version
    return output.say("driver", version=found.driver.version, cuda=found.driver.cuda_max)


def _python(python: Python, output: Output) -> str:
    line = f"{python.version}  {python.path}"
    if python.torch is not None:
        line += "  " + output.say("with-torch", version=python.torch.version)
    if python.tensorflow is not None:
        line += "  " + output.say("with-tensorflow", version=python.tensorflow)
    return line


def _findings(found: Machine) -> Iterator[str]:
    """What else was noticed and matters for a setup, as the window says it."""
    if found.pending_reboot:
        yield "restart"
    if found.user is not None and found.user.home_too_long:
        yield "home-long"
    if found.os.secure_boot and found.os.system == "linux" and found.gpus_of("nvidia"):
        yield "secure-boot"
    if found.user is not None and found.user.ascii is False:
        yield "home-letters"
    if found.laptop:
        yield "laptop"
    if found.virtual_machine:
        yield "virtual"
    if found.os.wsl:
        yield "wsl"
    if found.remote_desktop:
        yield "remote"


def _unknown(note: ProbeNote, output: Output) -> str:
    """Why something counts as unknown; a machine file's own codes are not ours."""
    if note.code.startswith("detect.") and output.texts.has(note.code):
        return output.texts.say(note.code, {"detail": note.detail or note.probe})
    return output.say("unknown-part", part=note.probe)
