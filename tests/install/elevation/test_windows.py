"""Who signed a program, by Windows' own judgement; and the road through the door with programs that are really run.

The programs in `signed/` are made by its `make.sh`: signed with `known.cer`'s authority, which the tests name as the
one to trust, or with another one.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from ctypes import wintypes
from datetime import UTC, datetime
from pathlib import Path

import pytest

from gpu_assistant.core.errors import AppError

if sys.platform != "win32":
    pytest.skip("Windows judges signatures", allow_module_level=True)

import winreg

from gpu_assistant.install.elevation.client import ElevationClient
from gpu_assistant.system.windows.authenticode import chain_errors, verify_publisher
from gpu_assistant.system.windows.elevation import WindowsElevatedSystem
from gpu_assistant.system.windows.functions import Library
from gpu_assistant.system.windows.structures import CertContext
from gpu_assistant.system.windows.system import WindowsSystem
from tests.install.elevation.helper import tried_rights

pytestmark = pytest.mark.windows
SIGNED = Path(__file__).with_name("signed")
HELPER = Path(__file__).with_name("helper.py")
KNOWN = (SIGNED / "known.cer").read_bytes()


def refusal(path: Path, root: bytes | None = KNOWN) -> str:
    with pytest.raises(AppError) as caught:
        verify_publisher(path, root)
    return caught.value.code


class TestTrusted:
    @pytest.mark.parametrize(
        ("file", "name"),
        [
            ("nvidia", "NVIDIA Corporation"),
            ("nvidia-middle", "NVIDIA Corporation"),
            ("microsoft", "Microsoft Corporation"),
            ("other", "NVIDIA Corporation Ltd"),
        ],
    )
    def test_publisher_is_read(self, file: str, name: str) -> None:
        assert verify_publisher(SIGNED / f"{file}.exe", KNOWN) == name

    def test_missing_signature_is_refused(self) -> None:
        assert refusal(SIGNED / "unsigned.exe") == "signature-missing"

    def test_file_that_is_no_program_is_refused(self) -> None:
        assert refusal(Path(__file__)) == "signature-missing"

    @pytest.mark.parametrize("place", [0x80, 0x400, 0x900])
    def test_altered_program_is_refused(self, tmp_path: Path, place: int) -> None:
        data = bytearray((SIGNED / "nvidia.exe").read_bytes())
        data[place] ^= 1
        altered = tmp_path / "altered.exe"
        altered.write_bytes(data)
        assert refusal(altered) in ("signature-broken", "signature-missing")

    def test_expired_without_timestamp_is_refused(self) -> None:
        assert refusal(SIGNED / "expired.exe") == "signature-expired"

    @pytest.mark.parametrize("file", ["purpose", "stranger-made"])
    def test_wrong_purpose_or_unknown_authority_is_refused(self, file: str) -> None:
        assert refusal(SIGNED / f"{file}.exe") == "signature-untrusted"


X509_ASN_ENCODING = 0x1
# wincrypt.h
CERT_TRUST_IS_NOT_TIME_VALID, CERT_TRUST_IS_NOT_VALID_FOR_USAGE, CERT_TRUST_IS_PARTIAL_CHAIN = 0x1, 0x10, 0x10000
# The end of 2026 and of 2059, in 100 ns since 1601.
WITHIN, AFTERWARDS = 134430624000000000, 144844416000000000
CRYPT32 = Library(
    "crypt32",
    {
        "CertCreateCertificateContext": (ctypes.POINTER(CertContext), wintypes.DWORD, ctypes.c_char_p, wintypes.DWORD),
        "CertFreeCertificateContext": (wintypes.BOOL, ctypes.POINTER(CertContext)),
    },
)


@contextmanager
def certificate(name: str) -> Iterator[ctypes._Pointer[CertContext]]:
    data = (SIGNED / f"{name}.cer").read_bytes()
    context = CRYPT32.CertCreateCertificateContext(X509_ASN_ENCODING, data, len(data))
    assert context
    try:
        yield context
    finally:
        CRYPT32.CertFreeCertificateContext(context)


class TestChain:
    """The chain's own judgement, which Windows gives by what it was asked: the usage, and the time."""

    @pytest.mark.parametrize(
        ("name", "time", "expected"),
        [
            ("nvidia", WITHIN, 0),
            ("purpose", WITHIN, CERT_TRUST_IS_NOT_VALID_FOR_USAGE),
            ("nvidia", AFTERWARDS, CERT_TRUST_IS_NOT_TIME_VALID),
        ],
    )
    def test_usage_and_time_are_asked_for(self, name: str, time: int, expected: int) -> None:
        moment = wintypes.FILETIME(time & 0xFFFFFFFF, time >> 32)
        with certificate(name) as context:
            assert chain_errors([context], moment, KNOWN) == expected

    def test_authority_between_comes_from_the_signature_and_not_from_a_store(self) -> None:
        """A certificate's own store need not hold it: a time stamp is a message of its own inside of the signature."""
        moment = wintypes.FILETIME(WITHIN & 0xFFFFFFFF, WITHIN >> 32)
        with certificate("nvidia-middle") as signer, certificate("middle") as between:
            assert chain_errors([signer], moment, KNOWN) == CERT_TRUST_IS_PARTIAL_CHAIN
            assert chain_errors([signer, between], moment, KNOWN) == 0


