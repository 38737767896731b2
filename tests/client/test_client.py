"""The Python client against a real server, and through a line that breaks."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
import uuid
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from http.client import HTTPConnection, HTTPResponse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from ovillo.client import AsyncOvillo, NewMessage, Ovillo, ToolCall
from ovillo.model.errors import Conflict, InvalidInput, NotFound, PermissionDenied, StoreUnavailable
from tests.interfaces.served import Served, environment, serving

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def server(home: Path) -> Iterator[Served]:
    with serving(home) as running:
        yield running


@pytest.fixture
def ovillo(server: Served, home: Path) -> Iterator[Ovillo]:
    with Ovillo(data_dir=home / "data") as client:
        yield client


@contextmanager
def line_to(server: Served, fate: Callable[[int], str]) -> Iterator[str]:
    """An address that hands requests on to the server. ``fate`` says of each, by its number, what becomes of it: ``busy`` (503, not handed
    on), ``lost`` (handed on, its answer never comes), ``cut`` (the answer ends in its middle) or nothing."""
    numbers = iter(range(1_000))

    class Line(BaseHTTPRequestHandler):
        def handle_one_request(self) -> None:
            # Whoever reads a stream goes when it has seen enough.
            with suppress(ConnectionError):
                super().handle_one_request()

        def do_GET(self) -> None:
            what = fate(next(numbers))
            self.close_connection = True
            if what == "busy":
                self.send_response(503)
                self.send_header("Retry-After", "0")
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
            kept = {name: value for name, value in self.headers.items() if name.lower() not in ("host", "connection")}
            with closing(HTTPConnection(server.host, timeout=30)) as onward:
                onward.request(self.command, self.path, body, kept)
                with onward.getresponse() as answer:
                    self._hand_back(answer, what)

        def _hand_back(self, answer: HTTPResponse, what: str) -> None:
            if what == "lost":
                answer.read()
                return
            self.send_response(answer.status)
            self.send_header("Content-Type", answer.headers["Content-Type"])
            self.end_headers()
            while piece := answer.readline():
                self.wfile.write(piece)
                self.wfile.flush()
                if what == "cut" and piece.startswith(b"data:"):
                    return

        do_POST = do_PATCH = do_DELETE = do_GET  # noqa: N815

        def log_message(self, format: str, *args: object) -> None: ...

    listening = ThreadingHTTPServer(("127.0.0.1", 0), Line)
    listening.daemon_threads = True
    thread = threading.Thread(target=listening.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listening.server_port}"
    finally:
        listening.shutdown()
        thread.join()
        listening.server_close()


def token_of(server: Served) -> str:
    return server.credential["Authorization"].removeprefix("Bearer ")


@pytest.mark.requirement("CLIENT-1")
def test_what_is_recorded_is_read_found_and_removed(ovillo: Ovillo) -> None:
    session = ovillo.create_session("Refused cards", type="bugfix")
    assert (session.name, session.type, session.read_only) == ("Refused cards", "bugfix", False)
    first = ovillo.append(session.id, "user", "Which cards does the zorvath bank refuse?")
    assert first.replayed is False
    rest = ovillo.append_all(session.id, [NewMessage(role="assistant", content=f"card {n}") for n in range(250)])
    assert len(rest) == 250
    said = list(ovillo.messages(session.id))
    assert [each.content for each in said[:2]] == ["Which cards does the zorvath bank refuse?", "card 0"]
    assert len(said) == 251
    assert [each.content for each in ovillo.messages(session.id, since=said[-2].id)] == ["card 249"]
    assert session.id in {each.id for each in ovillo.sessions()}
    assert ovillo.session(session.id).message_count == 251
    (found,) = ovillo.search("zorvath")
    assert (found.id, found.hits[0].message_id) == (session.id, first.id)
    assert ovillo.context("which cards does the zorvath bank refuse", session_id=session.id).content
    assert ovillo.usage("model")["by"] == ["model"]
    ovillo.delete_session(session.id)
    with pytest.raises(NotFound, match=session.id):
        ovillo.session(session.id)


@pytest.mark.requirement("CLIENT-1")
def test_the_async_client_does_the_same(server: Served, home: Path) -> None:
    async def run() -> None:
        async with AsyncOvillo(data_dir=home / "data") as ovillo:
            session = await ovillo.create_session("Awaited")
            await ovillo.append(session.id, "user", "How long does the quuxel take?")
            await ovillo.append_all(session.id, [NewMessage(role="assistant", content="A day.")])
            assert [each.content async for each in ovillo.messages(session.id)][-1] == "A day."
            assert session.id in {each.id async for each in ovillo.sessions(name="Awaited")}
            assert [each.id for each in await ovillo.search("quuxel")] == [session.id]
            assert (await ovillo.context("how long does the quuxel take", session_id=session.id)).content
            assert (await ovillo.usage())["by"] == ["day"]
            assert (await ovillo.session(session.id)).message_count == 2
            assert (await ovillo.update_session(session.id, name="Renamed")).name == "Renamed"
            changes = ovillo.changes(since=0, session=session.id)
            contents = []
            async for change in changes:
                contents += [change.message.content] if change.message else []
                if len(contents) == 2:
                    break
            assert contents == ["How long does the quuxel take?", "A day."]
            await ovillo.delete_session(session.id)
            with pytest.raises(NotFound):
                await ovillo.session(session.id)

    asyncio.run(run())


@pytest.mark.requirement("CLIENT-1")
def test_tool_calls_times_and_changes_of_a_session_come_back_typed(ovillo: Ovillo) -> None:
    session = ovillo.create_session("Calls", type="review", workingDirectory="/srv/shop", metadata={"ticket": 7})
    call = ToolCall(name="look_up", id="c1", input={"bank": "zorvath"}, output="those of 2019", status="completed")
    ovillo.append(session.id, "assistant", "", toolCalls=[call], model="model-x", timestamp=1_795_262_400_000)
    ovillo.append_all(session.id, [NewMessage(role="assistant", tool_calls=[call], timestamp=1_795_262_400_001)])
    said = list(ovillo.messages(session.id))
    assert [each.tool_calls for each in said] == [[call], [call]]
    assert [each.timestamp for each in said] == [1_795_262_400_000, 1_795_262_400_001]
    assert (said[0].model, said[0].author, said[0].reverted) == ("model-x", "model", False)
    changed = ovillo.update_session(session.id, name="Refused cards", status="completed")
    assert (changed.name, changed.status, changed.type) == ("Refused cards", "completed", "review")


@pytest.mark.requirement("CLIENT-2")
def test_what_is_not_answered_is_sent_again_and_stored_once(server: Served) -> None:
    fates = {0: "busy", 1: "lost", 3: "lost", 4: "busy", 6: "lost"}
    with line_to(server, lambda number: fates.get(number, "")) as url, Ovillo(url, token_of(server)) as ovillo:
        session = ovillo.create_session("Over a bad line")
        said = ovillo.append(session.id, "user", "once")
        assert said.replayed is True  # its first answer was lost, and so it came again
        ovillo.append_all(session.id, [NewMessage(role="user", content="twice")])
        assert [each.content for each in ovillo.messages(session.id)] == ["once", "twice"]


@pytest.mark.requirement("CLIENT-2")
def test_a_key_of_ones_own_makes_a_message_one_and_another_text_under_it_a_conflict(ovillo: Ovillo) -> None:
    session, key = ovillo.create_session("Keys"), str(uuid.uuid4())
    first = ovillo.append(session.id, "user", "same", key=key)
    again = ovillo.append(session.id, "user", "same", key=key)
    assert (again.id, again.replayed) == (first.id, True)
    with pytest.raises(Conflict):
        ovillo.append(session.id, "user", "other", key=key)


@pytest.mark.requirement("CLIENT-2")
def test_a_removal_is_never_sent_twice(server: Served) -> None:
    with line_to(server, lambda number: "lost" if number == 1 else "") as url, Ovillo(url, token_of(server)) as ovillo:
        session = ovillo.create_session("Gone")
        with pytest.raises(StoreUnavailable):
            ovillo.delete_session(session.id)
        with pytest.raises(NotFound):
            ovillo.session(session.id)


@pytest.mark.requirement("CLIENT-3")
def test_changes_are_followed_over_breaks_without_a_gap_and_none_twice(server: Served, home: Path) -> None:
    breaking = line_to(server, lambda number: "cut" if number % 3 else "")
    with breaking as url, Ovillo(url, token_of(server)) as far, Ovillo(data_dir=home / "data") as near:
        session = near.create_session("Followed")
        near.append(session.id, "user", "0")
        heard = []
        for change in far.changes(since=0, session=session.id):
            if change.message is None:
                continue
            heard.append(change.message.content)
            if len(heard) == 6:
                break
            near.append(session.id, "user", str(len(heard)))
    assert heard == ["0", "1", "2", "3", "4", "5"]


@pytest.mark.requirement("CLIENT-4")
def test_refusals_are_the_errors_of_the_server(server: Served, ovillo: Ovillo, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput) as refused:
        ovillo.usage("moon")
    assert refused.value.hint is not None
    with Ovillo(f"http://{server.host}", "wrong") as stranger, pytest.raises(PermissionDenied):
        list(stranger.sessions())
    with pytest.raises(NotFound, match="No server"):
        Ovillo(data_dir=tmp_path)
    with Ovillo("http://127.0.0.1:9", retries=1) as nobody, pytest.raises(StoreUnavailable, match="does not answer"):
        nobody.session("ses_a")


@pytest.mark.requirement("CLIENT-4")
def test_the_own_token_goes_to_the_own_server_only(server: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OVILLO_TOKEN", raising=False)
    with Ovillo(f"http://{server.host}") as stranger, pytest.raises(PermissionDenied):
        list(stranger.sessions())


@pytest.mark.requirement("CLIENT-5")
def test_the_examples_do_what_they_say(server: Served, home: Path) -> None:
    def example(name: str, *arguments: str) -> str:
        command = [sys.executable, str(ROOT / "examples" / name), *arguments]
        done = subprocess.run(command, env=environment(home), capture_output=True, text=True, check=False, timeout=60)
        assert done.returncode == 0, done.stderr
        return done.stdout

    told = example("record_a_session.py")
    assert "user: Then validate the digit before charging." in told
    assert "found in Refused cards:" in told
    followed = example("follow_changes.py", "3").splitlines()
    assert [line.partition(" ")[2] for line in followed][-1].startswith(("user: ", "assistant: "))
    assert len(followed) == 3
