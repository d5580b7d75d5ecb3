"""Who signed a program (Authenticode), by Windows' own judgement: WinVerifyTrust.

It checks the file's hash against the signature, the chain up to a root that this Windows trusts, the purpose "code",
and the time: within the certificate's, or within it by a trusted time stamp. Revoked certificates are refused where
their publisher's list can be reached. The chain is built once more by `windows_rights_chain`, for code and for the
time of the stamp: rules of an organisation can make WinVerifyTrust take test certificates and expired ones.
"""

from __future__ import annotations

import sys

assert sys.platform == "win32"  # noqa: S101 - the type checker reads this too

import ctypes  # noqa: E402
from ctypes import wintypes  # noqa: E402
from pathlib import Path  # noqa: E402

from ..core.errors import AppError  # noqa: E402
from . import windows_rights_chain as chain  # noqa: E402
from .windows_guid import guid_from_text  # noqa: E402

WINTRUST_ACTION_GENERIC_VERIFY = "{00AAC56B-CD44-11D0-8CC2-00C04FC295EE}"  # WINTRUST_ACTION_GENERIC_VERIFY_V2
# wintrust.h
WTD_UI_NONE = 2
WTD_REVOKE_NONE, WTD_REVOKE_WHOLECHAIN = 0, 1
WTD_CHOICE_FILE = 1
WTD_STATEACTION_VERIFY, WTD_STATEACTION_CLOSE = 1, 2
REVOCATION_CHECK_CHAIN_EXCLUDE_ROOT = 0x80
# wincrypt.h
OID_ORGANIZATION = b"2.5.4.10"
OID_COMMON_NAME = b"2.5.4.3"
CERT_NAME_ATTR_TYPE = 3
# winerror.h
SIGNATURE_MISSING = {0x800B0100, 0x800B0003, 0x800B0001}  # no signature; a form, a subject that Windows cannot read
SIGNATURE_BROKEN = {0x80096010, 0x80096019, 0x80092009, 0x80090008, 0x80096004}  # the bytes and the signature do not fit
SIGNATURE_EXPIRED = {0x800B0101, 0x800B0102, 0x80096005}
CERT_E_EXPIRED, CERT_E_UNTRUSTEDROOT = 0x800B0101, 0x800B0109
REVOCATION_UNREACHABLE = {0x800B010E, 0x80092012, 0x80092013}  # whether it was revoked cannot be found out just now


class _WinTrustFileInfo(ctypes.Structure):
    _fields_ = (
        ("size", wintypes.DWORD),
        ("path", wintypes.LPCWSTR),
        ("handle", wintypes.HANDLE),
        ("subject", ctypes.c_void_p),
    )


class _WinTrustData(ctypes.Structure):
    _fields_ = (
        ("size", wintypes.DWORD),
        ("policy", ctypes.c_void_p),
        ("sip", ctypes.c_void_p),
        ("ui", wintypes.DWORD),
        ("revocation", wintypes.DWORD),
        ("choice", wintypes.DWORD),
        ("file", ctypes.POINTER(_WinTrustFileInfo)),
        ("action", wintypes.DWORD),
        ("state", wintypes.HANDLE),
        ("url", wintypes.LPCWSTR),
        ("flags", wintypes.DWORD),
        ("context", wintypes.DWORD),
        ("settings", ctypes.c_void_p),
    )


class _ProviderCertificate(ctypes.Structure):  # the head of CRYPT_PROVIDER_CERT
    _fields_ = (("size", wintypes.DWORD), ("context", ctypes.POINTER(chain.CertificateContext)))


class _ProviderSigner(ctypes.Structure):  # the head of CRYPT_PROVIDER_SGNR
    _fields_ = (
        ("size", wintypes.DWORD),
        ("as_of", wintypes.FILETIME),
        ("chain_length", wintypes.DWORD),
        ("certificates", ctypes.POINTER(_ProviderCertificate)),
        ("kind", wintypes.DWORD),
        ("info", ctypes.c_void_p),
    )


class _EnhancedKeyUsage(ctypes.Structure):  # CERT_ENHKEY_USAGE
    _fields_ = (("count", wintypes.DWORD), ("names", ctypes.POINTER(ctypes.c_char_p)))


def verify_publisher(file: Path, root_certificate: bytes | None = None) -> str:
    """The organisation in the certificate of the one who signed; raises as `rights.Rights.publisher` says.

    `root` is the one authority to trust (DER) in place of Windows' own.
    """
    error, name = _win_verify_trust(file, WTD_REVOKE_WHOLECHAIN, root_certificate)
    if error in REVOCATION_UNREACHABLE:
        error, name = _win_verify_trust(file, WTD_REVOKE_NONE, root_certificate)
    if error in SIGNATURE_MISSING:
        raise AppError("signature-missing", path=file.name)
    if error in SIGNATURE_BROKEN:
        raise AppError("signature-broken", path=file.name)
    if error in SIGNATURE_EXPIRED:
        raise AppError("signature-expired", path=file.name)
    if error or name is None:
        raise AppError("signature-untrusted", path=file.name, detail=f"0x{error:08X}")
    return name


