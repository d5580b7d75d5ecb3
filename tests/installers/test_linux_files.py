"""What the Linux package brings beside the program, and how it knows what it needs of the system."""

from __future__ import annotations

import configparser
import shutil
import struct
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

ROOT = Path(__file__).resolve().parents[2]
LINUX = ROOT / "installers/linux"
sys.path[:0] = [str(ROOT / "installers"), str(LINUX)]

import needs  # noqa: E402
import shipped_python  # noqa: E402
from stage import BuildError  # noqa: E402

KNOWN = needs.Libraries(glibc="2.34", libraries={"libc.so.6": "libc6", "libz.so.1": "zlib1g"})


def elf(path: Path, *wanted: str) -> None:
    """A shared library of 64 bits that asks for others and holds nothing else."""
    names = b"\0" + b"".join(name.encode() + b"\0" for name in wanted)
    at, entries = 1, b""
    for name in wanted:
        entries += struct.pack("<QQ", 1, at)
        at += len(name) + 1
    entries += struct.pack("<QQ", 0, 0)
    titles = b"\0.dynstr\0.dynamic\0.shstrtab\0"
    start = 64
    places = (start, start + len(names), start + len(names) + len(entries))
    table = places[2] + len(titles)
    head = b"\x7fELF\x02\x01\x01".ljust(16, b"\0")
    head += struct.pack("<HHIQQQIHHHHHH", 3, 62, 1, 0, 0, table, 0, 64, 56, 0, 64, 4, 3)

    def section(name: int, kind: int, place: int, size: int, link: int, each: int) -> bytes:
        return struct.pack("<IIQQQQIIQQ", name, kind, 0, 0, place, size, link, 0, 1, each)

    sections = [
        bytes(64),
        section(1, 3, places[0], len(names), 0, 0),
        section(9, 6, places[1], len(entries), 1, 16),
        section(18, 3, places[2], len(titles), 0, 0),
    ]
    path.write_bytes(head + names + entries + titles + b"".join(sections))


def test_needs_are_read_from_the_files(tmp_path: Path) -> None:
    (tmp_path / "below").mkdir()
    elf(tmp_path / "program", "libc.so.6", "libown.so.3")
    elf(tmp_path / "below/libown.so.3", "libz.so.1")
    (tmp_path / "words.txt").write_text("\x7fEL no library")
    assert needs.packages(tmp_path, KNOWN) == ["libc6 (>= 2.34)", "zlib1g"]


def test_a_library_that_nobody_brings_is_named(tmp_path: Path) -> None:
    elf(tmp_path / "program", "libsecret.so.9")
    with pytest.raises(BuildError, match=r"program asks for libsecret\.so\.9"):
        needs.packages(tmp_path, KNOWN)


def test_the_known_ones_hold_all_that_a_checkout_installs() -> None:
    sys.path.insert(0, str(ROOT))
    import msgspec

    import dev

    known = msgspec.json.decode(needs.DATA.read_bytes(), type=needs.Libraries)
    for library, package in dev.QT_LIBRARIES.items():
        assert known.libraries.get(library, package) == package


@pytest.mark.parametrize(
    ("there", "expected"),
    [
        ((), "no CPython with one shared library"),
        (("lib/libpython3.13.so.1.0", "lib/libpython3.12.so.1.0"), "no CPython with one shared library"),
        (("lib/libpython3.13.so.1.0",), "Python.h is missing"),
    ],
)
def test_a_prefix_that_will_not_do_is_refused(tmp_path: Path, there: tuple[str, ...], expected: str) -> None:
    for name in there:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    with pytest.raises(BuildError, match=expected):
        shipped_python.find(tmp_path)


def test_a_whole_prefix_is_taken(tmp_path: Path) -> None:
    for name in ("lib/libpython3.13.so.1.0", "include/python3.13/Python.h", "lib/python3.13/LICENSE.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    result = shipped_python.find(tmp_path)
    assert (result.python.system, result.python.minor) == ("linux", "3.13")
    assert result.python.licence == tmp_path / "lib/python3.13/LICENSE.txt"


def test_the_desktop_entry_and_its_description_agree() -> None:
    entry = configparser.ConfigParser(interpolation=None)
    entry.optionxform = str  # type: ignore[assignment,method-assign]
    entry.read(LINUX / "gpu-assistant.desktop", encoding="utf-8")
    desktop = entry["Desktop Entry"]
    root = ElementTree.parse(LINUX / "gpu-assistant.metainfo.xml").getroot()
    language = "{http://www.w3.org/XML/1998/namespace}lang"
    entries = {(child.tag, child.get(language)): child.text for child in root}
    assert entries["launchable", None] == "gpu-assistant.desktop"
    assert entries["icon", None] == desktop["Icon"]
    assert entries["project_license", None] == "Apache-2.0"
    assert [entries["name", None], entries["name", "zh-CN"]] == [desktop["Name"], desktop["Name[zh_CN]"]]
    assert [entries["summary", None], entries["summary", "zh-CN"]] == [desktop["Comment"], desktop["Comment[zh_CN]"]]
    texts = [child.get(language) for child in root.iterfind("description/p")]
    assert texts == [None, "zh-CN"] * (len(texts) // 2), "every paragraph in both languages"
    assert root.findtext("provides/binary") == desktop["Exec"]
    assert [each.text for each in root.iterfind("categories/category")] == desktop["Categories"].strip(";").split(";")


@pytest.mark.linux
@pytest.mark.skipif(shutil.which("appstreamcli") is None, reason="appstream is not here")
def test_appstream_agrees() -> None:
    # Nobody owns an address for the program yet, so its name cannot be one read backwards.
    override = "--override=cid-desktopapp-is-not-rdns=info"
    command = ["appstreamcli", "validate", "--no-net", override, str(LINUX / "gpu-assistant.metainfo.xml")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_rights_prompt_names_only_the_helper() -> None:
    from gpu_assistant.install.elevation.protocol import HELPER_FLAG

    (action,) = ElementTree.parse(LINUX / "gpu-assistant.policy").getroot().findall("action")
    notes = {note.get("key"): note.text for note in action.findall("annotate")}
    assert notes == {
        "org.freedesktop.policykit.exec.path": "/usr/lib/gpu-assistant/gpu-assistant",
        "org.freedesktop.policykit.exec.argv1": HELPER_FLAG,
    }
    assert {default.text for default in action.findall("defaults/*")} == {"auth_admin"}
    language = "{http://www.w3.org/XML/1998/namespace}lang"
    for part in ("description", "message"):
        assert [text.get(language) for text in action.findall(part)] == [None, "zh_CN"]
