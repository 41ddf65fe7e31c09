"""How the house stands, a report that nothing is held to: lines, modules, imports, contracts, towers, double names."""

import ast
import inspect
import sys
from collections import Counter, defaultdict
from pathlib import Path
from statistics import median
from subprocess import run
from textwrap import dedent

from start import STARTS, cpu_seconds

import discreet as dc
from discreet.inference import Posterior, Solver
from discreet.mechanism import Mechanism, Model
from discreet.noise import Noise

ROOT = Path(dc.__file__).parent
SHARE = """
import sys, discreet as dc
coin = dc.Categories("x", levels=("a", "b"), outside="a")
release = dc.simulate(dc.GeometricHistogram(coin, size=3, epsilon=1), (1, 2), dc.SeededBits(1))
dc.infer(dc.Release.from_json(release.to_json())).rows()
print(sum(name.split(".")[0] == "discreet" for name in sys.modules))
"""
"""A share is rehearsed, written, read back and inferred; then the modules of the library in memory are counted."""


def module_of(path: Path) -> str:
    """Return the dotted name of a file below the library, without the library's own."""
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix("__init__").rstrip(".")


def imports_of(path: Path) -> list[tuple[str, str]]:
    """Return what a file imports from the library, anywhere in it and for types as well: modules, and names in them."""
    nodes = [node for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.ImportFrom)]
    own = [node for node in nodes if node.module and node.module.split(".")[0] == ROOT.name]
    return [((node.module or "").partition(".")[2], alias.name) for node in own for alias in node.names]


def edges() -> set[tuple[str, str]]:
    """Return which module imports which other one; a name of a folder is imported from the module that defines it."""
    files = {module_of(path): path for path in ROOT.rglob("*.py")}
    stubs = {module_of(path): path for path in ROOT.rglob("*.pyi")}
    homes = {(folder, name): home for folder, stub in stubs.items() for home, name in imports_of(stub)}
    found = set()
    for module, path in files.items():
        for home, name in imports_of(path):
            whole = f"{home}.{name}".lstrip(".")
            found.add((module, whole if whole in files else homes.get((home, name), home)))
    return {(one, two) for one, two in found if one != two}


def print_folders() -> None:
    """Print the files and lines of every folder, and how many imports of modules stay inside one."""
    files, lines, inside, outside, below = (Counter[str]() for _ in range(5))
    for path in ROOT.rglob("*.py"):
        folder = path.relative_to(ROOT).parts[0]
        files[folder] += 1
        lines[folder] += path.read_text("utf-8").count("\n")
    for one, two in edges():
        folder, other = one.split(".")[0], two.split(".")[0]
        counted = inside if folder == other else below if other == "_core" else outside
        counted[folder] += 1
    print("Folders: files, lines, and imports of modules in the same folder, in others above it, in _core")
    for folder, count in sorted(lines.items(), key=lambda pair: -pair[1]):
        imports = f"{inside[folder]}, {outside[folder]}, {below[folder]}"
        print(f"  {folder}: {files[folder]} files, {count:,} lines, imports {imports}")
    stay, leave = inside.total(), outside.total()
    every = stay + leave + below.total()
    print(f"Imports of modules inside one folder: {stay} of {every} ({stay / every:.0%})")
    print(f"  without those from _core: {stay} of {stay + leave} ({stay / (stay + leave):.0%})")


def classes() -> dict[str, list[str]]:
    """Return the files in which each class name is defined."""
    found = defaultdict(list)
    for path in sorted(ROOT.rglob("*.py"), key=Path.as_posix):
        for node in ast.parse(path.read_text("utf-8")).body:
            if isinstance(node, ast.ClassDef):
                found[node.name].append(path.relative_to(ROOT).as_posix())
    return found


def ancestors(made: type) -> list[type]:
    """Return all classes of the library that a class is made of, itself left out."""
    return [each for each in made.__mro__[1:] if each.__module__.split(".")[0] in ("discreet", "discreet_papers")]


def members(contract: type) -> set[str]:
    """Return the public names of a contract: methods, properties and declared fields, inherited ones included."""
    own = [contract, *ancestors(contract)]
    names = {name for each in own for name in (*vars(each), *vars(each).get("__annotations__", {}))}
    return {name for name in names if not name.startswith("_")}


def hooks(contract: type) -> list[str]:
    """Return the optional hooks of a contract: methods whose body only returns a constant or raises, and Nones."""
    found = []
    for each in (contract, *ancestors(contract)):
        (tree,) = ast.parse(dedent(inspect.getsource(each))).body
        assert isinstance(tree, ast.ClassDef)
        for node in tree.body:
            if isinstance(node, ast.FunctionDef) and not node.name.startswith("_") and _is_hook(node):
                found.append(node.name)
            elif isinstance(node, ast.AnnAssign) and _is_constant(node.value) and isinstance(node.target, ast.Name):
                found.append(node.target.id)
    return found


def _is_hook(node: ast.FunctionDef) -> bool:
    if any("abstract" in ast.unparse(decorator) for decorator in node.decorator_list):
        return False
    body = node.body[1:] if ast.get_docstring(node) is not None else node.body
    if len(body) != 1:
        return False
    (only,) = body
    return isinstance(only, ast.Raise) or (isinstance(only, ast.Return) and _is_constant(only.value))


def _is_constant(value: ast.expr | None) -> bool:
    """Tell whether an expression is a constant, or an empty tuple, list or dictionary."""
    if isinstance(value, ast.Tuple | ast.List):
        return not value.elts
    return isinstance(value, ast.Constant) or (isinstance(value, ast.Dict) and not value.keys)


def print_contracts() -> None:
    """Print how large the contracts are, which of their members are optional, and how tall mechanisms stand on them."""
    for contract in (Noise, Model, Mechanism, Solver, Posterior):
        optional = hooks(contract)
        print(f"Public members of {contract.__name__}: {len(members(contract))}, optional hooks: {len(optional)}")
        if optional:
            print(f"  {', '.join(sorted(optional))}")
    towers = {kind: len(ancestors(made)) for kind, made in Mechanism.registered().items()}
    tallest = max(towers.values())
    print(f"Ancestors of {len(towers)} mechanisms: {median(towers.values()):g} in the median, {tallest} at most")
    for height in sorted(set(towers.values()), reverse=True):
        print(f"  {height}: {', '.join(kind for kind, own in towers.items() if own == height)}")


def main() -> None:
    texts = [path.read_text("utf-8") for path in ROOT.rglob("*.py")]
    print(f"Lines of src/discreet: {sum(text.count(chr(10)) for text in texts):,} in {len(texts)} files")
    done = run([sys.executable, "-c", SHARE], capture_output=True, text=True, check=True)
    print(f"Modules loaded to read a share: {done.stdout.strip()} of {len(texts)}")
    for name in ("import discreet", "discreet --help"):
        print(f"{name}: {min(cpu_seconds(STARTS[name]) for _ in range(5)):.2f} CPU s")
    print_folders()
    print_contracts()
    twice = {name: files for name, files in classes().items() if len(files) > 1}
    print(f"Class names that mean more than one thing: {len(twice)}")
    for name, files in sorted(twice.items()):
        print(f"  {name}: {', '.join(files)}")


if __name__ == "__main__":
    main()
