"""Who signed a program (Authenticode), as Windows itself verifies it.

verify_publisher
  WinVerifyTrust    the file's hash against the signature; the chain up to a root that this Windows trusts; the
                    purpose "code signing"; the time: within the certificate's, or by a trusted time stamp.
                    Revoked certificates are refused where their publisher's list can be reached.
  chain_errors      builds the chain once more, by crypt32, for code signing at the time of the stamp: an
                    organisation's policies can make WinVerifyTrust accept test certificates and expired ones.
  _publisher_name   the organisation in the signer's certificate
"""

from __future__ import annotations

import sys

assert sys.platform == "win32"  # noqa: S101 - the type checker reads this too

import ctypes
from ctypes import wintypes
from pathlib import Path

from ...core.errors import AppError
from .com import guid_from_text
from .functions import crypt32, wintrust
from .structures import (
    CertChainContext,
    CertChainEngineConfig,
    CertChainPara,
    CertContext,
    CertEnhkeyUsage,
    CertUsageMatch,
    WintrustData,
    WintrustFileInfo,
)

# wincrypt.h
CODE_SIGNING = b"1.3.6.1.5.5.7.3.3"
X509_ASN_ENCODING = 0x1
CERT_STORE_PROV_MEMORY = 2
CERT_STORE_ADD_ALWAYS = 4
USAGE_MATCH_TYPE_AND = 0
CERT_TRUST_IS_NOT_TIME_VALID = 0x1
# CERT_TRUST_IS_NOT_TIME_NESTED, _REVOCATION_STATUS_UNKNOWN, _IS_OFFLINE_REVOCATION
TOLERATED_CHAIN_ERRORS = 0x2 | 0x40 | 0x1000000

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
# winerror.h: no signature; a file format, a signature format that Windows does not know
SIGNATURE_MISSING = {0x800B0100, 0x800B0003, 0x800B0001}
# The bytes do not match the signature.
SIGNATURE_BROKEN = {0x80096010, 0x80096019, 0x80092009, 0x80090008, 0x80096004}
SIGNATURE_EXPIRED = {0x800B0101, 0x800B0102, 0x80096005}
CERT_E_EXPIRED, CERT_E_UNTRUSTEDROOT = 0x800B0101, 0x800B0109
# Whether the certificate was revoked cannot be found out now.
REVOCATION_UNREACHABLE = {0x800B010E, 0x80092012, 0x80092013}


