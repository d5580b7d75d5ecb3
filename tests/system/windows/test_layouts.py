"""Every structure and function of Windows that we use, against what a C compiler makes of Windows' headers.

`.ci/windows` compiles `layouts.c`, and names the program in an environment variable: on Windows there is no compiler.
"""

from __future__ import annotations

import ast
import ctypes
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[3]
BUILT = "WINDOWS_LAYOUTS"
# Modules that run in an environment's own Python, and the one that only looks whether a library can be loaded.
# Besides the one module: programs that run in an environment's Python, without our package.
LOADERS = {
    "system/windows/functions.py",
    *("bench/child/devices.py", "verify/child_libraries.py", "verify/child_runtime.py"),
}


def test_libraries_of_windows_are_loaded_in_one_module() -> None:
    package = ROOT / "gpu_assistant"
    loading = {
        path.relative_to(package).as_posix()
        for path in package.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Attribute) and node.attr in {"windll", "oledll", "WinDLL", "OleDLL"}
    }
    assert loading == LOADERS


if sys.platform == "win32":
    from gpu_assistant.bench.child.devices import MemoryStatusEx
    from gpu_assistant.system.windows import functions, structures

    # Each with its name in Windows' headers: there is no other list of them.
    C_NAMES: dict[type[ctypes.Structure], str] = {
        MemoryStatusEx: "MEMORYSTATUSEX",
        structures.AccessAllowedAce: "ACCESS_ALLOWED_ACE",
        structures.Acl: "ACL",
        structures.AdapterAddress: "D3DKMT_ADAPTERADDRESS",
        structures.AutoproxyOptions: "WINHTTP_AUTOPROXY_OPTIONS",
        structures.CurrentUserProxyConfig: "WINHTTP_CURRENT_USER_IE_PROXY_CONFIG",
        structures.ProxyInfo: "WINHTTP_PROXY_INFO",
        structures.CertChainContext: "CERT_CHAIN_CONTEXT",
        structures.CertChainEngineConfig: "CERT_CHAIN_ENGINE_CONFIG",
        structures.CertChainPara: "CERT_CHAIN_PARA",
        structures.CertContext: "CERT_CONTEXT",
        structures.CertEnhkeyUsage: "CERT_ENHKEY_USAGE",
        structures.CertTrustStatus: "CERT_TRUST_STATUS",
        structures.CertUsageMatch: "CERT_USAGE_MATCH",
        structures.CloseAdapter: "D3DKMT_CLOSEADAPTER",
        structures.CounterValue: "PDH_FMT_COUNTERVALUE",
        structures.CounterValueItem: "PDH_FMT_COUNTERVALUE_ITEM_W",
        structures.CryptProviderCert: "CRYPT_PROVIDER_CERT",
        structures.CryptProviderSgnr: "CRYPT_PROVIDER_SGNR",
        structures.DeviceInfoData: "SP_DEVINFO_DATA",
        structures.DevicePropertyKey: "DEVPROPKEY",
        structures.FixedFileInfo: "VS_FIXEDFILEINFO",
        structures.Guid: "GUID",
        structures.IoCounters: "IO_COUNTERS",
        structures.JobObjectBasicLimitInformation: "JOBOBJECT_BASIC_LIMIT_INFORMATION",
        structures.JobObjectExtendedLimitInformation: "JOBOBJECT_EXTENDED_LIMIT_INFORMATION",
        structures.OpenAdapterFromLuid: "D3DKMT_OPENADAPTERFROMLUID",
        structures.ProcessInformation: "PROCESS_INFORMATION",
        structures.QueryAdapterInfo: "D3DKMT_QUERYADAPTERINFO",
        structures.RestorePointInfo: "RESTOREPOINTINFOW",
        structures.SecurityAttributes: "SECURITY_ATTRIBUTES",
        structures.ShellExecuteInfo: "SHELLEXECUTEINFOW",
        structures.StartupInfo: "STARTUPINFOW",
        structures.StartupInfoEx: "STARTUPINFOEXW",
        structures.StateManagerStatus: "STATEMGRSTATUS",
        structures.SystemPowerStatus: "SYSTEM_POWER_STATUS",
        structures.WintrustData: "WINTRUST_DATA",
        structures.WintrustFileInfo: "WINTRUST_FILE_INFO",
    }
    # The compiler's headers have the member's older name.
    OLDER_NAMES = {"Reserved1": "SystemStatusFlag"}

    @pytest.fixture(scope="module")
    def headers() -> list[list[str]]:
        if BUILT not in os.environ:
            pytest.skip(f"{BUILT} names the compiled layouts.c")
        finished = subprocess.run([os.environ[BUILT]], check=True, stdout=subprocess.PIPE, text=True, timeout=60)
        return [line.split() for line in finished.stdout.splitlines()]

    def members(structure: type[ctypes.Structure]) -> Iterator[tuple[str, int, int]]:
        for member in structure._fields_:
            field = getattr(structure, member[0])
            yield member[0], field.offset, field.size

    def size(kind: Any) -> int:
        return 0 if kind is None else ctypes.sizeof(kind)

    @pytest.mark.windows
    def test_every_structure_has_the_layout_of_the_headers(headers: list[list[str]]) -> None:
        sizes = {name: int(size) for kind, name, *rest in headers if kind == "struct" for size in rest}
        assert {name: ctypes.sizeof(structure) for structure, name in C_NAMES.items()} == sizes
        layouts: dict[str, list[tuple[str, int, int]]] = {name: [] for name in C_NAMES.values()}
        for kind, name, *rest in headers:
            if kind == "member":
                member = rest[0].split(".")[-1]
                layouts[name].append((OLDER_NAMES.get(member, member), int(rest[1]), int(rest[2])))
        assert {name: list(members(structure)) for structure, name in C_NAMES.items()} == layouts

    @pytest.mark.windows
    def test_no_structure_is_left_out() -> None:
        declared = {
            kind for kind in vars(structures).values() if isinstance(kind, type) and issubclass(kind, ctypes.Structure)
        }
        assert declared == set(C_NAMES) - {MemoryStatusEx}

    @pytest.mark.windows
    def test_every_function_has_the_types_of_the_headers(headers: list[list[str]]) -> None:
        declared = {
            name: [size(kind) for kind in prototype]
            for library in functions.LIBRARIES
            for name, prototype in library.prototypes.items()
        }
        compiled = {
            name: [int(result), *(int(argument) for argument in arguments if argument != "0")]
            for kind, name, result, *arguments in headers
            if kind == "function"
        }
        assert declared == compiled

    @pytest.mark.windows
    def test_undeclared_function_cannot_be_called() -> None:
        with pytest.raises(AttributeError, match="no declared types"):
            functions.kernel32.GetTickCount()
