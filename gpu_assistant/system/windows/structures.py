"""The structures of Windows' headers that we pass to its functions, with the members' names of the headers.

`tests/system/windows/layouts.c` prints size and offsets as the C compiler has them, and a test compares all of them.
"""

from __future__ import annotations

import sys

assert sys.platform == "win32"  # noqa: S101 - the type checker reads this too

import ctypes
from ctypes import wintypes

MAX_DESC_W = 256  # srrestoreptapi.h


class Guid(ctypes.Structure):
    """GUID of guiddef.h."""

    _fields_ = (
        ("Data1", wintypes.ULONG),
        ("Data2", wintypes.USHORT),
        ("Data3", wintypes.USHORT),
        ("Data4", ctypes.c_ubyte * 8),
    )


# wincrypt.h


class CertContext(ctypes.Structure):
    """CERT_CONTEXT; `hCertStore` holds the certificates that were sent with it."""

    _fields_ = (
        ("dwCertEncodingType", wintypes.DWORD),
        ("pbCertEncoded", ctypes.c_void_p),
        ("cbCertEncoded", wintypes.DWORD),
        ("pCertInfo", ctypes.c_void_p),
        ("hCertStore", ctypes.c_void_p),
    )


class CertTrustStatus(ctypes.Structure):
    """CERT_TRUST_STATUS."""

    _fields_ = (("dwErrorStatus", wintypes.DWORD), ("dwInfoStatus", wintypes.DWORD))


class CertChainContext(ctypes.Structure):
    """CERT_CHAIN_CONTEXT."""

    _fields_ = (
        ("cbSize", wintypes.DWORD),
        ("TrustStatus", CertTrustStatus),
        ("cChain", wintypes.DWORD),
        ("rgpChain", ctypes.c_void_p),
        ("cLowerQualityChainContext", wintypes.DWORD),
        ("rgpLowerQualityChainContext", ctypes.c_void_p),
        ("fHasRevocationFreshnessTime", wintypes.BOOL),
        ("dwRevocationFreshnessTime", wintypes.DWORD),
        ("dwCreateFlags", wintypes.DWORD),
        ("ChainId", Guid),
    )


class CertEnhkeyUsage(ctypes.Structure):
    """CERT_ENHKEY_USAGE."""

    _fields_ = (("cUsageIdentifier", wintypes.DWORD), ("rgpszUsageIdentifier", ctypes.POINTER(ctypes.c_char_p)))


class CertUsageMatch(ctypes.Structure):
    """CERT_USAGE_MATCH."""

    _fields_ = (("dwType", wintypes.DWORD), ("Usage", CertEnhkeyUsage))


class CertChainPara(ctypes.Structure):
    """CERT_CHAIN_PARA without CERT_CHAIN_PARA_HAS_EXTRA_FIELDS, as its `cbSize` says."""

    _fields_ = (("cbSize", wintypes.DWORD), ("RequestedUsage", CertUsageMatch))


class CertChainEngineConfig(ctypes.Structure):
    """CERT_CHAIN_ENGINE_CONFIG of Windows 7, as its `cbSize` says."""

    _fields_ = (
        ("cbSize", wintypes.DWORD),
        ("hRestrictedRoot", ctypes.c_void_p),
        ("hRestrictedTrust", ctypes.c_void_p),
        ("hRestrictedOther", ctypes.c_void_p),
        ("cAdditionalStore", wintypes.DWORD),
        ("rghAdditionalStore", ctypes.c_void_p),
        ("dwFlags", wintypes.DWORD),
        ("dwUrlRetrievalTimeout", wintypes.DWORD),
        ("MaximumCachedCertificates", wintypes.DWORD),
        ("CycleDetectionModulus", wintypes.DWORD),
        ("hExclusiveRoot", ctypes.c_void_p),
        ("hExclusiveTrustedPeople", ctypes.c_void_p),
    )


# wintrust.h


class WintrustFileInfo(ctypes.Structure):
    """WINTRUST_FILE_INFO."""

    _fields_ = (
        ("cbStruct", wintypes.DWORD),
        ("pcwszFilePath", wintypes.LPCWSTR),
        ("hFile", wintypes.HANDLE),
        ("pgKnownSubject", ctypes.c_void_p),
    )