def test_test_authority_is_not_trusted() -> None:
    clear_root_stores()
    assert refusal(SIGNED / "nvidia.exe", None) == "signature-untrusted"


STORES = Library(
    "crypt32",
    {
        "CertOpenStore": (
            ctypes.c_void_p,
            ctypes.c_void_p,
            wintypes.DWORD,
            ctypes.c_void_p,
            wintypes.DWORD,
            wintypes.LPCWSTR,
        ),
        "CertAddEncodedCertificateToStore": (
            *(wintypes.BOOL, ctypes.c_void_p, wintypes.DWORD, ctypes.c_char_p, wintypes.DWORD, wintypes.DWORD),
            ctypes.POINTER(ctypes.c_void_p),
        ),
        "CertFreeCertificateContext": (wintypes.BOOL, ctypes.c_void_p),
        "CertCloseStore": (wintypes.BOOL, ctypes.c_void_p, wintypes.DWORD),
    },
)
# wincrypt.h
CERT_STORE_PROV_SYSTEM_W, CERT_STORE_ADD_REPLACE_EXISTING = 10, 3
CERT_SYSTEM_STORE_CURRENT_USER, CERT_SYSTEM_STORE_LOCAL_MACHINE = 1 << 16, 2 << 16


# The registry keys that hold the stores, where Wine keeps a certificate although its store let it go.
HIVES = (winreg.HKEY_CURRENT_USER, winreg.HKEY_LOCAL_MACHINE)
ROOT_KEY = r"Software\Microsoft\SystemCertificates\Root\Certificates"


def add_to_root_store(place: int) -> None:
    """Put the tests' authority among the trusted roots; a store is written when it is closed."""
    store = STORES.CertOpenStore(CERT_STORE_PROV_SYSTEM_W, 0, None, place, "Root")
    added = ctypes.c_void_p()
    assert STORES.CertAddEncodedCertificateToStore(
        store, X509_ASN_ENCODING, KNOWN, len(KNOWN), CERT_STORE_ADD_REPLACE_EXISTING, ctypes.byref(added)
    )
    assert STORES.CertFreeCertificateContext(added)
    assert STORES.CertCloseStore(store, 0)


def clear_root_stores() -> None:
    """Take the tests' authority away; a run that was killed leaves it."""
    thumbprint = hashlib.sha1(KNOWN, usedforsecurity=False).hexdigest().upper()
    for hive in HIVES:
        with suppress(FileNotFoundError):
            winreg.DeleteKey(hive, f"{ROOT_KEY}\\{thumbprint}")


@pytest.fixture
def trust() -> Iterator[Callable[[int], None]]:
    """Puts the tests' authority among the trusted roots of the user or the computer; taken away afterwards."""
    if "WINEPREFIX" not in os.environ and "WINELOADERNOEXEC" not in os.environ:
        pytest.skip("Windows asks the person before it")
    clear_root_stores()
    yield add_to_root_store
    clear_root_stores()


def publisher_in_new_process(file: str) -> str:
    """A process remembers the roots that it has read once."""
    code = "import sys; from pathlib import Path; from gpu_assistant.core.errors import AppError\n"
    code += "from gpu_assistant.system.windows.authenticode import verify_publisher\n"
    code += "try: print(verify_publisher(Path(sys.argv[1])))\nexcept AppError as error: print(error.code)"
    command = [sys.executable, "-c", code, str(SIGNED / f"{file}.exe")]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout.strip()


class TestRootStores:
    """Only the computer's own roots count: every program of a user may write that user's store."""

    def test_root_of_the_user_is_not_trusted(self, trust: Callable[[int], None]) -> None:
        trust(CERT_SYSTEM_STORE_CURRENT_USER)
        assert publisher_in_new_process("nvidia") == "signature-untrusted"

    def test_root_of_the_computer_is_trusted(self, trust: Callable[[int], None]) -> None:
        trust(CERT_SYSTEM_STORE_LOCAL_MACHINE)
        assert publisher_in_new_process("nvidia") == "NVIDIA Corporation"
        clear_root_stores()
        assert publisher_in_new_process("nvidia") == "signature-untrusted"


