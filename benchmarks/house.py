"""How the house stands: questions about kinds, `Any`, who names which mechanism, public names, start, and lines.

A question about kinds is an isinstance or issubclass that names a class of the rooms where models, mechanisms, noise
and posteriors live, asked in a file that is outside models, mechanisms and as_published. Each is a place that a new
mechanism, model or posterior would have to join.
"""

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from start import STARTS, cpu_seconds

import discreet as dc

ROOT = Path(dc.__file__).parent
KINDS_LIVE_IN = {"mechanisms", "models", "as_published", "inference", "reading", "posteriors", "noise"}
MAY_ASK = {"mechanisms", "models", "as_published"}
TREES = {
    path.relative_to(ROOT): ast.parse(path.read_text("utf-8")) for path in sorted(ROOT.rglob("*.py"), key=Path.as_posix)
}


def kinds() -> set[str]:
    """Return the names of the public classes that a question about kinds would name."""
    trees = [tree for path, tree in TREES.items() if KINDS_LIVE_IN & set(path.parts)]
    classes = [node.name for tree in trees for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    return {name for name in classes if not name.startswith("_")}


def names(tree: ast.AST) -> Iterator[str]:
    """Return every name that code mentions; words in strings do not count."""
    return (node.id for node in ast.walk(tree) if isinstance(node, ast.Name))


def kinds_asked(tree: ast.AST) -> Iterator[ast.expr]:
    """Return what every isinstance and issubclass asks for."""
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Name(id="isinstance" | "issubclass"), args=[_, kind]):
                yield kind


def questions() -> dict[str, int]:
    """Return how many questions about kinds each file asks, most first."""
    known = kinds()
    found: Counter[str] = Counter()
    for path, tree in TREES.items():
        if not MAY_ASK & set(path.parts):
            found[path.as_posix()] += sum(not known.isdisjoint(names(kind)) for kind in kinds_asked(tree))
    return {path: number for path, number in found.most_common() if number}


def named_in(mechanism: str) -> list[str]:
    """Return the files whose code mentions a mechanism: its name, an import of it, or its name as a string."""
    return [
        path.as_posix() for path, tree in TREES.items() if any(_mentions(node, mechanism) for node in ast.walk(tree))
    ]


def _mentions(node: ast.AST, name: str) -> bool:
    match node:
        case ast.Name(id=found) | ast.Attribute(attr=found) | ast.alias(name=found) | ast.ClassDef(name=found):
            return found == name
        case ast.Constant(value=str(found)):
            return found == name
    return False


def main() -> None:
    asked = questions()
    print(f"Questions about kinds outside models and mechanisms: {sum(asked.values())} (at most 20 wanted)")
    for path, number in asked.items():
        print(f"  {number:3} {path}")
    anys = sum(name == "Any" for tree in TREES.values() for name in names(tree))
    print(f"Any: {anys} (at most 150 wanted)")
    print("Files that name a mechanism:")
    for mechanism in sorted(dc.Mechanism.registered()):
        files = named_in(mechanism)
        print(f"  {len(files):3} {mechanism}: {', '.join(files)}")
    print(f"Public names: {len(dc.__all__)} (about 40 wanted)")
    for name, most in (("import discreet", 0.7), ("discreet --help", 0.5)):
        print(f"{name}: {min(cpu_seconds(STARTS[name]) for _ in range(5)):.2f} CPU s (at most {most} wanted)")
    lines = sum(path.read_text("utf-8").count("\n") for path in ROOT.rglob("*.py"))
    print(f"Lines of src/discreet: {lines:,} in {len(TREES)} files (28,700 in 0.1, without the papers)")


if __name__ == "__main__":
    main()
