"""The model that a question names: any registered kind, by the name and the keys that it states itself."""

from inspect import signature

from discreet._core.errors import DeclarationError, meant
from discreet.mechanism import Asked, Declared, Model
from discreet.study._file import DeclaredQuestion
from discreet.study._keys import Maker

_STUDY, _PRIOR, _NO_PRIOR = "declared", "prior", "none"


def asked_models() -> dict[str, Asked]:
    """Return what makes each registered model, by the names that studies write."""
    found: dict[str, Asked] = {}
    for made in Model.registered().values():
        for name, asked in made.asked_as().items():
            if name in found:
                raise DeclarationError(f"Two registered models share the name {name!r}. Nothing was read.")
            found[name] = asked
    return dict(sorted(found.items()))


def model_maker(written: str, declared: Declared) -> Maker[Model]:
    """Return what makes the model that a question names, over the columns of the study."""
    known = asked_models()
    if written not in known:
        raise DeclarationError(
            f"the model is {written!r}; known models are {', '.join(map(repr, known))}.{meant(written, known)}"
        )
    return _maker(written, known[written], declared)


def _maker(written: str, asked: Asked, declared: Declared) -> Maker[Model]:
    fixed = {_STUDY: declared} if _STUDY in signature(asked.make).parameters else {}
    return Maker(f"the model {written!r}", asked.make, fixed, called=asked.called)


def model_of(question: DeclaredQuestion, maker: Maker[Model]) -> Model:
    """Return the model of a question; keys that the model does not have are left to the mechanism."""
    own = {key: value for key, value in question.further.items() if key in maker.keys}
    if question.prior is not None and _PRIOR not in maker.keys:
        raise DeclarationError(f"The prior of {maker.name} is declared by its own keys: {', '.join(maker.keys)}.")
    if question.prior is not None:
        own[_PRIOR] = None if question.prior == _NO_PRIOR else question.prior
    return maker.made(own)


def keys_of_other_models(written: str, declared: Declared) -> frozenset[str]:
    """Return the keys that some other model has."""
    others = [_maker(name, asked, declared) for name, asked in asked_models().items() if name != written]
    return frozenset(key for maker in others for key in maker.keys)
