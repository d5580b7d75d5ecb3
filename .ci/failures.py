"""What failed, out of logs of pytest.

    failures.py LOG...                          a line for each failed test, with the line of its error
    failures.py --tries NAME CODE LOG [LOG]     what came of NAME: passed, failed at first and passed alone, or failed

Of a log counts what follows its last heading ("== TITLE") and the last first try; in one that names no failed test, its
last lines say why.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

MAX_TESTS, MAX_LAST_LINES, MAX_WIDTH = 30, 12, 300
# pytest's lines: the head of a test's traceback, what was captured below it, an error, the last summary, the counts.
TRACEBACK = re.compile(r"_+ (?:ERROR at \w+ of )?(?P<test>[^ _].*?) _+")
CAPTURED = re.compile(r"-+ Captured .* -+")
ERROR = re.compile(r"E   +(?P<error>\S.*)")
NEXT_ERROR = re.compile(r"(During handling of the above|The above exception was the direct)\b.*")
SUMMARY = re.compile(r"(?:FAILED|ERROR) (?P<id>\S.*?)(?: - (?P<error>.*))?")
COUNTS = re.compile(r"(?:=+ )?(?P<counts>\d+ (?:passed|failed|skipped|deselected|errors?)\b.* in \d[\d.]*s.*?)(?: =+)?")


def last_section(text: str) -> str:
    """What follows the last heading, and the last try whose failed tests are run once more (.ci/windows-tests)."""
    return re.split(r"^(?:== .*|.*: the failed ones once more)$", text, flags=re.MULTILINE)[-1]


def failed_tests(text: str) -> dict[str, str]:
    """The tests that pytest names at its end as failed, each with the line of its error ("" if there is none)."""
    errors: dict[str, str] = {}
    failed: dict[str, str] = {}
    test = None
    for line in text.splitlines():
        if match := TRACEBACK.fullmatch(line):
            test = match["test"]
            errors.pop(test, None)
        elif CAPTURED.fullmatch(line):
            test = None
        elif NEXT_ERROR.fullmatch(line) and test is not None:
            errors.pop(test, None)
        elif (match := ERROR.match(line)) and test is not None:
            errors.setdefault(test, match["error"].strip())
        elif match := SUMMARY.fullmatch(line):
            failed[match["id"]] = match["error"] or ""
    return {node: errors.get(".".join(node.split("::")[1:])) or short for node, short in failed.items()}


def lines_of(tests: dict[str, str], before: str) -> list[str]:
    """A line for each test."""
    lines = [f"{before}{node}: {error}".removesuffix(": ")[:MAX_WIDTH] for node, error in tests.items()]
    more = len(lines) - MAX_TESTS
    return lines[:MAX_TESTS] + ([f"{before}and {more} more"] if more > 0 else [])


def last_lines(text: str) -> list[str]:
    """The end of a log."""
    return [line[:MAX_WIDTH] for line in text.strip().splitlines()[-MAX_LAST_LINES:]]


def describe(text: str) -> list[str]:
    """The lines that say what failed in a log."""
    section = last_section(text)
    return lines_of(failed_tests(section), "FAILED ") or last_lines(section)


def outcome(name: str, code: int, tries: list[str]) -> list[str]:
    """The lines that say what came of one or two tries; `code` is the exit code of the last one."""
    first, last = failed_tests(tries[0]), failed_tests(tries[-1])
    if code:
        ended = "" if code == 1 else f" (ended with exit code {code} in its midst)"
        lines = [f"FAILED {name}{ended}", *lines_of(last, "FAILED ")]
        lines += [] if last else [f"    {line}" for line in last_lines(tries[-1])]
    elif len(tries) > 1:
        lines = [f"{name}: passed, but for what failed at first and passed alone:"]
    else:
        counts = [match["counts"] for line in tries[0].splitlines() if (match := COUNTS.fullmatch(line))]
        return [f"{name}: passed ({counts[-1]})" if counts else f"{name}: passed"]
    others = {node: error for node, error in first.items() if node not in last}
    return lines + lines_of(others, "    passed alone: " if code in (0, 1) else "FAILED ")


def read(log: str) -> str:
    """Its text; a Windows Python writes in a code page."""
    return Path(log).read_text(encoding="utf-8", errors="replace")


if __name__ == "__main__":
    if sys.argv[1] == "--tries":
        print(*outcome(sys.argv[2], int(sys.argv[3]), [read(log) for log in sys.argv[4:]]), sep="\n")
    else:
        print(*(line for log in sys.argv[1:] for line in describe(read(log))), sep="\n")
