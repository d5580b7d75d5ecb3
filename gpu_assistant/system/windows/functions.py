"""The functions of Windows' libraries that we call, each with the types that Microsoft documents for it.

    kernel32.CloseHandle(handle)    loads kernel32.dll from System32 at the first call
    kernel32.CloseHandel            AttributeError: what is not declared here cannot be called

Without its types ctypes would pass each number as 32 bits, and cut handles and pointers that Windows returns. The last
error of each library's calls is `ctypes.get_last_error()`. A function that returns HRESULT raises OSError for a
failure; the others return what they return. `tests/system/windows/layouts.c` has the same functions in C, and a test
compares how many arguments they have and how large.
"""

from __future__ import annotations

import sys

assert sys.platform == "win32"  # noqa: S101 - the type checker reads this too

import ctypes
from collections.abc import Mapping
from ctypes import HRESULT, POINTER, c_char_p, c_int, c_long, c_size_t, c_void_p, c_wchar_p
from ctypes.wintypes import (
    BOOL,
    DWORD,
    FILETIME,
    HANDLE,
    HWND,
    LANGID,
    LONG,
    LPARAM,
    LPCWSTR,
    LPWSTR,
    UINT,
    WPARAM,
)
from typing import Any

from .structures import (
    AutoproxyOptions,
    CertChainContext,
    CertChainEngineConfig,
    CertChainPara,
    CertContext,
    CloseAdapter,
    CounterValueItem,
    CryptProviderCert,
    CryptProviderSgnr,
    CurrentUserProxyConfig,
    DeviceInfoData,
    DevicePropertyKey,
    FixedFileInfo,
    Guid,
    OpenAdapterFromLuid,
    ProcessInformation,
    ProxyInfo,
    QueryAdapterInfo,
    RestorePointInfo,
    SecurityAttributes,
    ShellExecuteInfo,
    StartupInfoEx,
    StateManagerStatus,
    SystemPowerStatus,
    WintrustData,
)

LOAD_LIBRARY_SEARCH_SYSTEM32 = 0x800  # libloaderapi.h: no other folder, which the user's programs could write to

# What it returns, and its arguments.
Prototype = tuple[Any, ...]


class Library:
    """A library of System32 and the types of its functions; loaded when one is first called (OSError: missing)."""

    def __init__(self, name: str, prototypes: Mapping[str, Prototype]) -> None:
        self.name, self.prototypes = name, prototypes

    def __getattr__(self, function_name: str) -> Any:  # noqa: ANN401 - what ctypes gives
        prototypes: Mapping[str, Prototype] = self.__dict__["prototypes"]
        if function_name not in prototypes:
            raise AttributeError(f"{self.name}.{function_name} has no declared types")
        library = ctypes.WinDLL(self.name, use_last_error=True, winmode=LOAD_LIBRARY_SEARCH_SYSTEM32)
        # By index: an object of its own, which no other thread sees before it has its types.
        function = library[function_name]
        function.restype, *function.argtypes = prototypes[function_name]
        setattr(self, function_name, function)
        return function