class TestAge:
    """What carries no time stamp is as old as its certificate may be."""

    @pytest.mark.parametrize(
        ("file", "since", "is_fine"),
        [
            ("nvidia", "2025-12-31", True),
            ("nvidia", "2026-01-02", False),
            ("nvidia-older", "2025-10-14", False),
            ("nvidia-older", "2023-12-31", True),
        ],
    )
    def test_signature_is_held_against_a_time(self, file: str, since: str, is_fine: bool) -> None:
        moment = datetime.fromisoformat(since).replace(tzinfo=UTC)
        path = SIGNED / f"{file}.exe"
        if is_fine:
            assert verify_publisher(path, KNOWN, moment) == "NVIDIA Corporation"
            return
        with pytest.raises(AppError) as caught:
            verify_publisher(path, KNOWN, moment)
        assert (caught.value.code, caught.value.data["since"]) == ("signature-older", since)

    @pytest.mark.parametrize(
        ("file", "version"), [("microsoft", "14.50.35719.0"), ("microsoft-older", "14.38.33130.0"), ("nothing", None)]
    )
    def test_version_of_a_program_is_read(self, tmp_path: Path, file: str, version: str | None) -> None:
        (tmp_path / "nothing.exe").write_bytes(b"MZ")
        path = SIGNED / f"{file}.exe"
        assert WindowsElevatedSystem().file_version(path if version else tmp_path / "nothing.exe") == version


@pytest.fixture
def client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ElevationClient:
    base = tmp_path / "base"
    base.mkdir()
    monkeypatch.setenv("FAKE_INSTALLER_LOG", str(tmp_path / "log"))
    return ElevationClient(
        tmp_path / "own",
        WindowsSystem(),
        rights=tried_rights(base),
        command=(sys.executable, str(HELPER), str(base), str(base)),
    )


def calls(folder: Path) -> list[str]:
    log = folder / "log"
    return log.read_bytes().decode("utf-16-le").splitlines() if log.exists() else []


class TestElevationClient:
    def test_driver_is_installed_noninteractively(self, client: ElevationClient, tmp_path: Path) -> None:
        answer = client.install_windows_driver(SIGNED / "nvidia.exe", None)
        assert answer.exit_code == 1
        (call,) = calls(tmp_path)
        assert call.rstrip().endswith(" -s -n Display.Driver HDAudio.Driver")
        # From the private folder, which is swept afterwards.
        program = Path(call.split(" -s ")[0].strip('" '))
        assert program.name == "driver.exe"
        assert not program.parent.exists()

    def test_vc_runtime_is_installed_noninteractively(
        self, client: ElevationClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("FAKE_INSTALLER_EXIT", "3010")
        assert client.install_vc_redist(SIGNED / "microsoft.exe", None).exit_code == 3010
        assert calls(tmp_path)[0].rstrip().endswith(" /install /quiet /norestart")

    def test_exit_codes_are_returned_unchanged(self, client: ElevationClient, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("FAKE_INSTALLER_EXIT", "3858759936")
        assert client.install_windows_driver(SIGNED / "nvidia.exe", None).exit_code == -436207360

    @pytest.mark.parametrize(
        ("file", "code"),
        [
            ("microsoft", "signature-other"),
            ("other", "signature-other"),
            ("unsigned", "signature-missing"),
            ("expired", "signature-expired"),
            ("stranger-made", "signature-untrusted"),
            ("nvidia-older", "signature-older"),
        ],
    )
    def test_other_programs_are_refused(self, client: ElevationClient, tmp_path: Path, file: str, code: str) -> None:
        with pytest.raises(AppError) as caught:
            client.install_windows_driver(SIGNED / f"{file}.exe", None)
        assert caught.value.code == code
        assert not calls(tmp_path)

    def test_older_runtime_is_refused(self, client: ElevationClient, tmp_path: Path) -> None:
        with pytest.raises(AppError) as caught:
            client.install_vc_redist(SIGNED / "microsoft-older.exe", None)
        assert caught.value.code == "door-older"
        assert not calls(tmp_path)

    def test_file_unknown_to_catalog_is_refused(self, client: ElevationClient, tmp_path: Path) -> None:
        with pytest.raises(AppError) as caught:
            client.install_windows_driver(SIGNED / "nvidia.exe", hashlib.sha256(b"another").hexdigest())
        assert caught.value.code == "door-changed"
        assert not calls(tmp_path)

    def test_missing_file_is_an_error(self, client: ElevationClient, tmp_path: Path) -> None:
        with pytest.raises(AppError) as caught:
            client.install_vc_redist(tmp_path / "away.exe", "0" * 64)
        assert caught.value.code == "door-file"
