"""Reading headers, and where redirects may lead."""

from __future__ import annotations

import pytest
import requests

from gpu_assistant.fetch import answers
from gpu_assistant.fetch.local import local_path
from gpu_assistant.fetch.session import InsecureRedirect, Session, StrayRedirect
from gpu_assistant.fetch.speed import Speed


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("bytes 5-9/10", (5, 10, 10)),
        ("bytes 0-9/*", (0, 10, None)),
        ("bytes */10", None),
        ("items 0-1/2", None),
        ("", None),
    ],
)
def test_content_range(text: str, expected: tuple[int, int, int | None] | None) -> None:
    found = answers.content_range({"Content-Range": text})
    assert (None if found is None else (found.start, found.end, found.total)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [("7", 7.0), ("Thu, 01 Jan 1970 00:01:40 GMT", 40.0), ("Thu, 01 Jan 1970 00:00:10 GMT", 0.0), ("soon", None)],
)
def test_retry_after(text: str, expected: float | None) -> None:
    assert answers.retry_after({"Retry-After": text}, now=60.0) == expected


def test_weak_tags_name_no_bytes() -> None:
    assert answers.strong_etag({"ETag": 'W/"x"'}) is None
    assert answers.strong_etag({"ETag": '"x"'}) == '"x"'


def test_packed_answers_have_no_length() -> None:
    assert answers.content_length({"Content-Length": "5", "Content-Encoding": "gzip"}) is None
    assert answers.content_length({"Content-Length": "-5"}) is None


@pytest.mark.parametrize(
    ("start", "target", "allowed"),
    [
        ("https://a.example/x", "https://b.example/x", True),
        ("https://a.example/x", "/y", True),
        ("http://a.example/x", "http://b.example/x", True),
        ("http://a.example/x", "https://b.example/x", True),
        ("https://a.example/x", "http://a.example/x", False),
    ],
)
def test_redirects_never_leave_https(start: str, target: str, allowed: bool) -> None:
    response = requests.Response()
    response.url, response.status_code = start, 302
    response.headers["Location"] = target
    with Session() as session:
        if allowed:
            assert session.get_redirect_target(response) == target
        else:
            with pytest.raises(InsecureRedirect):
                session.get_redirect_target(response)


@pytest.mark.parametrize("start", ["https://a.example/x", "http://a.example/x"])
def test_redirects_never_leave_the_web(start: str) -> None:
    response = requests.Response()
    response.url, response.status_code = start, 302
    response.headers["Location"] = "file:///etc/passwd"
    with Session() as session, pytest.raises(StrayRedirect):
        session.get_redirect_target(response)


def test_only_file_addresses_are_local() -> None:
    assert local_path("https://a.example/x") is None
    assert local_path("file://server/share/x") is None
    found = local_path("file:///a%20b/c.whl")
    assert found is not None
    assert found.name == "c.whl"
    assert found.parent.name == "a b"


def test_speed_is_of_the_last_seconds() -> None:
    now = 0.0
    speed = Speed(window=4.0, clock=lambda: now)
    assert speed.rate() is None
    for second in range(20):
        now = float(second)
        speed.add(second * (100 if second < 10 else 50))
    assert speed.rate() == pytest.approx(50, rel=0.01)
