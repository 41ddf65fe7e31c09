from discreet.certificates.data_sets import DataSets, neighbouring
from discreet.certificates.enumeration import Enumeration, compare, compositions, enumerate_neighbours
from discreet.certificates.privacy_loss import PrivacyLoss

__all__ = ["DataSets", "Enumeration", "PrivacyLoss", "compare", "compositions", "enumerate_neighbours", "neighbouring"]
