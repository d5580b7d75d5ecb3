"""What the compared figures mean, in a few words below their names."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from ...bench.summary import DeviceComparison
from ...core.results import Benchmark
from . import scores

translate = QCoreApplication.translate


def pair_title(pair: DeviceComparison) -> str:
    """What was measured, short enough for the beginning of a row."""
    best = pair.fastest
    return translate("Meaning", "Copy to the card") if best.id == "copy-to-device-pinned" else scores.workload_label(best.id)


def pair_description(pair: DeviceComparison, benchmark: Benchmark) -> str:
    """One line: what it computes, and in which format."""
    best = pair.fastest
    # Where both formats have a bar, each says its own.
    dtype_label = "" if pair.mixed is not None else scores.dtype_name(best.dtype)
    if best.id == "matmul":
        return _matmul_description(best.dtype, on_gpu=best.device != "cpu")
    description = {
        "resnet50": translate("Meaning", "recognises pictures"),
        "bert-base": translate("Meaning", "reads sentences"),
        "decode": translate("Meaning", "answers word by word"),
    }.get(best.id, "")
    if best.id.startswith("copy-to"):
        return _pcie_text(benchmark, best.device)
    if best.id == "copy-within":
        return (
            translate("Meaning", "how fast the card's memory is")
            if pair.gpus
            else translate("Meaning", "how fast the memory is")
        )
    return translate("Meaning", "{what}, {kind}").format(what=description, kind=dtype_label) if description and dtype_label else description or dtype_label


def _matmul_description(dtype: str, *, on_gpu: bool) -> str:
    if dtype != "float32":
        return translate("Meaning", "{kind}, on the tensor cores").format(kind=dtype)
    return translate("Meaning", "float32, TF32 switched off") if on_gpu else dtype


def _pcie_text(benchmark: Benchmark, device: str) -> str:
    """The way between processor and card, as its driver told it."""
    number = device.partition(":")[2] or "0"
    for gpu in benchmark.watched:
        if str(gpu.index) == number and gpu.pcie_gen is not None and gpu.pcie_width is not None:
            template = translate("Meaning", "PCIe {gen}.0, {lanes} lanes")
            return template.format(gen=gpu.pcie_gen, lanes=gpu.pcie_width)
    return translate("Meaning", "over the PCIe slot")
