"""Questions to one card. What it cannot answer is asked once and never again; buffers are made once and kept."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

Big = ctypes.c_ulonglong
# The C function, its arguments, the buffer that it fills, and whether that is a plain number.
Prepared = tuple[Any, tuple[Any, ...], Any, bool]


class Utilization(ctypes.Structure):
    """nvmlUtilization_t in percent; nvidia-ml-py's own structs run Python code for each field that is read."""

    _fields_ = (("gpu", ctypes.c_uint), ("memory", ctypes.c_uint))


class Memory(ctypes.Structure):
    """nvmlMemory_v2_t in bytes, filled with the number of its version."""

    _fields_ = (("version", ctypes.c_uint), ("total", Big), ("reserved", Big), ("free", Big), ("used", Big))

    def __init__(self) -> None:
        super().__init__(version=ctypes.sizeof(self) | 2 << 24)


class _LoadAndTime:
    """Two buffers: an encoder's or decoder's load in percent, and over which time, which nobody needs."""

    def __init__(self) -> None:
        self._percent, self._microseconds = ctypes.c_uint(), ctypes.c_uint()

    @property
    def percent(self) -> int:
        return self._percent.value

    def pointers(self) -> tuple[Any, ...]:
        return ctypes.byref(self._percent), ctypes.byref(self._microseconds)


class Asker:
    """Asks through nvidia-ml-py, whose functions take this card's handle.

    Every question may raise NVMLError where the whole session is broken. `lost` is whether the card fell off the
    bus or needs a reset: then nothing is asked any more.
    """

    def __init__(self, index: int, pynvml: Any) -> None:  # noqa: ANN401 - untyped library
        self.pynvml = pynvml
        self.unsupported: set[str] = set()
        self.lost = False
        self._prepared: dict[str, Prepared] = {}
        try:
            self.handle = pynvml.nvmlDeviceGetHandleByIndex(index)
        except pynvml.NVMLError:
            self.lost = True  # no rights, no power or no answer; it must not hide the other cards

    def ask(self, function: str, *args: Any, key: str | None = None) -> Any:  # noqa: ANN401
        """The answer of one of nvidia-ml-py's functions, or None. `key` tells questions to one function apart."""
        key = key or function
        if self.lost or key in self.unsupported:
            return None
        pynvml = self.pynvml
        try:
            return getattr(pynvml, function)(self.handle, *args)
        except (AttributeError, pynvml.NVMLLibraryMismatchError):  # nvidia-ml-py or the driver is older
            self.unsupported.add(key)
        except (UnicodeDecodeError, ctypes.ArgumentError):
            pass
        except pynvml.NVMLError as error:
            self._refused(error.value, key)
        return None

    def number(self, function: str, *args: int, kind: Callable[[], Any] = ctypes.c_uint, key: str | None = None) -> Any:  # noqa: ANN401
        """What one of NVML's C functions writes to its last argument, a number or what `kind` makes; or None.

        Asking again costs half of what nvidia-ml-py's own function does, which makes its buffers anew.
        """
        key = key or function
        prepared = self._prepared.get(key) or self._prepare(key, function, args, kind)
        if prepared is None or self.lost:
            return None
        call, arguments, answer, plain = prepared
        code = call(*arguments)
        if code:
            self._refused(code, key)
            return None
        return answer.value if plain else answer

    def field(self, field: int) -> int | None:
        """A whole number that has no function of its own, by its number in nvml.h (NVML_FI_…)."""
        key = f"field-{field}"
        values = self.number("nvmlDeviceGetFieldValues", 1, kind=lambda: self._one_field(field), key=key)
        if values is None:
            return None
        if values[0].nvmlReturn:
            self._refused(values[0].nvmlReturn, key)
            return None
        return int(values[0].value.siVal)

    def load(self, function: str) -> int | None:
        """An encoder's or decoder's load in percent; NVML also tells over which time."""
        load = self.number(function, kind=_LoadAndTime)
        return None if load is None else int(load.percent)

    def can(self, function: str, *args: Any) -> bool:  # noqa: ANN401
        """Ask a function that answers nothing; whether it did."""
        if self.lost:
            return False
        try:
            getattr(self.pynvml, function)(self.handle, *args)
        except AttributeError:
            return False
        except self.pynvml.NVMLError as error:
            self._refused(error.value, function)
            return False
        return True

    def _prepare(self, key: str, function: str, args: tuple[int, ...], kind: Callable[[], Any]) -> Prepared | None:
        """Keep the function, its arguments and the buffer of its answer; None where it is not to be asked."""
        if self.lost or key in self.unsupported:
            return None
        try:
            call = self.pynvml._nvmlGetFunctionPointer(function)
        except self.pynvml.NVMLError as error:
            self._refused(error.value, key)
            return None
        to = kind()
        pointers = to.pointers() if isinstance(to, _LoadAndTime) else (ctypes.byref(to),)
        arguments = (self.handle, *(ctypes.c_uint(each) for each in args), *pointers)
        self._prepared[key] = call, arguments, to, isinstance(to, ctypes._SimpleCData)
        return self._prepared[key]

    def _one_field(self, field: int) -> Any:  # noqa: ANN401
        values = (self.pynvml.c_nvmlFieldValue_t * 1)()
        values[0].fieldId = field
        return values

    def _refused(self, code: int, key: str) -> None:
        pynvml = self.pynvml
        if code in (
            pynvml.NVML_ERROR_NOT_SUPPORTED,
            pynvml.NVML_ERROR_FUNCTION_NOT_FOUND,
            pynvml.NVML_ERROR_NO_PERMISSION,
            pynvml.NVML_ERROR_ARGUMENT_VERSION_MISMATCH,
        ):
            self.unsupported.add(key)
            self._prepared.pop(key, None)
        elif code in (pynvml.NVML_ERROR_GPU_IS_LOST, pynvml.NVML_ERROR_RESET_REQUIRED):
            self.lost = True
        elif code in (
            pynvml.NVML_ERROR_UNINITIALIZED,
            pynvml.NVML_ERROR_DRIVER_NOT_LOADED,
            pynvml.NVML_ERROR_LIB_RM_VERSION_MISMATCH,
        ):
            raise pynvml.NVMLError(code)
