"""Every constant of Windows that we use, against Windows' headers as a C compiler has them."""

from __future__ import annotations

import ast
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

WINDOWS = Path(__file__).resolve().parents[3] / "gpu_assistant" / "system" / "windows"
COMPILER = shutil.which("x86_64-w64-mingw32-gcc")
HEADERS = """
#define _WIN32_WINNT 0x0A00
#include <windows.h>
#include <aclapi.h>
#include <lmcons.h>
#include <objbase.h>
#include <pdh.h>
#include <pdhmsg.h>
#include <regstr.h>
#include <sddl.h>
#include <setupapi.h>
#include <shellapi.h>
#include <shlobj.h>
#include <srrestoreptapi.h>
#include <wincrypt.h>
#include <winhttp.h>
#include <wintrust.h>
#define METHOD(interface, name) (offsetof(interface##Vtbl, name) / sizeof(void *))
"""
# Constants that have another name than in the headers.
EXPRESSIONS = {
    "ACCOUNT_LENGTH": "UNLEN + 1",
    "BATTERY_NONE": "BATTERY_FLAG_NO_BATTERY",
    "CHANGE_RIGHTS": "FILE_WRITE_DATA | FILE_APPEND_DATA | FILE_WRITE_EA | FILE_WRITE_ATTRIBUTES | FILE_DELETE_CHILD"
    " | DELETE | WRITE_DAC | WRITE_OWNER | GENERIC_WRITE | GENERIC_ALL",
    "INHERIT_ONLY": "INHERIT_ONLY_ACE",
    "JOB_EXTENDED_LIMIT_INFORMATION": "JobObjectExtendedLimitInformation",
    "KILL_ON_JOB_CLOSE": "JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE",
    "OWNER_AND_DACL": "OWNER_SECURITY_INFORMATION | DACL_SECURITY_INFORMATION",
    "PERSIST_FILE_SAVE": "METHOD(IPersistFile, Save)",
    "PF_ARM_V8": "PF_ARM_V8_INSTRUCTIONS_AVAILABLE",
    "PF_AVX": "PF_AVX_INSTRUCTIONS_AVAILABLE",
    "PF_AVX2": "PF_AVX2_INSTRUCTIONS_AVAILABLE",
    "POWER_DEVICE_D3": "PowerDeviceD3",
    "POWER_UNKNOWN": "AC_LINE_UNKNOWN",
    "QUERY_INTERFACE": "METHOD(IUnknown, QueryInterface)",
    "RELEASE": "METHOD(IUnknown, Release)",
    "REVOCATION_CHECK_CHAIN_EXCLUDE_ROOT": "WTD_REVOCATION_CHECK_CHAIN_EXCLUDE_ROOT",
    "SHELL_LINK_SET_ARGUMENTS": "METHOD(IShellLinkW, SetArguments)",
    "SHELL_LINK_SET_DESCRIPTION": "METHOD(IShellLinkW, SetDescription)",
    "SHELL_LINK_SET_PATH": "METHOD(IShellLinkW, SetPath)",
    "SHELL_LINK_SET_WORKING_DIRECTORY": "METHOD(IShellLinkW, SetWorkingDirectory)",
    "TASKBAR_HR_INIT": "METHOD(ITaskbarList3, HrInit)",
    "TASKBAR_SET_PROGRESS_STATE": "METHOD(ITaskbarList3, SetProgressState)",
    "TASKBAR_SET_PROGRESS_VALUE": "METHOD(ITaskbarList3, SetProgressValue)",
    "TOLERATED_CHAIN_ERRORS": "CERT_TRUST_IS_NOT_TIME_NESTED | CERT_TRUST_REVOCATION_STATUS_UNKNOWN"
    " | CERT_TRUST_IS_OFFLINE_REVOCATION",
}
# Documented elsewhere, or our own.
NOT_IN_HEADERS = {
    "ADAPTER_ADDRESS",
    "ADDRESS",
    "BUS_NUMBER",
    "FIRST_BUILD_WITH_AVX_ANSWERS",
    "FIRST_WINDOWS_11_BUILD",
    "MAX_COMMAND_LENGTH",
    "MAX_ENVIRONMENTS_PATH",
    "MAX_PATH_VARIABLE",
    "POWER_DATA",
    "PROGRESS_TOTAL",
    "SIGNED_BEFORE",
    "TICKS_PER_SECOND",
    "TIMEOUT_MS",
    "WINDOWS_11_22H2",
    "WINDOW_TIMEOUT_MS",
    "WSL_STATE_INSTALLED",
}


def constants() -> dict[str, int]:
    """The whole numbers with a name in capital letters, of all modules."""
    found: dict[str, int] = {}
    for path in sorted(WINDOWS.glob("*.py")):
        values: dict[str, object] = {}
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if not isinstance(node, ast.Assign):
                continue
            (target,) = node.targets
            targets = target.elts if isinstance(target, ast.Tuple) else [target]
            try:
                value = eval(compile(ast.Expression(node.value), str(path), "eval"), {"__builtins__": {}}, values)
            except (AttributeError, NameError, TypeError):
                continue
            for name, each in zip(targets, value if isinstance(target, ast.Tuple) else [value], strict=True):
                if isinstance(name, ast.Name):
                    values[name.id] = each
                    if type(each) is int:
                        assert found.setdefault(name.id, each) == each, name.id
    return found


@pytest.mark.linux
@pytest.mark.skipif(sys.platform != "linux" or COMPILER is None, reason="needs MinGW-w64")
def test_every_constant_has_the_value_of_the_headers() -> None:
    found = {name: value for name, value in constants().items() if name not in NOT_IN_HEADERS}
    assert len(found) > 80
    assert set(EXPRESSIONS) <= set(found)
    source = HEADERS + "".join(
        f'_Static_assert((unsigned)({EXPRESSIONS.get(name, name)}) == {value & 0xFFFFFFFF}u, "{name}");\n'
        for name, value in found.items()
    )
    done = subprocess.run(
        [str(COMPILER), "-fsyntax-only", "-x", "c", "-"], input=source, text=True, capture_output=True, check=False
    )
    assert not done.returncode, done.stderr
