"""The solvers of each model, in the order in which they are asked."""

SOLVERS: dict[str, tuple[str, ...]] = {
    "discreet.tables._model.Categories": (
        "discreet.tables._solver.TablesSolver",
        "discreet.tables._secret_size.SecretSizeSolver",
        "discreet.tables._tree_solver.TreeTablesSolver",
        "discreet.tables._enumeration.EnumerationSolver",
        "discreet.tables._importance_solver.WeightedTablesSolver",
        "discreet.tables._chains_solver.SampledTablesSolver",
    ),
    "discreet.programs._model.ModelledTable": ("discreet.programs._solver.CellModelsSolver",),
    "discreet.networks._model.Network": (
        "discreet.networks._naive_bayes.NaiveBayesSolver",
        "discreet.networks._cube.CubeSolver",
        "discreet.networks._secret_size.SecretCubeSolver",
        "discreet.networks._shared_radius.SharedRadiusSolver",
        "discreet.networks._binary_trees.BinaryTreesSolver",
        "discreet.networks._trees.TreesSolver",
        "discreet.networks._moves_solver.MovesSolver",
        "discreet.networks._chains_solver.CountsSolver",
        "discreet.networks._approximate_rows.RowsSolver",
    ),
    "discreet.numbers._table_model.NumberTable": (
        "discreet.numbers._table_posterior.NumberTableSolver",
        "discreet.numbers._secret_size_table.SecretNumberTableSolver",
    ),
    "discreet.synthesis._model.Synthesis": ("discreet.synthesis._solver.SynthesisSolver",),
    "discreet.numbers._quantiles_model.NumberQuantiles": (
        "discreet.numbers._quantiles_posterior.NumberQuantilesSolver",
    ),
    "discreet.numbers._sums_model.NumberSums": (
        "discreet.numbers._sums_posterior.NumberSumsSolver",
        "discreet.numbers._secret_size_sums.SecretNumberSumsSolver",
    ),
    "discreet.numbers._weighted_model.WeightedSums": (
        "discreet.numbers._weighted_posterior.WeightedSumsSolver",
        "discreet.numbers._secret_size_sums.SecretNumberWeightedSolver",
    ),
    "discreet.programs.families._bounded_family.BoundedFamily": ("discreet.programs.families._solver.FamiliesSolver",),
    "discreet.regression._model.LinearRegression": ("discreet.regression._solver.MomentsSolver",),
    "discreet.regression._weighted_model.WeightedRegression": (
        "discreet.regression._weighted_posterior.WeightedMomentsSolver",
    ),
}
"""For each model that is read, its solvers by name, best first: none is loaded before those above it have refused.

A model that extends another is read by its own solvers first, then by those of the other.
"""
