"""What can go wrong, by name.

Every message says what was asked, what is allowed, what was given, what did *not* happen, and what to do next.
No message ever carries a value from the records: an error is public, and so it must not depend on the secret.
"""


class DiscreetError(Exception):
    """Any refusal of this library."""


class DeclarationError(DiscreetError, ValueError):
    """A model, mechanism or guarantee was declared with values that make no sense."""


class SecretError(DiscreetError, TypeError):
    """A secret was about to leave by another way than `publish`."""


class SourceError(DiscreetError):
    """Records could not be counted, for a reason that does not depend on any record."""


class PublishError(DiscreetError):
    """Nothing was published."""


class BudgetError(PublishError):
    """The ledger has not enough budget left."""


class LedgerError(DiscreetError):
    """A ledger cannot be read, or its entries are not what was once written."""


class DocumentError(DiscreetError, ValueError):
    """A document is not a release that this version understands."""


class VerificationError(DiscreetError):
    """A release does not carry the promise that it states."""


class LittleInformationWarning(UserWarning):
    """A release says almost nothing about the data: what is read from it is mostly the prior."""


class PriorOutweighsWarning(UserWarning):
    """Read together with all cells, an event's probability is far from what its own noisy sum says."""


class ConvergenceWarning(UserWarning):
    """Chains have not reached the agreement that is wanted: what is read from them is rough."""


class MisfitWarning(UserWarning):
    """What was published contradicts the declared model: what is read from it holds only if the model does."""
