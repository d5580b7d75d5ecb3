"""The devices that a health test works on, as it needs them; in an environment's own Python."""

from __future__ import annotations

import os
from typing import Any


class Device:
    """Something torch computes on. `kinds` are the precisions in which products are tested."""

    id: str
    kinds: tuple[str, ...]

    def about(self) -> dict[str, Any]:
        """The device as the parent reads it."""
        raise NotImplementedError

    def free_bytes(self) -> int:
        """Memory that a test may fill, what others use left out."""
        raise NotImplementedError

    def wait(self) -> None:
        """Until everything that was asked of it is done."""
        raise NotImplementedError


class Cpu(Device):
    """The processor, one thread a core; the memory test gets `cpu_bytes` of RAM at most."""

    id = "cpu"
    kinds = ("float64", "float32", "bfloat16")

    def __init__(self, torch: Any, cores: int | None, cpu_bytes: int) -> None:  # noqa: ANN401
        self._bytes = cpu_bytes
        try:
            allowed = len(os.sched_getaffinity(0))
        except AttributeError:
            allowed = os.cpu_count() or 1
        torch.set_num_threads(min(cores or allowed, allowed))

    def about(self) -> dict[str, Any]:
        """Only its name in torch."""
        return {"id": self.id}

    def free_bytes(self) -> int:
        """A fixed piece: the rest belongs to other programs."""
        return self._bytes

    def wait(self) -> None:
        """It has always finished."""


class Cuda(Device):
    """One CUDA (or ROCm) device."""

    def __init__(self, torch: Any, index: int) -> None:  # noqa: ANN401
        self._cuda = torch.cuda
        self._index = index
        self.id = f"cuda:{index}"
        # TF32 and bfloat16 came with compute capability 8.0.
        ampere = torch.version.hip is None and torch.cuda.get_device_capability(index) >= (8, 0)
        self.kinds = (
            ("float64", "float32", "tf32", "float16", "bfloat16") if ampere else ("float64", "float32", "float16")
        )

    def about(self) -> dict[str, Any]:
        """With the driver's own number for the card, where torch tells it."""
        properties = self._cuda.get_device_properties(self._index)
        uuid = getattr(properties, "uuid", None)
        return {
            "id": self.id,
            "name": properties.name,
            "memory_bytes": properties.total_memory,
            "uuid": None if uuid is None else f"GPU-{uuid}",
        }

    def free_bytes(self) -> int:
        """As the driver counts it, what torch keeps for later given back first."""
        self._cuda.empty_cache()
        return int(self._cuda.mem_get_info(self._index)[0])

    def wait(self) -> None:
        """Its queue is empty."""
        self._cuda.synchronize(self._index)


def devices_of(torch: Any, cores: int | None, cpu_bytes: int) -> list[Device]:  # noqa: ANN401
    """The processor, then every CUDA device that torch has."""
    devices: list[Device] = [Cpu(torch, cores, cpu_bytes)]
    if torch.cuda.is_available():
        devices += [Cuda(torch, index) for index in range(torch.cuda.device_count())]
    return devices
