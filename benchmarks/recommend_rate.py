"""How many machines a second get their recommendation, in one process.

    python benchmarks/recommend_rate.py

Goes over a mixed grid (systems × cards × drivers × Pythons), each machine decoded from its JSON as
`recommend --machine` does. The reference, measured in the same run, is decoding the same texts with
`json.loads`. Exits 1 below the number to reach.
"""

from __future__ import annotations

import itertools
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path

import msgspec

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from gpu_assistant.advise.recommend import recommend
from gpu_assistant.catalog.load import Catalog, load
from gpu_assistant.core.machine import Machine
from gpu_assistant.core.paths import resources

REACH_PER_SECOND = 500
SECONDS = 2.0


def grid(catalog: Catalog) -> list[bytes]:
    """Machine files as JSON: every tenth known card and none, on both systems, with drivers old and new."""
    cards: list[list[dict[str, object]]] = [[], [{"vendor": "amd", "name": "Radeon"}], [{"vendor": "nvidia"}]]
    cards += [[{"vendor": "nvidia", "pci_id": row.pci_id, "name": row.name}] for row in catalog.gpus.gpus[::10]]
    drivers = (None, "470.82", "535.104.05", "566.03", "580.65.06", "617.42")
    pythons: tuple[list[dict[str, str]], ...] = (
        [],
        [{"path": "python", "version": "3.12.7", "kind": "system", "arch": "x86_64"}],
    )
    return [
        json.dumps(
            {
                "schema": "gpu-assistant/machine/1",
                "os": {"system": system, "arch": "x86_64", "version": "10"},
                "gpus": gpus,
                "driver": None if driver is None else {"version": driver},
                "pythons": python,
                "disks": [{"path": "/", "free_bytes": 10**11, "total_bytes": 10**12}],
                "memory_bytes": 2**34,
            }
        ).encode()
        for system, gpus, driver, python in itertools.product(("windows", "linux"), cards, drivers, pythons)
    ]


def rate(work: Callable[[bytes], object], files: list[bytes]) -> float:
    """Files a second, over whole rounds for at least `SECONDS`."""
    done = 0
    start = time.perf_counter()
    while (spent := time.perf_counter() - start) < SECONDS:
        for data in files:
            work(data)
        done += len(files)
    return done / spent


def main() -> int:
    """Measure, print one line, and say by the exit status whether the number was reached."""
    catalog = load(resources() / "catalog")
    files = grid(catalog)
    decoder = msgspec.json.Decoder(Machine)
    for data in files:
        recommend(decoder.decode(data), catalog)
    found = rate(lambda data: recommend(decoder.decode(data), catalog), files)
    reference = rate(json.loads, files)
    print(
        f"recommend: {found:,.0f} machines/s over {len(files)} machines (reach {REACH_PER_SECOND:,}); "
        f"each costs {reference / found:.1f} x json.loads of its file ({reference:,.0f} files/s)"
    )
    return 0 if found >= REACH_PER_SECOND else 1


if __name__ == "__main__":
    raise SystemExit(main())
