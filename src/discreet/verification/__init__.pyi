from discreet.verification._audit import DRAWS as DRAWS
from discreet.verification._audit import Audit, audit, epsilon_lower_bound
from discreet.verification._certificate import Certificate
from discreet.verification._verify import verify
from discreet.verification._work import drawing as drawing
from discreet.verification._work import numbers_of as numbers_of
from discreet.verification._work import planning as planning

__all__ = [
    "Audit",
    "Certificate",
    "audit",
    "epsilon_lower_bound",
    "verify",
]
