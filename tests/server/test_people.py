"""Who somebody is: passwords, locks, links, sessions, tokens and a proxy's word, right and forged."""

from ipaddress import ip_network
from pathlib import Path

import pytest
from sqlalchemy import select, text

import discreet as dc
from discreet.server import _audit as audit
from discreet.server._front import Settings
from discreet.server._keys import IDLE, LONGEST
from discreet.server._limits import Rates
from discreet.server._people import FREE_FAILURES, WRONG
from discreet.server._schema import QueueError, accounts, links, sessions, tokens
from serving import HOST, PASSWORD, Browser, Served, served

COOKIE = "__Host-discreet"


def sign_in(server: Served, name: str = "ann", password: str = PASSWORD, **headers: str) -> int:
    found = server.client().post("/sign-in", data={"name": name, "password": password}, headers=headers)
    return found.status_code


def test_a_session_cookie_is_out_of_reach_of_scripts_and_other_sites(server: Served) -> None:
    answer = server.client().post("/sign-in", data={"name": "ann", "password": PASSWORD})
    cookie = answer.headers["set-cookie"].lower()
    assert all(part in cookie for part in ("__host-", "secure", "httponly", "samesite=strict", "path=/"))
    assert "domain" not in cookie


def test_nothing_in_the_queue_opens_a_door(server: Served) -> None:
    secret = server.browser("analyst").client.cookies[COOKIE]
    token, link = server.token("analyst"), server.front.people.renew("ann", "sam")
    with server.queue.read_transaction() as connection:
        rows = [str(row) for table in (accounts, links, sessions, tokens) for row in connection.execute(select(table))]
    stored = "\n".join(rows)
    assert not any(each in stored for each in (secret, token, link, PASSWORD))
    assert "$argon2id$" in stored


def test_wrong_passwords_lock_an_account_for_a_growing_while_and_the_words_do_not_tell(server: Served) -> None:
    for _ in range(FREE_FAILURES):
        assert sign_in(server, password="wrong") == 401
    assert sign_in(server) == 401  # right, but locked
    unknown = server.client().post("/sign-in", data={"name": "nobody", "password": "wrong"}).text
    locked = server.client().post("/sign-in", data={"name": "ann", "password": "wrong"}).text
    assert unknown == locked
    assert WRONG.split(",")[0] in locked
    server.time.now += 61
    assert sign_in(server, password="wrong") == 401
    server.time.now += 61
    assert sign_in(server) == 401  # the second lock is longer
    server.time.now += 61
    assert sign_in(server) == 303


def test_who_guesses_from_elsewhere_locks_out_nobody_at_their_usual_place(server: Served) -> None:
    home, stranger = "198.51.100.1", "203.0.113.9"
    assert sign_in_from(server, home) == 303
    for _ in range(3 * FREE_FAILURES):
        assert sign_in_from(server, stranger, "wrong") == 401
    assert sign_in_from(server, stranger) == 401  # right, but locked there
    assert sign_in_from(server, "203.0.113.10") == 401  # and at all places from which nobody signed in before
    assert sign_in_from(server, home) == 303
    for _ in range(FREE_FAILURES):
        assert sign_in_from(server, home, "wrong") == 401
    assert sign_in_from(server, home) == 401  # who guesses at home is locked out at home


def sign_in_from(server: Served, address: str, password: str = PASSWORD) -> int:
    return server.client(address).post("/sign-in", data={"name": "ann", "password": password}).status_code


def test_tokens_end_with_the_password_unless_they_shall_be_kept(server: Served) -> None:
    first = server.token("analyst")
    browser = server.browser("analyst")
    new = "a quite new password"
    assert browser.post("/you/password", old=PASSWORD, password=new, again=new, tokens="keep") == 303
    assert server.front.keys.by_token(first) is not None
    client = server.client()
    assert client.post("/sign-in", data={"name": "ann", "password": new}).status_code == 303
    assert Browser(server, client).post("/you/password", old=new, password=PASSWORD, again=PASSWORD) == 303
    assert server.front.keys.by_token(first) is None
    second = server.token("analyst")
    server.front.people.use_link(server.front.people.renew("ann", "sam"), PASSWORD)
    assert server.front.keys.by_token(second) is None


def test_signing_in_leads_to_the_page_that_was_wanted(server: Served) -> None:
    client = server.client()
    sent = client.get("/releases?page=2")
    assert sent.status_code == 303
    assert sent.headers["location"] == "/sign-in?next=%2Freleases%3Fpage%3D2"
    assert 'name="next" value="/releases?page=2"' in client.get(sent.headers["location"]).text
    asked = {"name": "ann", "password": PASSWORD, "next": "/releases?page=2"}
    assert client.post("/sign-in", data=asked).headers["location"] == "/releases?page=2"


