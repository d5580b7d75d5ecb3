"""Makes winget's manifests for a built setup program, ready for a pull request to the community's repository.

python installers/winget.py SETUP.EXE --out DIR

Exit code 0; 1 where something does not fit, or 3 while `winget.json` lacks something that does not exist yet (it says
what). The release date is SOURCE_DATE_EPOCH's; without that none is named.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import msgspec

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from gpu_assistant import __version__

DATA = Path(__file__).resolve().parent / "winget.json"
NOT_YET = 3


class Wrong(Exception):
    """What was given does not fit; the text is one sentence that says why."""


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
    license_page: str | None
    notes: str | None
    uninstall_key: str
    minimum_os: str
    license: str
    moniker: str
    silent: str
    tags: tuple[str, ...]
    default_locale: str
    locales: dict[str, Words]


def facts(path: Path) -> Facts:
    """What is known of the program and its publisher; raises Wrong, OSError."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=Facts)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise Wrong(f"{path.name} cannot be used: {error}.") from error


def lacking(known: Facts) -> str | None:
    """One sentence when something is not there yet, else None."""
    missing = [name for name in ("downloads", "page") if not (getattr(known, name) or "").strip()]
    if not missing:
        return None
    return f"No manifests yet: {DATA.name} has no {' and no '.join(missing)}; fill it in once it exists."


def manifests(setup: Path, version: str, known: Facts, *, released: str | None = None) -> dict[str, dict[str, Any]]:
    """File name -> content, for a setup program and facts of which nothing is lacking; raises Wrong, OSError.

    `released` is a day such as 2026-11-21.
    """
    name = f"GPU-Assistant-Setup-{version}.exe"
    if setup.name != name:
        raise Wrong(f"{setup.name} is not the setup program of version {version}: that one is called {name}.")
    download = _address(known, "downloads", version, name)
    if download is None or urlsplit(download).path.rpartition("/")[2] != name:
        raise Wrong(f"downloads in {DATA.name} does not lead to {name}: it must end in {{file}}.")
    pages = {
        "PackageUrl": _address(known, "page", version, name),
        "LicenseUrl": _address(known, "license_page", version, name),
        "ReleaseNotesUrl": _address(known, "notes", version, name),
    }
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
        **({"ReleaseDate": released} if released else {}),
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
                "InstallerUrl": download,
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
            **{field: url for field, url in pages.items() if url is not None},
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


def _address(known: Facts, field: str, version: str, file: str) -> str | None:
    """One of the addresses, filled in; None where there is none yet. Raises Wrong."""
    said: str | None = getattr(known, field)
    if said is None or not said.strip():
        return None
    try:
        address = said.format(version=version, file=file)
        parts = urlsplit(address)
    except (LookupError, ValueError, AttributeError):
        raise Wrong(f"{field} in {DATA.name} may hold {{version}} and {{file}} and no other braces: {said}.") from None
    if parts.scheme != "https" or not parts.hostname or any(letter.isspace() for letter in address):
        raise Wrong(f"{field} in {DATA.name} is not an address that begins with https://: {said}.")
    return address


def release_day(environ: Mapping[str, str]) -> str | None:
    """The day of SOURCE_DATE_EPOCH, else None. Raises Wrong."""
    said = environ.get("SOURCE_DATE_EPOCH")
    if not said:
        return None
    try:
        return datetime.fromtimestamp(int(said), UTC).date().isoformat()
    except (ValueError, OverflowError, OSError):
        raise Wrong(f"SOURCE_DATE_EPOCH is not a number of seconds since 1970: {said}.") from None


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
    try:
        known = facts(asked.data)
        sentence = lacking(known)
        if sentence is not None:
            print(sentence, file=sys.stderr)
            return NOT_YET
        write(manifests(asked.setup, __version__, known, released=release_day(os.environ)), asked.out)
    except Wrong as error:
        print(error, file=sys.stderr)
        return 1
    except OSError as error:
        print(f"{error.filename}: {error.strerror}.", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
