"""Numbers and texts that are none are refused with words and a status of the 400s, never with an unforeseen error."""

import json
import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from discreet.server._work import worked_out
from serving import Served, ask, asked, served

HALF = '"\\ud800"'
NUMBERS = ("1e400", "-1e400", "1e-400", "NaN", "Infinity", "1" + "0" * 400, '"1e400"', '"1e99999"', '"1e-99999"',
           '"nan"', '"1/0"', "0", "-1", "true", "null", "[]", HALF, '"' + "9" * 4000 + '"')  # fmt: skip
LABELS = (HALF, '"a\\udfffb"', '"\\u0000"', "1", "null", "[]", '"' + "x" * 600 + '"')
KEYS = (("prior", "1e400"), ("prior", HALF), ("prior", "[1e400, 1, 1, 1]"), ("delta", "1e400"), ("model", HALF),
        ("mechanism", HALF), ("columns", f"[{HALF}]"), ("\\ud800", "1"), ("reading", HALF),
        ("mechanism", '"PosteriorSampling", "delta": "0.1", "draws": 1e400'))  # fmt: skip
LEVELS = ("1e-300", "1e-17", "9e-7", "0.9999999999999999", "nan", "inf", "1e400", "1e-400", "0", "1", "x", "0.9e")


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Served, str]]:
    """Give a served survey with one release, and the release's name."""
    folder: Path = tmp_path_factory.mktemp("odd")
    with served(folder) as server:
        program = server.program("analyst")
        found = ask(program)
        server.publish_all()
        yield server, program.get(f"/api/1/questions/{found['id']}").json()["release"]


def is_refused(program: TestClient, path: str, body: str) -> bool:
    answer = program.post(path, content=body.encode(), headers={"content-type": "application/json"})
    return answer.status_code in (400, 422) and bool(answer.json()["detail"])


@pytest.mark.parametrize("path", ["/api/1/plans", "/api/1/questions"])
def test_questions(known: tuple[Served, str], path: str) -> None:
    program = known[0].program("analyst")
    for number in NUMBERS:
        assert is_refused(
            program, path, f'{{"question": {{"columns": ["smoking"], "epsilon": {number}, "label": "x"}}}}'
        ), number
    plain = '"columns": ["smoking"], "epsilon": "0.1"'
    for label in LABELS:
        assert is_refused(program, path, f'{{"question": {{{plain}, "label": {label}}}}}'), label
    for key, value in KEYS:
        assert is_refused(program, path, f'{{"question": {{{plain}, "label": "x", "{key}": {value}}}}}'), (key, value)
    for query in (HALF, f'{{"kind": {HALF}}}', '{"kind": 1e400}'):
        assert is_refused(program, path, f'{{"question": {{{plain}, "label": "x"}}, "query": {query}}}'), query


def test_levels(known: tuple[Served, str]) -> None:
    server, release = known
    program, browser = server.program("analyst"), server.browser("analyst")
    for level in LEVELS:
        for part in ("reading", "table"):
            answer = program.get(f"/api/1/releases/{release}/{part}", params={"level": level})
            assert answer.status_code == 400, (part, level)
            assert "between 0 and 1" in answer.json()["detail"]
        assert browser.client.get(f"/releases/{release}", params={"level": level}).status_code == 400, level


def test_releases_to_verify(known: tuple[Served, str]) -> None:
    server, release = known
    program = server.program("analyst")
    document = json.loads(program.get(f"/api/1/releases/{release}").text)
    for key in document:
        for odd in ("1e400", HALF):
            body = json.dumps(document | {key: "odd"}).replace('"odd"', odd)
            assert is_refused(program, "/api/1/verifications", body), (key, odd)
    for key in document["mechanism"]:
        body = json.dumps(document | {"mechanism": document["mechanism"] | {key: "odd"}}).replace('"odd"', "1e400")
        assert is_refused(program, "/api/1/verifications", body), key


def test_decisions_and_forms(known: tuple[Served, str]) -> None:
    server, _ = known
    waiting = ask(server.program("analyst"), asked("1.4"))
    decision = f"/api/1/questions/{waiting['id']}/decision"
    assert is_refused(server.program("steward"), decision, f'{{"approve": true, "words": {HALF}}}')
    browser = server.browser("analyst")
    form = {"guard": browser.guard, "model": "categories", "its.columns": "smoking", "label": "x", "epsilon": "0.1"}
    for more in ('{"prior": 1e400}', f'{{"label": {HALF}}}', '{"epsilon": 1e400}'):
        for path in ("/ask", "/ask/plan", "/ask/width"):
            answer = browser.client.post(path, data=form | {"more": more})
            assert answer.status_code < 500, (path, more)
            assert "More keys" in answer.text or "cannot be read" in answer.text, (path, more)


ODD: tuple[object, ...] = (
    0, -1, 1, 10**400, -(10**400), 1e308, 5e-324, -0.0, True, None, "", " ", "0", "1e-300", "1e400", "1/0", "-1", "1.5",
    "9" * 300, "\u200b", "\u202e", "a\x00", "\U0010ffff", "x" * 600, "~", "a ~ b", "ward -> fall", "(", "[", [], [[]],
    [0], [""], ["smoking", "smoking"], [1, 2, 3], {}, {"": 0}, {"smoking": {}}, {"a": [None]}, [["a", "b"], ["a"]],
    "inf", ["no", "yes"], "none", "smoking", "fall", [0.1, 0.5, 0.9], ["1e-9"], "2026-02-30", 0.5, [1e308, -1e308],
)  # fmt: skip


def test_no_value_of_any_key_of_any_kind_of_question_is_unforeseen(known: tuple[Served, str]) -> None:
    """What parses a question is given what somebody might send, for each key of each kind of question, in turn.

    Five values a key, drawn by a seed; all of them together take a minute, and found nothing.
    """
    server, _ = known
    study, unforeseen, tried, rng = server.front.study, [], 0, random.Random(44)
    for form in server.front.declarations.forms.values():
        valid: dict[str, object] = {"model": form.name, "epsilon": "0.1", "label": "x"}
        valid |= {"columns": ["smoking"]} if any(field.key == "columns" for field in form.fields) else {}
        for key in ("epsilon", "delta", "mechanism", "label", "model", *(field.key for field in form.fields)):
            for odd in rng.sample(ODD, 5):
                kind, words = worked_out("plan", [study, {"question": valid | {key: odd}}])
                tried += 1
                if kind == "-":
                    unforeseen.append((form.name, key, odd, words))
    assert tried > 500
    assert not unforeseen
