"""winget's manifests: right by winget's own schemas, and none while something is missing."""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path

import jsonschema
import msgspec
import pytest
from ruamel.yaml import YAML

import gpu_assistant

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "installers"))

import winget

HERE = Path(__file__).resolve().parent
KNOWN = msgspec.structs.replace(
    winget.facts(winget.DATA),
    downloads="https://downloads.test/{version}/{file}",
    page="https://downloads.test/",
)


@pytest.fixture
def setup(tmp_path: Path) -> Path:
    file = tmp_path / "GPU-Assistant-Setup-1.2.3.exe"
    file.write_bytes(b"MZ and more")
    return file


def test_each_manifest_passes_wingets_own_schema(setup: Path, tmp_path: Path) -> None:
    whole = msgspec.structs.replace(KNOWN, license_page="https://e.test/l", notes="https://e.test/{version}")
    winget.write(winget.manifests(setup, "1.2.3", whole, released="2026-11-21"), tmp_path / "out")
    kinds = []
    for file in sorted((tmp_path / "out").iterdir()):
        content = YAML(typ="safe").load(file.read_text(encoding="utf-8"))
        kinds.append(content["ManifestType"])
        schema = HERE / "schemas" / f"winget-{content['ManifestType']}-{content['ManifestVersion']}.json"
        jsonschema.validate(content, json.loads(schema.read_text(encoding="utf-8")))
        assert (content["PackageIdentifier"], content["PackageVersion"]) == (KNOWN.identifier, "1.2.3")
        assert file.name.startswith(KNOWN.identifier)
    assert sorted(kinds) == ["defaultLocale", "installer", "locale", "version"]


def test_the_installer_is_the_one_that_was_built(setup: Path) -> None:
    made = winget.manifests(setup, "1.2.3", KNOWN)[f"{KNOWN.identifier}.installer.yaml"]
    assert made["Installers"] == [
        {
            "Architecture": "x64",
            "InstallerUrl": "https://downloads.test/1.2.3/GPU-Assistant-Setup-1.2.3.exe",
            "InstallerSha256": hashlib.sha256(b"MZ and more").hexdigest().upper(),
        }
    ]
    assert made["InstallerType"] == "nullsoft"
    assert made["Scope"] == "user"
    assert made["InstallerSwitches"]["Silent"] == "/S"
    assert made["ProductCode"] == made["AppsAndFeaturesEntries"][0]["ProductCode"]


def test_chinese_stays_readable(setup: Path, tmp_path: Path) -> None:
    winget.write(winget.manifests(setup, "1.2.3", KNOWN), tmp_path / "out")
    text = (tmp_path / "out" / f"{KNOWN.identifier}.locale.zh-CN.yaml").read_text(encoding="utf-8")
    assert "PackageName: GPU 助手\n" in text


@pytest.mark.parametrize("gone", ["downloads", "page"])
@pytest.mark.parametrize("nothing", [None, "", " "])
def test_what_does_not_exist_yet_is_said_in_one_sentence(gone: str, nothing: str | None) -> None:
    assert winget.lacking(KNOWN) is None
    sentence = winget.lacking(msgspec.structs.replace(KNOWN, **{gone: nothing}))
    assert sentence is not None
    assert gone in sentence


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"downloads": "http://e.test/{file}"}, "downloads in winget.json is not an address that begins with https://"),
        ({"downloads": "https:///{file}"}, "https://"),
        ({"downloads": "https://e.test/{tag}/{file}"}, "no other braces"),
        ({"downloads": "https://e.test/{0}/{file}"}, "no other braces"),
        ({"downloads": "https://e.test/{version.x}/{file}"}, "no other braces"),
        ({"downloads": "https://e.test/{version"}, "no other braces"),
        ({"downloads": "https://e.test/{version}/setup.exe"}, "must end in {file}"),
        ({"page": "ftp://e.test/"}, "page in winget.json"),
        ({"license_page": "http://e.test/"}, "license_page in winget.json"),
        ({"notes": "https://e.test/{x}"}, "notes in winget.json"),
    ],
)
def test_addresses_that_do_not_fit(setup: Path, changes: dict[str, str], expected: str) -> None:
    with pytest.raises(winget.Wrong) as wrong:
        winget.manifests(setup, "1.2.3", msgspec.structs.replace(KNOWN, **changes))
    assert expected in str(wrong.value)
    assert "\n" not in str(wrong.value)


def test_the_setup_program_is_of_this_version(setup: Path) -> None:
    with pytest.raises(winget.Wrong, match=r"not the setup program of version 1\.2\.4"):
        winget.manifests(setup, "1.2.4", KNOWN)
    with pytest.raises(winget.Wrong):
        winget.manifests(setup.with_name("GPU-Assistant-Portable-1.2.3.zip"), "1.2.3", KNOWN)


def test_only_what_is_known_is_said(setup: Path) -> None:
    made = winget.manifests(setup, "1.2.3", KNOWN)
    assert not {"LicenseUrl", "ReleaseNotesUrl", "ReleaseDate"} & {key for each in made.values() for key in each}
    whole = msgspec.structs.replace(KNOWN, license_page="https://e.test/l", notes="https://e.test/{version}")
    made = winget.manifests(setup, "1.2.3", whole, released=winget.release_day({"SOURCE_DATE_EPOCH": "1795262400"}))
    assert made[f"{KNOWN.identifier}.installer.yaml"]["ReleaseDate"] == "2026-11-21"
    texts = made[f"{KNOWN.identifier}.locale.en-US.yaml"]
    assert (texts["LicenseUrl"], texts["ReleaseNotesUrl"]) == ("https://e.test/l", "https://e.test/1.2.3")
    assert winget.release_day({}) is None
    for odd in ("soon", "9" * 30):
        with pytest.raises(winget.Wrong, match="SOURCE_DATE_EPOCH"):
            winget.release_day({"SOURCE_DATE_EPOCH": odd})


def test_the_program_writes_or_says_why_not(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    setup = tmp_path / f"GPU-Assistant-Setup-{gpu_assistant.__version__}.exe"
    out = tmp_path / "out"
    data = tmp_path / "winget.json"
    arguments = [str(setup), "--out", str(out), "--data", str(data)]
    data.write_bytes(msgspec.json.encode(msgspec.structs.replace(KNOWN, page=None)))
    assert winget.main(arguments) == winget.NOT_YET
    assert capsys.readouterr().err.count("\n") == 1
    assert not out.exists()
    for content in (b"{", b"{}", msgspec.json.encode(KNOWN)):
        data.write_bytes(content)
        assert winget.main(arguments) == 1
        assert capsys.readouterr().err.count("\n") == 1, "no facts; then no setup program"
    setup.write_bytes(b"MZ and more")
    assert winget.main(arguments) == 0
    assert f"PackageVersion: {gpu_assistant.__version__}\n" in (out / f"{KNOWN.identifier}.yaml").read_text()


def test_it_says_what_the_setup_program_writes_into_the_registry() -> None:
    script = (HERE.parents[1] / "installers/windows/setup.nsi").read_text(encoding="utf-8")
    texts = KNOWN.locales[KNOWN.default_locale]
    assert (
        f'!define UNINSTALL_KEY "Software\\Microsoft\\Windows\\CurrentVersion\\Uninstall\\{KNOWN.uninstall_key}"'
        in script
    )
    assert f'HKCU "${{UNINSTALL_KEY}}" "DisplayName" "{texts.name}"' in script
    assert f'HKCU "${{UNINSTALL_KEY}}" "Publisher" "{texts.publisher}"' in script
