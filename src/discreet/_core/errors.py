"""Errors and warnings, and the names that a misspelt one probably meant.

Every message says what was asked, what is allowed, what was given, what did *not* happen, and what to do next.
No message ever carries a value from the records: an error is public, and so it must not depend on the secret. Only
declared names are ever suggested, never data.
"""

from collections.abc import Iterable
from difflib import get_close_matches


class DiscreetError(Exception):
    """The base class of every error that this library raises."""


class DeclarationError(DiscreetError, ValueError):
    """A model, mechanism or guarantee was declared with invalid values."""


class SecretError(DiscreetError, TypeError):
    """A secret value was about to leave by some way other than `publish`."""


class SourceError(DiscreetError):
    """Records could not be counted, for a reason that does not depend on any record."""


class PublishError(DiscreetError):
    """Nothing was published."""


class BudgetError(PublishError):
    """The ledger does not have enough budget left."""


class LedgerError(DiscreetError):
    """A ledger cannot be read, or its entries have been altered since they were written."""


class DocumentError(DiscreetError, ValueError):
    """A document is not one that this version can read."""


class VerificationError(DiscreetError):
    """A release does not have the guarantee that it states."""


class LittleInformationWarning(UserWarning):
    """A release says almost nothing about the data: the posterior is mostly the prior."""


class PriorOutweighsWarning(UserWarning):
    """An event's probability, inferred from all cells together, is far from what its own noisy sum suggests."""


class ConvergenceWarning(UserWarning):
    """Markov chains have not converged (their R-hat is too high): results based on them are rough."""


class UncalibratedDrawsWarning(UserWarning):
    """Intervals of these draws hold skewed truths less often than they state; the warning says what to ask instead."""


class MisfitWarning(UserWarning):
    """The published values contradict the declared model (misfit): results are valid only if the model is."""


_PART = 4  # letters from which a part of a name is meant as such


def meant(name: object, declared: Iterable[object]) -> str:
    """Return a question that names the nearest declared names, or nothing if none is near.

    >>> meant("smokng", ["smoking", "age"])
    " Did you mean 'smoking'?"
    >>> meant("income", ["smoking", "age"])
    ''
    >>> meant("Laplace", ["DiscreteLaplaceCounts", "TreeTable"])
    " Did you mean 'DiscreteLaplaceCounts'?"
    """
    texts = {str(each).casefold(): str(each) for each in declared}
    written = str(name).casefold()
    near = get_close_matches(written, texts, n=3, cutoff=0.7)
    if not near and len(written) >= _PART:
        near = sorted((text for text in texts if written in text), key=len)[:3]
    return f" Did you mean {' or '.join(repr(texts[each]) for each in near)}?" if near else ""
