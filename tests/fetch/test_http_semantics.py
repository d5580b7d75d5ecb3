"""What servers may do by RFC 9110 and 9112, and what they may not: no wrong byte gets the final name, and what is
allowed costs nothing. Each server sends its bytes by hand, over a real connection.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from email.utils import formatdate
from itertools import count
from pathlib import Path

import pytest
from msgspec.structs import replace

from gpu_assistant.core.errors import AppError, Cancelled, NetworkError
from gpu_assistant.fetch import http
from gpu_assistant.fetch.connection_check import ask_address
from gpu_assistant.fetch.http import HttpSession
from gpu_assistant.fetch.partial_file import part_path
from gpu_assistant.fetch.proxy import ProxyChoice, proxy_in_use, use_proxy
from gpu_assistant.fetch.request import Limits
from gpu_assistant.texts.localized import Texts

from ..fakes.raw_server import RawRequest, head, raw_server
from .downloads import MIB, BackgroundDownload, download, fetch, flipped, request

DATA = os.urandom(300_000)
OTHER = flipped(DATA, *range(0, len(DATA), 1000))
TAG = '"one"'
NOW = 1_795_000_000
SENT = formatdate(NOW, usegmt=True)


def part(data: bytes, start: int, end: int, total: int | str | None = None, **headers: str | int) -> Iterator[bytes]:
    """A proper response 206."""
    total = len(data) if total is None else total
    yield head(
        "206 Partial Content", Content_Range=f"bytes {start}-{end - 1}/{total}", Content_Length=end - start, **headers
    )
    yield data[start:end]


def whole(data: bytes, **headers: str | int) -> Iterator[bytes]:
    """A proper response 200."""
    yield head("200 OK", Content_Length=len(data), **headers)
    yield data


def answer_to(asked: RawRequest, data: bytes, **headers: str | int) -> Iterator[bytes]:
    """What a server with ranges answers."""
    if asked.start is None:
        return whole(data, **headers)
    return part(data, asked.start, asked.last(len(data)), **headers)


def cut(response: Iterable[bytes], after: int) -> Iterator[bytes]:
    """The response, of whose body only so many bytes come."""
    first, body = response
    yield first
    yield body[:after]


def chunked(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


def code_of(path: Path, limits: Limits, url: str, **more: object) -> str:
    with pytest.raises(AppError) as caught:
        download(request(path, url, **more), limits).run()  # type: ignore[arg-type]
    assert not path.exists()
    for language in ("en", "zh_CN"):
        assert "{" not in Texts(language).error_text(caught.value)
    return caught.value.code


# Ranges


@pytest.mark.parametrize(
    ("text", "sent"),
    [
        ("bytes 0-4/5", http.ContentRange(0, 5, 5)),
        ("Bytes 0-4/*", http.ContentRange(0, 5, None)),
        ("bytes 5-3/10", None),
        ("bytes 0-9/5", None),
        ("bytes 0-9/9", None),
        ("bytes */5", None),
        ("bytes -5-9/10", None),
        ("lines 0-4/5", None),
        ("bytes 0-4/5, bytes 0-4/5", None),
    ],
)
def test_invalid_content_range_says_nothing(text: str, sent: http.ContentRange | None) -> None:
    assert http.content_range({"Content-Range": text}) == sent


@pytest.mark.parametrize("total", [len(DATA), "*"])
def test_server_that_gives_less_than_the_range_costs_no_wait(path: Path, limits: Limits, total: int | str) -> None:
    """RFC 9110, 15.3.7: fewer bytes than asked for are no failure."""

    def script(asked: RawRequest) -> Iterable[bytes]:
        start = asked.start or 0
        if start >= len(DATA):
            return [head("416 Range Not Satisfiable", Content_Range=f"bytes */{len(DATA)}", Content_Length=0)]
        return part(DATA, start, min(start + 50_000, asked.last(len(DATA))), total, ETag=TAG)

    slow = replace(limits, backoff_seconds=5, max_backoff_seconds=5)
    with raw_server(script) as server:
        started = time.monotonic()
        fetch(path, slow, server.url, data=None)
        assert time.monotonic() - started < 5
    assert path.read_bytes() == DATA


def test_bytes_beyond_the_announced_range_are_not_taken(path: Path, limits: Limits) -> None:
    def script(asked: RawRequest) -> Iterable[bytes]:
        start = asked.start or 0
        if asked.number:
            yield from part(DATA, start, len(DATA), ETag=TAG)
            return
        announced = {"Content_Range": f"bytes 0-99999/{len(DATA)}", "Transfer_Encoding": "chunked"}
        yield head("206 Partial Content", **announced, ETag=TAG)
        yield chunked(DATA[:100_000] + OTHER[100_000:200_000]) + chunked(b"")

    with raw_server(script) as server:
        fetch(path, limits, server.url, data=None)
    assert path.read_bytes() == DATA


def test_part_of_a_file_of_unknown_length_is_not_taken_for_all_of_it(path: Path, limits: Limits) -> None:
    def script(asked: RawRequest) -> Iterable[bytes]:
        start = asked.start or 0
        if start >= len(DATA):
            return [head("416 Range Not Satisfiable", Content_Range=f"bytes */{len(DATA)}", Content_Length=0)]
        response = part(DATA, start, len(DATA), "*", ETag=TAG)
        return cut(response, 100_000) if asked.number == 0 else response

    with raw_server(script) as server:
        fetch(path, limits, server.url, data=None)
    assert path.read_bytes() == DATA


def test_multipart_response_is_not_taken_for_bytes_of_the_file(path: Path, limits: Limits) -> None:
    def script(asked: RawRequest) -> Iterable[bytes]:
        if asked.start is None:
            return whole(DATA)
        body = b"--x\r\nContent-Range: bytes 0-9/300000\r\n\r\n0123456789\r\n--x--\r\n"
        kind = "multipart/byteranges; boundary=x"
        return [head("206 Partial Content", Content_Type=kind, Content_Length=len(body)), body]

    with raw_server(script) as server:
        fetch(path, limits, server.url, data=None)
    assert path.read_bytes() == DATA


# Which version the bytes are of


def changing(**headers: str) -> Callable[[RawRequest], Iterable[bytes]]:
    """A file that is another one after the first response, which breaks off; the server looks at no condition."""

    def script(asked: RawRequest) -> Iterable[bytes]:
        if asked.number == 0:
            return cut(answer_to(asked, DATA, **headers), 100_000)
        return answer_to(asked, OTHER, **headers)

    return script


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"ETag": 'W/"one"'},
        {"ETag": "one"},
        {"ETag": '"one'},
        {"ETag": '"one", "two"'},
        {"ETag": 'W/"one"', "Last_Modified": formatdate(NOW - 9999, usegmt=True), "Date": SENT},
        # Changed in the second in which it was sent: it may be changed again in this second.
        {"Last_Modified": SENT, "Date": SENT},
        {"Last_Modified": formatdate(NOW - 9999, usegmt=True)},
        {"Last_Modified": "yesterday", "Date": SENT},
    ],
    ids=["nothing", "weak", "bare", "open", "two", "weak-and-date", "same-second", "no-clock", "no-date"],
)
@pytest.mark.parametrize("size", [None, len(DATA)], ids=["", "known-size"])
def test_without_checksum_and_strong_validator_nothing_is_put_together(
    path: Path, limits: Limits, headers: dict[str, str], size: int | None
) -> None:
    with raw_server(changing(**headers)) as server:
        fetch(path, limits, server.url, data=None, size=size)
        assert not any("if-range" in asked.headers for asked in server.seen)
    assert path.read_bytes() == OTHER


def test_strong_date_is_sent_and_resumed_by(path: Path, limits: Limits) -> None:
    date = formatdate(NOW - 1, usegmt=True)

    def script(asked: RawRequest) -> Iterable[bytes]:
        if asked.number == 0:
            return cut(answer_to(asked, DATA, Last_Modified=date, Date=SENT), 100_000)
        assert asked.start is not None
        return part(DATA, asked.start, len(DATA))

    with raw_server(script) as server:
        fetch(path, limits, server.url, data=None)
        assert [(asked.start, asked.headers.get("if-range")) for asked in server.seen[1:]] == [(100_000, date)]
    assert path.read_bytes() == DATA


def test_date_of_another_version_is_not_put_together_without_checksum(path: Path, limits: Limits) -> None:
    dates = [formatdate(NOW - seconds, usegmt=True) for seconds in (9999, 5555)]

    def script(asked: RawRequest) -> Iterable[bytes]:
        if asked.number == 0:
            return cut(answer_to(asked, DATA, Last_Modified=dates[0], Date=SENT), 100_000)
        return answer_to(asked, OTHER, Last_Modified=dates[1], Date=SENT)

    with raw_server(script) as server:
        fetch(path, limits, server.url, data=None)
    assert path.read_bytes() == OTHER


def test_with_a_checksum_servers_that_disagree_on_the_date_are_put_together(path: Path, limits: Limits) -> None:
    dates = (formatdate(NOW - seconds, usegmt=True) for seconds in count(9999))

    def script(asked: RawRequest) -> Iterable[bytes]:
        last_modified = {"Last_Modified": next(dates), "Date": SENT}
        if asked.number == 0:
            return cut(answer_to(asked, DATA, **last_modified), 100_000)
        assert asked.start is not None
        return part(DATA, asked.start, len(DATA), **last_modified)

    with raw_server(script) as server:
        fetch(path, limits, server.url, data=DATA)
        assert len(server.seen) == 2


# Where a response ends


@pytest.mark.parametrize(
    "headers",
    [
        {"Content_Encoding": "identity", "Content_Length": len(DATA)},
        {"Content_Length": f"+{len(DATA)}"},
        {"Content_Length": f"{len(DATA)}, {len(DATA)}"},
    ],
)
def test_response_that_is_cut_is_not_the_file(path: Path, limits: Limits, headers: dict[str, str | int]) -> None:
    def script(asked: RawRequest) -> Iterable[bytes]:
        body = DATA[:100_000] if asked.number == 0 else DATA
        return [head("200 OK", **headers), body]

    with raw_server(script) as server, suppress(NetworkError):
        fetch(path, limits, server.url, data=None)
    assert not path.exists() or path.read_bytes() == DATA


@pytest.mark.parametrize(
    "end", [b"", b"5", b"-5\r\n", b"zz\r\n", b"ffffffffffffffff\r\nabc"], ids=["", "5", "-5", "zz", "huge"]
)
def test_chunks_that_end_early_are_not_the_file(path: Path, limits: Limits, end: bytes) -> None:
    def script(asked: RawRequest) -> Iterable[bytes]:
        yield head("200 OK", Transfer_Encoding="chunked")
        if asked.number:
            yield chunked(DATA) + chunked(b"")
        else:
            yield chunked(DATA[:100_000]) + end

    with raw_server(script) as server, suppress(NetworkError):
        fetch(path, limits, server.url, data=None)
    assert not path.exists() or path.read_bytes() == DATA


def test_unknown_transfer_coding_is_refused(path: Path, limits: Limits) -> None:
    answer = [head("200 OK", Transfer_Encoding="gzip, chunked"), chunked(DATA) + chunked(b"")]
    with raw_server(lambda _: answer) as server:
        assert code_of(path, limits, server.url, data=None) == "source-packed"


@pytest.mark.parametrize("length", [1, len(DATA) // 2, len(DATA) * 2, 10**17])
def test_length_that_lies_beside_chunks_gives_no_wrong_file(path: Path, limits: Limits, length: int) -> None:
    answer = [head("200 OK", Transfer_Encoding="chunked", Content_Length=length), chunked(DATA) + chunked(b"")]
    with raw_server(lambda _: answer) as server, suppress(AppError):
        fetch(path, limits, server.url, data=None)
    assert not path.exists() or path.read_bytes() == DATA


GARBAGE = (
    b"",
    b"\r\n\r\n",
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    b"HTTP/0.9 200 OK\r\n\r\n",
    b"HTTP/1.1 200\r\n\r\n",
    b"HTTP/1.1 999 What\r\nContent-Length: 3\r\n\r\nabc",
    b"HTTP/1.1 -1 OK\r\n\r\n",
    b"HTTP/1.1 204 No Content\r\n\r\n",
    b"HTTP/1.1 205 Reset\r\n\r\n",
    b"HTTP/1.1 304 Not Modified\r\n\r\n",
    b"HTTP/1.1 301 Moved\r\n\r\n",
    b"HTTP/1.1 302 Found\r\nLocation: \r\n\r\n",
    b"HTTP/1.1 302 Found\r\nLocation: http://\r\n\r\n",
    b"HTTP/1.1 302 Found\r\nLocation: http://[::1\r\n\r\n",
    b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:99999/\r\n\r\n",
    b"HTTP/1.1 302 Found\r\nLocation: http://a..b/\r\n\r\n",
    b"HTTP/1.1 302 Found\r\nLocation: \xff\xfe\r\n\r\n",
    b"HTTP/1.1 302 Found\r\nLocation: //\r\nContent-Length: 0\r\n\r\n",
    b"HTTP/1.1 103 Early Hints\r\n\r\n",
    b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\n\r\n",
    b"HTTP/1.1 206 Partial\r\nContent-Range: bytes 0-99999999999999999/*\r\n\r\nabc",
    b"HTTP/1.1 206 Partial\r\nContent-Range: bytes 7-9/10\r\nContent-Length: 3\r\n\r\nabc",
    b"HTTP/1.1 200 OK\r\nContent-Length: -3\r\n\r\nabc",
    b"HTTP/1.1 200 OK\r\nContent-Length: 3, 4\r\n\r\nabc",
    b"HTTP/1.1 200 OK\r\nContent-Length: " + b"9" * 5000 + b"\r\n\r\nabc",
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + b"9" * 100_000,
    b"HTTP/1.1 200 OK\r\n" + b"A: b\r\n" * 200 + b"\r\nabc",
    b"HTTP/1.1 200 OK\r\nA: " + b"b" * 100_000 + b"\r\n\r\nabc",
    b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\nabc",
    b"HTTP/1.1 416 Range\r\nContent-Range: bytes */" + b"9" * 17 + b"\r\n\r\n",
    b"HTTP/1.1 416 Range\r\nContent-Range: bytes */*\r\n\r\n",
    b"HTTP/1.1 429 Slow down\r\nRetry-After: " + b"9" * 5000 + b"\r\n\r\n",
    b"HTTP/1.1 503 Busy\r\nRetry-After: -7\r\n\r\n",
    b"HTTP/1.1 503 Busy\r\nRetry-After: Mon, 99 Foo 99999 99:99:99 GMT\r\n\r\n",
    b"HTTP/1.1 503 Busy\r\nRetry-After: Fri, 31 Dec 9999 23:59:59 GMT\r\nDate: Fri, 31 Dec 9999 23:59:59 -9999\r\n\r\n",
    b"HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Basic\r\n\r\n",
)
# Without Content-Length a file ends where the connection does.
TOLERATED = (GARBAGE[3], GARBAGE[4])


@pytest.mark.parametrize("answer", GARBAGE, ids=[f"{number}" for number in range(len(GARBAGE))])
@pytest.mark.parametrize("data", [DATA, None], ids=["checksum", "no-checksum"])
def test_garbage_ends_in_a_sentence_and_no_file(path: Path, limits: Limits, answer: bytes, data: bytes | None) -> None:
    """No final name, unless the server gave a file of unknown length and nobody knows its checksum."""
    with raw_server(lambda _: [answer]) as server:
        if data is None and answer in TOLERATED:
            download(request(path, server.url, data=data), limits).run()
            assert path.read_bytes() == b""
        else:
            assert code_of(path, limits, server.url, data=data) != "internal"


# Waiting


def test_busy_server_is_left_alone_as_long_as_it_asks(path: Path, limits: Limits) -> None:
    def script(asked: RawRequest) -> Iterable[bytes]:
        if asked.number == 0:
            return [head("429 Too Many Requests", Retry_After=2, Content_Length=0)]
        return whole(DATA)

    # All tries together would wait for longer; one of them would not.
    patient = replace(limits, tries=30, max_backoff_seconds=0.1)
    with raw_server(script) as server:
        started = time.monotonic()
        fetch(path, patient, server.url, data=DATA)
        assert time.monotonic() - started >= 2


@pytest.mark.parametrize("hours", [-30, 0, 30])
def test_date_to_wait_until_is_by_the_servers_clock(hours: int) -> None:
    now = time.time() + hours * 3600
    headers = {"Retry-After": formatdate(now + 5, usegmt=True), "Date": formatdate(now, usegmt=True)}
    assert http.retry_after(headers) == 5


def test_dates_of_no_use_are_no_time_to_wait() -> None:
    for text in ("Mon, 99 Foo 99999 99:99:99 GMT", "-7", "٣", "9" * 5000, "Fri, 31 Dec 99999 23:59:59 GMT", "\x00"):
        assert http.retry_after({"Retry-After": text, "Date": SENT}) in (None, 10 * 365 * 86_400)


def test_connection_that_trickles_at_the_end_is_left(path: Path, limits: Limits) -> None:
    """The last bytes of one of several connections may not take for ever, while the others wait."""
    data = os.urandom(4 * MIB)
    stuck = threading.Event()

    def script(asked: RawRequest) -> Iterator[bytes]:
        start, end = asked.start or 0, asked.last(len(data))
        response = part(data, start, end, ETag=TAG)
        if start == 0 and not stuck.is_set():
            stuck.set()
            yield next(response)
            position = 0
            # Never five seconds of silence.
            while not server.closing.wait(0.5):
                yield data[position : position + 100]
                position += 100
            return
        yield from response

    several = replace(limits, stall_seconds=30, connections=4, min_segment_bytes=MIB // 2)
    with raw_server(script) as server:
        started = time.monotonic()
        fetch(path, several, server.url, data=data, size=len(data))
        assert time.monotonic() - started < 30


@pytest.mark.parametrize("answer", [b"HTTP/1.1 200 OK\r\nA: ", b"HTTP/1.1 100 Continue\r\n\r\n"], ids=["head", "100"])
def test_head_that_never_ends_can_be_cancelled(path: Path, limits: Limits, answer: bytes) -> None:
    def script(_: RawRequest) -> Iterator[bytes]:
        yield answer
        while not server.closing.wait(0.05):
            yield answer[-25:] if b"100" in answer else b"b"

    with raw_server(script) as server:
        work = BackgroundDownload(request(path, server.url, data=DATA), replace(limits, stall_seconds=30))
        work.start()
        work.until(lambda: bool(server.seen))
        work.stopped.set()
        started = time.monotonic()
        work.join(5)
        assert time.monotonic() - started < 1
        assert isinstance(work.error, Cancelled)


# Redirects and proxies


@pytest.mark.parametrize("headers", [{"Transfer_Encoding": "chunked"}, {}, {"Content_Length": 10**15}])
def test_body_of_a_redirect_is_not_read_to_its_end(path: Path, limits: Limits, headers: dict[str, str | int]) -> None:
    sent = 0

    def script(asked: RawRequest) -> Iterator[bytes]:
        nonlocal sent
        if asked.path == "/file":
            yield from whole(DATA)
            return
        yield head("302 Found", Location="/file", **headers)
        block = chunked(bytes(1 << 16)) if headers.get("Transfer_Encoding") else bytes(1 << 16)
        while not server.closing.is_set() and sent < 1 << 30:
            yield block
            sent += len(block)

    with raw_server(script) as server:
        fetch(path, limits, server.url, data=DATA)
    assert sent < 1 << 26


def test_redirect_with_a_small_body_is_followed(path: Path, limits: Limits) -> None:
    def script(asked: RawRequest) -> Iterable[bytes]:
        page = b"<html>moved</html>"
        moved = [head("302 Found", Location="/file", Content_Length=len(page), Set_Cookie="a=b"), page]
        return whole(DATA) if asked.path == "/file" else moved

    with raw_server(script) as server:
        fetch(path, limits, server.url, data=DATA)
        assert [asked.headers.get("cookie") for asked in server.seen] == [None, "a=b"]


@pytest.fixture
def own_proxy_choice() -> Iterator[None]:
    before = proxy_in_use()
    yield
    use_proxy(before)


@pytest.mark.usefixtures("own_proxy_choice")
@pytest.mark.parametrize("scheme", ["http", "https"])
def test_proxy_that_wants_a_password_is_named_at_once(path: Path, limits: Limits, scheme: str) -> None:
    refusal = head("407 Proxy Authentication Required", Proxy_Authenticate='Basic realm="x"', Content_Length=0)
    with raw_server(lambda _: [refusal]) as server:
        use_proxy(ProxyChoice(use="manual", address=server.url))
        assert code_of(path, limits, f"{scheme}://outside.invalid/file", data=DATA) == "proxy-credentials"
        assert len(server.seen) == 1


@pytest.mark.usefixtures("own_proxy_choice")
def test_number_407_elsewhere_is_no_question_for_a_password() -> None:
    use_proxy(ProxyChoice(use="manual", address="http://127.0.0.1:9"))
    assert ask_address("https://outside.invalid/407", 2.0).outcome == "network-proxy"


@pytest.mark.usefixtures("own_proxy_choice")
def test_password_of_a_proxy_is_not_sent_past_it(path: Path, limits: Limits, monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment names a proxy, the settings say: none."""
    monkeypatch.setenv("http_proxy", "http://mei:secret@127.0.0.1:9")
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.delenv("NO_PROXY", raising=False)

    def script(asked: RawRequest) -> Iterable[bytes]:
        if asked.path == "/file":
            return whole(DATA)
        return [head("302 Found", Location="/file", Content_Length=0)]

    use_proxy(ProxyChoice(use="none"))
    with raw_server(script) as server:
        fetch(path, limits, server.url, data=DATA)
        assert {asked.path for asked in server.seen} == {"/", "/file"}
        assert not any("proxy-authorization" in asked.headers for asked in server.seen)


