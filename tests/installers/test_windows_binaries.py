"""What the build asks of the binaries it ships: DLLs that a fresh Windows finds, signatures of what was built."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import msgspec
import pytest

ROOT = Path(__file__).resolve().parents[2]
WINDOWS = ROOT / "installers" / "windows"
sys.path[:0] = [str(ROOT / "installers"), str(WINDOWS)]

import dlls  # noqa: E402
import signing  # noqa: E402
from stage import BuildError, Stamp  # noqa: E402

pytestmark = [
    pytest.mark.linux,
    pytest.mark.skipif(sys.platform != "linux", reason="the build runs on Linux"),
]
COMPILER = shutil.which("x86_64-w64-mingw32-gcc")
SIGNER, OPENSSL = shutil.which("osslsigncode"), shutil.which("openssl")
needs_compiler = pytest.mark.skipif(COMPILER is None, reason="needs MinGW-w64")
needs_signer = pytest.mark.skipif(None in (COMPILER, SIGNER, OPENSSL), reason="needs MinGW-w64 and osslsigncode")


def compile_binary(out: Path, code: str, *more: str | Path) -> Path:
    out.parent.mkdir(parents=True, exist_ok=True)
    source = out.with_suffix(".c")
    source.write_text(code, encoding="utf-8")
    subprocess.run([str(COMPILER), "-s", "-o", out, source, *more], check=True)
    source.unlink()
    return out


def program(folder: Path, library: str = "runtime/helper.dll") -> Path:
    """A program's folder: an .exe that asks for helper.dll, which lies in `library`, and for Windows' own."""
    compile_binary(folder / library, "int help(void) { return 7; }", "-shared")
    return compile_binary(folder / "app.exe", "int help(void); int main(void) { return help(); }", folder / library)


@needs_compiler
def test_shipped_dll_beside_is_found_and_windows_own_are_known(tmp_path: Path) -> None:
    program(tmp_path)
    assert dlls.asked(tmp_path / "app.exe") >= {"helper.dll", "kernel32.dll"}
    dlls.check(tmp_path)


@needs_compiler
def test_missing_dll_stops_the_build_and_is_named_with_who_asks(tmp_path: Path) -> None:
    program(tmp_path)
    (tmp_path / "runtime/helper.dll").unlink()
    with pytest.raises(BuildError, match=r"helper\.dll, asked for by app\.exe"):
        dlls.check(tmp_path)


@needs_compiler
def test_dll_in_a_folder_that_windows_does_not_search_is_missing(tmp_path: Path) -> None:
    program(tmp_path, "app/elsewhere/helper.dll")
    assert dlls.missing(tmp_path) == ["helper.dll, asked for by app.exe"]


def test_what_is_no_binary_is_refused(tmp_path: Path) -> None:
    (tmp_path / "broken.dll").write_bytes(b"MZ and no more")
    with pytest.raises(BuildError, match=r"broken\.dll"):
        dlls.check(tmp_path)


def test_microsofts_cpp_runtime_is_no_part_of_windows() -> None:
    known = msgspec.json.decode(dlls.DATA.read_bytes(), type=dlls.Dlls)
    assert not [each.name for each in known.windows if each.name.startswith(("vcruntime", "msvcp", "concrt", "vcomp"))]
    assert all(each.why for each in (*known.windows, *known.folders))
    assert [each.name for each in known.windows] == sorted(each.name for each in known.windows)


@pytest.fixture
def sign(tmp_path: Path) -> dict[str, Path]:
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    subprocess.run(
        [
            *(str(OPENSSL), "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=Test"),
            *("-addext", "extendedKeyUsage=codeSigning", "-keyout", key, "-out", certificate),
        ],
        check=True,
        capture_output=True,
    )
    return {"-key": key, "-certs": certificate}


def signed_copy(file: Path, out: Path, keys: dict[str, Path]) -> None:
    out.parent.mkdir(parents=True, exist_ok=True)
    out.unlink(missing_ok=True)
    arguments = [word for pair in keys.items() for word in pair]
    subprocess.run([str(SIGNER), "sign", *arguments, "-in", file, "-out", out], check=True, capture_output=True)


@needs_signer
def test_unsigned_files_go_out_and_come_back_signed(tmp_path: Path, sign: dict[str, Path]) -> None:
    folder, out, back = tmp_path / "program", tmp_path / "out", tmp_path / "back"
    program(folder)
    names = signing.take_out(folder, out)
    assert sorted(map(str, names)) == ["app.exe", "runtime/helper.dll"]
    for name in names:
        signed_copy(out / name, back / name, sign)
    signing.put_back(back, folder)
    assert signing.unsigned(folder) == []
    assert signing.take_out(folder, tmp_path / "again") == []


@needs_signer
def test_another_file_or_none_or_an_unsigned_one_is_not_packed(tmp_path: Path, sign: dict[str, Path]) -> None:
    built, back = program(tmp_path / "program"), tmp_path / "back.exe"
    with pytest.raises(BuildError, match="missing"):
        signing.check_signed(back, built)
    shutil.copyfile(built, back)
    with pytest.raises(BuildError, match="without a signature"):
        signing.check_signed(back, built)
    other = compile_binary(tmp_path / "other.exe", "int main(void) { return 9; }")
    signed_copy(other, back, sign)
    with pytest.raises(BuildError, match="not the file that was built"):
        signing.check_signed(back, built)


@needs_signer
def test_makensis_gets_the_signed_uninstaller(tmp_path: Path, sign: dict[str, Path]) -> None:
    built = compile_binary(tmp_path / "built.exe", "int main(void) { return 0; }")
    taken, back = tmp_path / "taken.exe", tmp_path / "back.exe"
    run = [sys.executable, str(WINDOWS / "signing.py")]
    subprocess.run([*run, "--take-out", taken, built], check=True)
    signed_copy(taken, back, sign)
    subprocess.run([*run, "--put-back", back, built], check=True)
    assert signing.is_signed(built)
    refused = subprocess.run([*run, "--put-back", taken, built], check=False, capture_output=True, text=True)
    assert (refused.returncode, len(refused.stderr.splitlines())) == (1, 1)


@pytest.fixture
def build() -> ModuleType:
    """`build.py`; a package of this name is installed, too."""
    spec = importlib.util.spec_from_file_location("windows_build", WINDOWS / "build.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("version", "numbers"),
    [("1.2.3", "1,2,3,0"), ("1.2.0rc1", "1,2,0,0"), ("2.0a1", "2,0,0,0"), ("0.10.0.dev4", "0,10,0,0")],
)
def test_windows_gets_four_numbers_of_every_version(build: ModuleType, version: str, numbers: str) -> None:
    assert build.commas(version) == numbers


@pytest.mark.parametrize("quick", [True, False])
def test_the_uninstaller_is_signed_as_it_will_be_packed(
    build: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, quick: bool
) -> None:
    # Packed otherwise it has another decompressor, and what came back signed is not what was built.
    packed = []
    monkeypatch.setattr(
        build, "put_together", lambda *_: SimpleNamespace(folder=tmp_path, scratch=tmp_path, when=Stamp(0))
    )
    monkeypatch.setattr(build, "_setup", lambda *_, quick: packed.append(quick))
    words = ["--unsigned", str(tmp_path / "out"), *(["--quick"] if quick else [])]
    assert build.main(words) == 0
    assert packed == [quick]