@pytest.mark.parametrize("path", ["//evil.example", "https://evil.example", "/\\evil.example", "/a\nb", "", "/ü" * 400])
def test_signing_in_leads_to_no_other_site(server: Served, path: str) -> None:
    found = server.client().post("/sign-in", data={"name": "ann", "password": PASSWORD, "next": path})
    assert (found.status_code, found.headers["location"]) == (303, "/")
    assert "evil" not in server.client().get("/sign-in", params={"next": path}).text


def test_a_link_in_a_mail_finds_the_session(server: Served) -> None:
    """A browser keeps its session to itself on a request that another site began, and sends it with the next one."""
    found = server.client().get("/questions/abc", headers={"sec-fetch-site": "cross-site"})
    assert found.status_code == 200
    assert 'http-equiv="refresh" content="0; url=/questions/abc"' in found.text
    assert server.client().get("/questions/abc", headers={"sec-fetch-site": "same-origin"}).status_code == 303


def test_an_address_that_guesses_is_slowed_down(tmp_path: Path) -> None:
    with served(tmp_path, rates=Rates(sign_in=3)) as server:
        assert [sign_in(server, name=f"n{k}") for k in range(4)] == [401, 401, 401, 429]
        server.time.now += 60
        assert sign_in(server) == 303


def test_a_planted_session_is_not_taken_and_signing_in_makes_a_new_one(server: Served) -> None:
    client = server.client()
    client.cookies.set(COOKIE, "planted", domain=HOST)
    assert client.get("/").status_code == 303
    answer = client.post("/sign-in", data={"name": "ann", "password": PASSWORD})
    assert answer.cookies[COOKIE] != "planted"
    first = server.browser("analyst").client
    before = first.cookies[COOKIE]
    first.post("/sign-in", data={"name": "ann", "password": PASSWORD})
    assert server.front.keys.by_session(before) is None


@pytest.mark.parametrize("wait", [IDLE + 1, LONGEST + 1])
def test_a_session_ends_by_itself(server: Served, wait: float) -> None:
    browser = server.browser("analyst")
    end = server.time.now + wait
    while server.time.now < end - IDLE + 60 and wait > IDLE + 1:
        server.time.now += IDLE - 60
        if server.time.now < end - 60:
            browser.client.get("/questions")
    server.time.now = end
    assert browser.client.get("/questions").status_code == 303
    assert browser.post("/ask", label="x") == 401


def test_signing_out_and_changing_a_password_end_sessions(server: Served) -> None:
    one, two = server.browser("analyst"), server.browser("analyst")
    assert one.post("/sign-out") == 303
    assert server.front.keys.by_session(one.client.cookies.get(COOKIE) or "") is None
    assert two.post("/you/password", old=PASSWORD, password="another password", again="another password") == 303
    assert two.client.get("/").status_code == 303
    assert sign_in(server) == 401
    assert sign_in(server, password="another password") == 303


def test_a_link_works_once_and_for_a_day(server: Served) -> None:
    link = server.front.people.invite("bob", "analyst", "sam")
    client = server.client()
    assert client.get(f"/welcome/{link}").status_code == 200
    both = {"password": "x" * 12, "again": "x" * 12}
    assert client.post(f"/welcome/{link}", data={"password": "short", "again": "short"}).status_code == 422
    assert client.post(f"/welcome/{link}", data=both).status_code == 303
    assert client.post(f"/welcome/{link}", data=both).status_code == 404
    late = server.front.people.renew("bob", "sam")
    server.time.now += 24 * 3600 + 1
    assert client.get(f"/welcome/{late}").status_code == 404


def test_tokens_expire_can_be_revoked_and_end_with_their_account(server: Served) -> None:
    keys, person = server.front.keys, server.person("analyst")
    ids = [keys.make_token(person, f"t{k}", ["read"], 1 + k) for k in range(3)]
    keys.revoke("ann", ids[0][0])
    assert [keys.by_token(secret) is None for _, secret in ids] == [True, False, False]
    with pytest.raises(dc.DeclarationError):
        keys.revoke("sam", ids[1][0])  # somebody else's
    server.time.now += 2 * 86_400 + 1
    assert [keys.by_token(secret) is None for _, secret in ids] == [True, True, False]
    server.front.people.close("ann", "sam")
    assert keys.by_token(ids[2][1]) is None
    assert sign_in(server) == 401


