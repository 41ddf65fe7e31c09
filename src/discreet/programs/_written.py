"""Programs as a command line writes them: a formula, or a family with its priors.

`falls ~ age + (1 | ward); spread = Exponential(1)` is a regression, `~ age*ward` a log-linear model, `poisson`,
`normal; mean = Normal(0, 1); sd = HalfNormal(2)` or `binomial; trials = 10` a family over the bands of the one column.
"""

from collections.abc import Sequence

from discreet._core.errors import DeclarationError, meant
from discreet.programs._families import FAMILIES, Family


def program_written(text: str) -> Family | str:
    """Return a family that is written with its priors; a formula stays a text, as it needs the columns.

    >>> program_written("poisson; rate = Gamma(4, 3)")
    Poisson(rate=Gamma(4, 3))
    """
    if "~" in text:
        return text
    name, *priors = (part.strip() for part in text.split(";"))
    if name not in FAMILIES:
        raise DeclarationError(
            f"A model must be a formula such as 'falls ~ age + ward', or a family: {', '.join(FAMILIES)}; got "
            f"{name!r}.{meant(name, FAMILIES)} Nothing was read."
        )
    keys: dict[str, object] = {**priors_written(priors)}
    if "trials" in keys:
        try:
            keys["trials"] = int(str(keys["trials"]))
        except ValueError:
            raise DeclarationError(f"trials must be a whole number; got {keys['trials']!r}.") from None
    return FAMILIES[name](**keys)


def priors_written(priors: Sequence[str]) -> dict[str, str]:
    """Return priors by their names, as written after semicolons.

    >>> priors_written([" mean = Normal(0, 1)"])
    {'mean': 'Normal(0, 1)'}
    """
    found = {}
    for prior in priors:
        key, equals, value = (part.strip() for part in prior.partition("="))
        if not equals:
            raise DeclarationError(
                f"A prior must be written with '=', as in 'normal; mean = Normal(0, 1)'; got {prior.strip()!r}. "
                "Nothing was read."
            )
        found[key] = value
    return found
