"""Compute the numbers that take long and write them: python -m discreet_papers.evidence [NAME ...]."""

import json
import sys
from importlib import import_module
from pathlib import Path

from discreet_papers.evidence.rows import LONG
from discreet_papers.registry import modules

for module in modules("", "evidence"):
    if not module.endswith("__main__"):
        import_module(module)

FILE = Path(__file__).with_name("recorded.json")
kept = json.loads(FILE.read_text("utf-8")) if FILE.exists() else {}
for name in sys.argv[1:] or sorted(LONG):
    kept[name] = LONG[name]()
    print(name, kept[name])  # each is written as soon as it is done
    FILE.write_text(json.dumps(dict(sorted(kept.items())), indent=1) + "\n", "utf-8")
