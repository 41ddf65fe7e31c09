"""Draw how a share travels through the library, for CONTRIBUTING: docs/images/road-of-a-share.svg."""

from html import escape
from pathlib import Path

STEPS = (
    ("records/", "_files, _delimited, _columns", "a CSV file becomes codes, then secret counts", "secret"),
    ("tables/_model", "Categories.statistics", "what is counted: yes and no", "secret"),
    ("publishing/_publish", "the one door", "refuse, charge, draw, record: in this order", "secret"),
    ("ledger/", "_ledger, _chain", "the charge is written down before anything is drawn", "secret"),
    ("tables/_mechanisms", "GeometricHistogram", "with mechanism/_additive and noise/: counts plus noise", "secret"),
    ("release/_release", "Release", "a JSON document: what was drawn, how, and what it promises", "public"),
    ("inference/_problem", "Problem, solver_for", "the first solver that fits: tables/_solver", "public"),
    ("inference/", "_latent_counts, _known_sum", "the true counts behind the noise, summed exactly", "public"),
    ("tables/_groupwise", "GroupwiseDistributions", "each interval from its own noisy sum, opened to 0 or 1", "public"),
    ("tables/_posterior", "CategoriesPosterior", "rows with intervals, draws, words", "public"),
    ("report/, cli/", "charts, pages, statement", "shown once for all models", "public"),
)
FILL = {"secret": "#fde8d8", "public": "#dcebfa"}
WIDTH, HEIGHT, GAP, TOP = 560, 46, 14, 40


def drawn() -> str:
    """Return the picture: a box for each step, from top to bottom, secret ones in another colour than public ones."""
    parts = []
    for number, (where, what, words, side) in enumerate(STEPS):
        y = TOP + number * (HEIGHT + GAP)
        shape = f'x="20" y="{y}" width="{WIDTH}" height="{HEIGHT}" rx="6"'
        parts.append(f'<rect {shape} fill="{FILL[side]}" stroke="#555"/>')
        parts.append(f'<text x="34" y="{y + 19}" class="where">{escape(where)}</text>')
        parts.append(f'<text x="{WIDTH + 6}" y="{y + 19}" text-anchor="end" class="what">{escape(what)}</text>')
        parts.append(f'<text x="34" y="{y + 37}">{escape(words)}</text>')
        if number:
            parts.append(f'<path d="M300 {y - GAP}v{GAP - 2}" stroke="#555" marker-end="url(#tip)"/>')
    bottom = TOP + len(STEPS) * (HEIGHT + GAP)
    style = "text{font:13px sans-serif;fill:#222}.where{font-weight:bold}.what{font-style:italic}"
    size = 'markerWidth="8" markerHeight="8" refX="4" refY="3"'
    tip = f'<marker id="tip" {size} orient="auto"><path d="M0 0L6 3L0 6z"/></marker>'
    head = "How a share travels: the holder's side, where the records are secret, then the reader's"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH + 40} {bottom}" role="img"'
        f' aria-label="{escape(head)}">'
        f'<style>{style}</style><defs>{tip}</defs><rect width="100%" height="100%" fill="#fff"/>'
        f'<text x="20" y="26" class="where">{escape(head)}</text>{"".join(parts)}</svg>\n'
    )


if __name__ == "__main__":
    (Path(__file__).parents[1] / "images" / "road-of-a-share.svg").write_text(drawn(), "utf-8")
