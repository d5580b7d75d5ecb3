"""The order and time limits of all measurements."""

from __future__ import annotations

from typing import List, Optional, Sequence

from .copies import CopyWorkload, copy_kinds
from .decoding import DecodingWorkload, GraphDecodingWorkload
from .devices import Device
from .matmul import REFERENCE_SIDE, MatmulWorkload, SustainedMatmulWorkload
from .precision import has_hardware_support, inference_dtype, matmul_dtypes, mixed_dtype
from .training import TRAINING_UNITS, TrainingWorkload
from .workload import Workload

QUICK_MATMUL_SIDES = {"cpu": (1024, 2048, 4096, REFERENCE_SIDE), "gpu": (2048, 4096, 8192, REFERENCE_SIDE)}
FULL_MATMUL_SIDES = {
    "cpu": (512, 1024, 2048, 4096, 8192, REFERENCE_SIDE),
    "gpu": (1024, 2048, 4096, 8192, REFERENCE_SIDE, 16384),
}
# A GPU has a figure of each format in this size before it has a second of any: it is large enough for tensor cores, and
# the slowest GPU has the one of float32 within a second.
FORMAT_MATMUL_SIDE = 4096
# Seconds for one measurement with warm-up and check; a run that has begun is completed.
QUICK_LIMITS_S = {"matmul": 2.5, "copy": 1.5, "training": 6.0, "decode": 4.0}
FULL_LIMITS_S = {"matmul": 15.0, "copy": 5.0, "training": 40.0, "decode": 20.0}
# Seconds for everything on the first device, with the time that torch takes to load, and on each further one; what
# comes after is left out. The whole of a quick run on a processor alone shall take no more than a minute.
SUSTAINED_LIMIT_S = 45.0
QUICK_DEVICE_S, FULL_DEVICE_S = (54.0, 46.0), (900.0, 900.0)
# Of the time that is left a processor gives them no more at their turn, so that each of them has a figure where other
# programs slow it down: what comes after them is worth less.
TIME_SHARES = {"matmul": 0.06, "copy-within": 0.2, "resnet50": 0.5, "bert-base": 0.8, "mixed": 0.4}
MAX_LOADING_S = 14.0  # of the time that torch took to load counts no more: from a cold disk that would leave nothing


def device_workloads(device: Device, *, full: bool, only: Optional[Sequence[str]] = None) -> List[Workload]:
    """All workloads of one device; `only` names families or workloads.

    A product, copies and both trainings come first, so that a slow computer has a figure of each before it has several
    of one. On an H200 the first training in bfloat16 took 14 s, most of them for cuDNN's kernels to load: what comes
    last is left out there.
    """
    limits = FULL_LIMITS_S if full else QUICK_LIMITS_S
    matmuls: List[Workload] = []
    for dtype in matmul_dtypes(device):
        smaller: Optional[MatmulWorkload] = None
        for side in (FULL_MATMUL_SIDES if full else QUICK_MATMUL_SIDES)[device.kind]:
            smaller = MatmulWorkload(device, dtype, side, limits["matmul"], smaller)
            matmuls.append(smaller)
    copies = [CopyWorkload(device, copy_kind, limits["copy"]) for copy_kind in copy_kinds(device)]
    plain = [TrainingWorkload(device, model_name, "float32", limits["training"]) for model_name in TRAINING_UNITS]
    mixed = [
        TrainingWorkload(device, model_name, mixed_dtype(device), limits["training"]) for model_name in TRAINING_UNITS
    ]
    # GPUs are usually trained on in mixed precision.
    default_training, other_training = (plain, mixed) if device.kind == "cpu" else (mixed, plain)
    decoding = DecodingWorkload(device, inference_dtype(device), limits["decode"])
    # The workloads of the guides' table come first, so that no other one takes their time.
    main_workloads: List[Workload] = [matmuls[0], *copies, *default_training]
    if device.kind == "cpu":
        for workload in main_workloads:
            workload.time_share = TIME_SHARES[workload.id]
        for workload in other_training:
            workload.time_share = TIME_SHARES["mixed"]
        # A CPU with units for bfloat16 is compared with GPUs in it, on images: that figure is the headline's, and comes
        # before those that only a fast CPU has time for.
        images, sequences = other_training
        if has_hardware_support(device, images.dtype):
            main_workloads.insert(-1, images)
            later_training = [sequences]
        else:
            later_training = other_training
        workloads: List[Workload] = [*main_workloads, decoding, *later_training, *matmuls[1:]]
    else:
        graph_decoding = GraphDecodingWorkload(device, decoding.dtype, limits["decode"])
        sustained = [SustainedMatmulWorkload(device, decoding.dtype, SUSTAINED_LIMIT_S)] if full else []
        formats = [matmul for matmul in matmuls if matmul.size[0] == FORMAT_MATMUL_SIDE]
        more_matmuls = [matmul for matmul in matmuls[1:] if matmul not in formats]
        decodings: List[Workload] = [decoding, graph_decoding]
        workloads = [*main_workloads, *other_training, *formats, *decodings, *more_matmuls, *sustained]
    return [
        workload for workload in workloads if only is None or workload.id in only or workload_family(workload) in only
    ]


def spare_seconds(available_s: float, later_workloads: Sequence[Workload]) -> float:
    """The part of the remaining seconds that later workloads do not need."""
    return max(0.0, available_s - sum(workload.limit_s for workload in later_workloads))


def workload_family(workload: Workload) -> str:
    """The key of its limit in the tables above."""
    return "training" if workload.id in TRAINING_UNITS else workload.id.split("-")[0]
