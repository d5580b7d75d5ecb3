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
from .windows_guid import guid  # noqa: E402

ACTION = "{00AAC56B-CD44-11D0-8CC2-00C04FC295EE}"  # WINTRUST_ACTION_GENERIC_VERIFY_V2
# wintrust.h
UI_NONE = 2
REVOKE_NONE, REVOKE_CHAIN = 0, 1
CHOICE_FILE = 1
VERIFY, CLOSE = 1, 2
REVOCATION_CHECK_CHAIN_EXCLUDE_ROOT = 0x80
# wincrypt.h
ORGANISATION = b"2.5.4.10"
COMMON_NAME = b"2.5.4.3"
CERT_NAME_ATTR_TYPE = 3
# winerror.h
MISSING = {0x800B0100, 0x800B0003, 0x800B0001}  # no signature; a form, a subject that Windows cannot read
BROKEN = {0x80096010, 0x80096019, 0x80092009, 0x80090008, 0x80096004}  # the bytes and the signature do not fit
EXPIRED = {0x800B0101, 0x800B0102, 0x80096005}
CERT_EXPIRED, CERT_UNTRUSTED = 0x800B0101, 0x800B0109
UNREACHABLE = {0x800B010E, 0x80092012, 0x80092013}  # whether it was revoked cannot be found out just now


class _File(ctypes.Structure):
    _fields_ = (
        ("size", wintypes.DWORD),
        ("path", wintypes.LPCWSTR),
        ("handle", wintypes.HANDLE),
        ("subject", ctypes.c_void_p),
    )


class _Data(ctypes.Structure):
    _fields_ = (
        ("size", wintypes.DWORD),
        ("policy", ctypes.c_void_p),
        ("sip", ctypes.c_void_p),
        ("ui", wintypes.DWORD),
        ("revocation", wintypes.DWORD),
        ("choice", wintypes.DWORD),
        ("file", ctypes.POINTER(_File)),
        ("action", wintypes.DWORD),
        ("state", wintypes.HANDLE),
        ("url", wintypes.LPCWSTR),
        ("flags", wintypes.DWORD),
        ("context", wintypes.DWORD),
        ("settings", ctypes.c_void_p),
    )


class _Certificate(ctypes.Structure):  # the head of CRYPT_PROVIDER_CERT
    _fields_ = (("size", wintypes.DWORD), ("context", ctypes.POINTER(chain.Context)))


class _Signer(ctypes.Structure):  # the head of CRYPT_PROVIDER_SGNR
    _fields_ = (
        ("size", wintypes.DWORD),
        ("as_of", wintypes.FILETIME),
        ("chain_length", wintypes.DWORD),
        ("certificates", ctypes.POINTER(_Certificate)),
        ("kind", wintypes.DWORD),
        ("info", ctypes.c_void_p),
    )


class _Usage(ctypes.Structure):  # CERT_ENHKEY_USAGE
    _fields_ = (("count", wintypes.DWORD), ("names", ctypes.POINTER(ctypes.c_char_p)))


def publisher(file: Path, root: bytes | None = None) -> str:
    """The organisation in the certificate of the one who signed; raises as `rights.Rights.publisher` says.

    `root` is the one authority to trust (DER) in place of Windows' own.
    """
    error, name = _ask(file, REVOKE_CHAIN, root)
    if error in UNREACHABLE:
        error, name = _ask(file, REVOKE_NONE, root)
    if error in MISSING:
        raise AppError("signature-missing", path=file.name)
    if error in BROKEN:
        raise AppError("signature-broken", path=file.name)
    if error in EXPIRED:
        raise AppError("signature-expired", path=file.name)
    if error or name is None:
        raise AppError("signature-untrusted", path=file.name, detail=f"0x{error:08X}")
    return name


