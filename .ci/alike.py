"""What the tests leave out on the rig's Windows, each with its reason; a plugin of pytest, named by `.ci/windows`.

Linux runs every case of every test. Windows runs what a system can change something in: files, paths, encodings,
programs, sockets, the registry, Qt. There is no other list of what is left out.
"""

from __future__ import annotations

import re
from collections import defaultdict
from fnmatch import fnmatch
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

# Whole files and folders, unless they are named in the call.
LEFT_OUT = {
    "tests/test_layering.py": "reads the source",
    "tests/test_texts.py": "reads the sentences; Windows in Chinese reads them, too",
    "tests/advise": "reckons with the catalog, without any file or program",
    "tests/catalog": "reckons with the catalog, without any file or program",
}

# Of a test's many cases the first, the last and some between: what the system changes, it changes in each of them.
CASES = 4

# But every case where the case itself is what systems differ in.
EVERY_CASE = {
    "tests/windows/*": "Windows' own",
    "tests/system/*": "what this system says of itself",
    "tests/detect/*": "programs and folders as they lie about",
    "tests/fetch/*": "files and sockets",
    "tests/nvml/*": "a library of this system",
    "tests/install/door/*": "attacks on what runs with administrator's rights",
    "tests/install/test_archives.py": "names of files that lead out",
    "tests/install/test_bundle.py": "names of files that lead out",
    "tests/install/test_plan_files.py": "names of folders",
    "tests/install/test_variables.py": "what Windows keeps in its registry",
    "tests/install/test_*kills.py": "where the power fails",
}

# A page in both languages: Chinese, whose fonts and widths are the system's; English is the same page on Linux.
ONE_LANGUAGE = "tests/gui/*"


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out whole files and folders."""
    path = collection_path.relative_to(ROOT).as_posix() if collection_path.is_relative_to(ROOT) else ""
    named = [word.replace("\\", "/").rstrip("/") for word in config.args]
    return True if path in LEFT_OUT and path not in named else None


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out cases."""
    there = {item.nodeid for item in items}
    tests: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        twin = re.sub(r"(?<=[\[-])en(?=[\]-])", "zh_CN", item.nodeid)
        if twin == item.nodeid or twin not in there or not fnmatch(item.nodeid, ONE_LANGUAGE):
            tests[item.nodeid.partition("[")[0]].append(item)
    kept = {case.nodeid for name, cases in tests.items() for case in some(name, cases)}
    left_out = [item for item in items if item.nodeid not in kept]
    items[:] = [item for item in items if item.nodeid in kept]
    if left_out:
        config.hook.pytest_deselected(items=left_out)


def some(name: str, cases: list[pytest.Item]) -> list[pytest.Item]:
    """Of one test's cases those that Windows runs."""
    every = any(fnmatch(name.partition("::")[0], each) for each in EVERY_CASE)
    if every or len(cases) <= CASES or cases[0].get_closest_marker("windows"):
        return cases
    return [cases[round(n * (len(cases) - 1) / (CASES - 1))] for n in range(CASES)]
