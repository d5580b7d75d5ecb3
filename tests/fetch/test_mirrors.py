"""From an official address to its mirrors', by data alone."""

from __future__ import annotations

from gpu_assistant.fetch.mirrors import Mirror, candidates

WHEELS = Mirror(official="https://a.example/whl/{variant}/", mirror="https://m.example/torch/whl/{variant}/")
FILES = Mirror(official="https://b.example/{path}", mirror="https://m.example/b/{path}")


def test_places_and_what_follows_them_are_kept() -> None:
    found = candidates("https://a.example/whl/cu126/torch-2.9%2Bcu126.whl", [WHEELS, FILES, WHEELS])
    assert found == ("https://m.example/torch/whl/cu126/torch-2.9%2Bcu126.whl",)


def test_the_last_place_may_hold_folders() -> None:
    assert candidates("https://b.example/x/y.zip", [FILES]) == ("https://m.example/b/x/y.zip",)


def test_others_have_none() -> None:
    assert candidates("https://c.example/x", [WHEELS, FILES]) == ()
    assert candidates("https://a.example.evil/whl/cu126/x", [WHEELS]) == ()


def test_no_mirror_leaves_https_or_keeps_a_hole() -> None:
    bad = Mirror(official="https://b.example/{path}", mirror="http://m.example/{path}")
    hole = Mirror(official="https://b.example/{path}", mirror="https://m.example/{tag}/{path}")
    assert candidates("https://b.example/x", [bad, hole]) == ()
