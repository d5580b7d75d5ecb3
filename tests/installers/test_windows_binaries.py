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
import plugins  # noqa: E402
import signing  # noqa: E402
from stage import BuildError, Stamp  # noqa: E402

pytestmark = [
    pytest.mark.linux,
    pytest.mark.skipif(sys.platform != "linux", reason="the build runs on Linux"),
]
COMPILER = shutil.which("x86_64-w64-mingw32-gcc")
SIGNER, OPENSSL = shutil.which("osslsigncode"), shutil.which("openssl")
needs_compiler = pytest.mark.skipif(COMPILER is None, reason="needs MinGW-w64")
MAKENSIS, UNPACKER = shutil.which("makensis"), shutil.which("7z")
needs_packer = pytest.mark.skipif(None in (COMPILER, MAKENSIS, UNPACKER), reason="needs MinGW-w64, NSIS and 7-Zip")
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
    monkeypatch.setattr(build, "_setup", lambda *_, signed_plugins, quick: packed.append((signed_plugins, quick)))
    signed_plugins = tmp_path / "plugins"
    words = ["--unsigned", str(tmp_path / "out"), "--plugins", str(signed_plugins), *(["--quick"] if quick else [])]
    assert build.main(words) == 0
    assert packed == [(signed_plugins, quick)]


def test_signed_files_are_not_packed_with_unsigned_plugins(build: ModuleType, tmp_path: Path) -> None:
    with pytest.raises(SystemExit) as ended:
        build.main(["--signed", str(tmp_path)])
    assert ended.value.code == 2


def program_of(build: ModuleType, scratch: Path) -> object:
    """The smallest program that can be packed."""
    folder = scratch / "program"
    compile_binary(folder / "GPU Assistant.exe", "int main(void) { return 0; }")
    (folder / "installed.json").write_text("{}", encoding="utf-8")
    return SimpleNamespace(tools={"makensis": Path(str(MAKENSIS))}, folder=folder, scratch=scratch, when=Stamp(10**9))


def unpacked(setup: Path, out: Path) -> list[Path]:
    subprocess.run([str(UNPACKER), "x", setup, f"-o{out}"], check=True, capture_output=True)
    return list(dlls.binaries(out))


@needs_packer
@needs_signer
def test_setup_and_uninstaller_hold_the_signed_plugins_and_no_others(
    build: ModuleType, tmp_path: Path, sign: dict[str, Path]
) -> None:
    for name in ("taken", "signed", "as-built", "with-signatures"):
        (tmp_path / name).mkdir()
    assert build.main(["--unsigned-plugins", str(tmp_path / "taken")]) == 0
    names = sorted(file.name for file in (tmp_path / "taken").iterdir())
    assert names == sorted(plugins.NAMES)
    for name in names:
        signed_copy(tmp_path / "taken" / name, tmp_path / "signed" / name, sign)
    for place, signed_plugins in (("as-built", None), ("with-signatures", tmp_path / "signed")):
        scratch = tmp_path / place
        build.write_unsigned(program_of(build, scratch), scratch / "out", signed_plugins=signed_plugins, quick=True)
        for packed in (scratch / "unsigned.exe", scratch / "out" / signing.UNINSTALLER):
            files = unpacked(packed, scratch / packed.stem)
            found = {file.name: signing.is_signed(file) for file in files if file.parent.name == "$PLUGINSDIR"}
            assert found == dict.fromkeys(plugins.NAMES, signed_plugins is not None), packed


@needs_packer
def test_script_that_calls_another_plugin_does_not_compile(
    build: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scripts = tmp_path / "scripts"
    shutil.copytree(WINDOWS, scripts)
    with (scripts / "setup.nsi").open("a", encoding="utf-8") as script:
        script.write("Function .onGUIEnd\nUserInfo::GetAccountType\nFunctionEnd\n")
    monkeypatch.setattr(build, "HERE", scripts)
    with pytest.raises(BuildError, match="UserInfo"):
        build.write_unsigned(program_of(build, tmp_path), tmp_path / "out", signed_plugins=None, quick=True)


@needs_packer
def test_two_checkouts_give_the_same_uninstaller(
    build: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # It is signed as it came out of one checkout, and packed in another: each file has the time of its checkout.
    digests = set()
    for seconds in (10**9, 11**9):
        scratch, scripts = tmp_path / str(seconds), tmp_path / f"scripts-{seconds}"
        scratch.mkdir()
        shutil.copytree(WINDOWS, scripts)
        Stamp(seconds).set(scripts)
        monkeypatch.setattr(build, "HERE", scripts)
        monkeypatch.setenv("PYTHONPATH", str(ROOT / "installers"))  # signing.py's, when makensis calls it
        build.write_unsigned(program_of(build, scratch), scratch / "out", signed_plugins=None, quick=True)
        digests.add(signing.content_digest(scratch / "out" / signing.UNINSTALLER))
    assert len(digests) == 1
