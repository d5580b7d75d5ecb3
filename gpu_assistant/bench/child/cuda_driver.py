"""The GPU's driver, asked for what torch does not tell: which card a device is, and whether it is Windows' driver.

It imports nothing of ours: `health/child/` loads it from this folder, too.
"""

from __future__ import annotations

import ctypes
import os
import uuid
from typing import Any, Optional

WSL_GPU = "/dev/dxg"  # by which programs in WSL reach Windows' driver: https://devblogs.microsoft.com/directx/directx-heart-linux/
# Windows' driver lends system memory when its own is nearly full, not only when it is full:
# https://nvidia.custhelp.com/app/answers/detail/a_id/5490
OWN_MEMORY_SHARE = 0.95


def device_uuid(torch: Any, index: int) -> Optional[str]:
    """The driver's UUID of torch's device "cuda:<index>", without NVML's prefix; None where nobody tells it.

    Torch tells it from release 2.4 on; of a MIG slice it may be the slice's own.
    """
    torch_uuid = getattr(torch.cuda.get_device_properties(index), "uuid", None)
    if torch_uuid is not None:
        return str(torch_uuid)
    return None if torch.version.hip else _cuda_uuid(index)


def _cuda_uuid(index: int) -> Optional[str]:
    """The UUID that CUDA's driver tells of a device; None where it does not answer.

    The driver numbers only the devices of CUDA_VISIBLE_DEVICES, as torch does.
    """
    device, content = ctypes.c_int(), (ctypes.c_ubyte * 16)()
    try:
        driver = ctypes.CDLL("nvcuda.dll" if os.name == "nt" else "libcuda.so.1")  # which torch has loaded
        if driver.cuDeviceGet(ctypes.byref(device), index) or driver.cuDeviceGetUuid(content, device):
            return None
    except (OSError, AttributeError):
        return None
    return str(uuid.UUID(bytes=bytes(content)))


def has_windows_driver() -> bool:
    """Whether Windows' driver serves the GPU, as it does in WSL too.

    It lends system memory to a program, and resets a GPU whose kernel runs for two seconds:
    https://github.com/microsoft/WSL/issues/11050
    """
    return os.name == "nt" or os.path.exists(WSL_GPU)  # noqa: PTH110
