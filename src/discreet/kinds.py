"""Where each built-in kind, solver and posterior is defined. Written by `make kinds`; do not edit."""
# fmt: off

KINDS: dict[str, dict[str, str]] = {
    "mechanism": {
        "BallDraw": "discreet.mechanisms.ball_draw",
        "BoxMoments": "discreet.mechanisms.box_moments",
        "ConeMoments": "discreet.mechanisms.cone_moments",
        "ContrastGaussians": "discreet.mechanisms.contrast_gaussians",
        "CubeCounts": "discreet.mechanisms.cube_counts",
        "DiscreteGaussianCounts": "discreet.mechanisms.discrete_gaussian_counts",
        "DiscreteGaussianHistogram": "discreet.mechanisms.discrete_gaussian_counts",
        "DiscreteLaplaceCounts": "discreet.mechanisms.discrete_laplace_counts",
        "FamilyGaussians": "discreet.mechanisms.family_gaussians",
        "FamilyHistograms": "discreet.mechanisms.family_histograms",
        "FourierCounts": "discreet.mechanisms.fourier_counts",
        "GaussianMoments": "discreet.mechanisms.gaussian_moments",
        "GeometricHistogram": "discreet.mechanisms.geometric_histogram",
        "GeometricSums": "discreet.mechanisms.geometric_sums",
        "GroupPaths": "discreet.mechanisms.group_paths",
        "HellingerCalibrated": "discreet.mechanisms.hellinger_calibrated",
        "HellingerGlobal": "discreet.mechanisms.hellinger",
        "HellingerReciprocal": "discreet.mechanisms.hellinger",
        "HellingerSmooth": "discreet.mechanisms.hellinger",
        "HellingerSmoothProved": "discreet.mechanisms.hellinger",
        "JointHistograms": "discreet.mechanisms.joint_histograms",
        "LaplaceMoments": "discreet.mechanisms.laplace_moments",
        "MaximumPosterior": "discreet.mechanisms.maximum_posterior",
        "MetricSums": "discreet.mechanisms.metric_sums",
        "NetworkMaximum": "discreet.mechanisms.network_maximum",
        "NetworkSampling": "discreet.mechanisms.network_sampling",
        "PathTable": "discreet.mechanisms.path_table",
        "PermuteAndFlip": "discreet.mechanisms.permute_and_flip",
        "PosteriorSampling": "discreet.mechanisms.posterior_sampling",
        "RateTruncation": "discreet.mechanisms.rate_truncation",
        "TotalVariationChoice": "discreet.mechanisms.total_variation",
        "TreeLevels": "discreet.mechanisms.tree_levels",
        "TreeTable": "discreet.mechanisms.tree_table",
        "TwoStepMedian": "discreet.mechanisms.two_step_median",
    },
    "metric": {
        "GroupLines": "discreet.guarantees.group_metrics",
        "GroupSteps": "discreet.guarantees.group_metrics",
        "Line": "discreet.guarantees.column_metrics",
        "Records": "discreet.guarantees.metric",
        "Steps": "discreet.guarantees.column_metrics",
        "Sum": "discreet.guarantees.metric",
        "Tree": "discreet.guarantees.column_metrics",
    },
    "model": {
        "Binomial": "discreet.models.binomial",
        "Categories": "discreet.models.categories",
        "Exponential": "discreet.models.exponential",
        "LaplaceScale": "discreet.models.laplace_scale",
        "LinearRegression": "discreet.models.linear_regression",
        "ModelledTable": "discreet.models.modelled_table",
        "Network": "discreet.models.network",
        "NormalMean": "discreet.models.normal_mean",
        "NormalPrecision": "discreet.models.normal_precision",
        "NumberSums": "discreet.models.number_sums",
        "NumberTable": "discreet.models.number_table",
        "Poisson": "discreet.models.poisson",
        "WeightedSums": "discreet.models.weighted_sums",
    },
    "program": {
        "Binomial": "discreet.models.programs.families",
        "Exponential": "discreet.models.programs.families",
        "Gamma": "discreet.models.programs.families",
        "LogLinear": "discreet.models.programs.loglinear",
        "LogNormal": "discreet.models.programs.families",
        "Logistic": "discreet.models.programs.regressions",
        "Multinomial": "discreet.models.programs.regressions",
        "NegativeBinomial": "discreet.models.programs.families",
        "Normal": "discreet.models.programs.families",
        "Poisson": "discreet.models.programs.families",
    },
}
"""The module of each kind that a document may name."""

