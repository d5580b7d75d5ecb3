"""The chain from a signer's certificate up to a trusted root, built by Windows' crypt32."""

from __future__ import annotations

import sys

assert sys.platform == "win32"  # noqa: S101 - the type checker reads this too

import ctypes  # noqa: E402
from ctypes import wintypes  # noqa: E402

# wincrypt.h
CODE_SIGNING = b"1.3.6.1.5.5.7.3.3"
X509_ASN_ENCODING = 0x1
CERT_STORE_PROV_MEMORY = 2
CERT_STORE_ADD_ALWAYS = 4
CERT_TRUST_IS_NOT_TIME_VALID = 0x1
TOLERATED_CHAIN_ERRORS = 0x2 | 0x40 | 0x1000000  # times not nested; whether it was revoked is unknown, its list out of reach


class CertificateContext(ctypes.Structure):
    """CERT_CONTEXT; `store` holds the certificates that came with it."""

    _fields_ = (
        ("encoding", wintypes.DWORD),
        ("data", ctypes.c_void_p),
        ("size", wintypes.DWORD),
        ("info", ctypes.c_void_p),
        ("store", ctypes.c_void_p),
    )


class _ChainContext(ctypes.Structure):  # the head of CERT_CHAIN_CONTEXT
    _fields_ = (("size", wintypes.DWORD), ("error", wintypes.DWORD), ("info", wintypes.DWORD))


class _ChainParameters(ctypes.Structure):  # CERT_CHAIN_PARA without what a size of this leaves out
    _fields_ = (
        ("size", wintypes.DWORD),
        ("kind", wintypes.DWORD),
        ("count", wintypes.DWORD),
        ("usages", ctypes.POINTER(ctypes.c_char_p)),
    )


class _ChainEngineConfig(ctypes.Structure):  # CERT_CHAIN_ENGINE_CONFIG as Windows 7 knew it
    _fields_ = (
        ("size", wintypes.DWORD),
        ("restricted_root", ctypes.c_void_p),
        ("restricted_trust", ctypes.c_void_p),
        ("restricted_other", ctypes.c_void_p),
        ("additional_count", wintypes.DWORD),
        ("additional", ctypes.c_void_p),
        ("flags", wintypes.DWORD),
        ("timeout", wintypes.DWORD),
        ("cached", wintypes.DWORD),
        ("modulus", wintypes.DWORD),
        ("exclusive_root", ctypes.c_void_p),
        ("exclusive_people", ctypes.c_void_p),
    )


def chain_errors(certificate: ctypes._Pointer[CertificateContext], verified_at: wintypes.FILETIME, root: bytes | None) -> int:
    """What is wrong with the chain for code at that time (CERT_TRUST_…), 0 for nothing.

    `root` is the one authority to trust (DER) in place of Windows' own. Raises OSError.
    """
    crypt32 = ctypes.WinDLL("crypt32", use_last_error=True, winmode=0x800)
    crypt32.CertFreeCertificateChain.argtypes = (ctypes.c_void_p,)
    crypt32.CertFreeCertificateChainEngine.argtypes = (ctypes.c_void_p,)
    engine = ctypes.c_void_p() if root is None else _create_chain_engine(crypt32, root)
    usages = (ctypes.c_char_p * 1)(CODE_SIGNING)
    parameters = _ChainParameters(ctypes.sizeof(_ChainParameters), 0, 1, usages)
    chain = ctypes.POINTER(_ChainContext)()
    try:
        if not crypt32.CertGetCertificateChain(
            engine,
            certificate,
            ctypes.byref(verified_at),
            ctypes.c_void_p(certificate.contents.store),
            ctypes.byref(parameters),
            0,
            None,
            ctypes.byref(chain),
        ):
            raise ctypes.WinError(ctypes.get_last_error())
        error: int = chain.contents.error & ~TOLERATED_CHAIN_ERRORS
        crypt32.CertFreeCertificateChain(chain)
        return error
    finally:
        if root is not None:
            crypt32.CertFreeCertificateChainEngine(engine)


def _create_chain_engine(crypt32: ctypes.WinDLL, root: bytes) -> ctypes.c_void_p:
    crypt32.CertOpenStore.restype = ctypes.c_void_p
    crypt32.CertOpenStore.argtypes = (ctypes.c_void_p, wintypes.DWORD, ctypes.c_void_p, wintypes.DWORD, ctypes.c_void_p)
    crypt32.CertCloseStore.argtypes = (ctypes.c_void_p, wintypes.DWORD)
    store = ctypes.c_void_p(crypt32.CertOpenStore(CERT_STORE_PROV_MEMORY, 0, None, 0, None))
    engine = ctypes.c_void_p()
    try:
        config = _ChainEngineConfig(size=ctypes.sizeof(_ChainEngineConfig), exclusive_root=store)
        if not crypt32.CertAddEncodedCertificateToStore(
            store, X509_ASN_ENCODING, root, len(root), CERT_STORE_ADD_ALWAYS, None
        ) or not crypt32.CertCreateCertificateChainEngine(ctypes.byref(config), ctypes.byref(engine)):
            raise ctypes.WinError(ctypes.get_last_error())
    finally:
        crypt32.CertCloseStore(store, 0)
    return engine
