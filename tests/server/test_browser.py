"""The pages in a real browser: an analyst's story from the plan to an explored picture. Validation has the others."""

import pytest

from browsing import Visitor, answered, chromium, why_missing
from serving import Served
from serving import listening as front_of

pytestmark = pytest.mark.skipif(why_missing() is not None, reason=why_missing() or "")


def test_an_analyst_plans_asks_waits_and_explores(server: Served) -> None:
    with front_of(server) as address, chromium() as browser:
        ann = Visitor(browser, address, viewport={"width": 1100, "height": 900})
        page = ann.sign_in("ann")
        ann.go("/ask")
        page.fill("#label", "Falls by age")
        page.check("input[value=age]")
        page.check("input[value=fall]")
        page.fill("#epsilon", "0.5")
        page.wait_for_selector("#plan dl")
        assert "GeometricHistogram" in page.inner_text("#plan")
        assert ann.faults() == []
        page.click("form.ask > p > button")
        page.wait_for_selector("text=queued")
        answered(server, ann)
        page.click("text=Read the release")
        page.wait_for_selector("[data-drawn=yes] svg")
        page.select_option("#event", "fall=true")
        page.wait_for_url("**event=fall*")
        page.wait_for_selector("td:text('fall=true')")
        assert ann.faults() == []
        assert ann.complaints() == []