class WintrustData(ctypes.Structure):
    """WINTRUST_DATA of Windows 7, as its `cbStruct` says; of its union the file."""

    _fields_ = (
        ("cbStruct", wintypes.DWORD),
        ("pPolicyCallbackData", ctypes.c_void_p),
        ("pSIPClientData", ctypes.c_void_p),
        ("dwUIChoice", wintypes.DWORD),
        ("fdwRevocationChecks", wintypes.DWORD),
        ("dwUnionChoice", wintypes.DWORD),
        ("pFile", ctypes.POINTER(WintrustFileInfo)),
        ("dwStateAction", wintypes.DWORD),
        ("hWVTStateData", wintypes.HANDLE),
        ("pwszURLReference", wintypes.LPCWSTR),
        ("dwProvFlags", wintypes.DWORD),
        ("dwUIContext", wintypes.DWORD),
    )


class CryptProviderCert(ctypes.Structure):
    """CRYPT_PROVIDER_CERT."""

    _fields_ = (
        ("cbStruct", wintypes.DWORD),
        ("pCert", ctypes.POINTER(CertContext)),
        ("fCommercial", wintypes.BOOL),
        ("fTrustedRoot", wintypes.BOOL),
        ("fSelfSigned", wintypes.BOOL),
        ("fTestCert", wintypes.BOOL),
        ("dwRevokedReason", wintypes.DWORD),
        ("dwConfidence", wintypes.DWORD),
        ("dwError", wintypes.DWORD),
        ("pTrustListContext", ctypes.c_void_p),
        ("fTrustListSignerCert", wintypes.BOOL),
        ("pCtlContext", ctypes.c_void_p),
        ("dwCtlError", wintypes.DWORD),
        ("fIsCyclic", wintypes.BOOL),
        ("pChainElement", ctypes.c_void_p),
    )


class CryptProviderSgnr(ctypes.Structure):
    """CRYPT_PROVIDER_SGNR: who signed, and when."""

    _fields_ = (
        ("cbStruct", wintypes.DWORD),
        ("sftVerifyAsOf", wintypes.FILETIME),
        ("csCertChain", wintypes.DWORD),
        ("pasCertChain", ctypes.POINTER(CryptProviderCert)),
        ("dwSignerType", wintypes.DWORD),
        ("psSigner", ctypes.c_void_p),
        ("dwError", wintypes.DWORD),
        ("csCounterSigners", wintypes.DWORD),
        ("pasCounterSigners", ctypes.c_void_p),
        ("pChainContext", ctypes.c_void_p),
    )


# verrsrc.h


class FixedFileInfo(ctypes.Structure):
    """VS_FIXEDFILEINFO: versions as numbers of 16 bits, two in a word."""

    _fields_ = tuple(
        (name, wintypes.DWORD)
        for name in (
            *("dwSignature", "dwStrucVersion", "dwFileVersionMS", "dwFileVersionLS", "dwProductVersionMS"),
            *("dwProductVersionLS", "dwFileFlagsMask", "dwFileFlags", "dwFileOS", "dwFileType", "dwFileSubtype"),
            *("dwFileDateMS", "dwFileDateLS"),
        )
    )


# shellapi.h


class ShellExecuteInfo(ctypes.Structure):
    """SHELLEXECUTEINFOW."""

    _fields_ = (
        ("cbSize", wintypes.DWORD),
        ("fMask", wintypes.ULONG),
        ("hwnd", wintypes.HWND),
        ("lpVerb", wintypes.LPCWSTR),
        ("lpFile", wintypes.LPCWSTR),
        ("lpParameters", wintypes.LPCWSTR),
        ("lpDirectory", wintypes.LPCWSTR),
        ("nShow", ctypes.c_int),
        ("hInstApp", wintypes.HINSTANCE),
        ("lpIDList", ctypes.c_void_p),
        ("lpClass", wintypes.LPCWSTR),
        ("hkeyClass", wintypes.HKEY),
        ("dwHotKey", wintypes.DWORD),
        ("hMonitor", wintypes.HANDLE),
        ("hProcess", wintypes.HANDLE),
    )


# minwinbase.h, winnt.h, winbase.h


class SecurityAttributes(ctypes.Structure):
    """SECURITY_ATTRIBUTES."""

    _fields_ = (
        ("nLength", wintypes.DWORD),
        ("lpSecurityDescriptor", ctypes.c_void_p),
        ("bInheritHandle", wintypes.BOOL),
    )


