"""Copies: how fast data reaches a card, leaves it, and moves within a device."""

from __future__ import annotations

from typing import Any, Dict, List, Tuple

from .devices import Device
from .precision import threads
from .workload import LeftOut, Workload

BYTES, LEAST_BYTES = 256 * 2**20, 16 * 2**20
PATTERN = 1000003  # random bytes are made once and repeated; of an odd length, so that no block lies like the next
WITHIN, TO_DEVICE, TO_HOST = "copy-within", "copy-to-device", "copy-to-host"
PINNED = "-pinned"


def kinds(device: Device) -> List[str]:
    """What can be copied here."""
    if device.kind == "cpu":
        return [WITHIN]
    return [WITHIN] + [way + pinned for way in (TO_DEVICE, TO_HOST) for pinned in (PINNED, "")]


class Copy(Workload):
    """One copy of `size` bytes. Between host and device the bytes count once; within a device what is read and
    what is written counts, as memory bandwidths are given.
    """

    unit = "GB/s"

    def __init__(self, device: Device, kind: str, limit_s: float) -> None:
        free = device.free_bytes()
        count = BYTES
        while free is not None and count > LEAST_BYTES and 2 * count > free // 4:
            count //= 2
        super().__init__(device, "uint8", (count,), limit_s)
        self.id = kind
        self.amount = count * (2 if kind == WITHIN else 1) / 1e9

    def needs(self) -> int:
        """Both ends."""
        return 2 * self.size[0]

    def prepare(self) -> None:
        """Random bytes at one end, nothing at the other."""
        torch, count, pinned = self.torch, self.size[0], self.id.endswith(PINNED)
        torch.manual_seed(0)
        host = torch.randint(0, 256, (PATTERN,), dtype=torch.uint8).repeat(count // PATTERN + 1)[:count].clone()
        other = torch.empty_like(host) if self.device.kind == "cpu" else torch.empty_like(host, device=self.device.id)
        if pinned:
            try:
                host = host.pin_memory()
            except RuntimeError as error:
                raise LeftOut("pinned") from error
        if self.id == WITHIN:
            source = host if self.device.kind == "cpu" else host.to(self.device.id)
            self.source, self.target = source, other
        elif self.id.startswith(TO_DEVICE):
            self.source, self.target = host, other
        else:
            other.copy_(host)
            back = torch.empty_like(host)
            self.source, self.target = other, back.pin_memory() if pinned else back

    def run(self) -> None:
        """One copy; the caller waits for it."""
        self.target.copy_(self.source, non_blocking=True)

    def check(self) -> Tuple[float, float]:
        """The share of bytes that arrived wrong; none may."""
        self.device.seconds(self.run)
        source, target = self.source.cpu(), self.target.cpu()
        wrong = 0 if self.torch.equal(source, target) else int((source != target).sum())
        return wrong / self.size[0], 0.0

    def settings(self) -> Dict[str, Any]:
        """Which memory and how many threads; nothing rounds here."""
        if self.device.kind == "cpu":
            return threads(self.device)
        return {} if self.id == WITHIN else {"pinned": self.id.endswith(PINNED), "non_blocking": True}
