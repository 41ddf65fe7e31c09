"""Is it true? Exact privacy over all neighbouring data sets."""

from discreet.certificates.enumeration import Enumeration, compositions, enumerate_neighbours
from discreet.certificates.privacy_loss import PrivacyLoss

__all__ = ["Enumeration", "PrivacyLoss", "compositions", "enumerate_neighbours"]
