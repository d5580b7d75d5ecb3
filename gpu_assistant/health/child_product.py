"""Matrix products that must come out right, and the same to the last bit each time; in an environment's own Python."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..verify.child_talk import Talk, why
    from .child_device import Device
else:  # `child.py` has said where it lies
    from child_talk import why

SMALLEST, LARGEST = 512, 8192
AIM_S = 0.05  # how long one product shall take about; far below two seconds, where Windows steps in
ROWS = 64  # spread over the whole result, computed again in float64
STRIP = 1024  # rows or columns that are made float64 at once
BATCH_S = 0.25  # so much work is given to a device at once
REPORT_S = 1.0
INTEGERS = {8: "int64", 4: "int32", 2: "int16"}


class WrongError(Exception):
    """The first result is wrong already; `error` relative to the largest entry."""

    def __init__(self, error: float) -> None:
        super().__init__(error)
        self.error = error


class Product:
    """One product on one device, again and again: every result is compared with the first, bit by bit, there.

    The first is compared with float64 on the processor. Raises WrongError, and what torch raises.
    """

    def __init__(self, torch: Any, device: Device, kind: str) -> None:  # noqa: ANN401
        self._torch = torch
        self._device = device
        self.kind = kind
        self.side = SMALLEST
        while True:
            self._make()
            self.seconds = self._timed()
            if self.seconds > AIM_S / 4 or self.side >= LARGEST or not self._fits(2 * self.side):
                break
            self.side *= 2
        self.error = self._error()
        if not self.error <= tolerance(torch, kind, self.side):
            raise WrongError(self.error)
        self.done = 0
        self.wrong = 0

    def _make(self) -> None:
        torch, side = self._torch, self.side
        precision(torch, self.kind)
        dtype = getattr(torch, "float32" if self.kind == "tf32" else self.kind)
        torch.manual_seed(side)
        # The same numbers on every device, made by the processor.
        self._left = torch.randn(side, side, dtype=torch.float32).to(dtype).to(self._device.id)
        self._right = torch.randn(side, side, dtype=torch.float32).to(dtype).to(self._device.id)
        self._first = torch.mm(self._left, self._right)
        self._again = torch.empty_like(self._first)
        self._bits = getattr(torch, INTEGERS[self._first.element_size()])
        self._count = torch.zeros((), dtype=torch.int64, device=self._device.id)
        self._device.wait()

    def _timed(self) -> float:
        started = time.perf_counter()
        self._torch.mm(self._left, self._right, out=self._again)
        self._device.wait()
        return time.perf_counter() - started

    def _fits(self, side: int) -> bool:
        """Whether four matrices (made in float32) take less than half of what is free."""
        return 4 * side * side * 8 < self._device.free_bytes() / 2

    def _error(self) -> float:
        """The largest deviation from the float64 product, by its largest entry: of some whole rows, and of the whole
        result added up along random signs, by what chance makes of it there. A share above the tolerance is wrong.
        """
        torch, side = self._torch, self.side
        rows = slice(None, None, max(side // ROWS, 1))
        left = self._left[rows].cpu().double()
        columns = range(0, side, STRIP)
        reference = torch.cat([left @ self._right[:, at : at + STRIP].cpu().double() for at in columns], dim=1)
        largest = reference.abs().max()
        few = (self._first[rows].cpu().double() - reference).abs().max()
        signs = torch.randint(0, 2, (side,)).double() * 2 - 1
        whole = self._times(self._first, signs) - self._times(self._left, self._times(self._right, signs))
        error = float(torch.maximum(few, whole.abs().max() / math.sqrt(side)) / largest)
        # JSON knows no infinity; a result with holes is as wrong as can be.
        return error if math.isfinite(error) else 1.0

    def _times(self, matrix: Any, vector: Any) -> Any:  # noqa: ANN401
        """In float64 on the processor, some rows at a time: the whole matrix would take much of its memory."""
        strips = range(0, self.side, STRIP)
        return self._torch.cat([matrix[at : at + STRIP].cpu().double() @ vector for at in strips])

    def ask(self, seconds: float) -> None:
        """Give the device so much work, and do not wait for it."""
        precision(self._torch, self.kind)
        for _ in range(max(int(seconds / self.seconds), 1)):
            self._torch.mm(self._left, self._right, out=self._again)
            self._count += (self._again.view(self._bits) != self._first.view(self._bits)).sum()
            self.done += 1

    def settle(self) -> None:
        """Wait, and take in how many entries came out different."""
        self.wrong = int(self._count)

    @property
    def operations(self) -> float:
        """Of one product."""
        return 2.0 * self.side**3


def tolerance(torch: Any, kind: str, side: int) -> float:  # noqa: ANN401
    """What rounding explains: of the inputs and the result in `kind`, of the sums in float32 (float64)."""
    epsilon = 2.0**-10 if kind == "tf32" else torch.finfo(getattr(torch, kind)).eps
    sums = 2.0**-52 if kind == "float64" else 2.0**-23
    return float(4 * epsilon + 4 * math.sqrt(side) * sums)


def precision(torch: Any, kind: str) -> None:  # noqa: ANN401
    """TF32 on for "tf32" alone; everything else keeps full float32."""
    matmul = torch.backends.cuda.matmul
    if hasattr(matmul, "fp32_precision"):
        matmul.fp32_precision = "tf32" if kind == "tf32" else "ieee"
    else:
        matmul.allow_tf32 = kind == "tf32"


def products_in_turn(talk: Talk, torch: Any, device: Device, seconds: float) -> None:  # noqa: ANN401
    """Each precision for some seconds."""
    for number, kind in enumerate(device.kinds):
        talk.send(begin="matmul-bits", device=device.id, dtype=kind)
        about = {"device": device.id, "dtype": kind}
        try:
            product = Product(torch, device, kind)
            began = time.perf_counter()
            while product.done < 2 or time.perf_counter() - began < seconds:
                product.ask(min(BATCH_S, seconds))
                product.settle()
                done = (number + min((time.perf_counter() - began) / seconds, 1.0)) / len(device.kinds)
                talk.send(at={"check": "matmul-bits", "device": device.id, "done": done, "errors": product.wrong})
        except WrongError as wrong:
            talk.check("matmul-bits", "fail", value=wrong.error, reason="@verify.reason.wrong-result", **about)
        except (RuntimeError, MemoryError) as error:
            talk.check("matmul-bits", "fail", reason=why(error), **about)
        else:
            speed = product.operations * product.done / (time.perf_counter() - began) / 1e12
            state, reason = ("fail", "@health.reason.bits") if product.wrong else ("pass", None)
            talk.check(
                "matmul-bits",
                state,
                value=product.wrong,
                runs=product.done,
                size=product.side,
                tflops=speed,
                error=product.error,
                reason=reason,
                **about,
            )


def load(talk: Talk, torch: Any, devices: list[Device], seconds: float) -> None:  # noqa: ANN401
    """All devices at once for so long, every product compared, the precisions taking turns each second."""
    working: dict[str, list[Product]] = {}
    for device in devices:
        talk.send(begin="load", device=device.id)
        try:
            kinds = [kind for kind in device.kinds if kind in ("float32", "float16")]
            working[device.id] = [Product(torch, device, kind) for kind in kinds]
        except WrongError as error:
            reason = "@verify.reason.wrong-result"
            talk.check("load", "fail", device=device.id, value=error.error, reason=reason)
        except (RuntimeError, MemoryError) as error:
            talk.check("load", "fail", device=device.id, reason=why(error))
    if not working:
        return
    began = time.perf_counter()
    turn = 0
    speeds: dict[str, list[float]] = {name: [] for name in working}
    while (passed := time.perf_counter() - began) < seconds:
        until = min(passed + REPORT_S, seconds)
        now = {name: products[turn % len(products)] for name, products in working.items()}
        turn += 1
        before = {name: product.done for name, product in now.items()}
        while time.perf_counter() - began < until:
            for product in now.values():
                product.ask(BATCH_S)
            for product in now.values():
                product.settle()
        end = time.perf_counter() - began
        for name, product in now.items():
            speed = product.operations * (product.done - before[name]) / (end - passed) / 1e12
            speeds[name].append(speed)
            errors = sum(one.wrong for one in working[name])
            talk.send(
                load={
                    "t": end,
                    "device": name,
                    "dtype": product.kind,
                    "tflops": speed,
                    "errors": errors,
                    "done": min(end / seconds, 1.0),
                }
            )
    for name, products in working.items():
        wrong = sum(product.wrong for product in products)
        talk.check(
            "load",
            "fail" if wrong else "pass",
            value=wrong,
            device=name,
            seconds=time.perf_counter() - began,
            runs=sum(product.done for product in products),
            reason="@health.reason.bits" if wrong else None,
        )