def verify_publisher(file: Path, root_certificate: bytes | None = None) -> str:
    """The organisation in the signer's certificate; raises as `elevation.WindowsAdministration.publisher` says.

    `root_certificate` (DER) is the only authority that is trusted; None: those that Windows trusts.
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


def chain_errors(certificate: ctypes._Pointer[CertContext], verified_at: wintypes.FILETIME, root: bytes | None) -> int:
    """The errors of the chain for code signing at that time (CERT_TRUST_… bits), 0 for none.

    `root` (DER) is the only authority that is trusted; None: those that Windows trusts. Raises OSError.
    """
    engine = ctypes.c_void_p() if root is None else _create_chain_engine(root)
    usages = (ctypes.c_char_p * 1)(CODE_SIGNING)
    parameters = CertChainPara(
        cbSize=ctypes.sizeof(CertChainPara),
        RequestedUsage=CertUsageMatch(dwType=USAGE_MATCH_TYPE_AND, Usage=CertEnhkeyUsage(len(usages), usages)),
    )
    chain = ctypes.POINTER(CertChainContext)()
    try:
        if not crypt32.CertGetCertificateChain(
            engine,
            certificate,
            ctypes.byref(verified_at),
            certificate.contents.hCertStore,
            ctypes.byref(parameters),
            0,
            None,
            ctypes.byref(chain),
        ):
            raise ctypes.WinError(ctypes.get_last_error())
        error: int = chain.contents.TrustStatus.dwErrorStatus & ~TOLERATED_CHAIN_ERRORS
        crypt32.CertFreeCertificateChain(chain)
        return error
    finally:
        if root is not None:
            crypt32.CertFreeCertificateChainEngine(engine)


def _create_chain_engine(root: bytes) -> ctypes.c_void_p:
    store = ctypes.c_void_p(crypt32.CertOpenStore(CERT_STORE_PROV_MEMORY, 0, None, 0, None))
    engine = ctypes.c_void_p()
    try:
        config = CertChainEngineConfig(cbSize=ctypes.sizeof(CertChainEngineConfig), hExclusiveRoot=store)
        if not crypt32.CertAddEncodedCertificateToStore(
            store, X509_ASN_ENCODING, root, len(root), CERT_STORE_ADD_ALWAYS, None
        ) or not crypt32.CertCreateCertificateChainEngine(ctypes.byref(config), ctypes.byref(engine)):
            raise ctypes.WinError(ctypes.get_last_error())
    finally:
        crypt32.CertCloseStore(store, 0)
    return engine


def _win_verify_trust(file: Path, revocation: int, root_certificate: bytes | None) -> tuple[int, str | None]:
    """The error code (0: trusted) and the publisher; None where the certificate is not one for code signing."""
    action = guid_from_text(WINTRUST_ACTION_GENERIC_VERIFY)
    info = WintrustFileInfo(cbStruct=ctypes.sizeof(WintrustFileInfo), pcwszFilePath=str(file))
    data = WintrustData(
        cbStruct=ctypes.sizeof(WintrustData),
        dwUIChoice=WTD_UI_NONE,
        fdwRevocationChecks=revocation,
        dwUnionChoice=WTD_CHOICE_FILE,
        pFile=ctypes.pointer(info),
        dwStateAction=WTD_STATEACTION_VERIFY,
        dwProvFlags=REVOCATION_CHECK_CHAIN_EXCLUDE_ROOT if revocation else 0,
    )
    no_window = wintypes.HWND(-1)  # INVALID_HANDLE_VALUE: no window, no question to the user
    error = wintrust.WinVerifyTrust(no_window, ctypes.byref(action), ctypes.byref(data)) & 0xFFFFFFFF
    try:
        if error and not (error == CERT_E_UNTRUSTEDROOT and root_certificate is not None):
            return error, None
        return _verify_signer(data.hWVTStateData, root_certificate)
    finally:
        data.dwStateAction = WTD_STATEACTION_CLOSE
        wintrust.WinVerifyTrust(no_window, ctypes.byref(action), ctypes.byref(data))


def _verify_signer(state: int | None, root_certificate: bytes | None) -> tuple[int, str | None]:
    provider_data = wintrust.WTHelperProvDataFromStateData(state)
    signer_pointer = wintrust.WTHelperGetProvSignerFromChain(provider_data, 0, False, 0) if provider_data else None
    signer = signer_pointer.contents if signer_pointer else None
    if signer is None or not signer.csCertChain or not signer.pasCertChain:
        return CERT_E_UNTRUSTEDROOT, None
    certificate = signer.pasCertChain.contents.pCert
    error = chain_errors(certificate, signer.sftVerifyAsOf, root_certificate)
    if error:
        return CERT_E_EXPIRED if error == CERT_TRUST_IS_NOT_TIME_VALID else CERT_E_UNTRUSTEDROOT, None
    return 0, _publisher_name(certificate)


def _publisher_name(context: ctypes._Pointer[CertContext]) -> str | None:
    """The organisation, if it is also the common name (which Windows shows) and the certificate is for code signing."""
    if CODE_SIGNING not in _enhanced_key_usages(context):
        return None
    organization, common_name = _name_attribute(context, OID_ORGANIZATION), _name_attribute(context, OID_COMMON_NAME)
    return organization if organization and organization == common_name else None


def _name_attribute(context: ctypes._Pointer[CertContext], name: bytes) -> str:
    buffer = ctypes.create_unicode_buffer(512)
    crypt32.CertGetNameStringW(context, CERT_NAME_ATTR_TYPE, 0, name, buffer, len(buffer))
    return buffer.value


def _enhanced_key_usages(context: ctypes._Pointer[CertContext]) -> set[bytes]:
    """The purposes of the certificate; one that names none has none."""
    size = wintypes.DWORD()
    if not crypt32.CertGetEnhancedKeyUsage(context, 0, None, ctypes.byref(size)) or not size.value:
        return set()
    buffer = ctypes.create_string_buffer(size.value)
    if not crypt32.CertGetEnhancedKeyUsage(context, 0, buffer, ctypes.byref(size)):
        return set()
    usage = ctypes.cast(buffer, ctypes.POINTER(CertEnhkeyUsage)).contents
    return {usage.rgpszUsageIdentifier[index] or b"" for index in range(usage.cUsageIdentifier)}