def test_network_that_wants_a_login_is_named(path: Path, limits: Limits) -> None:
    answer = [head("511 Network Authentication Required", Content_Length=0)]
    with raw_server(lambda _: answer) as server:
        assert code_of(path, limits, server.url, data=DATA) == "page-instead"


def test_ranges_go_along_with_a_redirect(path: Path, limits: Limits) -> None:
    def script(asked: RawRequest) -> Iterable[bytes]:
        if asked.path != "/file":
            return [head("307 Temporary Redirect", Location="/file", Content_Length=0)]
        response = answer_to(asked, DATA, ETag=TAG)
        return response if asked.start else cut(response, 100_000)

    with raw_server(script) as server:
        fetch(path, limits, server.url, data=None)
        assert (server.seen[-1].start, server.seen[-1].headers["if-range"]) == (100_000, TAG)
    assert path.read_bytes() == DATA


def test_session_is_of_use_after_a_redirect_whose_body_was_left() -> None:
    answers = iter([[head("302 Found", Location="/a"), bytes(99)], whole(b"a"), whole(b"b")])
    with raw_server(lambda _: next(answers)) as server, HttpSession() as session:
        assert session.get(server.url, timeout=60).content == b"a"
        assert session.get(server.url, timeout=60).content == b"b"
    assert not part_path(Path("nothing")).exists()