def _win_verify_trust(file: Path, revocation: int, root_certificate: bytes | None) -> tuple[int, str | None]:
    """Windows' verdict (0: trusted) and whose it is; None where the certificate is not one for code."""
    wintrust = ctypes.WinDLL("wintrust", winmode=0x800)
    wintrust.WinVerifyTrust.argtypes = (wintypes.HWND, ctypes.c_void_p, ctypes.c_void_p)
    action = guid_from_text(WINTRUST_ACTION_GENERIC_VERIFY)
    info = _WinTrustFileInfo(size=ctypes.sizeof(_WinTrustFileInfo), path=str(file))
    data = _WinTrustData(
        size=ctypes.sizeof(_WinTrustData),
        ui=WTD_UI_NONE,
        revocation=revocation,
        choice=WTD_CHOICE_FILE,
        file=ctypes.pointer(info),
        action=WTD_STATEACTION_VERIFY,
        flags=REVOCATION_CHECK_CHAIN_EXCLUDE_ROOT if revocation else 0,
    )
    no_window = wintypes.HWND(-1)  # INVALID_HANDLE_VALUE: no window and no question
    error = wintrust.WinVerifyTrust(no_window, ctypes.byref(action), ctypes.byref(data)) & 0xFFFFFFFF
    try:
        if error and not (error == CERT_E_UNTRUSTEDROOT and root_certificate is not None):
            return error, None
        return _verify_signer(wintrust, data.state, root_certificate)
    finally:
        data.action = WTD_STATEACTION_CLOSE
        wintrust.WinVerifyTrust(no_window, ctypes.byref(action), ctypes.byref(data))


def _verify_signer(wintrust: ctypes.WinDLL, state: int | None, root_certificate: bytes | None) -> tuple[int, str | None]:
    wintrust.WTHelperProvDataFromStateData.restype = ctypes.c_void_p
    wintrust.WTHelperProvDataFromStateData.argtypes = (wintypes.HANDLE,)
    wintrust.WTHelperGetProvSignerFromChain.restype = ctypes.POINTER(_ProviderSigner)
    wintrust.WTHelperGetProvSignerFromChain.argtypes = (
        ctypes.c_void_p,
        wintypes.DWORD,
        wintypes.BOOL,
        wintypes.DWORD,
    )
    provider_data = wintrust.WTHelperProvDataFromStateData(state)
    signer_pointer = wintrust.WTHelperGetProvSignerFromChain(provider_data, 0, False, 0) if provider_data else None
    signer = signer_pointer.contents if signer_pointer else None
    if signer is None or not signer.chain_length or not signer.certificates:
        return CERT_E_UNTRUSTEDROOT, None
    certificate = signer.certificates.contents.context
    error = chain.chain_errors(certificate, signer.as_of, root_certificate)
    if error:
        return CERT_E_EXPIRED if error == chain.CERT_TRUST_IS_NOT_TIME_VALID else CERT_E_UNTRUSTEDROOT, None
    return 0, _publisher_name(certificate)


def _publisher_name(context: ctypes._Pointer[chain.CertificateContext]) -> str | None:
    """The organisation, where it is also the name that Windows shows and the certificate is one for code."""
    if chain.CODE_SIGNING not in _enhanced_key_usages(context):
        return None
    organization, common_name = _name_attribute(context, OID_ORGANIZATION), _name_attribute(context, OID_COMMON_NAME)
    return organization if organization and organization == common_name else None


def _name_attribute(context: ctypes._Pointer[chain.CertificateContext], name: bytes) -> str:
    crypt32 = ctypes.WinDLL("crypt32", winmode=0x800)
    crypt32.CertGetNameStringW.argtypes = (
        ctypes.c_void_p,
        wintypes.DWORD,
        wintypes.DWORD,
        ctypes.c_char_p,
        wintypes.LPWSTR,
        wintypes.DWORD,
    )
    buffer = ctypes.create_unicode_buffer(512)
    crypt32.CertGetNameStringW(context, CERT_NAME_ATTR_TYPE, 0, name, buffer, len(buffer))
    return buffer.value


def _enhanced_key_usages(context: ctypes._Pointer[chain.CertificateContext]) -> set[bytes]:
    """What the certificate says it is for; nothing said is nothing."""
    crypt32 = ctypes.WinDLL("crypt32", winmode=0x800)
    crypt32.CertGetEnhancedKeyUsage.argtypes = (
        ctypes.c_void_p,
        wintypes.DWORD,
        ctypes.c_void_p,
        ctypes.POINTER(wintypes.DWORD),
    )
    size = wintypes.DWORD()
    if not crypt32.CertGetEnhancedKeyUsage(context, 0, None, ctypes.byref(size)) or not size.value:
        return set()
    buffer = ctypes.create_string_buffer(size.value)
    if not crypt32.CertGetEnhancedKeyUsage(context, 0, buffer, ctypes.byref(size)):
        return set()
    usage = ctypes.cast(buffer, ctypes.POINTER(_EnhancedKeyUsage)).contents
    return {usage.names[index] or b"" for index in range(usage.count)}
