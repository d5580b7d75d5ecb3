"""Calls of NVML for one GPU. An unsupported function is called once and never again; buffers are made once and kept."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

UInt64 = ctypes.c_ulonglong
# The C function, its arguments, the buffer that it fills, and whether that is a plain number.
PreparedCall = tuple[Any, tuple[Any, ...], Any, bool]


class NvmlUtilization(ctypes.Structure):
    """nvmlUtilization_t, in percent. nvidia-ml-py's own struct would run Python code for each field that is read."""

    _fields_ = (("gpu", ctypes.c_uint), ("memory", ctypes.c_uint))


class NvmlMemory(ctypes.Structure):
    """nvmlMemory_v2_t, in bytes; `version` has to be set before the call."""

    _fields_ = (("version", ctypes.c_uint), ("total", UInt64), ("reserved", UInt64), ("free", UInt64), ("used", UInt64))

    def __init__(self) -> None:
        super().__init__(version=ctypes.sizeof(self) | 2 << 24)


class _LoadBuffers:
    """The two buffers of an encoder's or decoder's load: percent, and the sampling period, which is not used."""

    def __init__(self) -> None:
        self._percent, self._sampling_period = ctypes.c_uint(), ctypes.c_uint()

    @property
    def percent(self) -> int:
        return self._percent.value

    def byrefs(self) -> tuple[Any, ...]:
        return ctypes.byref(self._percent), ctypes.byref(self._sampling_period)


class NvmlQuery:
    """Calls NVML's functions with one GPU's handle. Each call raises NVMLError where the whole session is broken.

    `is_lost` is whether the GPU fell off the bus or needs a reset: then nothing is called any more.
    """

    def __init__(self, index: int, pynvml: Any) -> None:  # noqa: ANN401 - untyped library
        self.pynvml = pynvml
        self.unsupported: set[str] = set()
        self.is_lost = False
        self._prepared_calls: dict[str, PreparedCall] = {}
        self._answered: set[str] = set()
        try:
            self.handle = pynvml.nvmlDeviceGetHandleByIndex(index)
        except pynvml.NVMLError:
            self.is_lost = True  # no rights, no power or no answer; the other GPUs are sampled all the same

    def query(self, function: str, *args: Any, key: str | None = None) -> Any:  # noqa: ANN401
        """The result of a function of nvidia-ml-py, or None. `key` names the call where one function has several."""
        return self.query_of(self.handle, function, *args, key=key) if not self.is_lost else None

    def query_of(self, handle: Any, function: str, *args: Any, key: str | None = None) -> Any:  # noqa: ANN401
        """As `query`, of another handle that belongs to this GPU: a slice of it."""
        key = key or function
        if self.is_lost or key in self.unsupported:
            return None
        pynvml = self.pynvml
        try:
            result = getattr(pynvml, function)(handle, *args)
        except (AttributeError, pynvml.NVMLLibraryMismatchError):  # nvidia-ml-py or the driver is older
            self.unsupported.add(key)
        except (UnicodeDecodeError, ctypes.ArgumentError):
            pass
        except pynvml.NVMLError as error:
            self._handle_error(error.value, key)
        else:
            self._answered.add(key)
            return result
        return None

    def query_number(
        self, function: str, *args: int, buffer_type: Callable[[], Any] = ctypes.c_uint, key: str | None = None
    ) -> Any:  # noqa: ANN401
        """What a C function of NVML writes to its last argument, a number or a `buffer_type`; or None.

        A second call costs half of nvidia-ml-py's own function, which allocates its buffers in each call.
        """
        key = key or function
        prepared_call = self._prepared_calls.get(key) or self._prepare(key, function, args, buffer_type)
        if prepared_call is None or self.is_lost:
            return None
        call, arguments, buffer, is_number = prepared_call
        error_code = call(*arguments)
        if error_code:
            self._handle_error(error_code, key)
            return None
        self._answered.add(key)
        return buffer.value if is_number else buffer

    def query_field(self, field_id: int) -> int | None:
        """An integer that has no function of its own, by its field id in nvml.h (NVML_FI_…)."""
        key = f"field-{field_id}"
        values = self.query_number(
            "nvmlDeviceGetFieldValues", 1, buffer_type=lambda: self._field_buffer(field_id), key=key
        )
        if values is None:
            return None
        if values[0].nvmlReturn:
            self._handle_error(values[0].nvmlReturn, key)
            return None
        return int(values[0].value.siVal)

    def query_load(self, function: str) -> int | None:
        """An encoder's or decoder's load in percent."""
        buffers = self.query_number(function, buffer_type=_LoadBuffers)
        return None if buffers is None else int(buffers.percent)

    def call(self, function: str, *args: Any) -> bool:  # noqa: ANN401
        """Call a function without a result; whether that worked."""
        if self.is_lost:
            return False
        try:
            getattr(self.pynvml, function)(self.handle, *args)
        except AttributeError:
            return False
        except self.pynvml.NVMLError as error:
            self._handle_error(error.value, function)
            return False
        return True

    def _prepare(
        self, key: str, function: str, args: tuple[int, ...], buffer_type: Callable[[], Any]
    ) -> PreparedCall | None:
        """Store the function, its arguments and its buffer; None where it is unsupported."""
        if self.is_lost or key in self.unsupported:
            return None
        try:
            call = self.pynvml._nvmlGetFunctionPointer(function)
        except self.pynvml.NVMLError as error:
            self._handle_error(error.value, key)
            return None
        buffer = buffer_type()
        pointers = buffer.byrefs() if isinstance(buffer, _LoadBuffers) else (ctypes.byref(buffer),)
        arguments = (self.handle, *(ctypes.c_uint(argument) for argument in args), *pointers)
        self._prepared_calls[key] = call, arguments, buffer, isinstance(buffer, ctypes._SimpleCData)
        return self._prepared_calls[key]

    def _field_buffer(self, field_id: int) -> Any:  # noqa: ANN401
        values = (self.pynvml.c_nvmlFieldValue_t * 1)()
        values[0].fieldId = field_id
        return values

    def _handle_error(self, error_code: int, key: str) -> None:
        pynvml = self.pynvml
        # The arguments of a key never change. What was never answered has an argument that this GPU does not have, as
        # the first of no fans; what was answered before has another handle soon, once the session is opened again.
        lacks_argument = error_code == pynvml.NVML_ERROR_INVALID_ARGUMENT and key not in self._answered
        if lacks_argument or error_code in (
            pynvml.NVML_ERROR_NOT_SUPPORTED,
            pynvml.NVML_ERROR_FUNCTION_NOT_FOUND,
            pynvml.NVML_ERROR_NO_PERMISSION,
            pynvml.NVML_ERROR_ARGUMENT_VERSION_MISMATCH,
        ):
            self.unsupported.add(key)
            self._prepared_calls.pop(key, None)
        elif error_code in (pynvml.NVML_ERROR_GPU_IS_LOST, pynvml.NVML_ERROR_RESET_REQUIRED):
            self.is_lost = True
        elif error_code in (
            pynvml.NVML_ERROR_UNINITIALIZED,
            pynvml.NVML_ERROR_DRIVER_NOT_LOADED,
            pynvml.NVML_ERROR_LIB_RM_VERSION_MISMATCH,
        ):
            raise pynvml.NVMLError(error_code)
