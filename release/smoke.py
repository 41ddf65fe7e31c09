"""What an installed copy must be able to do with its own dependencies alone: a study, from records to a posterior.

Run in an empty folder by the interpreter of the environment that is tried; it prints one line.
"""

import subprocess
import sys
from pathlib import Path

import discreet as dc

STUDY = """
[data]
path = "records.csv"
size = 400
[columns.smoker]
levels = ["no", "yes"]
outside = "no"
[columns.ward]
levels = ["A", "B"]
outside = "A"
[budget]
epsilon = "4"
ledger = "study.db"
[questions.wards]
columns = ["smoker", "ward"]
epsilon = "2"
"""


def main() -> None:
    """Take a study through all commands, and read what it published."""
    rows = [f"{'yes' if number % 3 == 0 else 'no'},{'AB'[number % 2]}" for number in range(400)]
    Path("records.csv").write_text("smoker,ward\n" + "\n".join(rows) + "\n")
    Path("study.toml").write_text(STUDY)
    command = Path(sys.executable).with_name("discreet")
    for words in ("check study.toml", "plan study.toml", "publish study.toml --ask wards --out wards.json",
                  "verify wards.json --ledger study.db", "infer wards.json", "ledger study.db"):  # fmt: skip
        done = subprocess.run([command, *words.split()], capture_output=True, text=True, check=False)
        if done.returncode:
            raise SystemExit(f"discreet {words}: {done.stdout}{done.stderr}")
    posterior = dc.infer(dc.Release.from_json(Path("wards.json").read_text()))
    share = posterior.probability("smoker=yes")
    interval = share.interval(0.9999)
    assert interval.low < 134 / 400 < interval.high, interval
    print(f"discreet {dc.__version__}, Python {sys.version.split()[0]}: P(smoker=yes) {share.mean:.3f}")


if __name__ == "__main__":
    main()
