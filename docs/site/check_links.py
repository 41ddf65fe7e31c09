"""Check a built site: every link inside it leads somewhere, and nothing is loaded from other sites.

    python docs/site/check_links.py build/site

Pages are read as they were written, without a browser. Links to other sites are left alone: they are for people to
follow, and a build must not need a network. Scripts, styles and pictures from other sites are not allowed.
"""

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """What a page holds: places that can be linked to, links, and what it loads."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.places: set[str] = set()
        self.links: set[str] = set()
        self.loaded: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take note of the ids, links and sources of one tag."""
        named = {name: value for name, value in attrs if value}
        self.places |= {named[name] for name in ("id", "name") if name in named}
        if tag in ("script", "img", "iframe") and "src" in named:
            self.loaded.add(named["src"])
        if tag == "link" and named.get("rel") == "stylesheet" and "href" in named:
            self.loaded.add(named["href"])
        if tag == "a" and "href" in named:
            self.links.add(named["href"])


def problems(site: Path) -> list[str]:
    """Return what is wrong with the links of a site, one line each."""
    pages = {path.resolve(): Page(path.read_text("utf-8")) for path in sorted(site.rglob("*.html"))}
    found = []
    for path, page in pages.items():
        name = path.relative_to(site.resolve()).as_posix()
        for target in sorted(page.loaded):
            if urlsplit(target).netloc:
                found.append(f"{name} loads {target} from elsewhere")
        for target in sorted(page.links | page.loaded):
            parts = urlsplit(target)
            if parts.scheme or parts.netloc:
                continue
            other = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            place = unquote(parts.fragment)
            if not other.exists():
                found.append(f"{name} links to {target}, which is not there")
            elif place and other in pages and place not in pages[other].places:
                found.append(f"{name} links to {target}; the page has no such place")
    return found


def main(site: str) -> int:
    """Print what is wrong, and return 1 if anything is."""
    if not Path(site, "index.html").exists():
        print(f"{site} holds no site: index.html is missing. Build it with `make docs`.")
        return 1
    found = problems(Path(site))
    for line in found:
        print(line)
    print(f"{len(found)} faulty links in {site}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) == 2 else "build/site"))