def test_a_token_is_given_no_right_that_its_owner_or_a_token_cannot_have(server: Served) -> None:
    for scopes in (["people"], ["decide"], [], ["read", "own"]):
        with pytest.raises(dc.DeclarationError):
            server.front.keys.make_token(server.person("analyst"), "t", scopes, 1)


def test_a_form_of_another_site_is_refused(server: Served) -> None:
    assert sign_in(server, Origin="https://evil.example") == 403
    assert sign_in(server, Origin="null") == 403
    assert sign_in(server, **{"Sec-Fetch-Site": "cross-site"}) == 403
    assert sign_in(server, Origin=f"https://{HOST}", **{"Sec-Fetch-Site": "same-origin"}) == 303
    browser = server.browser("steward")
    other = server.browser("analyst").guard
    assert browser.client.post("/people", data={"guard": other, "name": "x", "role": "steward"}).status_code == 403


def test_another_name_is_not_answered(server: Served) -> None:
    for host in ("evil.example", "", f"{HOST}.evil.example", f"{HOST}:99"):
        assert server.client().get("/sign-in", headers={"host": host}).status_code == 400, host


PROXY = Settings(frozenset({HOST}), (ip_network("10.0.0.5"),), "x-remote-user", True)


def test_the_declared_proxy_says_who_somebody_is_and_nobody_else_does(tmp_path: Path) -> None:
    with served(tmp_path, settings=PROXY) as server:
        header = {"x-remote-user": "sam"}
        assert server.client("10.0.0.6").get("/people", headers=header).status_code == 400
        assert server.client("10.0.0.5").get("/people").status_code == 303
        behind = server.client("10.0.0.5")
        assert behind.get("/people", headers=header).status_code == 200
        assert behind.get("/people", headers={"x-remote-user": "stranger"}).status_code == 303
        assert behind.get("/ask", headers={"x-remote-user": "ann"}).status_code == 200  # not sam's session any more
        assert behind.post("/people", data={"name": "eve", "role": "steward"}, headers=header).status_code == 403
        assert behind.post("/sign-in", data={"name": "sam", "password": PASSWORD}).status_code == 403
        assert "strict-transport-security" in behind.get("/sign-in").headers


def test_forwarded_addresses_are_believed_of_the_declared_proxy_alone(tmp_path: Path) -> None:
    for address, expected in (("192.0.2.1", 429), ("10.0.0.5", 401)):
        folder = tmp_path / address
        folder.mkdir()
        settings = Settings(frozenset({HOST}), (ip_network("10.0.0.5"),), rates=Rates(sign_in=2))
        with served(folder, settings=settings) as server:
            for k in range(3):
                forged = {"x-forwarded-for": f"203.0.113.{k}"}
                found = server.client(address).post("/sign-in", data={"name": "x", "password": "y"}, headers=forged)
            assert found.status_code == expected


def test_the_audit_log_tells_of_all_this_and_cannot_be_changed(server: Served) -> None:
    sign_in(server, password="wrong")
    server.browser("analyst")
    said = {(line.account, line.what) for line in audit.lines(server.queue)}
    assert {("-", "sign-in refused"), ("ann", "signed in"), ("test", "account made")} <= said
    assert not any(PASSWORD in line.about for line in audit.lines(server.queue))
    for statement in ("UPDATE audit SET what = 'x'", "DELETE FROM audit"):
        with pytest.raises(QueueError), server.queue.write_transaction() as connection:
            connection.execute(text(statement))
    length = audit.check(server.queue)
    with server.queue.write_transaction() as connection:
        connection.exec_driver_sql("DROP TRIGGER audit_is_kept_update")
        connection.execute(text("UPDATE audit SET account = 'eve' WHERE sequence = 2"))
    with pytest.raises(QueueError, match="Line 2 of the audit log"):
        audit.check(server.queue)
    assert length >= 6


def test_nobody_closes_their_own_account_or_makes_two_of_a_name(server: Served) -> None:
    steward = server.browser("steward")
    assert steward.post("/people/sam/closing") == 422
    assert steward.post("/people", name="ann", role="steward") == 422
    assert steward.post("/people", name="../etc", role="analyst") == 422
    assert (
        "/welcome/"
        in steward.client.post("/people", data={"guard": steward.guard, "name": "z", "role": "auditor"}).text
    )


def test_a_refusal_is_a_page_of_whoever_is_signed_in(server: Served) -> None:
    """Once it had no menu, and told people who were signed in to sign in."""
    page = server.browser("analyst").client.get("/people")
    assert page.status_code == 403
    assert 'href="/questions"' in page.text
    assert 'href="/sign-in"' not in page.text
