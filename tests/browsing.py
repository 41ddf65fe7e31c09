"""Browsers for tests of the pages: Debian's chromium, driven by playwright, with axe-core to look for faults.

What the console says is kept: a script or style that the page's own policy forbids is told there.
"""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from serving import PASSWORD, Served

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
AXE = Path(__file__).parent / "vendor" / "axe-core-4.14.0.min.js"


def why_missing() -> str | None:
    """Say why no browser can be tried here; None if one can."""
    try:
        import playwright.sync_api  # noqa: F401
    except ImportError:
        return "No playwright: pages are not tried in a browser."
    return None if CHROMIUM is not None else "No chromium: install Debian's package to try the pages in a browser."


@contextmanager
def chromium() -> Iterator["Browser"]:
    """Give a browser."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        try:
            yield browser
        finally:
            browser.close()


class Visitor:
    """Somebody at a browser of their own."""

    def __init__(self, browser: "Browser", address: str, **how: Any) -> None:
        self.address, self.said = address, list[str]()
        self.context = browser.new_context(**how)
        self.page: Page = self.context.new_page()
        self.listen(self.page)

    def listen(self, page: "Page") -> None:
        """Keep what a page's console says."""
        page.on("console", lambda message: self.said.append(message.text))
        page.on("pageerror", lambda error: self.said.append(f"error: {error}"))

    def go(self, path: str) -> "Page":
        """Go to a page."""
        self.page.goto(f"{self.address}{path}")
        return self.page

    def sign_in(self, name: str) -> "Page":
        """Sign in."""
        self.go("/sign-in")
        self.page.fill("#name", name)
        self.page.fill("#password", PASSWORD)
        self.page.click("main button")
        self.page.wait_for_selector("#left")
        return self.page

    def faults(self) -> list[str]:
        """Return the serious faults that axe-core finds on the page as it stands."""
        script = AXE.read_text("utf-8")
        self.page.evaluate(script)
        found = self.page.evaluate("async () => (await axe.run()).violations")
        return [
            f"{each['id']}: {node['html'][:120]}"
            for each in found
            if each["impact"] in ("serious", "critical")
            for node in each["nodes"]
        ]

    def complaints(self) -> list[str]:
        """Return what the console complained about; a request that ended with its page is no complaint."""
        usual = ("Password forms", "status of 4", "htmx:afterRequest", "htmx:sendError", "htmx:sendAbort")
        return [text for text in self.said if not any(each in text for each in usual)]


def answered(server: Served, visitor: Visitor) -> None:
    """Let the publisher answer what was asked, and wait until the page shows it by itself."""
    server.publish_all()
    visitor.page.wait_for_selector("text=Read the release")
