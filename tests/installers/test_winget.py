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
    winget.write(winget.manifests(setup, "1.2.3", KNOWN), tmp_path / "out")
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
def test_what_does_not_exist_yet_is_said_in_one_sentence(gone: str) -> None:
    assert winget.lacking(KNOWN) is None
    sentence = winget.lacking(msgspec.structs.replace(KNOWN, **{gone: None}))
    assert sentence is not None
    assert gone in sentence


def test_the_program_writes_or_says_why_not(setup: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    data = tmp_path / "winget.json"
    asked = [str(setup), "--out", str(out), "--data", str(data)]
    data.write_bytes(msgspec.json.encode(msgspec.structs.replace(KNOWN, page=None)))
    assert winget.main(asked) == winget.NOT_YET
    assert capsys.readouterr().err.count("\n") == 1
    assert not out.exists()
    data.write_bytes(msgspec.json.encode(KNOWN))
    assert winget.main(asked) == 0
    assert f"PackageVersion: {gpu_assistant.__version__}\n" in (out / f"{KNOWN.identifier}.yaml").read_text()


def test_it_says_what_the_setup_program_writes_into_the_registry() -> None:
    script = (HERE.parents[1] / "installers/windows/setup.nsi").read_text(encoding="utf-8")
    words = KNOWN.locales[KNOWN.default_locale]
    assert (
        f'!define UNINSTALL_KEY "Software\\Microsoft\\Windows\\CurrentVersion\\Uninstall\\{KNOWN.uninstall_key}"'
        in script
    )
    assert f'HKCU "${{UNINSTALL_KEY}}" "DisplayName" "{words.name}"' in script
    assert f'HKCU "${{UNINSTALL_KEY}}" "Publisher" "{words.publisher}"' in script
