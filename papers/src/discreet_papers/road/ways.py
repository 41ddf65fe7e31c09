"""Every algorithm and mechanism of the five papers, and the study that asks for it."""

from dataclasses import dataclass

from discreet.mechanism import Sized

TABLE = 'columns = ["a"]\nprior = 1'
WIDE = 'columns = ["a", "b"]\nprior = 1'
GRAPH = 'model = "network"\nedges = ["a -> b"]\nprior = 1'
NODE = 'model = "network"\nedges = ["a"]\nprior = 1'
LINE = 'model = "regression"\nformula = "y ~ x"\nnoise = "0.2"\nprior = 1'
EVENTS = 'model = "poisson"\ncolumn = "z"\nmost = 3\noutside = 3\nshape = 3\nrate = "2.5"'
NUMBER = 'model = "number"\ncolumn = "z"'
ONE_CELL = "sensitivity = 1\nnoisy_cells = 1"
DELTA, NO_READING = 'delta = "1e-3"', 'reading = "none"'


@dataclass(frozen=True)
class Way:
    """What a paper publishes, where it says so, the kind of mechanism, and the keys of a question that asks for it."""

    paper: str
    place: str
    what: str
    mechanism: str
    keys: tuple[str, ...]


WAYS: tuple[Way, ...] = (
    Way("000", "section 2", "exponential mechanism, global sensitivity", "HellingerGlobal", (TABLE,)),
    Way("000", "section 3", "the same, local sensitivity", "HellingerLocal", (TABLE,)),
    Way("000", "section 4", "the same, varying sensitivity", "HellingerReciprocal", (TABLE,)),
    Way("001", "the poster", "smooth sensitivity, as printed", "PublishedHellingerSmooth", (TABLE, DELTA)),
    Way("001", "the poster", "smooth sensitivity, proved", "HellingerSmoothProved", (TABLE, DELTA)),
    Way("001", "the poster", "global sensitivity, as printed", "PublishedHellingerGlobal", (TABLE,)),
    Way("001", "the poster", "total variation as the score", "TotalVariationChoice", (TABLE,)),
    Way("001", "baseline", "rounded Laplace noise", "RoundedLaplace", (TABLE, "sensitivity = 2\nnoisy_cells = 2")),
    Way("002", "Algorithm 1", "posterior sampling, tempered", "PosteriorSampling.tempered", (WIDE, DELTA)),
    Way(
        "002",
        "Assumption 2",
        "posterior sampling, concentrated",
        "PosteriorSampling.concentrated",
        ('columns = ["a"]', DELTA),
    ),
    Way(
        "002",
        "Definition 2",
        "under the distance of numbers, sums",
        "MetricSums",
        (NUMBER + '\nask = ["mean", "sum"]',),
    ),
    Way(
        "002", "Definition 2", "under the distance of numbers, a table", "PathTable", (NUMBER + "\nquantiles = [0.5]",)
    ),
    Way("002", "Definition 2", "under the metric of a tree", "TreeLevels", (TABLE, "parents = [1]\nlengths = [2]")),
    Way("002", "Theorem 2", "truncation by rate", "RateTruncation.tempered", (EVENTS, 'lowest = "0.5"\nhighest = 2')),
    Way(
        "002",
        "Lemma 3",
        "exponential records",
        "PosteriorSampling.tempered",
        ('model = "exponential"\ncolumn = "z"\nhigh = 3\nbands = 6\noutside = "usual"', DELTA),
    ),
    Way(
        "002",
        "Lemma 4",
        "Laplace records",
        "PosteriorSampling.tempered",
        ('model = "laplace-scale"\ncolumn = "z"\nreach = 3\nbands = 4\noutside = "usual"', DELTA),
    ),
    Way(
        "002",
        "Lemma 5",
        "binomial records",
        "PosteriorSampling.tempered",
        ('model = "binomial"\ncolumn = "z"\ntrials = 3\noutside = 0\nalpha = 2\nbeta = 2', DELTA),
    ),
    Way(
        "002",
        "Lemma 6",
        "normal records, precision",
        "PosteriorSampling.tempered",
        ('model = "normal-precision"\ncolumn = "z"\nreach = 3\nbands = 4\noutside = "usual"', DELTA),
    ),
    Way("002", "Lemma 7", "discrete networks", "NetworkSampling.tempered", (GRAPH, DELTA)),
    Way("002", "section 5", "Poisson records", "PosteriorSampling.tempered", (EVENTS, DELTA)),
    Way(
        "002",
        "section 5",
        "normal records, mean",
        "PosteriorSampling.tempered",
        ('model = "normal-mean"\ncolumn = "z"\nlow = 0\nhigh = 4\nvariance = 1\noutside = "usual"', DELTA),
    ),
    Way("003", "section 3", "smooth sensitivity, with its true epsilon", "HellingerSmooth", (TABLE, DELTA)),
    Way("003", "section 3", "the same, scale from enumeration", "HellingerCalibrated", (TABLE, DELTA)),
    Way("003", "Table 1", "local sensitivity with the whole epsilon", "HellingerTable", (TABLE,)),
    Way("003", "Table 1", "floored Laplace noise", "FlooredLaplace", (TABLE, ONE_CELL)),
    Way("003", "Table 1", "truncated Laplace noise", "TruncatedLaplace", (TABLE, ONE_CELL)),
    Way("004", "Algorithm 1", "Laplace noise on posterior updates", "LaplaceUpdates", (GRAPH,)),
    Way("004", "Algorithm 1", "clamped, of one table", "ClampedLaplace", (TABLE, ONE_CELL)),
    Way("004", "Algorithm 2", "Laplace noise on Fourier coefficients", "FourierUpdates", (NODE,)),
    Way("004", "Algorithm 2", "the same, tight scales", "FourierCounts", (NODE,)),
    Way("004", "Algorithm 2", "the same, Gaussian noise", "ContrastGaussians", (NODE, DELTA)),
    Way("004", "section 4", "posterior sampler, trimmed", "NetworkSampling.truncated", (GRAPH,)),
    Way("004", "section 4", "posterior sampler, tempered", "NetworkSampling.tempered", (GRAPH, DELTA)),
    Way(
        "004",
        "section 4",
        "posterior sampler, concentrated",
        "NetworkSampling.concentrated",
        ('model = "network"\nedges = ["a -> b"]', DELTA),
    ),
    Way("004", "Algorithm 3", "maximum a posteriori, of one table", "MaximumPosterior", (TABLE, "resolution = 10")),
    Way("004", "Algorithm 3", "maximum a posteriori, of a network", "NetworkMaximum", (NODE, "resolution = 4")),
    Way(
        "004",
        "section 5.2",
        "draw of regression coefficients",
        "BallDraw",
        (LINE, "norm_bound = 1\nsteps = 16", NO_READING),
    ),
)
"""In the papers' order."""


def ways() -> tuple[Way, ...]:
    """Return the ways whose mechanism this version of the library has."""
    known = Sized.registered()
    return tuple(way for way in WAYS if way.mechanism.partition(".")[0] in known)
