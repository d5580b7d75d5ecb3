"""What a NVML library answers without a card, a line for each call: `nvml_calls.py LIBRARY`.

The real library and the tests' one (tests/nvml/fake_nvml.c, told that no driver is loaded) must answer alike, call by
call, or what the tests say of a computer without a running driver is wrong.
"""

from __future__ import annotations

import ctypes
import sys

UINT, TEXT = ctypes.c_uint, ctypes.c_char_p


def main() -> None:
    """Print the name of each call and its answer, an NVML_* number."""
    library = ctypes.CDLL(sys.argv[1])
    number, handle, text = UINT(), ctypes.c_void_p(), ctypes.create_string_buffer(96)
    by_text = (text, UINT(96))
    calls = (
        ("nvmlSystemGetDriverVersion", by_text),  # before the session is opened
        ("nvmlInit_v2", ()),
        ("nvmlInitWithFlags", (UINT(0),)),
        ("nvmlSystemGetDriverVersion", by_text),
        ("nvmlSystemGetCudaDriverVersion_v2", (ctypes.byref(number),)),
        ("nvmlDeviceGetCount_v2", (ctypes.byref(number),)),
        ("nvmlDeviceGetHandleByIndex_v2", (UINT(0), ctypes.byref(handle))),
        ("nvmlEventSetCreate", (ctypes.byref(handle),)),
        ("nvmlShutdown", ()),
    )
    for name, arguments in calls:
        function = getattr(library, name, None)
        answer = "missing" if function is None else function(*arguments)
        sys.stdout.write(f"{name} {answer}\n")


if __name__ == "__main__":
    main()
