"""Matrix products: what a chip computes at most."""

from __future__ import annotations

import math
import time
from typing import Any, Dict, List, Optional, Tuple

from . import timing
from .workload import LeftOut, Workload, median_of

CHECKED = 64  # rows and columns of the sub-block that is computed again in float64
GUIDES_SIDE = 10000  # the product that guides time
TELLING_SIDE = 2000  # of a smaller product nothing is worked out for the guides'
FALLEN = 0.7  # of the best size's figure: one below it was disturbed


class Matmul(Workload):
    """One square product of `size` (m, k, n)."""

    id = "matmul"
    version = 2  # 2: the card's cache is cleared before each run
    unit = "TFLOP/s"

    def __init__(self, device: Any, dtype: str, side: int, limit_s: float, before: Optional[Matmul]) -> None:
        super().__init__(device, dtype, (side, side, side), limit_s)
        self.amount = 2.0 * side**3 / 1e12
        self.outcome: Optional[Dict[str, Any]] = None
        self._before = before
        self._work: Any = None

    def needs(self) -> int:
        """Three matrices, made in float32."""
        return 3 * self.size[0] ** 2 * 4 * 3 // 2

    def _measured(self) -> List[Dict[str, Any]]:
        """What came out at the sizes below this one, the largest first."""
        found, before = [], self._before
        while before is not None:
            if before.outcome is not None:
                found.append(before.outcome)
            before = before._before
        return found

    def _wanted_s(self, last: Dict[str, Any]) -> float:
        """Seconds that check, warm-up and three runs take about."""
        return 5 * median_of(last) * float(self.size[0] / last["size"][0]) ** 3

    def least_s(self, pace: float) -> float:
        """Where a smaller one was measured, `measure` knows what this one takes; to work it out takes nothing."""
        return 0.0 if self._measured() else super().least_s(pace)

    def measure(self) -> Dict[str, Any]:
        """What would take too long is left out; the guides' product is worked out from smaller ones, and says so."""
        measured = self._measured()
        wanted = self._wanted_s(measured[0]) if measured else 0.0
        had = min(max(self.limit_s * 1.5, self.spare_s), max(0.0, self.deadline - time.perf_counter()))
        if wanted < had:
            self.outcome = super().measure()
            self.pace = float(self.outcome["median"]) * 1e12
            return self.outcome
        # What lies in the processor's cache says nothing of what does not.
        told = self.size[0] == GUIDES_SIDE and len(measured) > 1 and measured[0]["size"][0] >= TELLING_SIDE
        if not told or self.device.kind != "cpu":
            raise LeftOut("time", wanted_s=wanted, had_s=had)
        return self._worked_out(measured)

    def _worked_out(self, measured: List[Dict[str, Any]]) -> Dict[str, Any]:
        """As fast as at the largest size that was not disturbed, between the extremes of the two largest."""
        best = max(outcome["median"] for outcome in measured)
        base = next(outcome for outcome in measured if outcome["median"] >= FALLEN * best)
        near = [base, *measured[:2]]
        low, high = min(outcome["q1"] for outcome in near), max(outcome["q3"] for outcome in near)
        notes = ["spread"] if high - low > timing.SPREAD_NOTED * base["median"] else []
        nothing = {"runs": 0, "seconds": 0.0, "samples": [], "error": None, "tolerance": None}
        known = {"q1": low, "q3": high, "notes": notes, "size": list(self.size), "extrapolated": True}
        return {**base, **nothing, **known}

    def prepare(self) -> None:
        """Two matrices of a fixed seed and room for their product."""
        torch, side, where = self.torch, self.size[0], self.device.id
        torch.manual_seed(0)
        left = torch.randn(side, side, device=where, dtype=torch.float32)
        right = torch.randn(side, side, device=where, dtype=torch.float32)
        if self.dtype == "float8":
            self._prepare_float8(left, right)
            return
        kind = getattr(torch, "float32" if self.dtype == "tf32" else self.dtype)
        self.left, self.right = left.to(kind), right.to(kind)
        self.product = torch.empty(side, side, device=where, dtype=kind)
        self._work = lambda: torch.mm(self.left, self.right, out=self.product)

    def _prepare_float8(self, left: Any, right: Any) -> None:
        torch = self.torch
        kind = torch.float8_e4m3fn
        self.left, self.right = left.to(kind), right.t().contiguous().to(kind).t()  # the second one column by column
        one = torch.ones((), device=self.device.id)

        def work() -> None:
            made = torch._scaled_mm(self.left, self.right, scale_a=one, scale_b=one, out_dtype=torch.bfloat16)
            self.product = made[0] if isinstance(made, tuple) else made  # torch before 2.5 gives the maximum too

        try:
            work()
        except (TypeError, RuntimeError) as error:
            if "memory" in str(error).lower():
                raise
            raise LeftOut("unsupported") from error
        self._work = work

    def run(self) -> None:
        """One product."""
        self._work()

    def check(self) -> Tuple[float, float]:
        """A corner of the product against its float64 value, by that corner's largest entry."""
        (self.last_s,) = self.device.seconds(self.run)
        rows = self.left[:CHECKED].cpu().double()
        columns = self.right[:, -CHECKED:].cpu().double()
        reference = rows @ columns
        block = self.product[:CHECKED, -CHECKED:].cpu().double()
        error = float((block - reference).abs().max() / reference.abs().max())
        # JSON knows no infinity; a result with holes is as wrong as can be.
        return error if math.isfinite(error) else 1.0, self.tolerance()

    def tolerance(self) -> float:
        """What rounding explains: of the inputs and the result in the format, of the sums in float32."""
        kind = {"tf32": None, "float8": "bfloat16"}.get(self.dtype, self.dtype)
        epsilon = 2.0**-10 if kind is None else self.torch.finfo(getattr(self.torch, kind)).eps
        return float(4 * epsilon + 4 * math.sqrt(self.size[0]) * 2.0**-23)

    def close(self) -> None:
        """Let go of the matrices; what came out stays for the next size."""
        self._work = None
        for name in ("left", "right", "product"):
            vars(self).pop(name, None)
