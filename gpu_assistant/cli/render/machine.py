"""The detected machine as text: a table, and below it what matters for a setup."""

from __future__ import annotations

from collections.abc import Iterator

from ...core.machine import Gpu, Machine, ProbeNote, Python, surroundings
from ...texts.format import format_memory
from ..output import Output


def render_machine(machine: Machine, output: Output) -> None:
    """Everything that is known about the machine; what could not be detected comes last."""
    output.write_table(
        [(output.translate(f"row.{name}"), "\n".join(lines)) for name, lines in _machine_rows(machine, output) if lines]
    )
    for code, data in surroundings(machine):
        output.write_line("  • " + output.texts.translate(code, data))
    for code in _finding_codes(machine):
        output.write_line("  • " + output.translate(f"finding.{code}"))
    for python in machine.pythons or ():
        if python.torch is not None and python.torch.error is not None:
            output.write_line("  • " + output.translate("finding.torch-error", path=python.path))
    for folder in (machine.user.onedrive or ()) if machine.user is not None else ():
        output.write_line("  • " + output.translate("finding.onedrive", path=folder))
    for note in machine.notes:
        output.write_line("  ! " + _unknown_part_text(note, output))


def _machine_rows(machine: Machine, output: Output) -> Iterator[tuple[str, list[str]]]:
    yield "gpu", [_gpu_text(gpu, output) for gpu in machine.gpus] or [output.translate("none")]
    if machine.gpus_of("nvidia") or machine.driver is not None or not machine.gpus:
        yield "driver", [_driver_text(machine, output)]
    system = machine.os
    name_parts = (system.name or output.translate(f"system.{system.system}"), system.version, system.arch)
    yield "system", [" · ".join(filter(None, name_parts))]
    if machine.cpu is not None:
        has_counts = machine.cpu.cores is not None and machine.cpu.threads is not None
        cores = output.translate("cores", cores=machine.cpu.cores, threads=machine.cpu.threads) if has_counts else None
        yield "cpu", list(filter(None, [" · ".join(filter(None, (machine.cpu.name, cores)))]))
    if machine.memory_bytes is not None:
        yield "memory", [format_memory(machine.memory_bytes)]
    yield (
        "disks",
        [
            output.translate("disk", path=disk.path, free_bytes=disk.free_bytes, total_bytes=disk.total_bytes)
            if disk.free_bytes is not None and disk.total_bytes is not None
            else output.translate("disk-unknown", path=disk.path)
            for disk in machine.disks or ()
        ],
    )
    yield (
        "toolkits",
        [
            f"{installation.version or output.translate('no-version')}  {installation.path}"
            for installation in machine.cuda_toolkits or ()
        ],
    )
    yield (
        "cudnn",
        [
            f"{installation.version or output.translate('no-version')}  {installation.path}"
            for installation in machine.cudnn or ()
        ],
    )
    yield "pythons", [_python_text(python, output) for python in machine.pythons or ()]
    if machine.tools is not None:
        tools = (
            ("Visual C++", machine.tools.vc_redist),
            ("MSVC", machine.tools.msvc),
            ("GCC", machine.tools.gcc),
            ("conda", machine.tools.conda),
            ("git", machine.tools.git),
        )
        yield "tools", list(filter(None, [" · ".join(f"{name} {version}" for name, version in tools if version)]))
    if machine.network is not None and machine.network.proxy is not None:
        yield "proxy", [machine.network.proxy]


def _gpu_text(gpu: Gpu, output: Output) -> str:
    parts = [gpu.name or gpu.pci_id or output.translate("no-name")]
    if gpu.memory_bytes:
        parts.append(format_memory(gpu.memory_bytes))
    if gpu.compute_capability is not None:
        parts.append(output.translate("capability", capability=gpu.compute_capability))
    return " · ".join(parts)


def _driver_text(machine: Machine, output: Output) -> str:
    if machine.driver is None:
        return output.translate("no-driver") if machine.gpus_of("nvidia") else output.translate("no-nvidia")
    if machine.driver.cuda_max is None:
        return machine.driver.version
    return output.translate("driver", version=machine.driver.version, cuda=machine.driver.cuda_max)


def _python_text(python: Python, output: Output) -> str:
    line = f"{python.version}  {python.path}"
    if python.torch is not None:
        line += "  " + output.translate("with-torch", version=python.torch.version)
    if python.tensorflow is not None:
        line += "  " + output.translate("with-tensorflow", version=python.tensorflow)
    return line


def _finding_codes(machine: Machine) -> Iterator[str]:
    """Codes of other facts that matter for a setup; the window shows the same ones."""
    if machine.pending_reboot:
        yield "restart"
    if machine.user is not None and machine.user.home_too_long:
        yield "home-long"
    if machine.os.secure_boot and machine.os.system == "linux" and machine.gpus_of("nvidia"):
        yield "secure-boot"
    if machine.os.smart_app_control == "on":
        yield "smart-app-control"
    if machine.user is not None and machine.user.ascii is False:
        yield "home-letters"
    if machine.laptop:
        yield "laptop"
    if machine.virtual_machine:
        yield "virtual"
    if machine.os.wsl:
        yield "wsl"
    if machine.remote_desktop:
        yield "remote"


def _unknown_part_text(note: ProbeNote, output: Output) -> str:
    """Why a part is unknown; a machine file may hold codes without a text."""
    if note.code.startswith("detect.") and output.texts.has_text(note.code):
        return output.texts.translate(note.code, {"detail": note.detail or note.probe})
    return output.translate("unknown-part", part=note.probe)
