"""The scripts as people read them: one language of comments, cells, a notebook; the folder of pictures."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path

import pytest

from gpu_assistant.core.errors import UsageError
from gpu_assistant.examples.child_protocol import ExampleMessage
from gpu_assistant.examples.job import count_pictures
from gpu_assistant.examples.programs import (
    EXAMPLE_NAMES,
    notebook,
    program_cells,
    program_source,
    script_path,
)

EVERY = pytest.mark.parametrize("name", EXAMPLE_NAMES)


@EVERY
def test_code_is_the_same_in_both_languages(name):
    trees = [ast.dump(ast.parse(program_source(name, language))) for language in ("en", "zh_CN")]
    assert trees[0] == trees[1] == ast.dump(ast.parse(script_path(name).read_text(encoding="utf-8")))


@EVERY
def test_comments_have_one_language(name):
    english, chinese = program_source(name, "en"), program_source(name, "zh_CN")
    assert not re.search(r"[\u4e00-\u9fff]", english)
    comments = [line for line in chinese.splitlines() if line.lstrip().startswith("# ") and not line.startswith("# %%")]
    assert comments
    assert [line for line in comments if not re.search(r"[\u4e00-\u9fff]", line)] == []


@EVERY
def test_scripts_import_nothing_of_ours_and_no_numpy(name):
    tree = ast.parse(script_path(name).read_text(encoding="utf-8"))
    tops = {alias.name.split(".")[0] for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    tops |= {str(node.module).split(".")[0] for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert tops.isdisjoint({"gpu_assistant", "numpy", "matplotlib"})


@EVERY
def test_notebook_has_the_same_code(name):
    document = json.loads(notebook(program_source(name, "zh_CN"), "gpu-assistant-0123", "torch"))
    assert (document["nbformat"], document["metadata"]["kernelspec"]["name"]) == (4, "gpu-assistant-0123")
    code = "\n".join("".join(cell["source"]) for cell in document["cells"])
    assert ast.dump(ast.parse(code)) == ast.dump(ast.parse(program_source(name, "zh_CN")))
    assert len({cell["id"] for cell in document["cells"]}) == len(document["cells"]) > 4


def test_cells_are_cut_at_their_marks():
    assert program_cells("# %%\n# one\na = 1\n\n# %% two\nb = 2\n") == ("# one\na = 1", "b = 2")


def make_pictures(folder: Path, **counts: int) -> Path:
    for name, count in counts.items():
        (folder / name).mkdir(parents=True)
        for index in range(count):
            (folder / name / f"{index}.JPG").write_bytes(b"")
        (folder / name / "notes.txt").write_text("")
    return folder


def test_picture_folder_counts_each_class(tmp_path):
    make_pictures(tmp_path, cats=5, dogs=4, empty=0)
    (tmp_path / ".thumbnails").mkdir()
    assert count_pictures(tmp_path) == {"cats": 5, "dogs": 4}


@pytest.mark.parametrize(
    ("counts", "code"), [({"cats": 9}, "picture-classes"), ({}, "picture-classes"), ({"a": 9, "b": 3}, "picture-few")]
)
def test_unusable_picture_folder_is_refused(tmp_path, counts, code):
    with pytest.raises(UsageError) as refused:
        count_pictures(make_pictures(tmp_path, **counts))
    assert refused.value.code == code


def test_pictures_of_another_size_than_said_are_dropped():
    from gpu_assistant.core import json as core_json

    def pictures(text: str):
        message = core_json.decode(text, ExampleMessage)
        assert message.shown is not None
        return message.shown.progress().pictures

    fields = '"step": 1, "steps": 2, "channels": 1, "height": 1, "width": 2'
    good = pictures(f'{{"shown": {{{fields}, "pictures": ["AAH/"], "captions": [7]}}}}')
    assert good == ()  # three bytes for two pixels
    (shown,) = pictures(f'{{"shown": {{{fields}, "pictures": ["AP8="], "captions": [7], "correct": [true]}}}}')
    assert (shown.pixels, shown.caption, shown.correct) == (b"\x00\xff", "7", True)
    assert pictures(f'{{"shown": {{{fields}, "pictures": ["?"]}}}}') == ()
