"""The main job in one minute: a hospital publishes two answers about its patients, and a reader learns from them.

A made-up survey is written into the folder `demo`, with a study file that declares everything. Then the commands run as
a statistician would type them. In the last scene a third party asks questions of posterior draws until the budget of
the same patients is gone. Run with `make demo`; look into the folder afterwards.
"""

import shlex
import shutil
from pathlib import Path

import numpy as np
from rich.console import Console

import discreet as dc
from discreet.cli._main import main
from discreet.publishing import Predictive, Probability, Query

FOLDER = Path("demo")
SIZE = 1200
STUDY = """\
[data]
path = "survey.csv"
size = 1200                        # public
unit = "one row per patient"

[columns.ward]
levels = ["North", "South", "East", "West"]

[columns.fall]
levels = ["no", "yes"]
outside = "no"                     # nobody wrote anything down: counted as no fall

[columns.smoking]
levels = ["never", "former", "current"]

[columns.age]
bands = [0, 40, 65, 120]

[budget]
epsilon = "2"
ledger = "study.db"
population = "patients of 2026"

[questions.smoking-2026]
columns = ["smoking"]
epsilon = "0.1"
label = "Smoking among patients, 2026"

[questions.falls-by-ward]
columns = ["ward", "fall"]
epsilon = "0.5"
label = "Falls by ward, 2026"

[questions.age-and-smoking]
columns = ["age", "smoking"]
epsilon = "1.5"
label = "Smoking by age, 2026"
"""

SCENES: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    (
        "Plan",
        "No data are touched: what will a question tell, at which epsilon?",
        ("plan demo/study.toml --ask smoking-2026 --epsilon 0.02,0.05,0.1,0.2,0.5 --plot demo/plan.png",),
    ),
    (
        "Check",
        "On the holder's own screen: what in the data does not fit the declarations?",
        ("check demo/study.toml",),
    ),
    (
        "Publish",
        "The ledger is charged before the noise is drawn. Whoever sees a release learns almost the same about a\n"
        "patient as if that patient's row had been somebody else's.",
        ("publish demo/study.toml --ask smoking-2026", "publish demo/study.toml --ask falls-by-ward"),
    ),
    (
        "Read",
        "Needs the release alone. Intervals hold both the sampling and the noise.",
        (
            "infer demo/smoking-2026.release.json --plot demo/smoking.png --statement demo/smoking.html",
            "infer demo/falls-by-ward.release.json --event fall=yes --by ward --plot demo/wards.png"
            " --that 'ward=West, fall=yes > ward=East, fall=yes'",
        ),
    ),
    (
        "Verify",
        "Anyone can recompute the promise; the ledger shows that it was paid for.",
        ("verify demo/smoking-2026.release.json --ledger demo/study.db",),
    ),
    (
        "Run out of budget",
        "Many answers add up. The ledger refuses the one that would be too much.",
        ("publish demo/study.toml --ask age-and-smoking",),
    ),
)
QUESTIONS: tuple[tuple[str, Query], ...] = (
    ("Which share of the patients falls?", Probability("yes")),
    ("And in another draw?", Probability("yes")),
    ("And in a third?", Probability("yes")),
)


def write_survey() -> None:
    """Write 1200 made-up patients; a few gaps and a misspelling, as in life."""
    generator = np.random.default_rng(2026)
    wards = generator.choice(["North", "South", "East", "West"], size=SIZE, p=(0.35, 0.3, 0.2, 0.15))
    risk = {"North": 0.06, "South": 0.12, "East": 0.07, "West": 0.2}
    falls = [("yes" if generator.random() < risk[ward] else "no") for ward in wards]
    habits, shares = ["never", "former", "current", "", "Current"], (0.5, 0.27, 0.19, 0.03, 0.01)
    smoking = generator.choice(habits, size=SIZE, p=shares)
    ages = generator.normal(58, 19, size=SIZE).clip(0, 104).round().astype(int)
    rows = "\n".join(f"{w},{f},{s},{a}" for w, f, s, a in zip(wards, falls, smoking, ages, strict=True))
    (FOLDER / "survey.csv").write_text("ward,fall,smoking,age\n" + rows + "\n")
    (FOLDER / "study.toml").write_text(STUDY)


def run(console: Console, command: str) -> None:
    """Run a command as it would be typed; a refusal is part of the story."""
    console.print(f"[bold cyan]$ discreet {command}[/]", soft_wrap=True)
    try:
        main(shlex.split(command), standalone_mode=False)
    except SystemExit as stop:
        console.print(f"[dim](exit code {stop.code})[/]")


def open_session() -> dc.QuerySession:
    """Return a session about falls on the ledger of the study: the same patients, so the same budget."""
    study = dc.Study(FOLDER / "study.toml")
    falls = dc.Categories("fall", levels=("no", "yes"), outside="no")
    mechanism = dc.draws.PosteriorSampling.truncated(falls, size=SIZE, epsilon="0.7", least="0.01")
    return dc.QuerySession(mechanism, falls.statistics(study.source()), study.ledger(), "Falls, drawn", unit=study.unit)


def interview(console: Console, session: dc.QuerySession) -> None:
    """Let a third party ask until the ledger refuses; one more question about a draw that is public is free."""
    cost = float(session.mechanism.guarantee.epsilon)
    for words, question in QUESTIONS:
        console.print(f"[bold cyan]? {words}[/]")
        try:
            draw = session.draw()
        except dc.BudgetError as refusal:
            console.print(f"[red]Refused:[/] {refusal}", soft_wrap=True)
            continue
        console.print(f"{draw.answer(question):.1%}, from a fresh draw that costs epsilon = {cost:g}")
        soon = draw.answer(Predictive("yes", records=100))
        console.print(f"Free, as this draw is public now: of 100 further patients about {soon.mean:.0f} fall.")
    console.print("[dim]An answer holds the luck of its draw; the noisy counts of scene 4 say more.[/]")


def story() -> None:
    """Tell the whole story."""
    console = Console(highlight=False)
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir()
    write_survey()
    console.print(f"A made-up survey of {SIZE} patients and a study file are in {FOLDER}/. Nothing is real here.")
    for number, (title, protects, commands) in enumerate(SCENES, start=1):
        console.print()
        console.rule(f"[bold]{number}. {title}[/]", align="left")
        console.print(f"[italic]{protects}[/]")
        for command in commands:
            run(console, command)
    console.print()
    console.rule(f"[bold]{len(SCENES) + 1}. Answer a third party[/]", align="left")
    console.print("[italic]Every answer is a fresh draw from the posterior, paid for before it is drawn.[/]")
    interview(console, open_session())
    run(console, "ledger demo/study.toml --plot demo/budget.png")
    console.print()
    console.rule("[bold]Look[/]", align="left")
    console.print("Pictures: demo/wards.png, demo/smoking.png, demo/plan.png, demo/budget.png")
    console.print("An account for a data-protection board: demo/smoking.html")


if __name__ == "__main__":
    story()
