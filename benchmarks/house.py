"""How the house stands, a report that nothing is held to: lines, files, modules loaded, names that mean two things."""

import ast
import sys
from collections import defaultdict
from pathlib import Path
from subprocess import run

from start import STARTS, cpu_seconds

import discreet as dc

ROOT = Path(dc.__file__).parent
SHARE = """
import sys, discreet as dc
coin = dc.Categories("x", levels=("a", "b"), outside="a")
release = dc.simulate(dc.GeometricHistogram(coin, size=3, epsilon=1), (1, 2), dc.SeededBits(1))
dc.infer(dc.Release.from_json(release.to_json())).rows()
print(sum(name.split(".")[0] == "discreet" for name in sys.modules))
"""
"""A share is rehearsed, written, read back and inferred; then the modules of the library in memory are counted."""


def classes() -> dict[str, list[str]]:
    """Return the files in which each class name is defined."""
    found = defaultdict(list)
    for path in sorted(ROOT.rglob("*.py"), key=Path.as_posix):
        for node in ast.parse(path.read_text("utf-8")).body:
            if isinstance(node, ast.ClassDef):
                found[node.name].append(path.relative_to(ROOT).as_posix())
    return found


def main() -> None:
    texts = [path.read_text("utf-8") for path in ROOT.rglob("*.py")]
    print(f"Lines of src/discreet: {sum(text.count(chr(10)) for text in texts):,} in {len(texts)} files")
    done = run([sys.executable, "-c", SHARE], capture_output=True, text=True, check=True)
    print(f"Modules loaded to read a share: {done.stdout.strip()} of {len(texts)}")
    for name in ("import discreet", "discreet --help"):
        print(f"{name}: {min(cpu_seconds(STARTS[name]) for _ in range(5)):.2f} CPU s")
    twice = {name: files for name, files in classes().items() if len(files) > 1}
    print(f"Class names that mean more than one thing: {len(twice)}")
    for name, files in sorted(twice.items()):
        print(f"  {name}: {', '.join(files)}")


if __name__ == "__main__":
    main()
