"""Who signed a program (Authenticode), as Windows itself verifies it.

verify_publisher
  WinVerifyTrust    the file's hash against the signature; the chain up to a root that this Windows trusts; the
                    purpose "code signing"; the time: within the certificate's, or by a trusted time stamp.
                    Revoked certificates are refused where their publisher's list can be reached.
  chain_errors      builds the chain once more, by crypt32: up to a root of the computer's own store, which only
                    administrators change. For a file WinVerifyTrust takes roots of the user's store, too, with no flag
                    against it (WTCI_USE_LOCAL_MACHINE is for WTD_CHOICE_CERT alone); an organisation's policies can
                    make it accept test certificates and expired ones. What lies between certificate and root came with
                    the signature, that of a time stamp in a message of its own: the chain that WinVerifyTrust built.
  _stamped_at       the time stamp, where its chain holds for time stamping by the same roots: a stamp of the user's own
                    would make a leaked certificate of long ago good again. Without one the chain must hold today.
  _publisher_name   the organisation in the signer's certificate

https://learn.microsoft.com/windows/win32/api/wincrypt/nf-wincrypt-certgetcertificatechain (HCCE_LOCAL_MACHINE),
https://learn.microsoft.com/windows/win32/api/wintrust/ns-wintrust-wintrust_data,
https://learn.microsoft.com/windows/win32/api/wintrust/ns-wintrust-crypt_provider_sgnr
"""

from __future__ import annotations

import sys

assert sys.platform == "win32"  # noqa: S101 - the type checker reads this too

import ctypes
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from ctypes import wintypes
from datetime import UTC, datetime
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
    CryptProviderSgnr,
    WintrustData,
    WintrustFileInfo,
)

# wincrypt.h
CODE_SIGNING, TIME_STAMPING = b"1.3.6.1.5.5.7.3.3", b"1.3.6.1.5.5.7.3.8"
HCCE_LOCAL_MACHINE = 1
X509_ASN_ENCODING = 0x1
CERT_STORE_PROV_MEMORY, CERT_STORE_PROV_COLLECTION = 2, 11
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
# winerror.h
TRUST_E_PROVIDER_UNKNOWN, TRUST_E_SUBJECT_FORM_UNKNOWN, TRUST_E_NOSIGNATURE = 0x800B0001, 0x800B0003, 0x800B0100
TRUST_E_CERT_SIGNATURE, TRUST_E_BAD_DIGEST = 0x80096004, 0x80096010
NTE_BAD_SIGNATURE, CRYPT_E_HASH_VALUE = 0x80090006, 0x80091007
CERT_E_EXPIRED, CERT_E_VALIDITYPERIODNESTING, TRUST_E_TIME_STAMP = 0x800B0101, 0x800B0102, 0x80096005
CERT_E_UNTRUSTEDROOT = 0x800B0109
CERT_E_REVOCATION_FAILURE, CRYPT_E_NO_REVOCATION_CHECK, CRYPT_E_REVOCATION_OFFLINE = 0x800B010E, 0x80092012, 0x80092013
# No signature; a file format, a signature format that Windows does not know.
SIGNATURE_MISSING = {TRUST_E_NOSIGNATURE, TRUST_E_SUBJECT_FORM_UNKNOWN, TRUST_E_PROVIDER_UNKNOWN}
# The bytes do not match the signature.
SIGNATURE_BROKEN = {TRUST_E_BAD_DIGEST, TRUST_E_CERT_SIGNATURE, NTE_BAD_SIGNATURE, CRYPT_E_HASH_VALUE}
SIGNATURE_EXPIRED = {CERT_E_EXPIRED, CERT_E_VALIDITYPERIODNESTING, TRUST_E_TIME_STAMP}
# Whether the certificate was revoked cannot be found out now.
REVOCATION_UNREACHABLE = {CERT_E_REVOCATION_FAILURE, CRYPT_E_NO_REVOCATION_CHECK, CRYPT_E_REVOCATION_OFFLINE}
SIGNED_BEFORE = -1  # our own: a good signature of an earlier time
FILETIME_EPOCH, TICKS_PER_SECOND = datetime(1601, 1, 1, tzinfo=UTC), 10_000_000  # minwinbase.h


def verify_publisher(file: Path, root_certificate: bytes | None = None, signed_since: datetime | None = None) -> str:
    """The organisation in the signer's certificate; raises as `elevation.WindowsAdministration.publisher` says.

    `root_certificate` (DER) is the only authority that is trusted; None: those of the computer's store. `signed_since`:
    a signature that is not proven to be of that time or later is refused.
    """
    error, name = _win_verify_trust(file, WTD_REVOKE_WHOLECHAIN, root_certificate, signed_since)
    if error in REVOCATION_UNREACHABLE:
        error, name = _win_verify_trust(file, WTD_REVOKE_NONE, root_certificate, signed_since)
    if error in SIGNATURE_MISSING:
        raise AppError("signature-missing", path=file.name)
    if error in SIGNATURE_BROKEN:
        raise AppError("signature-broken", path=file.name)
    if error in SIGNATURE_EXPIRED:
        raise AppError("signature-expired", path=file.name)
    if error == SIGNED_BEFORE and signed_since is not None:
        raise AppError("signature-older", path=file.name, since=signed_since.date().isoformat())
    if error or name is None:
        raise AppError("signature-untrusted", path=file.name, detail=f"0x{error:08X}")
    return name


