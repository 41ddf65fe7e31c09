from discreet.networks._bif import read_bif
from discreet.networks._consistent_tables import ConsistentTables, consistent_tables
from discreet.networks._consistent_tables import fit as fit
from discreet.networks._consistent_tables import noisy_parts as noisy_parts
from discreet.networks._contrast_gaussians import ContrastGaussians
from discreet.networks._contrasts import contrast_basis as contrast_basis
from discreet.networks._cube_counts import CubeCounts, usual_class_share
from discreet.networks._cube_counts import cube_refusal as cube_refusal
from discreet.networks._elimination import Event as Event
from discreet.networks._events import both as both
from discreet.networks._events import read_event as read_event
from discreet.networks._families import Family as Family
from discreet.networks._family_strengths import are_few as are_few
from discreet.networks._family_strengths import solve_with_family_strengths as solve_with_family_strengths
from discreet.networks._fourier_counts import FourierCounts
from discreet.networks._model import Network
from discreet.networks._posterior import NetworkPosterior
from discreet.networks._prior import EquivalentSize
from discreet.networks._record_changes import parity_changes
from discreet.networks._records_to_predict import is_unknown as is_unknown
from discreet.networks._records_to_predict import partial_codes_of as partial_codes_of
from discreet.networks._secret_size_mechanisms import CubeTables
from discreet.networks._table_mechanisms import FamilyGaussians, FamilyHistograms, JointHistograms, NetworkCounts
from discreet.networks._table_mechanisms import joint_refusal as joint_refusal

__all__ = [
    "ConsistentTables",
    "ContrastGaussians",
    "CubeCounts",
    "CubeTables",
    "EquivalentSize",
    "FamilyGaussians",
    "FamilyHistograms",
    "FourierCounts",
    "JointHistograms",
    "Network",
    "NetworkCounts",
    "NetworkPosterior",
    "consistent_tables",
    "parity_changes",
    "read_bif",
    "usual_class_share",
]
