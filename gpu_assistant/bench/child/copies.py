"""Copy bandwidth: from host to GPU, from GPU to host, and within a device."""

from __future__ import annotations

from typing import Any, Dict, List, Tuple

from .devices import Device
from .precision import thread_settings
from .workload import Workload, WorkloadSkipped

COPY_BYTES, MIN_COPY_BYTES = 256 * 2**20, 16 * 2**20
# Length of the random bytes that are repeated; odd, so that repetitions are not aligned to blocks.
PATTERN_BYTES = 1_000_003
COPY_WITHIN, COPY_TO_DEVICE, COPY_TO_HOST = "copy-within", "copy-to-device", "copy-to-host"
PINNED_SUFFIX = "-pinned"


def copy_kinds(device: Device) -> List[str]:
    """The copies that are possible on a device."""
    if device.kind == "cpu":
        return [COPY_WITHIN]
    return [COPY_WITHIN] + [
        direction + suffix for direction in (COPY_TO_DEVICE, COPY_TO_HOST) for suffix in (PINNED_SUFFIX, "")
    ]


class CopyWorkload(Workload):
    """One copy of `size` bytes. Between host and device the bytes count once; within a device those read and
    what is written counts, as memory bandwidths are given.
    """

    unit = "GB/s"

    def __init__(self, device: Device, copy_kind: str, limit_s: float) -> None:
        free_bytes = device.free_bytes()
        byte_count = COPY_BYTES
        while free_bytes is not None and byte_count > MIN_COPY_BYTES and 2 * byte_count > free_bytes // 4:
            byte_count //= 2
        super().__init__(device, "uint8", (byte_count,), limit_s)
        self.id = copy_kind
        self.amount = byte_count * (2 if copy_kind == COPY_WITHIN else 1) / 1e9

    def required_bytes(self) -> int:
        """Source and destination."""
        return 2 * self.size[0]

    def prepare(self) -> None:
        """Allocate the source with random bytes, and an empty destination."""
        torch, byte_count, pinned = self.torch, self.size[0], self.id.endswith(PINNED_SUFFIX)
        torch.manual_seed(0)
        host = (
            torch.randint(0, 256, (PATTERN_BYTES,), dtype=torch.uint8)
            .repeat(byte_count // PATTERN_BYTES + 1)[:byte_count]
            .clone()
        )
        target = torch.empty_like(host) if self.device.kind == "cpu" else torch.empty_like(host, device=self.device.id)
        if pinned:
            try:
                host = host.pin_memory()
            except RuntimeError as error:
                raise WorkloadSkipped("pinned") from error
        if self.id == COPY_WITHIN:
            source = host if self.device.kind == "cpu" else host.to(self.device.id)
            self.source, self.target = source, target
        elif self.id.startswith(COPY_TO_DEVICE):
            self.source, self.target = host, target
        else:
            target.copy_(host)
            host_target = torch.empty_like(host)
            self.source, self.target = target, host_target.pin_memory() if pinned else host_target

    def run(self) -> None:
        """One copy; the caller synchronizes."""
        self.target.copy_(self.source, non_blocking=True)

    def check(self) -> Tuple[float, float]:
        """(share of bytes that differ from the source, tolerance 0)."""
        self.device.time_runs(self.run)
        source, target = self.source.cpu(), self.target.cpu()
        wrong_bytes = 0 if self.torch.equal(source, target) else int((source != target).sum())
        return wrong_bytes / self.size[0], 0.0

    def settings(self) -> Dict[str, Any]:
        """Kind of memory and number of threads; precision switches do not apply."""
        if self.device.kind == "cpu":
            return thread_settings(self.device)
        return {} if self.id == COPY_WITHIN else {"pinned": self.id.endswith(PINNED_SUFFIX), "non_blocking": True}
