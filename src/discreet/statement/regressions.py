"""What a statement says about a regression: which columns within which bounds, and the coefficients."""

from fractions import Fraction
from math import sqrt

from discreet.exact import exact_text
from discreet.inference.coefficients import coefficient_rows
from discreet.inference.regression import RegressionPosterior
from discreet.models import InverseGamma, LinearRegression
from discreet.models.moments import Bounds
from discreet.records.values import text_of
from discreet.releases import Release
from discreet.statement.categories import LEVEL
from discreet.statement.markdown import bullets, plain, some_levels, table


def published_regression(release: Release) -> list[str]:
    """Say what was published: the columns, their bounds and levels, and that only noisy sums left the house."""
    model: LinearRegression = release.model
    kind = "made-up " if release.simulated else ""
    points = [f"target: {_bounded(model.ranges[model.target])}"]
    for feature in model.features:
        if isinstance(feature, str):
            points.append(_bounded(model.ranges[feature]))
        else:
            home = plain(text_of(feature.outside))
            words = f"gaps and other values count as {home}; compared with {plain(text_of(feature.levels[0]))}"
            points.append(f"**{plain(feature.name)}** ({some_levels(feature)}); {words}")
    return [
        "## What was published",
        f"{len(model.cells)} noisy sums over **{release.mechanism.size:,} {kind}records**, from which a linear "
        f"regression is computed. The question: how does **{plain(model.target)}** depend on the other columns? Bounds "
        "and levels were declared beforehand, not looked up in the records.",
        bullets(points),
        f"The true sums were not published: random noise was added to them by `{type(release.mechanism).__name__}`.",
    ]


def _bounded(bounds: Bounds) -> str:
    low, high, missing = (exact_text(value) for value in (bounds.low, bounds.high, bounds.missing))
    return f"**{plain(bounds.name)}** ({low} to {high}; values beyond are cut off there, gaps count as {missing})"


def regression_results(posterior: RegressionPosterior) -> list[str]:
    """Give the coefficients with their intervals and units."""
    rows = []
    for row in coefficient_rows(posterior, LEVEL):
        mean, low, high = row.figures
        rows.append((plain(row.name), plain(row.units), mean, f"{low} to {high}"))
    return [
        "## What the results are",
        "Estimated coefficients, and intervals that hold the uncertainty of sampling and of the noise together. Each "
        "is the change of the target that goes with its column while the other columns stay the same; the intercept "
        "belongs to zeros and first levels. That they go together does not say what causes what.",
        table(("coefficient", "units", "estimate", f"{100 * LEVEL:g} % interval"), rows, words=2),
        _weight(posterior),
    ]


def _prior_deviation(model: LinearRegression) -> float:
    """Return 1 / sqrt(d L): of d coordinates each is divided by sqrt(d), and w has the precision L."""
    return 1 / sqrt(model.dimension * model.prior_precision)


def _weight(posterior: RegressionPosterior) -> str:
    model, declared = posterior.model, posterior.releases[0].model
    noise = "with a prior for its variance" if isinstance(model.noise, InverseGamma) else "of known variance"
    text = (
        f"The records are taken to lie around a line with Gaussian noise {noise}; where every column is scaled from "
        f"its bounds to [-1, 1], the prior of a coefficient has the standard deviation {_prior_deviation(model):.3g}. "
        "The intervals were computed by simulation; its walkers agree up to a factor of "
        f"{posterior.r_hat:.3f} (R-hat; 1 is perfect)."
    )
    if model != declared:
        text += " The holder had declared another prior."
    if len(posterior.releases) > 1:
        total = sum((release.guarantee.epsilon for release in posterior.releases), Fraction(0))
        text += (
            f" These results were read from **{len(posterior.releases)} releases together**; for them all, "
            f"epsilon adds up to {exact_text(total)}."
        )
    return text
