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
SOURCE, RECKONED, PAINTED = "reads the source", "reckons, without any file or program", "painted by Qt from figures"
LEFT_OUT = {
    "tests/test_layering.py": SOURCE,
    "tests/test_texts.py": "reads the sentences; Windows in Chinese reads them, too",
    "tests/gui/test_window_words.py": SOURCE,
    "tests/installers/test_icon.py": SOURCE,
    "tests/installers/test_workflows.py": SOURCE,
    "tests/advise": RECKONED,
    "tests/catalog": RECKONED,
    "tests/bench/test_compare.py": RECKONED,
    "tests/bench/test_job.py": "what a run's figures say; test_trouble.py beside it starts the same program",
    "tests/bench/test_summary.py": RECKONED,
    "tests/health/test_curves.py": RECKONED,
    "tests/health/test_minder.py": RECKONED,
    "tests/health/test_past.py": RECKONED,
    "tests/health/test_rules.py": RECKONED,
    "tests/health/test_sick_cards.py": "what a test says of a card; test_job.py beside it starts the same program",
    "tests/health/test_watch.py": RECKONED,
    # Of the window Windows opens every page (main/test_pages.py) and runs all that asks for files, programs, threads,
    # keyboard and room; what stands on the pages is the same figures in the same painter.
    "tests/gui/bench/test_large.py": PAINTED,
    "tests/gui/bench/test_result.py": PAINTED,
    "tests/gui/bench/test_scores.py": PAINTED,
    "tests/gui/components/test_displays.py": PAINTED,
    "tests/gui/components/test_icons.py": PAINTED,
    "tests/gui/components/test_shape.py": PAINTED,
    "tests/gui/components/test_theme.py": PAINTED,
    "tests/gui/main/test_verdict.py": PAINTED,
    "tests/gui/monitor/test_clock.py": PAINTED,
    "tests/gui/monitor/test_inside.py": PAINTED,
    "tests/gui/monitor/test_marks.py": PAINTED,
    "tests/gui/monitor/test_monitor_page.py": PAINTED,
    "tests/gui/monitor/test_more.py": PAINTED,
    "tests/gui/monitor/test_plot.py": PAINTED,
    "tests/gui/monitor/test_series.py": PAINTED,
    "tests/gui/monitor/test_several.py": PAINTED,
    "tests/gui/wizard/test_findings.py": PAINTED,
    "tests/gui/wizard/test_plan_list.py": PAINTED,
    "tests/gui/wizard/test_rows_and_cards.py": PAINTED,
    "tests/gui/wizard/test_said_of_parts.py": PAINTED,
    "tests/gui/wizard/test_said_once.py": PAINTED,
    "tests/gui/wizard/test_same_price.py": PAINTED,
    "tests/gui/wizard/test_terms.py": PAINTED,
    "tests/gui/wizard/test_wizard_progress.py": PAINTED,
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
