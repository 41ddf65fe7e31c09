"""List the numbered items of the paper texts, without looking at the register: python numbered_items.py FOLDER.

The texts are not part of this repository, so the list is: `claims/items.json`, part `numbered`. What the texts number
is found by how it is set: 'Lemma 3.' in bold or italics, 'Figure 2:' at the start of a line with its parts (a), (b)
above, headings of columns for tables without a number, and roman numerals for the statements of the draft. The other
part of the file, `statements`, is kept by hand: every place that is judged, in the order of the paper, and how many
claims stand there.
"""

import json
import re
import sys
from pathlib import Path

FILE = Path(__file__).parent.parent / "src" / "discreet_papers" / "claims" / "items.json"
KINDS = "Theorem|Lemma|Proposition|Corollary|Definition|Algorithm|Assumption|Remark|Example"
SET = re.compile(rf"^\*+({KINDS}) ([A-Z]\.\d+|\d+(?:\.\d+)?)\b")
CAPTION = re.compile(r"^(Figure|Table) (\d+):")
SECOND_CAPTION = re.compile(r"\. (Figure) (\d+):")
PART = re.compile(r"^\(([a-z])\) ")
HEADINGS = re.compile(r"^Hellinger Distance / steps\t")
ROMAN = re.compile(r"^(I{1,3}) +(?:Hlg|\$)")


def numbered(text: str) -> list[str]:
    """Return the items of one text, in its order."""
    found: list[str] = []
    parts: list[str] = []
    tables = 0
    for line in text.splitlines():
        if match := SET.match(line):
            found.append(f"{match[1]} {match[2]}")
        elif match := ROMAN.match(line):
            found.append(f"Proposition {match[1]}")
        elif HEADINGS.match(line):
            tables += 1
            found.append(f"Table {tables}")
        elif match := PART.match(line):
            parts.append(match[1])
        elif match := CAPTION.match(line):
            found += [f"{match[1]} {match[2]}({part})" for part in parts] or [f"{match[1]} {match[2]}"]
            found += [f"{other[1]} {other[2]}" for other in SECOND_CAPTION.finditer(line)]
            parts = []
    return list(dict.fromkeys(found))


if __name__ == "__main__":
    texts = sorted(Path(sys.argv[1]).glob("*.txt"))
    kept = json.loads(FILE.read_text("utf-8")) if FILE.exists() else {"statements": {}}
    kept["numbered"] = {path.name[:3]: numbered(path.read_text("utf-8")) for path in texts}
    FILE.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n", "utf-8")
    for paper, items in kept["numbered"].items():
        print(paper, len(items), ", ".join(items))
