"""What is measured, in which order, and how long each may take."""

from __future__ import annotations

from typing import List, Optional, Sequence

from .copies import Copy, kinds
from .decoding import Decoding
from .devices import Device
from .matmul import GUIDES_SIDE, Matmul
from .precision import mixed_dtype, narrow_dtype, product_dtypes
from .training import UNITS, Training
from .workload import Workload

QUICK_SIZES = {"cpu": (1024, 2048, 4096, GUIDES_SIDE), "gpu": (2048, 4096, 8192, GUIDES_SIDE)}
FULL_SIZES = {
    "cpu": (512, 1024, 2048, 4096, 8192, GUIDES_SIDE),
    "gpu": (1024, 2048, 4096, 8192, GUIDES_SIDE, 16384),
}
# Seconds for one measurement with its warm-up and its check, but for the run that is under way.
QUICK_S = {"matmul": 2.5, "copy": 1.5, "training": 6.0, "decode": 4.0}
FULL_S = {"matmul": 15.0, "copy": 5.0, "training": 40.0, "decode": 20.0}
# Seconds for everything on the first device, with the time that torch takes to load, and on each further one; what
# comes after is left out. The whole of a quick run on a processor alone shall take no more than a minute.
QUICK_DEVICE_S, FULL_DEVICE_S = (54.0, 46.0), (900.0, 900.0)
# Of the time that is left a processor gives them no more at their turn, so that each of them has a figure where other
# programs slow it down: what comes after them is worth less.
SHARES = {"matmul": 0.06, "copy-within": 0.2, "resnet50": 0.5, "bert-base": 0.8}
LOADING_S = 14.0  # of the time that torch took to load counts no more: from a cold disk that would leave nothing
FAMILIES = ("matmul", "copy", "training", "decode")


def of_device(device: Device, *, full: bool, only: Optional[Sequence[str]] = None) -> List[Workload]:
    """Everything for one device; `only` names families or workloads.

    A product, copies and both trainings come first, so that a slow computer has a figure of each before it has several
    of one.
    """
    limits = FULL_S if full else QUICK_S
    products: List[Workload] = []
    for dtype in product_dtypes(device):
        before: Optional[Matmul] = None
        for side in (FULL_SIZES if full else QUICK_SIZES)[device.kind]:
            before = Matmul(device, dtype, side, limits["matmul"], before)
            products.append(before)
    copies = [Copy(device, kind, limits["copy"]) for kind in kinds(device)]
    plain = [Training(device, name, "float32", limits["training"]) for name in UNITS]
    mixed = [Training(device, name, mixed_dtype(device), limits["training"]) for name in UNITS]
    # As one would train here: a card in mixed precision.
    usual, other = (plain, mixed) if device.kind == "cpu" else (mixed, plain)
    decoding = Decoding(device, narrow_dtype(device), limits["decode"])
    # What the guides' table has comes first: whatever else there is takes no time from it.
    main = [products[0], *copies, *usual]
    if device.kind == "cpu":
        for each in main:
            each.share = SHARES[each.id]
        work: List[Workload] = [*main, decoding, *products[1:], *other]
    else:
        work = [*main, *other, decoding, *products[1:]]
    return [each for each in work if only is None or each.id in only or family(each) in only]


def spare_s(left_s: float, later: Sequence[Workload]) -> float:
    """Seconds of those that are left which nothing that comes later wants."""
    return max(0.0, left_s - sum(each.limit_s for each in later))


def family(work: Workload) -> str:
    """Its kind: one of FAMILIES."""
    return "training" if work.id in UNITS else work.id.split("-")[0]
