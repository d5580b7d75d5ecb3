"""CUDA's errors that tell why a program found no card: for us, and for what runs in an environment's own Python.

They are known by their numbers (runtime and driver have the same ones), which no release changes: cuda.h and
driver_types.h of the toolkit, https://docs.nvidia.com/cuda/cuda-runtime-api/group__CUDART__TYPES.html.
"""

from __future__ import annotations

import os

REASON_TOO_OLD = "@verify.reason.driver-too-old"
CUDA_ERRORS = {
    3: "@verify.reason.driver-unknown",
    34: "@verify.reason.driver-stub",
    35: REASON_TOO_OLD,
    36: REASON_TOO_OLD,
    802: "@verify.reason.driver-not-ready",
    803: "@verify.reason.driver-mismatch",
    804: "@verify.reason.driver-compat",
    999: "@verify.reason.driver-unknown",
}
NO_DEVICE = 100
VISIBLE_DEVICES = "CUDA_VISIBLE_DEVICES"


def hidden_devices() -> bool:
    """Whether the environment hides every card from CUDA."""
    return os.environ.get(VISIBLE_DEVICES, "0").strip() in ("", "-1", "NoDevFiles")