kernel32 = Library(
    "kernel32",
    {
        "CloseHandle": (BOOL, HANDLE),
        "CreateDirectoryW": (BOOL, LPCWSTR, POINTER(SecurityAttributes)),
        "CreateFileW": (HANDLE, LPCWSTR, DWORD, DWORD, POINTER(SecurityAttributes), DWORD, DWORD, HANDLE),
        "CreateJobObjectW": (HANDLE, POINTER(SecurityAttributes), LPCWSTR),
        "CreateProcessW": (
            BOOL,
            LPCWSTR,
            LPWSTR,
            POINTER(SecurityAttributes),
            POINTER(SecurityAttributes),
            BOOL,
            DWORD,
            c_void_p,
            LPCWSTR,
            POINTER(StartupInfoEx),
            POINTER(ProcessInformation),
        ),
        "DeleteProcThreadAttributeList": (None, c_void_p),
        "GetDriveTypeW": (UINT, LPCWSTR),
        "GetExitCodeProcess": (BOOL, HANDLE, POINTER(DWORD)),
        "GetFileAttributesW": (DWORD, LPCWSTR),
        "GetFileType": (DWORD, HANDLE),
        "GetLogicalDrives": (DWORD,),
        "GetSystemDirectoryW": (UINT, LPWSTR, UINT),
        "GetSystemPowerStatus": (BOOL, POINTER(SystemPowerStatus)),
        "IsProcessorFeaturePresent": (BOOL, DWORD),
        "GetSystemWindowsDirectoryW": (UINT, LPWSTR, UINT),
        "GetUserDefaultUILanguage": (LANGID,),
        "GlobalFree": (HANDLE, HANDLE),
        "InitializeProcThreadAttributeList": (BOOL, c_void_p, DWORD, DWORD, POINTER(c_size_t)),
        "LocalFree": (HANDLE, HANDLE),
        "SetInformationJobObject": (BOOL, HANDLE, c_int, c_void_p, DWORD),
        "SetThreadExecutionState": (DWORD, DWORD),
        "TerminateJobObject": (BOOL, HANDLE, UINT),
        "TerminateProcess": (BOOL, HANDLE, UINT),
        "UpdateProcThreadAttribute": (BOOL, c_void_p, DWORD, c_size_t, c_void_p, c_size_t, c_void_p, POINTER(c_size_t)),
        "WaitForSingleObject": (DWORD, HANDLE, DWORD),
    },
)
user32 = Library(
    "user32",
    {
        "AllowSetForegroundWindow": (BOOL, DWORD),
        "ChangeWindowMessageFilterEx": (BOOL, HWND, UINT, DWORD, c_void_p),
        "GetSystemMetrics": (c_int, c_int),
        "RegisterWindowMessageW": (UINT, LPCWSTR),
        "SendMessageTimeoutW": (c_void_p, HWND, UINT, WPARAM, LPARAM, UINT, UINT, c_void_p),
    },
)
gdi32 = Library(
    "gdi32",
    {
        "D3DKMTCloseAdapter": (LONG, POINTER(CloseAdapter)),
        "D3DKMTOpenAdapterFromLuid": (LONG, POINTER(OpenAdapterFromLuid)),
        "D3DKMTQueryAdapterInfo": (LONG, POINTER(QueryAdapterInfo)),
    },
)
shell32 = Library(
    "shell32",
    {
        "CommandLineToArgvW": (POINTER(LPWSTR), LPCWSTR, POINTER(c_int)),
        "IsUserAnAdmin": (BOOL,),
        "SHGetKnownFolderPath": (HRESULT, POINTER(Guid), DWORD, HANDLE, POINTER(c_wchar_p)),
        "ShellExecuteExW": (BOOL, POINTER(ShellExecuteInfo)),
    },
)
ole32 = Library(
    "ole32",
    {
        "CoCreateInstance": (HRESULT, POINTER(Guid), c_void_p, DWORD, POINTER(Guid), POINTER(c_void_p)),
        # Not HRESULT: one failure of each is none for us.
        "CoInitializeEx": (c_long, c_void_p, DWORD),
        "CoInitializeSecurity": (
            *(c_long, c_void_p, LONG, c_void_p, c_void_p),
            *(DWORD, DWORD, c_void_p, DWORD, c_void_p),
        ),
        "CoTaskMemFree": (None, c_void_p),
        "CoUninitialize": (None,),
    },
)
advapi32 = Library(
    "advapi32",
    {
        "ConvertSidToStringSidW": (BOOL, c_void_p, POINTER(c_wchar_p)),
        "ConvertStringSidToSidW": (BOOL, LPCWSTR, POINTER(c_void_p)),
        "ConvertStringSecurityDescriptorToSecurityDescriptorW": (
            *(BOOL, LPCWSTR, DWORD),
            *(POINTER(c_void_p), POINTER(DWORD)),
        ),
        "LookupAccountSidW": (
            *(BOOL, LPCWSTR, c_void_p, LPWSTR, POINTER(DWORD)),
            *(LPWSTR, POINTER(DWORD), POINTER(c_int)),
        ),
        "MakeAbsoluteSD": (
            *(BOOL, c_void_p, c_void_p, POINTER(DWORD), c_void_p, POINTER(DWORD), c_void_p, POINTER(DWORD)),
            *(c_void_p, POINTER(DWORD), c_void_p, POINTER(DWORD)),
        ),
        "GetAce": (BOOL, c_void_p, DWORD, POINTER(c_void_p)),
        "GetNamedSecurityInfoW": (
            *(DWORD, LPCWSTR, c_int, DWORD),
            *(POINTER(c_void_p), POINTER(c_void_p), POINTER(c_void_p), POINTER(c_void_p), POINTER(c_void_p)),
        ),
    },
)
crypt32 = Library(
    "crypt32",
    {
        "CertAddCertificateContextToStore": (BOOL, c_void_p, POINTER(CertContext), DWORD, c_void_p),
        "CertAddEncodedCertificateToStore": (BOOL, c_void_p, DWORD, c_char_p, DWORD, DWORD, c_void_p),
        "CertAddStoreToCollection": (BOOL, c_void_p, c_void_p, DWORD, DWORD),
        "CertCloseStore": (BOOL, c_void_p, DWORD),
        "CertCreateCertificateChainEngine": (BOOL, POINTER(CertChainEngineConfig), POINTER(c_void_p)),
        "CertFreeCertificateChain": (None, POINTER(CertChainContext)),
        "CertFreeCertificateChainEngine": (None, c_void_p),
        "CertGetCertificateChain": (
            *(BOOL, c_void_p, POINTER(CertContext), POINTER(FILETIME), c_void_p),
            *(POINTER(CertChainPara), DWORD, c_void_p, POINTER(POINTER(CertChainContext))),
        ),
        "CertGetEnhancedKeyUsage": (BOOL, POINTER(CertContext), DWORD, c_void_p, POINTER(DWORD)),
        "CertGetNameStringW": (DWORD, POINTER(CertContext), DWORD, DWORD, c_void_p, LPWSTR, DWORD),
        "CertOpenStore": (c_void_p, c_void_p, DWORD, c_void_p, DWORD, c_void_p),
        "CertVerifyTimeValidity": (LONG, POINTER(FILETIME), c_void_p),
    },
)
wintrust = Library(
    "wintrust",
    {
        "WTHelperGetProvCertFromChain": (POINTER(CryptProviderCert), POINTER(CryptProviderSgnr), DWORD),
        "WTHelperGetProvSignerFromChain": (POINTER(CryptProviderSgnr), c_void_p, DWORD, BOOL, DWORD),
        "WTHelperProvDataFromStateData": (c_void_p, HANDLE),
        "WinVerifyTrust": (LONG, HWND, POINTER(Guid), POINTER(WintrustData)),
    },
)
version = Library(
    "version",
    {
        "GetFileVersionInfoSizeW": (DWORD, LPCWSTR, POINTER(DWORD)),
        "GetFileVersionInfoW": (BOOL, LPCWSTR, DWORD, DWORD, c_void_p),
        "VerQueryValueW": (BOOL, c_void_p, LPCWSTR, POINTER(POINTER(FixedFileInfo)), POINTER(UINT)),
    },
)
srclient = Library("srclient", {"SRSetRestorePointW": (BOOL, POINTER(RestorePointInfo), POINTER(StateManagerStatus))})
setupapi = Library(
    "setupapi",
    {
        "SetupDiDestroyDeviceInfoList": (BOOL, HANDLE),
        "SetupDiEnumDeviceInfo": (BOOL, HANDLE, DWORD, POINTER(DeviceInfoData)),
        "SetupDiGetClassDevsW": (HANDLE, POINTER(Guid), LPCWSTR, HWND, DWORD),
        "SetupDiGetDevicePropertyW": (
            *(BOOL, HANDLE, POINTER(DeviceInfoData), POINTER(DevicePropertyKey), POINTER(DWORD)),
            *(c_void_p, DWORD, POINTER(DWORD), DWORD),
        ),
        "SetupDiGetDeviceRegistryPropertyW": (
            *(BOOL, HANDLE, POINTER(DeviceInfoData), DWORD, POINTER(DWORD)),
            *(c_void_p, DWORD, POINTER(DWORD)),
        ),
    },
)
# PDH_STATUS is a LONG; its codes are documented as unsigned numbers.
pdh = Library(
    "pdh",
    {
        "PdhAddEnglishCounterW": (DWORD, HANDLE, LPCWSTR, c_void_p, POINTER(HANDLE)),
        "PdhCloseQuery": (DWORD, HANDLE),
        "PdhCollectQueryData": (DWORD, HANDLE),
        "PdhGetFormattedCounterArrayW": (
            DWORD,
            HANDLE,
            DWORD,
            POINTER(DWORD),
            POINTER(DWORD),
            POINTER(CounterValueItem),
        ),
        "PdhOpenQueryW": (DWORD, LPCWSTR, c_void_p, POINTER(HANDLE)),
    },
)
winhttp = Library(
    "winhttp",
    {
        "WinHttpCloseHandle": (BOOL, HANDLE),
        "WinHttpGetIEProxyConfigForCurrentUser": (BOOL, POINTER(CurrentUserProxyConfig)),
        "WinHttpGetProxyForUrl": (BOOL, HANDLE, LPCWSTR, POINTER(AutoproxyOptions), POINTER(ProxyInfo)),
        "WinHttpOpen": (HANDLE, LPCWSTR, DWORD, LPCWSTR, LPCWSTR, DWORD),
        "WinHttpSetTimeouts": (BOOL, HANDLE, c_int, c_int, c_int, c_int),
    },
)
LIBRARIES = (
    *(kernel32, user32, gdi32, shell32, ole32, advapi32),
    *(crypt32, wintrust, version, srclient, setupapi, pdh, winhttp),
)