SOLVERS: tuple[tuple[int, str, tuple[str, ...]], ...] = (
    (9, "discreet.inference.posteriors.two_step_median.TwoStepSolver", (
        "discreet.models.number_table.NumberTable",
    )),
    (9, "discreet.inference.posteriors.weighted_sums.WeightedSumsSolver", (
        "discreet.models.weighted_sums.WeightedSums",
    )),
    (10, "discreet.inference.posteriors.number_sums.NumberSumsSolver", (
        "discreet.models.number_sums.NumberSums",
    )),
    (10, "discreet.inference.posteriors.number_table.NumberTableSolver", (
        "discreet.models.number_table.NumberTable",
    )),
    (10, "discreet.reading.solvers.families.FamiliesSolver", (
        "discreet.models.bounded_family.BoundedFamily",
    )),
    (10, "discreet.reading.solvers.moments.MomentsSolver", (
        "discreet.models.linear_regression.LinearRegression",
    )),
    (10, "discreet.reading.solvers.naive_bayes.NaiveBayesSolver", (
        "discreet.models.network.Network",
    )),
    (10, "discreet.reading.solvers.tables.TablesSolver", (
        "discreet.models.categories.Categories",
    )),
    (12, "discreet.reading.solvers.tree_tables.TreeTablesSolver", (
        "discreet.models.categories.Categories",
    )),
    (20, "discreet.reading.solvers.cube.CubeSolver", (
        "discreet.models.network.Network",
    )),
    (20, "discreet.reading.solvers.enumeration.EnumerationSolver", (
        "discreet.models.categories.Categories",
    )),
    (25, "discreet.reading.solvers.weighted_tables.WeightedTablesSolver", (
        "discreet.models.categories.Categories",
    )),
    (28, "discreet.reading.solvers.cell_models.CellModelsSolver", (
        "discreet.models.modelled_table.ModelledTable",
    )),
    (30, "discreet.reading.solvers.sampled_tables.SampledTablesSolver", (
        "discreet.models.categories.Categories",
    )),
    (30, "discreet.reading.solvers.shared_radius.SharedRadiusSolver", (
        "discreet.models.network.Network",
    )),
    (35, "discreet.reading.solvers.binary_trees.BinaryTreesSolver", (
        "discreet.models.network.Network",
    )),
    (40, "discreet.reading.solvers.trees.TreesSolver", (
        "discreet.models.network.Network",
    )),
    (50, "discreet.reading.solvers.counts.CountsSolver", (
        "discreet.models.network.Network",
    )),
    (60, "discreet.reading.solvers.rows.RowsSolver", (
        "discreet.models.network.Network",
    )),
)
"""Solvers in the order in which they are asked, each with the models that it reads."""

POSTERIORS: dict[str, str] = {
    "discreet.inference.posteriors.two_step_median.TwoStepReading": "discreet.inference.posteriors.two_step_median",
    "discreet.reading.cells.model_reading.ModelReading": "discreet.inference.posteriors.model",
    "discreet.reading.families.FamilyReading": "discreet.inference.posteriors.family",
    "discreet.reading.moment_reading.MomentReading": "discreet.inference.posteriors.regression",
    "discreet.reading.number_sums.NumberSumsReading": "discreet.inference.posteriors.number_sums",
    "discreet.reading.number_tables.NumberTableReading": "discreet.inference.posteriors.number_table",
    "discreet.reading.readings.NetworkReading": "discreet.inference.posteriors.network",
    "discreet.reading.readings.TableReading": "discreet.inference.posteriors.categories",
    "discreet.reading.weighted_sums.WeightedSumsReading": "discreet.inference.posteriors.weighted_sums",
}
"""The module of the posterior that shows a kind of result."""
