"""Matrix products: the peak computing rate of a device."""

from __future__ import annotations

import math
import time
from typing import Any, Dict, List, Optional, Tuple

from . import timing
from .cuda_driver import has_windows_driver
from .devices import is_out_of_memory
from .precision import is_faster_in
from .workload import Workload, WorkloadSkipped, median_seconds

CHECKED_SIDE = 64  # rows and columns of the sub-block that is computed again in float64
REFERENCE_SIDE = 10000  # side of the product in the guides' table
SUSTAINED_S = 30.0  # of load, of whose last third the sustained rate is
MIN_EXTRAPOLATION_SIDE = 2000  # results of smaller products are not extrapolated to REFERENCE_SIDE
# Windows resets a graphics driver whose kernel runs for two seconds (TdrDelay):
# https://learn.microsoft.com/en-us/windows-hardware/drivers/display/tdr-registry-keys
MAX_KERNEL_S = 1.0
DISTURBED_SHARE = 0.7  # of the best size's result; a result below it was disturbed


class MatmulWorkload(Workload):
    """One square matrix product of `size` (m, k, n)."""

    id = "matmul"
    version = 2  # 2: the GPU's cache is cleared before each run
    unit = "TFLOP/s"

    def __init__(self, device: Any, dtype: str, side: int, limit_s: float, smaller: Optional[MatmulWorkload]) -> None:
        super().__init__(device, dtype, (side, side, side), limit_s)
        self.amount = 2.0 * side**3 / 1e12
        self.stored_result: Optional[Dict[str, Any]] = None
        self.smaller = smaller
        self._multiply: Any = None
        self.fast_accumulation: Optional[bool] = None

    def required_bytes(self) -> int:
        """Three matrices, created in float32."""
        return 3 * self.size[0] ** 2 * 4 * 3 // 2

    def _smaller_results(self) -> List[Dict[str, Any]]:
        """The results of smaller sizes, largest first."""
        results, smaller = [], self.smaller
        while smaller is not None:
            if smaller.stored_result is not None:
                results.append(smaller.stored_result)
            smaller = smaller.smaller
        return results

    def _estimated_run_s(self, previous: Dict[str, Any]) -> float:
        """Estimated seconds of one run, by a smaller size."""
        return median_seconds(previous) * float(self.size[0] / previous["size"][0]) ** 3

    def min_seconds(self, operations_per_s: float) -> float:
        """Minimum seconds; 0 where a smaller size was measured, from which `measure` estimates the time."""
        return 0.0 if self._smaller_results() else super().min_seconds(operations_per_s)

    def measure(self) -> Dict[str, Any]:
        """Run it; where it would take too long, skip it, or extrapolate REFERENCE_SIDE from smaller sizes."""
        smaller_results = self._smaller_results()
        run_s = self._estimated_run_s(smaller_results[0]) if smaller_results else 0.0
        if run_s > MAX_KERNEL_S and self.device.kind == "gpu" and has_windows_driver():
            raise WorkloadSkipped("long-kernel")
        estimated_s = 5 * run_s  # check, warm-up and three runs
        available_s = min(max(self.limit_s * 1.5, self.spare_s), max(0.0, self.deadline - time.perf_counter()))
        if estimated_s < available_s:
            self.stored_result = super().measure()
            self.operations_per_s = float(self.stored_result["median"]) * 1e12
            return self.stored_result
        # Products that fit into the CPU's cache tell nothing about larger ones.
        can_extrapolate = (
            self.size[0] == REFERENCE_SIDE
            and len(smaller_results) > 1
            and smaller_results[0]["size"][0] >= MIN_EXTRAPOLATION_SIDE
        )
        if not can_extrapolate or self.device.kind != "cpu":
            raise WorkloadSkipped("time", wanted_s=estimated_s, had_s=available_s)
        return self._extrapolate(smaller_results)

    def _extrapolate(self, smaller_results: List[Dict[str, Any]]) -> Dict[str, Any]:
        """The rate of the largest undisturbed size, with the extremes of the two largest as quartiles."""
        best_median = max(result["median"] for result in smaller_results)
        base = next(result for result in smaller_results if result["median"] >= DISTURBED_SHARE * best_median)
        neighbors = [base, *smaller_results[:2]]
        low, high = min(result["q1"] for result in neighbors), max(result["q3"] for result in neighbors)
        notes = ["spread"] if high - low > timing.NOTED_SPREAD * base["median"] else []
        unmeasured = {"runs": 0, "seconds": 0.0, "samples": [], "error": None, "tolerance": None}
        extrapolated = {"q1": low, "q3": high, "notes": notes, "size": list(self.size), "extrapolated": True}
        return {**base, **unmeasured, **extrapolated}

    def prepare(self) -> None:
        """Allocate two matrices from a fixed seed and their product."""
        if not is_faster_in(self.device, self.dtype):
            raise WorkloadSkipped("no-gain")
        torch, side, device_id = self.torch, self.size[0], self.device.id
        torch.manual_seed(0)
        left = torch.randn(side, side, device=device_id, dtype=torch.float32)
        right = torch.randn(side, side, device=device_id, dtype=torch.float32)
        if self.dtype == "float8":
            self._prepare_float8(left, right)
            return
        dtype = getattr(torch, "float32" if self.dtype == "tf32" else self.dtype)
        self.left, self.right = left.to(dtype), right.to(dtype)
        self.product = torch.empty(side, side, device=device_id, dtype=dtype)
        self._multiply = lambda: torch.mm(self.left, self.right, out=self.product)

    def _prepare_float8(self, left: Any, right: Any) -> None:
        torch = self.torch
        dtype = torch.float8_e4m3fn
        self.left, self.right = left.to(dtype), right.t().contiguous().to(dtype).t()  # the second is column-major
        scale = torch.ones((), device=self.device.id)
        options = {"scale_a": scale, "scale_b": scale, "out_dtype": torch.bfloat16, "use_fast_accum": False}

        def multiply() -> None:
            output = torch._scaled_mm(self.left, self.right, **options)
            self.product = output[0] if isinstance(output, tuple) else output  # a tuple before torch 2.5

        try:
            try:
                multiply()
            except TypeError:  # torch 2.1 has no such choice, and does not tell
                del options["use_fast_accum"]
                multiply()
            self.fast_accumulation = options.get("use_fast_accum")
        except (TypeError, RuntimeError) as error:
            if is_out_of_memory(error):
                raise
            raise WorkloadSkipped("unsupported") from error
        self._multiply = multiply

    def settings(self) -> Dict[str, Any]:
        """The precision switches; of FP8 whether sums are accumulated fast and less exactly than in float32."""
        fp8 = {"use_fast_accum": self.fast_accumulation} if self.dtype == "float8" else {}
        return {**super().settings(), **fp8}

    def run(self) -> None:
        """Compute the product."""
        self._multiply()

    def check(self) -> Tuple[float, float]:
        """Compare a corner of the product with its float64 value, relative to that corner's largest entry."""
        (self.last_s,) = self.device.time_runs(self.run)
        rows = self.left[:CHECKED_SIDE].cpu().double()
        columns = self.right[:, -CHECKED_SIDE:].cpu().double()
        reference = rows @ columns
        block = self.product[:CHECKED_SIDE, -CHECKED_SIDE:].cpu().double()
        error = float((block - reference).abs().max() / reference.abs().max())
        # JSON has no infinity or NaN.
        return error if math.isfinite(error) else 1.0, self.tolerance()

    def tolerance(self) -> float:
        """The limit for rounding of inputs and result in the format, and of sums in float32."""
        dtype_name = {"tf32": None, "float8": "bfloat16"}.get(self.dtype, self.dtype)
        epsilon = 2.0**-10 if dtype_name is None else self.torch.finfo(getattr(self.torch, dtype_name)).eps
        return float(4 * epsilon + 4 * math.sqrt(self.size[0]) * 2.0**-23)

    def close(self) -> None:
        """Release the matrices; the result is kept for the next size."""
        self._multiply = None
        for name in ("left", "right", "product"):
            vars(self).pop(name, None)


class SustainedMatmulWorkload(MatmulWorkload):
    """The reference product again and again, until power and temperature limit the clocks no further."""

    id = "matmul-sustained"
    version = 1
    load = "sustained"

    def __init__(self, device: Any, dtype: str, limit_s: float) -> None:
        super().__init__(device, dtype, REFERENCE_SIDE, limit_s, None)

    def time_samples(self, limit_s: float, expected_s: float, max_s: float) -> List[float]:  # noqa: ARG002
        """The seconds of each run in the last third of SUSTAINED_S."""
        if max_s < SUSTAINED_S:
            raise WorkloadSkipped("time", wanted_s=SUSTAINED_S, had_s=max(0.0, max_s))
        samples = timing.measure_sustained(self.device, self.run, expected_s, SUSTAINED_S)
        now = time.time()
        self.timed_period = now - SUSTAINED_S / 3, now
        return samples