class Acl(ctypes.Structure):
    """ACL, the head of a list of ACEs."""

    _fields_ = (
        ("AclRevision", ctypes.c_ubyte),
        ("Sbz1", ctypes.c_ubyte),
        ("AclSize", wintypes.WORD),
        ("AceCount", wintypes.WORD),
        ("Sbz2", wintypes.WORD),
    )


class AccessAllowedAce(ctypes.Structure):
    """ACCESS_ALLOWED_ACE, whose ACE_HEADER is written out; its SID begins at `SidStart`."""

    _fields_ = (
        ("AceType", ctypes.c_ubyte),
        ("AceFlags", ctypes.c_ubyte),
        ("AceSize", wintypes.WORD),
        ("Mask", wintypes.DWORD),
        ("SidStart", wintypes.DWORD),
    )


class IoCounters(ctypes.Structure):
    """IO_COUNTERS."""

    _fields_ = (
        ("ReadOperationCount", ctypes.c_uint64),
        ("WriteOperationCount", ctypes.c_uint64),
        ("OtherOperationCount", ctypes.c_uint64),
        ("ReadTransferCount", ctypes.c_uint64),
        ("WriteTransferCount", ctypes.c_uint64),
        ("OtherTransferCount", ctypes.c_uint64),
    )


class JobObjectBasicLimitInformation(ctypes.Structure):
    """JOBOBJECT_BASIC_LIMIT_INFORMATION."""

    _fields_ = (
        ("PerProcessUserTimeLimit", ctypes.c_int64),
        ("PerJobUserTimeLimit", ctypes.c_int64),
        ("LimitFlags", wintypes.DWORD),
        ("MinimumWorkingSetSize", ctypes.c_size_t),
        ("MaximumWorkingSetSize", ctypes.c_size_t),
        ("ActiveProcessLimit", wintypes.DWORD),
        ("Affinity", ctypes.c_size_t),
        ("PriorityClass", wintypes.DWORD),
        ("SchedulingClass", wintypes.DWORD),
    )


class JobObjectExtendedLimitInformation(ctypes.Structure):
    """JOBOBJECT_EXTENDED_LIMIT_INFORMATION."""

    _fields_ = (
        ("BasicLimitInformation", JobObjectBasicLimitInformation),
        ("IoInfo", IoCounters),
        ("ProcessMemoryLimit", ctypes.c_size_t),
        ("JobMemoryLimit", ctypes.c_size_t),
        ("PeakProcessMemoryUsed", ctypes.c_size_t),
        ("PeakJobMemoryUsed", ctypes.c_size_t),
    )


class StartupInfo(ctypes.Structure):
    """STARTUPINFOW of processthreadsapi.h."""

    _fields_ = (
        ("cb", wintypes.DWORD),
        ("lpReserved", wintypes.LPWSTR),
        ("lpDesktop", wintypes.LPWSTR),
        ("lpTitle", wintypes.LPWSTR),
        ("dwX", wintypes.DWORD),
        ("dwY", wintypes.DWORD),
        ("dwXSize", wintypes.DWORD),
        ("dwYSize", wintypes.DWORD),
        ("dwXCountChars", wintypes.DWORD),
        ("dwYCountChars", wintypes.DWORD),
        ("dwFillAttribute", wintypes.DWORD),
        ("dwFlags", wintypes.DWORD),
        ("wShowWindow", wintypes.WORD),
        ("cbReserved2", wintypes.WORD),
        ("lpReserved2", ctypes.c_void_p),
        ("hStdInput", wintypes.HANDLE),
        ("hStdOutput", wintypes.HANDLE),
        ("hStdError", wintypes.HANDLE),
    )


class StartupInfoEx(ctypes.Structure):
    """STARTUPINFOEXW of winbase.h; `cb` of the inner one is the size of this one."""

    _fields_ = (("StartupInfo", StartupInfo), ("lpAttributeList", ctypes.c_void_p))


class ProcessInformation(ctypes.Structure):
    """PROCESS_INFORMATION of processthreadsapi.h."""

    _fields_ = (
        ("hProcess", wintypes.HANDLE),
        ("hThread", wintypes.HANDLE),
        ("dwProcessId", wintypes.DWORD),
        ("dwThreadId", wintypes.DWORD),
    )