def _ask(file: Path, revocation: int, root: bytes | None) -> tuple[int, str | None]:
    """Windows' verdict (0: trusted) and whose it is; None where the certificate is not one for code."""
    trust = ctypes.WinDLL("wintrust", winmode=0x800)
    trust.WinVerifyTrust.argtypes = (wintypes.HWND, ctypes.c_void_p, ctypes.c_void_p)
    action = guid(ACTION)
    info = _File(size=ctypes.sizeof(_File), path=str(file))
    data = _Data(
        size=ctypes.sizeof(_Data),
        ui=UI_NONE,
        revocation=revocation,
        choice=CHOICE_FILE,
        file=ctypes.pointer(info),
        action=VERIFY,
        flags=REVOCATION_CHECK_CHAIN_EXCLUDE_ROOT if revocation else 0,
    )
    nobody = wintypes.HWND(-1)  # INVALID_HANDLE_VALUE: no window and no question
    error = trust.WinVerifyTrust(nobody, ctypes.byref(action), ctypes.byref(data)) & 0xFFFFFFFF
    try:
        if error and not (error == CERT_UNTRUSTED and root is not None):
            return error, None
        return _signer(trust, data.state, root)
    finally:
        data.action = CLOSE
        trust.WinVerifyTrust(nobody, ctypes.byref(action), ctypes.byref(data))


def _signer(trust: ctypes.WinDLL, state: int | None, root: bytes | None) -> tuple[int, str | None]:
    trust.WTHelperProvDataFromStateData.restype = ctypes.c_void_p
    trust.WTHelperProvDataFromStateData.argtypes = (wintypes.HANDLE,)
    trust.WTHelperGetProvSignerFromChain.restype = ctypes.POINTER(_Signer)
    trust.WTHelperGetProvSignerFromChain.argtypes = (
        ctypes.c_void_p,
        wintypes.DWORD,
        wintypes.BOOL,
        wintypes.DWORD,
    )
    provided = trust.WTHelperProvDataFromStateData(state)
    found = trust.WTHelperGetProvSignerFromChain(provided, 0, False, 0) if provided else None
    signer = found.contents if found else None
    if signer is None or not signer.chain_length or not signer.certificates:
        return CERT_UNTRUSTED, None
    certificate = signer.certificates.contents.context
    wrong = chain.errors(certificate, signer.as_of, root)
    if wrong:
        return CERT_EXPIRED if wrong == chain.NOT_TIME_VALID else CERT_UNTRUSTED, None
    return 0, _name(certificate)


def _name(context: ctypes._Pointer[chain.Context]) -> str | None:
    """The organisation, where it is also the name that Windows shows and the certificate is one for code."""
    if chain.CODE_SIGNING not in _purposes(context):
        return None
    organisation, common = _attribute(context, ORGANISATION), _attribute(context, COMMON_NAME)
    return organisation if organisation and organisation == common else None


def _attribute(context: ctypes._Pointer[chain.Context], name: bytes) -> str:
    crypt = ctypes.WinDLL("crypt32", winmode=0x800)
    crypt.CertGetNameStringW.argtypes = (
        ctypes.c_void_p,
        wintypes.DWORD,
        wintypes.DWORD,
        ctypes.c_char_p,
        wintypes.LPWSTR,
        wintypes.DWORD,
    )
    buffer = ctypes.create_unicode_buffer(512)
    crypt.CertGetNameStringW(context, CERT_NAME_ATTR_TYPE, 0, name, buffer, len(buffer))
    return buffer.value


def _purposes(context: ctypes._Pointer[chain.Context]) -> set[bytes]:
    """What the certificate says it is for; nothing said is nothing."""
    crypt = ctypes.WinDLL("crypt32", winmode=0x800)
    crypt.CertGetEnhancedKeyUsage.argtypes = (
        ctypes.c_void_p,
        wintypes.DWORD,
        ctypes.c_void_p,
        ctypes.POINTER(wintypes.DWORD),
    )
    size = wintypes.DWORD()
    if not crypt.CertGetEnhancedKeyUsage(context, 0, None, ctypes.byref(size)) or not size.value:
        return set()
    buffer = ctypes.create_string_buffer(size.value)
    if not crypt.CertGetEnhancedKeyUsage(context, 0, buffer, ctypes.byref(size)):
        return set()
    usage = ctypes.cast(buffer, ctypes.POINTER(_Usage)).contents
    return {usage.names[number] or b"" for number in range(usage.count)}
