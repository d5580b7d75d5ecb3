"""Matrix products that must be right, and the same to the last bit each time."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ...verify.child_protocol import CheckWriter, exception_summary
    from .stress_devices import StressDevice
else:  # `program.py` has put it on the path
    from child_protocol import CheckWriter, exception_summary

MIN_SIDE, MAX_SIDE = 512, 8192
TARGET_PRODUCT_S = 0.05  # of one product, about; far below the two seconds after which Windows resets the GPU
CHECKED_ROWS = 64  # spread over the result, computed again in float64
STRIP_SIZE = 1024  # rows or columns that are converted to float64 at a time
BATCH_WORK_S = 0.25  # work that is queued at a time
LOAD_REPORT_S = 1.0
INTEGER_DTYPES = {8: "int64", 4: "int32", 2: "int16"}


class WrongResultError(Exception):
    """The first result is wrong; `error` is relative to the largest entry."""

    def __init__(self, error: float) -> None:
        super().__init__(error)
        self.error = error


class RepeatedProduct:
    """One product on one device, repeated: each result is compared with the first, bit by bit, on the device.

    The first is compared with float64 on the CPU. Raises WrongResultError, and what torch raises.
    """

    def __init__(self, torch: Any, device: StressDevice, precision: str) -> None:  # noqa: ANN401
        self._torch = torch
        self._device = device
        self.precision = precision
        self.side = MIN_SIDE
        while True:
            self._prepare()
            self.seconds = self._measure()
            if self.seconds > TARGET_PRODUCT_S / 4 or self.side >= MAX_SIDE or not self._fits_in_memory(2 * self.side):
                break
            self.side *= 2
        self.error = self._max_error()
        if not self.error <= tolerance(torch, precision, self.side):
            raise WrongResultError(self.error)
        self.run_count = 0
        self.wrong_count = 0

    def _prepare(self) -> None:
        torch, side = self._torch, self.side
        set_precision(torch, self.precision)
        dtype = getattr(torch, "float32" if self.precision == "tf32" else self.precision)
        torch.manual_seed(side)
        # The same numbers on every device, generated on the CPU.
        self._left_matrix = torch.randn(side, side, dtype=torch.float32).to(dtype).to(self._device.id)
        self._right_matrix = torch.randn(side, side, dtype=torch.float32).to(dtype).to(self._device.id)
        self._expected = torch.mm(self._left_matrix, self._right_matrix)
        self._result = torch.empty_like(self._expected)
        self._integer_dtype = getattr(torch, INTEGER_DTYPES[self._expected.element_size()])
        self._mismatch_count = torch.zeros((), dtype=torch.int64, device=self._device.id)
        self._device.synchronize()

    def _measure(self) -> float:
        started = time.perf_counter()
        self._torch.mm(self._left_matrix, self._right_matrix, out=self._result)
        self._device.synchronize()
        return time.perf_counter() - started

    def _fits_in_memory(self, side: int) -> bool:
        """Whether four matrices of float64 take less than half of the free memory."""
        return 4 * side * side * 8 < self._device.free_bytes() / 2

    def _max_error(self) -> float:
        """The largest deviation from the float64 product, relative to its largest entry: of some rows, and of all rows
        multiplied by a vector of random signs (divided by the square root of the side, its expected growth).
        """
        torch, side = self._torch, self.side
        rows = slice(None, None, max(side // CHECKED_ROWS, 1))
        left = self._left_matrix[rows].cpu().double()
        columns = range(0, side, STRIP_SIZE)
        reference = torch.cat(
            [left @ self._right_matrix[:, offset : offset + STRIP_SIZE].cpu().double() for offset in columns], dim=1
        )
        largest = reference.abs().max()
        row_error = (self._expected[rows].cpu().double() - reference).abs().max()
        signs = torch.randint(0, 2, (side,)).double() * 2 - 1
        sum_error = self._multiply_on_cpu(self._expected, signs) - self._multiply_on_cpu(
            self._left_matrix, self._multiply_on_cpu(self._right_matrix, signs)
        )
        error = float(torch.maximum(row_error, sum_error.abs().max() / math.sqrt(side)) / largest)
        # JSON has no infinity and no NaN.
        return error if math.isfinite(error) else 1.0

    def _multiply_on_cpu(self, matrix: Any, vector: Any) -> Any:  # noqa: ANN401
        """In float64 on the CPU, some rows at a time to save memory."""
        strips = range(0, self.side, STRIP_SIZE)
        return self._torch.cat([matrix[offset : offset + STRIP_SIZE].cpu().double() @ vector for offset in strips])

    def enqueue(self, seconds: float) -> None:
        """Queue so many seconds of work, and do not wait for it."""
        set_precision(self._torch, self.precision)
        for _ in range(max(int(seconds / self.seconds), 1)):
            self._torch.mm(self._left_matrix, self._right_matrix, out=self._result)
            self._mismatch_count += (
                self._result.view(self._integer_dtype) != self._expected.view(self._integer_dtype)
            ).sum()
            self.run_count += 1

    def collect(self) -> None:
        """Wait, and count the entries that differ."""
        self.wrong_count = int(self._mismatch_count)

    @property
    def operations(self) -> float:
        """Floating-point operations of one product."""
        return 2.0 * self.side**3


def tolerance(torch: Any, precision: str, side: int) -> float:  # noqa: ANN401
    """The error that rounding explains: of inputs and result in `precision`, of sums in float32 (float64)."""
    epsilon = 2.0**-10 if precision == "tf32" else torch.finfo(getattr(torch, precision)).eps
    accumulation_epsilon = 2.0**-52 if precision == "float64" else 2.0**-23
    return float(4 * epsilon + 4 * math.sqrt(side) * accumulation_epsilon)


def set_precision(torch: Any, precision_name: str) -> None:  # noqa: ANN401
    """TF32 for "tf32" only; everything else computes in full float32."""
    matmul = torch.backends.cuda.matmul
    if hasattr(matmul, "fp32_precision"):
        matmul.fp32_precision = "tf32" if precision_name == "tf32" else "ieee"
    else:
        matmul.allow_tf32 = precision_name == "tf32"


def run_product_tests(writer: CheckWriter, torch: Any, device: StressDevice, seconds: float) -> None:  # noqa: ANN401
    """Each precision for some seconds."""
    for number, precision in enumerate(device.precisions):
        writer.send(begin="matmul-bits", device=device.id, dtype=precision)
        device_fields = {"device": device.id, "dtype": precision}
        try:
            product = RepeatedProduct(torch, device, precision)
            started = time.perf_counter()
            while product.run_count < 2 or time.perf_counter() - started < seconds:
                product.enqueue(min(BATCH_WORK_S, seconds))
                product.collect()
                done = (number + min((time.perf_counter() - started) / seconds, 1.0)) / len(device.precisions)
                writer.send(
                    at={"check": "matmul-bits", "device": device.id, "done": done, "errors": product.wrong_count}
                )
        except WrongResultError as wrong_result:
            writer.report(
                "matmul-bits", "fail", value=wrong_result.error, reason="@verify.reason.wrong-result", **device_fields
            )
        except (RuntimeError, MemoryError) as error:
            writer.report("matmul-bits", "fail", reason=exception_summary(error), **device_fields)
        else:
            speed = product.operations * product.run_count / (time.perf_counter() - started) / 1e12
            state, reason = ("fail", "@health.reason.bits") if product.wrong_count else ("pass", None)
            writer.report(
                "matmul-bits",
                state,
                value=product.wrong_count,
                runs=product.run_count,
                size=product.side,
                tflops=speed,
                error=product.error,
                reason=reason,
                **device_fields,
            )


def run_load(writer: CheckWriter, torch: Any, devices: list[StressDevice], seconds: float) -> None:  # noqa: ANN401
    """Load all devices for so long; every product is compared, the precisions alternate each second."""
    products_by_device: dict[str, list[RepeatedProduct]] = {}
    for device in devices:
        writer.send(begin="load", device=device.id)
        try:
            precisions = [precision for precision in device.precisions if precision in ("float32", "float16")]
            products_by_device[device.id] = [RepeatedProduct(torch, device, precision) for precision in precisions]
        except WrongResultError as error:
            reason = "@verify.reason.wrong-result"
            writer.report("load", "fail", device=device.id, value=error.error, reason=reason)
        except (RuntimeError, MemoryError) as error:
            writer.report("load", "fail", device=device.id, reason=exception_summary(error))
    if not products_by_device:
        return
    started = time.perf_counter()
    round_number = 0
    speeds: dict[str, list[float]] = {name: [] for name in products_by_device}
    while (elapsed := time.perf_counter() - started) < seconds:
        slice_end = min(elapsed + LOAD_REPORT_S, seconds)
        active = {name: products[round_number % len(products)] for name, products in products_by_device.items()}
        round_number += 1
        count_before = {name: product.run_count for name, product in active.items()}
        while time.perf_counter() - started < slice_end:
            for product in active.values():
                product.enqueue(BATCH_WORK_S)
            for product in active.values():
                product.collect()
        now = time.perf_counter() - started
        for name, product in active.items():
            speed = product.operations * (product.run_count - count_before[name]) / (now - elapsed) / 1e12
            speeds[name].append(speed)
            error_count = sum(device_product.wrong_count for device_product in products_by_device[name])
            writer.send(
                load={
                    "t": now,
                    "device": name,
                    "dtype": product.precision,
                    "tflops": speed,
                    "errors": error_count,
                    "done": min(now / seconds, 1.0),
                }
            )
    for name, products in products_by_device.items():
        wrong_count = sum(product.wrong_count for product in products)
        writer.report(
            "load",
            "fail" if wrong_count else "pass",
            value=wrong_count,
            device=name,
            seconds=time.perf_counter() - started,
            runs=sum(product.run_count for product in products),
            reason="@health.reason.bits" if wrong_count else None,
        )