class SystemPowerStatus(ctypes.Structure):
    """SYSTEM_POWER_STATUS; `SystemStatusFlag` is called Reserved1 in older headers."""

    _fields_ = (
        ("ACLineStatus", ctypes.c_ubyte),
        ("BatteryFlag", ctypes.c_ubyte),
        ("BatteryLifePercent", ctypes.c_ubyte),
        ("SystemStatusFlag", ctypes.c_ubyte),
        ("BatteryLifeTime", wintypes.DWORD),
        ("BatteryFullLifeTime", wintypes.DWORD),
    )


# srrestoreptapi.h


class RestorePointInfo(ctypes.Structure):
    """RESTOREPOINTINFOW."""

    _pack_ = 1
    _fields_ = (
        ("dwEventType", wintypes.DWORD),
        ("dwRestorePtType", wintypes.DWORD),
        ("llSequenceNumber", ctypes.c_int64),
        ("szDescription", wintypes.WCHAR * MAX_DESC_W),
    )


class StateManagerStatus(ctypes.Structure):
    """STATEMGRSTATUS."""

    _pack_ = 1
    _fields_ = (("nStatus", wintypes.DWORD), ("llSequenceNumber", ctypes.c_int64))


# setupapi.h, devpropdef.h


class DeviceInfoData(ctypes.Structure):
    """SP_DEVINFO_DATA."""

    _fields_ = (
        ("cbSize", wintypes.DWORD),
        ("ClassGuid", Guid),
        ("DevInst", wintypes.DWORD),
        ("Reserved", ctypes.c_void_p),
    )


class DevicePropertyKey(ctypes.Structure):
    """DEVPROPKEY."""

    _fields_ = (("fmtid", Guid), ("pid", wintypes.ULONG))


# pdh.h


class CounterValue(ctypes.Structure):
    """PDH_FMT_COUNTERVALUE; of its union the large number."""

    _fields_ = (("CStatus", wintypes.DWORD), ("largeValue", ctypes.c_int64))


class CounterValueItem(ctypes.Structure):
    """PDH_FMT_COUNTERVALUE_ITEM_W."""

    _fields_ = (("szName", wintypes.LPWSTR), ("FmtValue", CounterValue))


# d3dkmthk.h


class OpenAdapterFromLuid(ctypes.Structure):
    """D3DKMT_OPENADAPTERFROMLUID; its LUID is written out."""

    _fields_ = (("LowPart", wintypes.DWORD), ("HighPart", wintypes.LONG), ("hAdapter", wintypes.UINT))


class CloseAdapter(ctypes.Structure):
    """D3DKMT_CLOSEADAPTER."""

    _fields_ = (("hAdapter", wintypes.UINT),)


class AdapterAddress(ctypes.Structure):
    """D3DKMT_ADAPTERADDRESS."""

    _fields_ = (("BusNumber", wintypes.UINT), ("DeviceNumber", wintypes.UINT), ("FunctionNumber", wintypes.UINT))


class QueryAdapterInfo(ctypes.Structure):
    """D3DKMT_QUERYADAPTERINFO."""

    _fields_ = (
        ("hAdapter", wintypes.UINT),
        ("Type", ctypes.c_int),
        ("pPrivateDriverData", ctypes.c_void_p),
        ("PrivateDriverDataSize", wintypes.UINT),
    )


# winhttp.h; texts are pointers, because their receiver frees them


class CurrentUserProxyConfig(ctypes.Structure):
    """WINHTTP_CURRENT_USER_IE_PROXY_CONFIG."""

    _fields_ = (
        ("fAutoDetect", wintypes.BOOL),
        ("lpszAutoConfigUrl", ctypes.c_void_p),
        ("lpszProxy", ctypes.c_void_p),
        ("lpszProxyBypass", ctypes.c_void_p),
    )


class AutoproxyOptions(ctypes.Structure):
    """WINHTTP_AUTOPROXY_OPTIONS."""

    _fields_ = (
        ("dwFlags", wintypes.DWORD),
        ("dwAutoDetectFlags", wintypes.DWORD),
        ("lpszAutoConfigUrl", wintypes.LPCWSTR),
        ("lpvReserved", ctypes.c_void_p),
        ("dwReserved", wintypes.DWORD),
        ("fAutoLogonIfChallenged", wintypes.BOOL),
    )


class ProxyInfo(ctypes.Structure):
    """WINHTTP_PROXY_INFO."""

    _fields_ = (
        ("dwAccessType", wintypes.DWORD),
        ("lpszProxy", ctypes.c_void_p),
        ("lpszProxyBypass", ctypes.c_void_p),
    )
