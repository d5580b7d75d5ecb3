"""What the compared figures mean, in a few words below their names."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from ...bench.summary import Pair
from ...core.results import Benchmark
from . import scores

translate = QCoreApplication.translate


def short_name(pair: Pair) -> str:
    """What was measured, short enough for the beginning of a row."""
    best = pair.best
    return translate("Meaning", "Copy to the card") if best.id == "copy-to-device-pinned" else scores.workload(best.id)


def meaning(pair: Pair, benchmark: Benchmark) -> str:
    """One line: what it computes, and in which format."""
    best = pair.best
    # Where both formats have a bar, each says its own.
    kind = "" if pair.mixed is not None else scores.dtype_name(best.dtype)
    if best.id == "matmul":
        return _product(best.dtype, on_card=best.device != "cpu")
    said = {
        "resnet50": translate("Meaning", "recognises pictures"),
        "bert-base": translate("Meaning", "reads sentences"),
        "decode": translate("Meaning", "answers word by word"),
    }.get(best.id, "")
    if best.id.startswith("copy-to"):
        return _slot(benchmark, best.device)
    if best.id == "copy-within":
        return (
            translate("Meaning", "how fast the card's memory is")
            if pair.gpus
            else translate("Meaning", "how fast the memory is")
        )
    return translate("Meaning", "{what}, {kind}").format(what=said, kind=kind) if said and kind else said or kind


def _product(dtype: str, *, on_card: bool) -> str:
    if dtype != "float32":
        return translate("Meaning", "{kind}, on the tensor cores").format(kind=dtype)
    return translate("Meaning", "float32, TF32 switched off") if on_card else dtype


def _slot(benchmark: Benchmark, device: str) -> str:
    """The way between processor and card, as its driver told it."""
    number = device.partition(":")[2] or "0"
    for card in benchmark.watched:
        if str(card.index) == number and card.pcie_gen is not None and card.pcie_width is not None:
            said = translate("Meaning", "PCIe {gen}.0, {lanes} lanes")
            return said.format(gen=card.pcie_gen, lanes=card.pcie_width)
    return translate("Meaning", "over the PCIe slot")
