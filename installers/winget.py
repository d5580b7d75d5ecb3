"""Makes winget's manifests for a built setup program, ready for a pull request to the community's repository.

python installers/winget.py SETUP.EXE --out DIR

Exit code 0, or 3 while `winget.json` lacks something that does not exist yet (it says what).
"""

from __future__ import annotations

import argparse
import hashlib
import sys
from pathlib import Path
from typing import Any

import msgspec

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from gpu_assistant import __version__

DATA = Path(__file__).resolve().parent / "winget.json"
NOT_YET = 3


class Words(msgspec.Struct, frozen=True, kw_only=True):
    """What one language says."""

    publisher: str
    name: str
    short: str


class Facts(msgspec.Struct, frozen=True, kw_only=True):
    """`winget.json`; None is what does not exist yet."""

    schema: str
    identifier: str
    downloads: str | None
    page: str | None
    uninstall_key: str
    minimum_os: str
    license: str
    moniker: str
    silent: str
    tags: tuple[str, ...]
    default_locale: str
    locales: dict[str, Words]


def facts(path: Path) -> Facts:
    """What is known of the program and its publisher."""
    return msgspec.json.decode(path.read_bytes(), type=Facts)


def lacking(known: Facts) -> str | None:
    """One sentence when something is not there yet, else None."""
    missing = [name for name in ("downloads", "page") if getattr(known, name) is None]
    if not missing:
        return None
    return f"No manifests yet: {DATA.name} has no {' and no '.join(missing)}; fill it in once it exists."


def manifests(setup: Path, version: str, known: Facts) -> dict[str, dict[str, Any]]:
    """File name -> content, for a setup program and facts of which nothing is lacking."""
    assert known.downloads is not None
    head = {"PackageIdentifier": known.identifier, "PackageVersion": version}
    key = known.uninstall_key
    installer = {
        **head,
        "Platform": ["Windows.Desktop"],
        "MinimumOSVersion": known.minimum_os,
        "InstallerType": "nullsoft",
        "Scope": "user",
        "InstallModes": ["interactive", "silent"],
        "InstallerSwitches": {"Silent": known.silent, "SilentWithProgress": known.silent},
        "UpgradeBehavior": "install",
        "ProductCode": key,
        "AppsAndFeaturesEntries": [
            {
                "DisplayName": known.locales[known.default_locale].name,
                "Publisher": known.locales[known.default_locale].publisher,
                "DisplayVersion": version,
                "ProductCode": key,
            }
        ],
        "Installers": [
            {
                "Architecture": "x64",
                "InstallerUrl": known.downloads.format(version=version, file=setup.name),
                "InstallerSha256": _sha256(setup).upper(),
            }
        ],
    }
    made: dict[str, tuple[str, dict[str, Any]]] = {
        f"{known.identifier}.yaml": ("version", {**head, "DefaultLocale": known.default_locale}),
        f"{known.identifier}.installer.yaml": ("installer", installer),
    }
    for locale, words in known.locales.items():
        kind = "defaultLocale" if locale == known.default_locale else "locale"
        text: dict[str, Any] = {
            **head,
            "PackageLocale": locale,
            "Publisher": words.publisher,
            "PackageName": words.name,
            "PackageUrl": known.page,
            "License": known.license,
            "ShortDescription": words.short,
        }
        if kind == "defaultLocale":
            text |= {"Moniker": known.moniker, "Tags": list(known.tags)}
        made[f"{known.identifier}.locale.{locale}.yaml"] = (kind, text)
    return {
        name: {**content, "ManifestType": kind, "ManifestVersion": known.schema}
        for name, (kind, content) in made.items()
    }


def write(made: dict[str, dict[str, Any]], folder: Path) -> None:
    """Write the manifests as YAML, each with the line that names its schema to editors."""
    from ruamel.yaml import YAML

    yaml = YAML()
    yaml.width = 4096  # no line is broken: a long one is read as it stands
    yaml.indent(mapping=2, sequence=4, offset=2)
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in made.items():
        kind, schema = content["ManifestType"], content["ManifestVersion"]
        with (folder / name).open("w", encoding="utf-8", newline="\n") as file:
            file.write(
                f"# yaml-language-server: $schema=https://aka.ms/winget-manifest.{kind}.{schema}.schema.json\n\n"
            )
            yaml.dump(content, file)


def _sha256(file: Path) -> str:
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def main(arguments: list[str]) -> int:
    """Write them, or say what is lacking."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("setup", type=Path, help="the built setup program, signed if it will be")
    parser.add_argument("--out", type=Path, required=True, help="folder for the manifests")
    parser.add_argument("--data", type=Path, default=DATA, help="the facts; usually those beside this file")
    asked = parser.parse_args(arguments)
    known = facts(asked.data)
    sentence = lacking(known)
    if sentence is not None:
        print(sentence, file=sys.stderr)
        return NOT_YET
    write(manifests(asked.setup, __version__, known), asked.out)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
