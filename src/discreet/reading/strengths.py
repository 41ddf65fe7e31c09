"""A case under several strengths of the prior, which its evidence weighs."""

from collections.abc import Sequence
from dataclasses import replace

from discreet.errors import DeclarationError
from discreet.reading.case import Case, Exactness, engine_for


def strengthened(case: Case, strengths: object) -> list[Case]:
    """Return a case under several multiples of its prior; refuse one whose evidence is not known."""
    if not isinstance(strengths, Sequence) or isinstance(strengths, str) or not strengths:
        raise DeclarationError("strengths must be a sequence of multiples of the prior, such as (0.3, 1, 3).")
    if not hasattr(case.model, "strengthened"):
        raise DeclarationError(
            f"strengths are for Dirichlet priors, of categories and of networks; this is a "
            f"{type(case.model).__name__}. Give a family's reader another prior."
        )
    if (engine := engine_for(case)) and engine.exactness is not Exactness.EXACT:
        raise DeclarationError("strengths are weighted by evidence, which is known for what is read exactly only.")
    return [replace(case, model=case.model.strengthened(float(strength))) for strength in strengths]
