"""The chain from a signer's certificate up to a trusted root, built by Windows' crypt32."""

from __future__ import annotations

import sys

assert sys.platform == "win32"  # noqa: S101 - the type checker reads this too

import ctypes  # noqa: E402
from ctypes import wintypes  # noqa: E402

# wincrypt.h
CODE_SIGNING = b"1.3.6.1.5.5.7.3.3"
X509 = 0x1
STORE_PROV_MEMORY = 2
ADD_ALWAYS = 4
NOT_TIME_VALID = 0x1
TOLERATED = 0x2 | 0x40 | 0x1000000  # times not nested; whether it was revoked is unknown, its list out of reach


class Context(ctypes.Structure):
    """CERT_CONTEXT; `store` holds the certificates that came with it."""

    _fields_ = (
        ("encoding", wintypes.DWORD),
        ("data", ctypes.c_void_p),
        ("size", wintypes.DWORD),
        ("info", ctypes.c_void_p),
        ("store", ctypes.c_void_p),
    )


class _Chain(ctypes.Structure):  # the head of CERT_CHAIN_CONTEXT
    _fields_ = (("size", wintypes.DWORD), ("error", wintypes.DWORD), ("info", wintypes.DWORD))


class _Parameters(ctypes.Structure):  # CERT_CHAIN_PARA without what a size of this leaves out
    _fields_ = (
        ("size", wintypes.DWORD),
        ("kind", wintypes.DWORD),
        ("count", wintypes.DWORD),
        ("usages", ctypes.POINTER(ctypes.c_char_p)),
    )


class _EngineConfig(ctypes.Structure):  # CERT_CHAIN_ENGINE_CONFIG as Windows 7 knew it
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


def errors(certificate: ctypes._Pointer[Context], as_of: wintypes.FILETIME, root: bytes | None) -> int:
    """What is wrong with the chain for code at that time (CERT_TRUST_…), 0 for nothing.

    `root` is the one authority to trust (DER) in place of Windows' own. Raises OSError.
    """
    crypt = ctypes.WinDLL("crypt32", use_last_error=True, winmode=0x800)
    crypt.CertFreeCertificateChain.argtypes = (ctypes.c_void_p,)
    crypt.CertFreeCertificateChainEngine.argtypes = (ctypes.c_void_p,)
    engine = ctypes.c_void_p() if root is None else _engine(crypt, root)
    usages = (ctypes.c_char_p * 1)(CODE_SIGNING)
    parameters = _Parameters(ctypes.sizeof(_Parameters), 0, 1, usages)
    chain = ctypes.POINTER(_Chain)()
    try:
        if not crypt.CertGetCertificateChain(
            engine,
            certificate,
            ctypes.byref(as_of),
            ctypes.c_void_p(certificate.contents.store),
            ctypes.byref(parameters),
            0,
            None,
            ctypes.byref(chain),
        ):
            raise ctypes.WinError(ctypes.get_last_error())
        found: int = chain.contents.error & ~TOLERATED
        crypt.CertFreeCertificateChain(chain)
        return found
    finally:
        if root is not None:
            crypt.CertFreeCertificateChainEngine(engine)


def _engine(crypt: ctypes.WinDLL, root: bytes) -> ctypes.c_void_p:
    crypt.CertOpenStore.restype = ctypes.c_void_p
    crypt.CertOpenStore.argtypes = (ctypes.c_void_p, wintypes.DWORD, ctypes.c_void_p, wintypes.DWORD, ctypes.c_void_p)
    crypt.CertCloseStore.argtypes = (ctypes.c_void_p, wintypes.DWORD)
    store = ctypes.c_void_p(crypt.CertOpenStore(STORE_PROV_MEMORY, 0, None, 0, None))
    engine = ctypes.c_void_p()
    try:
        config = _EngineConfig(size=ctypes.sizeof(_EngineConfig), exclusive_root=store)
        if not crypt.CertAddEncodedCertificateToStore(
            store, X509, root, len(root), ADD_ALWAYS, None
        ) or not crypt.CertCreateCertificateChainEngine(ctypes.byref(config), ctypes.byref(engine)):
            raise ctypes.WinError(ctypes.get_last_error())
    finally:
        crypt.CertCloseStore(store, 0)
    return engine
