"""The solvers, each of which reads some problems, and the one place that says in which order they are asked."""

SOLVERS: dict[str, tuple[str, ...]] = {
    "discreet.models.categories.Categories": (
        "discreet.reading.solvers.tables.TablesSolver",
        "discreet.reading.solvers.tree_tables.TreeTablesSolver",
        "discreet.reading.solvers.enumeration.EnumerationSolver",
        "discreet.reading.solvers.weighted_tables.WeightedTablesSolver",
        "discreet.reading.solvers.sampled_tables.SampledTablesSolver",
    ),
    "discreet.models.modelled_table.ModelledTable": ("discreet.reading.solvers.cell_models.CellModelsSolver",),
    "discreet.models.network.Network": (
        "discreet.reading.solvers.naive_bayes.NaiveBayesSolver",
        "discreet.reading.solvers.cube.CubeSolver",
        "discreet.reading.solvers.shared_radius.SharedRadiusSolver",
        "discreet.reading.solvers.binary_trees.BinaryTreesSolver",
        "discreet.reading.solvers.trees.TreesSolver",
        "discreet.reading.solvers.counts.CountsSolver",
        "discreet.reading.solvers.rows.RowsSolver",
    ),
    "discreet.models.number_table.NumberTable": (
        "discreet.inference.posteriors.two_step_median.TwoStepSolver",
        "discreet.inference.posteriors.number_table.NumberTableSolver",
    ),
    "discreet.models.number_sums.NumberSums": ("discreet.inference.posteriors.number_sums.NumberSumsSolver",),
    "discreet.models.weighted_sums.WeightedSums": ("discreet.inference.posteriors.weighted_sums.WeightedSumsSolver",),
    "discreet.models.bounded_family.BoundedFamily": ("discreet.reading.solvers.families.FamiliesSolver",),
    "discreet.models.linear_regression.LinearRegression": ("discreet.reading.solvers.moments.MomentsSolver",),
}
"""For each model that is read, its solvers by name, best first: none is loaded before those above it have refused.

A model that extends another is read by its own solvers first, then by those of the other.
"""
