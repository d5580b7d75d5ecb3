"""Every decision has a reason with a source; every text is there in both languages, filled."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

ALWAYS = ("accelerator", "python", "driver.action", "cuda_toolkit", "cudnn")
TORCH = ("pytorch.version", "pytorch.variant")


def reason_faults(machine: dict[str, Any], goal: str, advice: dict[str, Any]) -> Iterator[str]:
    """Decisions without a reason, reasons without a source, and warnings that are missing."""
    reasons: dict[str, list[dict[str, Any]]] = {}
    for reason in advice["reasons"]:
        reasons.setdefault(reason["about"], []).append(reason)
    wanted = [*ALWAYS, *(TORCH if advice["pytorch"] else ()), *(["tensorflow"] if advice["tensorflow"] else ())]
    for about in wanted:
        mine = [r for key, listed in reasons.items() if key == about or key.startswith(f"{about}.") for r in listed]
        if not mine:
            yield f"{about}: no reason"
        elif not any((r["source"] or "").startswith("https://") for r in mine):
            yield f"{about}: no source"
    codes = [*reasons, *(warning["code"] for warning in advice["warnings"])]
    if goal in ("tensorflow", "all") and not advice["tensorflow"] and not any("tensorflow" in word for word in codes):
        yield "tensorflow: neither a release nor a reason why not"


def text_faults(spoken: dict[str, dict[str, Any]]) -> Iterator[str]:
    """Texts in both languages, filled: `spoken` holds the recommendation by language."""
    english, chinese = spoken["en"], spoken["zh_CN"]
    for part, fields in (("reasons", ("text",)), ("warnings", ("text",)), ("alternatives", ("text", "label"))):
        for one, two in zip(english[part], chinese[part], strict=True):
            for field in fields:
                for entry in (one, two):
                    text = entry[field]
                    if not text or "{" in text or "None" in text or text.strip() != text:
                        yield f"{part} {entry['code']}.{field}: {text!r}"
                if one[field] == two[field]:
                    yield f"{part} {one['code']}.{field}: the same in both languages"
            for entry in (one, two):
                if "fix" in entry and entry["fix"] and "{" in entry["fix"]:
                    yield f"{part} {entry['code']}.fix: {entry['fix']!r}"
