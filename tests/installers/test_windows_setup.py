"""What can be held of the Windows program without building it; `.ci/windows-setup` builds and tries it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
WINDOWS = ROOT / "installers" / "windows"
sys.path[:0] = [str(ROOT / "installers"), str(WINDOWS)]

import cpython  # noqa: E402
from closure import Closure  # noqa: E402
from stage import BuildError, Python, Stamp, stage  # noqa: E402

MINOR = f"{sys.version_info[0]}.{sys.version_info[1]}"
TEXTS = json.loads((WINDOWS / "texts.json").read_text(encoding="utf-8"))
SCRIPT = (WINDOWS / "setup.nsi").read_text(encoding="utf-8")


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A package whose modules ask for each other in every way there is."""
    files = {
        "one/__init__.py": "from . import two\n",
        "one/two.py": "def late():\n    from .three import thing\n    import left_out.deep\n",
        "one/three.py": "import _quick\nthing = 1\n",
        "one/never.py": "",
        "left_out/__init__.py": "",
        "left_out/deep.py": "",
        "_quick.cp399-win_amd64.pyd": "",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def test_the_uninstaller_tells_of_no_room_that_it_needs() -> None:
    lines = SCRIPT.splitlines()
    page = lines.index("!insertmacro MUI_UNPAGE_COMPONENTS")
    # A page's own function counts for the next page alone.
    assert lines[page - 1] == "!define MUI_PAGE_CUSTOMFUNCTION_SHOW un.HideSpace"
    body = SCRIPT.partition("Function un.HideSpace")[2].partition("FunctionEnd")[0]
    assert re.search(r"GetDlgItem (\$\d) \$0 1023\s+ShowWindow \1 \$\{SW_HIDE\}", body)


def test_what_is_imported_anywhere_is_reached_and_says_by_whom(package: Path) -> None:
    closure = Closure([package], extension=[".cp399-win_amd64.pyd"], excluded=["left_out"])
    assert closure.add("one")
    reasons = {name: why for name, (_file, why) in closure.reached.items()}
    assert reasons == {"one": "the program itself", "one.two": "one", "one.three": "one.two", "_quick": "one.three"}
    assert not closure.add("left_out.deep")
    assert not closure.add("nowhere")


def embeddable(folder: Path, minor: str = MINOR) -> Path:
    name = f"python{minor.replace('.', '')}"
    packed = folder / f"{name}.zip"
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("os.pyc", b"")
    given = folder / "embed.zip"
    with zipfile.ZipFile(given, "w") as archive:
        archive.write(packed, packed.name)
        archive.writestr(f"{name}.dll", b"")
        archive.writestr("python3.dll", b"")
        archive.writestr("LICENSE.txt", "terms")
    return given


def test_the_embeddable_package_is_read_where_it_lies(tmp_path: Path) -> None:
    result = cpython.find(embeddable(tmp_path), tmp_path / "scratch")
    assert (result.minor, result.system) == (MINOR, "windows")
    assert (result.library / "os.pyc").is_file()
    assert result.licence is not None
    assert result.licence.read_text(encoding="utf-8") == "terms"


@pytest.mark.parametrize("names", [(), ("python3.dll",), ("python311.dll", "python313.dll"), ("python313.dll",)])
def test_what_is_no_cpython_is_refused_in_a_sentence(tmp_path: Path, names: tuple[str, ...]) -> None:
    for name in names:
        (tmp_path / name).write_bytes(b"")
    with pytest.raises(BuildError) as caught:
        cpython.find(tmp_path, tmp_path / "scratch")
    assert str(tmp_path) in str(caught.value)


def test_other_minor_version_is_refused_before_download(tmp_path: Path) -> None:
    other = Python("windows", "3.99", tmp_path, tmp_path, tmp_path, None)
    with pytest.raises(BuildError, match=r"run the build with Python 3\.99"):
        stage(other, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_the_command_complains_in_one_line(tmp_path: Path) -> None:
    command = [sys.executable, WINDOWS / "build.py", "--python", tmp_path, "--out", tmp_path / "out"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stdout, len(done.stderr.strip().splitlines())) == (1, "", 1)


def test_a_stamp_is_the_same_time_everywhere(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "file").write_text("1", encoding="utf-8")
    stamp = Stamp(1_700_000_000)
    stamp.set(tmp_path)
    assert {int(path.stat().st_mtime) for path in tmp_path.rglob("*")} == {1_700_000_000}
    assert stamp.zip_time == (2023, 11, 14, 22, 13, 20)


@pytest.mark.parametrize("name", sorted(TEXTS))
def test_setup_texts_are_used_and_in_both_languages(name: str) -> None:
    assert set(TEXTS[name]) == {"en", "zh_CN"}
    assert f"$({name})" in SCRIPT
    places = [sorted(re.findall(r"\$(?:\{\w+\}|[A-Z]\w+)", text)) for text in TEXTS[name].values()]
    assert places[0] == places[1]
    assert '"' not in TEXTS[name]["en"] + TEXTS[name]["zh_CN"]


def test_every_text_that_is_used_exists() -> None:
    assert set(re.findall(r"\$\((\w+)\)", SCRIPT)) == set(TEXTS)


def test_every_rule_of_what_is_shipped_says_why() -> None:
    rules = json.loads((ROOT / "installers" / "parts.json").read_text(encoding="utf-8"))
    files = [*rules["files"]["every system"], *rules["files"]["windows"], *rules["files"]["linux"]]
    runtime = [*rules["runtime"]["windows"], *rules["runtime"]["linux"]]
    for rule in (
        *rules["roots"],
        *rules["excluded"],
        *rules["without docstrings"],
        *rules["sources"],
        *rules["resting"],
        *files,
        *runtime,
    ):
        assert rule["why"].strip(), rule


def macro(name: str) -> str:
    return SCRIPT.partition(f"!macro {name}")[2].partition("!macroend")[0]


def test_an_upgrade_unpacks_beside_and_exchanges_every_part() -> None:
    parts = re.findall(r'!insertmacro \$\{do\} "([^"]+)"', macro("EachPart"))
    shipped = {"app", "runtime", "licenses", "${PROGRAM}", "gpu-assistant.exe", "installed.json", "uninstall.exe"}
    assert set(parts) == shipped
    assert len(parts) == len(shipped)
    # Nothing is written where the program lies, and nothing of it deleted, before all of the new one is there.
    section = SCRIPT.partition('!include "files.nsh"')[0].rpartition("\nSection")[2]
    assert "RemoveFiles" not in section
    assert 'RMDir /r "$INSTDIR\\app"' not in section
    source = (WINDOWS / "build.py").read_text(encoding="utf-8")
    assert 'PureWindowsPath("$INSTDIR", "new", path)' in source


def test_uninstalling_waits_for_who_holds_a_file() -> None:
    body = SCRIPT.partition("Function un.RemoveFiles")[2].partition("FunctionEnd")[0]
    waited = set(re.findall(r'!insertmacro WaitFor "(.+)"', body))
    # An uninstaller that runs where it lies (its `_?=`) cannot take itself away.
    assert waited == set(re.findall(r'\$\{do\} "(.+)"', macro("EachPart"))) - {"uninstall.exe"}


def test_a_link_is_removed_and_never_entered() -> None:
    # https://github.com/kichik/nsis, Source/exehead/util.c, myDelete: RMDir /r enters whatever has the attribute of a
    # folder. learn.microsoft.com/windows/win32/api/fileapi/nf-fileapi-removedirectoryw: it removes a junction itself.
    (line,) = [line.strip() for line in SCRIPT.splitlines() if re.match(r"\s*RMDir /r", line)]
    tree = macro("RemoveTree")
    assert line in tree.partition("Function ${un}RemoveTree")[2]
    assert "RemoveDirectoryW(w R0)" in tree.partition("Function ${un}RemoveTree")[0]


def test_only_logs_of_the_program_are_removed_by_name() -> None:
    from gpu_assistant.core.ownership import MARKER_NAME
    from gpu_assistant.gui.app import ACTIVE_FILE, CRASH_FILE

    section = SCRIPT.partition('Section "un.$(SECTION_DATA)"')[2].partition("SectionEnd")[0]
    deleted = set(re.findall(r'Delete "\$R0\\(.+)"', section))
    assert deleted == {"gpu-assistant.log*", "start.txt", ACTIVE_FILE, CRASH_FILE}
    assert f'Delete "$R0\\{MARKER_NAME}"' in SCRIPT.partition("Function un.RemoveMarkedFolder")[2]


def test_another_programs_folder_is_not_taken_for_ours() -> None:
    body = SCRIPT.partition("Function LooksStrange")[2].partition("FunctionEnd")[0]
    ours = re.findall(r'AndIfNot} \$\{FileExists} "\$INSTDIR\\(.+)"', body)
    assert ours == ["installed.json", r"new\installed.json"]


def test_no_program_is_written_into_a_temporary_folder() -> None:
    assert "PLUGINSDIR" not in SCRIPT
    assert not list(WINDOWS.glob("closer*"))
    # It copies itself into a program there, changed, and so without a valid signature.
    assert "nsExec" not in SCRIPT


def test_launcher_setup_and_program_name_the_same_things() -> None:
    launcher, report, close = (
        (WINDOWS / name).read_text(encoding="utf-8") for name in ("launcher.c", "report.c", "close.c")
    )
    assert 'L"--close-program"' in launcher
    assert "--close-program" in macro("CloseProgram")
    assert r'L"\\GPU Assistant.exe", L"\\gpu-assistant.exe", L"\\app\\bin\\uv.exe"' in close
    window = (ROOT / "gpu_assistant/gui/app.py").read_text(encoding="utf-8")
    (variable,) = re.findall(r'ERROR_SHOWN_VARIABLE = "(\w+)"', window)
    assert f'L"{variable}"' in report
    assert f'SetEnvironmentVariableW(w "{variable}", w "1")' in SCRIPT


def test_the_launchers_have_windows_own_code_page() -> None:
    # Tools write in it, and batch files are read in it: a process of ours that asks for UTF-8 garbles both.
    assert "activeCodePage" not in (WINDOWS / "launcher.manifest").read_text(encoding="utf-8")
