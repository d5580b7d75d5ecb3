"""The facts as plain data: the catalog's own JSON files, and `facts.json` beside this file."""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).resolve().parent
CATALOG = HERE.parents[2] / "resources" / "catalog"

Version = tuple[int, ...]


@lru_cache(maxsize=8192)
def version(text: str | None) -> Version | None:
    """ "580.65.06" as (580, 65, 6), without trailing zeros; None where it is no plain number."""
    if not text or not all(part.isascii() and part.isdigit() for part in text.split(".")):
        return None
    parts = [int(part) for part in text.split(".")]
    while parts and parts[-1] == 0:
        parts.pop()
    return tuple(parts)


def number(text: str) -> Version:
    """A version that a facts file writes."""
    result = version(text)
    assert result is not None, text
    return result


@lru_cache(maxsize=1024)
def chip(text: str | None) -> tuple[int, int] | None:
    """ "8.9" as (8, 9)."""
    if not text or text.count(".") != 1 or version(text) is None:
        return None
    major, minor = text.split(".")
    return int(major), int(minor)


class Span(NamedTuple):
    """The chips that the toolkits from one series to another compile for."""

    first: tuple[int, int]
    last: tuple[int, int]
    oldest: tuple[int, int]
    newest: tuple[int, int]


class PublishedFacts:
    """What exists, from a folder of catalog files."""

    def __init__(self, folder: Path = CATALOG) -> None:
        def read(path: Path) -> Any:
            return json.loads(path.read_text(encoding="utf-8"))

        self.facts = read(HERE / "facts.json")
        self.torch = read(folder / "pytorch.json")
        self.cuda = read(folder / "cuda.json")
        self.drivers = read(folder / "drivers.json")
        self.pythons = read(folder / "pythons.json")
        rows = read(folder / "gpus.json")["gpus"]
        self.cards: dict[str, dict[str, Any]] = {row["pci_id"]: row for row in rows}
        self.by_name: dict[str, dict[str, Any] | None] = {}
        for row in rows:
            name = self.short(row["name"])
            same = self.by_name.get(name, row)
            alike = same is not None and same["compute_capability"] == row["compute_capability"]
            self.by_name[name] = same if alike else None
        self.releases = sorted(self.torch["releases"], key=lambda row: number(row["version"]), reverse=True)
        self.branches = sorted(
            ((number(row["branch"]), chip(row["cuda"]) or (0, 0)) for row in self.cuda["branches"]), reverse=True
        )

    @staticmethod
    def short(name: str) -> str:
        """A card's name without its maker."""
        parts = name.lower().split()
        while parts and parts[0] in ("nvidia", "geforce"):
            parts = parts[1:]
        return " ".join(parts)

    def card(self, gpu: dict[str, Any]) -> dict[str, Any] | None:
        """The catalog's row of a card, by id, else by name, else by what a driver is known to call it."""
        name = gpu.get("name") or ""
        row = self.cards.get((gpu.get("pci_id") or "").lower()) or self.by_name.get(self.short(name))
        return row or self.cards.get(self.facts["driver_names"].get(name, ""))

    def chip(self, gpu: dict[str, Any]) -> tuple[int, int] | None:
        """A card's compute capability: what it says itself, else the catalog's word; None: nobody knows."""
        row = self.card(gpu)
        return chip(gpu.get("compute_capability")) or (chip(row["compute_capability"]) if row else None)

    def native(self, driver: Version | None) -> tuple[int, int] | None:
        """The CUDA that a driver implements by itself."""
        if driver is None:
            return None
        return next((cuda for branch, cuda in self.branches if driver >= branch), None)

    def first_with(self, cuda: tuple[int, int]) -> Version | None:
        """The oldest branch that implements this CUDA by itself."""
        fitting = [branch for branch, known in self.branches if known >= cuda]
        return min(fitting, default=None)

    def generation(self, device: tuple[int, int]) -> dict[str, Any] | None:
        """Which drivers a chip still gets."""
        for row in self.drivers["generations"]:
            low, high = chip(row["from_capability"]), chip(row["below_capability"])
            if low is not None and low <= device and (high is None or device < high):
                return dict(row)
        return None

    def left_behind(self, host: str, device: tuple[int, int] | None, driver: Version | None) -> bool:
        """Whether a driver no longer serves a chip."""
        row = self.generation(device) if device is not None else None
        limit = version(((row or {}).get("first_without") or {}).get(host))
        return limit is not None and driver is not None and driver >= limit

    def first_driver(self, host: str, device: tuple[int, int] | None) -> Version:
        """The first driver that knows a chip, where the facts say it; else the empty version, older than all."""
        rules = self.facts["blackwell"]
        if device is None or device < (chip(rules["from_capability"]) or ()):
            return ()
        return number(rules["lowest_driver"][host])

    def modules(self, device: tuple[int, int]) -> set[str]:
        """The kinds of Linux kernel modules that serve a chip; empty where nobody says."""
        for row in self.facts["kernel_modules"]:
            low, high = chip(row["from"]), chip(row["below"])
            if low is not None and low <= device and (high is None or device < high):
                return set(row["kinds"])
        return set()

    def spans(self) -> list[Span]:
        """The chips that each toolkit compiles for."""
        keys = ("from", "to", "lowest", "highest")
        return [Span(*(chip(row[key]) or (0, 0) for key in keys)) for row in self.facts["toolkit_chips"]]
