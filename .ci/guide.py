"""Writes the guide's glossary, `words.md`, from resources/texts/terms.json. Run it as .venv/bin/python .ci/guide.py."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import get_args

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from gpu_assistant.core.types import Language
from gpu_assistant.texts.guide import GLOSSARY, format_glossary, guide_dir

for language in get_args(Language):
    path = guide_dir(language) / f"{GLOSSARY}.md"
    path.write_text(format_glossary(language), encoding="utf-8", newline="\n")
