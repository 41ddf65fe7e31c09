"""The main job in one minute: publish a private histogram, read it back honestly, check the promise.

Everything is generated here; nothing is read from outside. Run with `make demo`.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from rich.console import Console
from rich.table import Table

import discreet as dc

LEVELS = ("never", "former", "current")
TRUTH = (0.55, 0.27, 0.18)
SIZE = 1200
WIDTH = 46


def survey() -> dict[str, list[str]]:
    """Return a made-up survey: one record for each of 1200 patients."""
    generator = np.random.default_rng(2026)
    return {"smoking": [LEVELS[place] for place in generator.choice(3, size=SIZE, p=TRUTH)]}


def bar(low: float, high: float, truth: float) -> str:
    """Draw an interval on [0, 0.7], with the truth as a dot."""
    cells = [" "] * WIDTH
    left, right, dot = (min(WIDTH - 1, int(x / 0.7 * WIDTH)) for x in (low, high, truth))
    cells[left : right + 1] = ["━"] * (right + 1 - left)
    cells[dot] = "●" if left <= dot <= right else "[red]●[/red]"
    return "".join(cells)


def readings(release: dc.Release) -> Table:
    """Compare the honest reading with the naive one."""
    posterior, naive = dc.infer(release), dc.plug_in(release)
    table = Table(title=f"90 % intervals at epsilon = {float(release.guarantee.epsilon):g} (dot: the true rate)")
    for heading in ("", "reading", "mean", "interval", "0" + " " * (WIDTH - 4) + "0.7", "due to privacy"):
        table.add_column(heading, no_wrap=True)
    for place, level in enumerate(LEVELS):
        low, high = posterior.interval(0.9)[level]
        share = f"{posterior.privacy_share(0.9)[level]:.0%} of width"
        picture = bar(low, high, TRUTH[place])
        table.add_row(level, "noise-aware", f"{posterior.mean[level]:.3f}", f"{low:.3f} - {high:.3f}", picture, share)
        low, high = naive.marginal(place).interval(0.9)
        picture = f"[dim]{bar(low, high, TRUTH[place])}[/dim]"
        table.add_row(
            "", "plug-in", f"{naive.mean[place]:.3f}", f"{low:.3f} - {high:.3f}", picture, "", end_section=True
        )
    return table


def coverage(mechanism: dc.GeometricHistogram, repeats: int = 400) -> tuple[float, float]:
    """Return how often 90 % intervals, honest and naive, hold the true rate."""
    generator, bits = np.random.default_rng(1), dc.SeededBits(1)
    hits = np.zeros(2)
    for _ in range(repeats):
        theta = generator.dirichlet(np.ones(3))
        release = dc.simulate(mechanism, generator.multinomial(SIZE, theta), bits)
        posterior, naive = dc.infer(release), dc.plug_in(release)
        for place, level in enumerate(LEVELS):
            chances = (
                float(posterior.probability(level).cdf(theta[place])),
                float(naive.marginal(place).cdf(theta[place])),
            )
            hits += [0.05 <= chance <= 0.95 for chance in chances]
    return float(hits[0] / (3 * repeats)), float(hits[1] / (3 * repeats))


def main() -> None:
    """Tell the whole story on the screen."""
    console = Console(width=132)
    smoking = dc.Categories("smoking", levels=LEVELS, prior=1)
    with TemporaryDirectory() as folder:
        ledger = dc.Ledger.create(Path(folder) / "study.db", epsilon="0.12")
        secret = smoking.statistics(survey())
        console.rule("1. Count. The counts are secret and do not show themselves")
        console.print(repr(secret))
        console.rule("2. Publish. The ledger is charged before anything is drawn")
        mechanism = dc.GeometricHistogram(smoking, size=SIZE, epsilon="0.05")
        release = dc.publish(mechanism, secret, ledger=ledger, label="smoking 2026")
        console.print(f"output {release.output}, {release.guarantee!r}", soft_wrap=True)
        console.rule("3. Read. Noise-aware intervals are as wide as they must be; plug-in intervals pretend")
        console.print(readings(dc.Release.from_json(release.to_json())))
        aware, naive = coverage(mechanism)
        console.print(
            f"In 400 simulated surveys the 90 % intervals hold the truth: noise-aware {aware:.1%}, plug-in {naive:.1%}."
        )
        console.rule("4. Check. Anyone can recompute the promise from the document")
        console.print(str(dc.verify(release, ledger=ledger)), soft_wrap=True)
        console.rule("5. Go on, until the budget is gone")
        for label in ("smoking 2026, again", "and again"):
            try:
                dc.publish(mechanism, secret, ledger=ledger, label=label)
                console.print(f"published {label!r}; {ledger.remaining!r} remains")
            except dc.BudgetError as refusal:
                console.print(f"[bold]{refusal}[/bold]", soft_wrap=True)


if __name__ == "__main__":
    main()