def chain_errors(
    certificates: Sequence[ctypes._Pointer[CertContext]],
    verified_at: wintypes.FILETIME | None,
    root: bytes | None,
    usage: bytes = CODE_SIGNING,
) -> int:
    """The errors of the chain of the first one, through the others, for that purpose at that time, None: now
    (CERT_TRUST_… bits); 0 for none.

    `root` (DER) is the only authority that is trusted; None: those of the computer's store. Raises OSError.
    """
    engine = ctypes.c_void_p(HCCE_LOCAL_MACHINE) if root is None else _create_chain_engine(root)
    usages = (ctypes.c_char_p * 1)(usage)
    parameters = CertChainPara(
        cbSize=ctypes.sizeof(CertChainPara),
        RequestedUsage=CertUsageMatch(dwType=USAGE_MATCH_TYPE_AND, Usage=CertEnhkeyUsage(len(usages), usages)),
    )
    chain = ctypes.POINTER(CertChainContext)()
    try:
        with _store_of(certificates) as store:
            if not crypt32.CertGetCertificateChain(
                engine,
                certificates[0],
                None if verified_at is None else ctypes.byref(verified_at),
                store,
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


@contextmanager
def _store_of(certificates: Sequence[ctypes._Pointer[CertContext]]) -> Iterator[ctypes.c_void_p]:
    """The certificates, and what lies in the store of the first one: where it was sent, the others may be, too."""
    memory, collection = _open_store(CERT_STORE_PROV_MEMORY), _open_store(CERT_STORE_PROV_COLLECTION)
    try:
        for certificate in certificates:
            if not crypt32.CertAddCertificateContextToStore(memory, certificate, CERT_STORE_ADD_ALWAYS, None):
                raise ctypes.WinError(ctypes.get_last_error())
        for store in (memory, certificates[0].contents.hCertStore):
            if store and not crypt32.CertAddStoreToCollection(collection, store, 0, 0):
                raise ctypes.WinError(ctypes.get_last_error())
        yield collection
    finally:
        for store in (collection, memory):
            crypt32.CertCloseStore(store, 0)


def _open_store(provider: int) -> ctypes.c_void_p:
    store = ctypes.c_void_p(crypt32.CertOpenStore(provider, 0, None, 0, None))
    if not store:
        raise ctypes.WinError(ctypes.get_last_error())
    return store


def _create_chain_engine(root: bytes) -> ctypes.c_void_p:
    store = _open_store(CERT_STORE_PROV_MEMORY)
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


def _win_verify_trust(
    file: Path, revocation: int, root_certificate: bytes | None, signed_since: datetime | None
) -> tuple[int, str | None]:
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
        return _verify_signer(data.hWVTStateData, root_certificate, signed_since)
    finally:
        data.dwStateAction = WTD_STATEACTION_CLOSE
        wintrust.WinVerifyTrust(no_window, ctypes.byref(action), ctypes.byref(data))


def _verify_signer(
    state: int | None, root_certificate: bytes | None, signed_since: datetime | None
) -> tuple[int, str | None]:
    provider_data = wintrust.WTHelperProvDataFromStateData(state)
    signer = wintrust.WTHelperGetProvSignerFromChain(provider_data, 0, False, 0) if provider_data else None
    certificates = _certificates(signer)
    if signer is None or not certificates:
        return CERT_E_UNTRUSTEDROOT, None
    stamped_at = _stamped_at(provider_data, signer.contents, root_certificate)
    error = chain_errors(certificates, stamped_at, root_certificate)
    if error:
        return CERT_E_EXPIRED if error == CERT_TRUST_IS_NOT_TIME_VALID else CERT_E_UNTRUSTEDROOT, None
    if signed_since is not None and not _is_signed_since(signed_since, certificates[0], stamped_at):
        return SIGNED_BEFORE, None
    return 0, _publisher_name(certificates[0])


def _certificates(signer: ctypes._Pointer[CryptProviderSgnr] | None) -> list[ctypes._Pointer[CertContext]]:
    """The chain as WinVerifyTrust built it, the signer's own certificate first; empty where there is none."""
    if not signer:
        return []
    count = signer.contents.csCertChain
    found = (wintrust.WTHelperGetProvCertFromChain(signer, index) for index in range(count))
    return [each.contents.pCert for each in found if each and each.contents.pCert]


def _stamped_at(
    provider_data: int, signer: CryptProviderSgnr, root_certificate: bytes | None
) -> wintypes.FILETIME | None:
    """When a trusted authority stamped the signature; None without such a stamp."""
    stamp = wintrust.WTHelperGetProvSignerFromChain(provider_data, 0, True, 0) if signer.csCounterSigners else None
    certificates = _certificates(stamp)
    if not certificates:
        return None
    stamped_at: wintypes.FILETIME = signer.sftVerifyAsOf
    return None if chain_errors(certificates, stamped_at, root_certificate, TIME_STAMPING) else stamped_at


def _is_signed_since(
    moment: datetime, certificate: ctypes._Pointer[CertContext], stamped_at: wintypes.FILETIME | None
) -> bool:
    """Whether the stamp, or else the certificate itself, is of that time or later."""
    ticks = int((moment - FILETIME_EPOCH).total_seconds()) * TICKS_PER_SECOND
    if stamped_at is not None:
        return stamped_at.dwHighDateTime << 32 | stamped_at.dwLowDateTime >= ticks
    begin = wintypes.FILETIME(ticks & 0xFFFFFFFF, ticks >> 32)
    # -1: before the certificate's first moment.
    return int(crypt32.CertVerifyTimeValidity(ctypes.byref(begin), certificate.contents.pCertInfo)) < 0


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
