"""Try every way, keep what came of it, and print the page: python -m discreet_papers.road > docs/papers.md.

Names of mechanisms try these alone, --kept tries none: both leave what was kept of all others.
"""

import json
import sys
from pathlib import Path

from discreet_papers.road.page import kept, key_of, road_page
from discreet_papers.road.tried import tried
from discreet_papers.road.ways import ways

if "--kept" not in sys.argv:
    chosen, found = sys.argv[1:], kept() if sys.argv[1:] else {}
    for way in (way for way in ways() if not chosen or way.mechanism in chosen):
        print(key_of(way), file=sys.stderr)
        found[key_of(way)] = tried(way)
    text = json.dumps(found, indent=1, ensure_ascii=False) + "\n"
    (Path(__file__).parent / "kept.json").write_text(text, encoding="utf-8")
print(road_page(), end="")
