"""Every text of the program and its installer, for a reader who judges them.

`python -m tests.texts.dump en` (or zh_CN) prints one a line, "name: text", and the number of texts and sentences.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from pathlib import Path
from typing import get_args
from xml.etree import ElementTree

from gpu_assistant.core.types import Language
from gpu_assistant.texts.translate import load_texts

ROOT = Path(__file__).resolve().parents[2]
SENTENCE_END = {"en": re.compile(r"[.?!](?=\s|$)"), "zh_CN": re.compile(r"[。？！]")}


def all_texts() -> dict[str, dict[str, str]]:
    """Every sentence of the program and its installer by a name, in both languages."""
    texts = dict(load_texts())
    for path in sorted((ROOT / "resources/translations").glob("*_zh_CN.ts")):
        if path.name != "qt_zh_CN.ts":
            for message in ElementTree.parse(path).iter("message"):
                source = message.findtext("source") or ""
                chinese = "".join(message.find("translation").itertext()).strip()
                texts[f"{path.name}: {source}"] = {"en": source, "zh_CN": chinese}
    installer = json.loads((ROOT / "installers/windows/texts.json").read_text(encoding="utf-8"))
    return texts | {f"installer: {name}": text for name, text in installer.items()}


def count_sentences(text: str, language: str) -> int:
    """A text without a full stop, such as a button's, is one."""
    return max(1, len(SENTENCE_END[language].findall(text)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("language", choices=get_args(Language))
    language = parser.parse_args().language
    texts = {name: each[language] for name, each in all_texts().items()}
    sys.stdout.reconfigure(encoding="utf-8")
    for name, text in texts.items():
        # The window's texts are named by their English text, which would be there twice.
        print(f"{name.partition('.ts: ')[0]}: {text}")
    print(f"{len(texts)} texts, {sum(count_sentences(text, language) for text in texts.values())} sentences")


if __name__ == "__main__":
    main()
