"""Put what `make peers` measured beside the report on the papers, with the versions of the peers.

python benchmarks/record_peers.py SCORES COEFFICIENTS FOLDER > papers/src/discreet_papers/peers.json

FOLDER is where the peers are installed.
"""

import json
import sys
from importlib.metadata import distributions
from pathlib import Path


def main() -> None:
    scores, coefficients, folder = map(Path, sys.argv[1:4])
    found = {each.metadata["Name"]: each.version for each in distributions(path=[str(folder)])}
    versions = {name: found[name] for name in ("diffprivlib", "mbi") if name in found}
    rounded = {
        peer: {setting: [[round(a, 4), round(b, 4)] for a, b in pairs] for setting, pairs in by_setting.items()}
        for peer, by_setting in json.loads(scores.read_text()).items()
    }
    slopes = {
        setting: [[round(value, 5) for value in row] for row in rows]
        for setting, rows in json.loads(coefficients.read_text()).items()
        if len(setting.split()) == 2  # records and epsilon, of three features
    }
    print(json.dumps({"versions": versions, "naive_bayes": rounded, "regression": slopes}))


if __name__ == "__main__":
    main()
