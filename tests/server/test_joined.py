"""Equal questions that are open at the same time: one is decided and charged, and all get its outcome."""

from fractions import Fraction
from pathlib import Path

from serving import Served, ask, asked, served, spent, state

STEWARD = '[serve]\npolicy = "steward"\ntime_limit = 10\nvisible_after = 12\n'


def two(server: Served) -> tuple[dict[str, object], dict[str, object]]:
    """Return the same question as two analysts ask it, under labels of their own."""
    server.join("bob", "analyst")
    first = ask(server.program("analyst"), asked("0.25", "Smoking"))
    return first, ask(as_bob(server), asked("1/4", "Who smokes"))


def as_bob(server: Served):  # type: ignore[no-untyped-def]  # a test client
    person = type(server.person("analyst"))("bob", "analyst", server.person("analyst").rights)
    client = server.client()
    client.headers["authorization"] = f"Bearer {server.front.keys.make_token(person, 'test', ['read', 'ask'], 1)[1]}"
    return client


def decide(server: Served, found: dict[str, object], approve: bool) -> int:
    body = {"approve": approve, "words": "as discussed"}
    return server.program("steward").post(f"/api/1/questions/{found['id']}/decision", json=body).status_code


def test_both_get_the_answer_and_one_is_charged(tmp_path: Path) -> None:
    with served(tmp_path, serve=STEWARD) as server:
        first, second = two(server)
        assert (first["state"], second["state"]) == ("waiting", "joined")
        assert "equal question" in str(second["words"])
        assert "ann" not in str(second)  # whose question came first is not said
        assert decide(server, second, True) == 409  # there is nothing to decide about it
        assert decide(server, first, True) == 200
        assert server.publish_all() == 1
        assert [state(server, each)[0] for each in (first, second)] == ["answered", "answered"]
        assert spent(server) == Fraction(1, 4)
        mine = as_bob(server).get(f"/api/1/questions/{second['id']}").json()
        assert (mine["charged"], bool(mine["release"])) == (False, True)


def test_a_question_that_joined_waits_by_itself_if_the_first_is_declined_or_withdrawn(tmp_path: Path) -> None:
    with served(tmp_path, serve=STEWARD) as server:
        first, second = two(server)
        assert decide(server, first, False) == 200
        assert [state(server, each)[0] for each in (first, second)] == ["declined", "waiting"]
        third = ask(server.program("analyst"), asked("0.25", "Once more"))
        assert third["state"] == "joined"
        assert as_bob(server).post(f"/api/1/questions/{second['id']}/withdrawal").status_code == 200
        assert state(server, third)[0] == "waiting"
        assert server.program("analyst").post(f"/api/1/questions/{third['id']}/withdrawal").status_code == 200
        assert server.publish_all() == 0
        assert spent(server) == 0


def test_within_an_allowance_nobody_waits_for_a_steward(server: Served) -> None:
    """What waits for a steward is answered, too, when somebody else asks the same within their allowance."""
    ask(server.program("analyst"), asked("1.4", "Much"))
    late = ask(server.program("analyst"), asked("0.25", "Smoking"))
    assert late["state"] == "waiting"  # beyond ann's allowance by now
    server.join("bob", "analyst")
    own = ask(as_bob(server), asked("0.25", "Smoking, too"))
    assert own["state"] == "queued"
    assert server.publish_all() == 2
    assert [state(server, each)[0] for each in (late, own)] == ["answered", "answered"]
    assert spent(server) == Fraction(165, 100)


def test_the_outcome_of_a_refusal_is_shared_and_fresh_draws_are_not_joined(tmp_path: Path) -> None:
    with served(tmp_path, serve=STEWARD) as server:
        first, second = two(server)
        server.folder.joinpath("survey.csv").unlink()
        assert decide(server, first, True) == 200
        assert server.publish_all() == 1
        ends = [state(server, each) for each in (first, second)]
        assert ends[0] == ends[1]
        assert ends[0][0] == "failed"
        draw = {
            "question": {
                "columns": ["smoking"], "epsilon": "0.5", "label": "d", "mechanism": "PosteriorSampling.tempered",
                "delta": "1e-6",
            },
            "query": {"kind": "mean"},
        }  # fmt: skip
        assert [ask(server.program("analyst"), draw)["state"] for _ in range(2)] == ["waiting", "waiting"]
