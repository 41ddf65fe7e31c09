"""A table of categories with a reader's own records in its prior."""

from discreet.mechanism import Informed, own_counts
from discreet.tables._model import Categories


def informed_categories(model: Categories, own: object) -> Informed:
    """Return a table with own records in its prior: if none was declared, for every strength that may be meant."""
    counts = own_counts(model, own)
    meant = model.proposals(is_evidence_known=True) if model.is_prior_open else (model,)
    models = tuple(model.with_prior((each.concentration + counts).tolist()) for each in meant)
    return Informed(models, tuple(float(each.log_evidence(counts)) for each in meant), int(counts.sum()))
