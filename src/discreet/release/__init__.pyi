from discreet.release._release import LONGEST_LABEL, Release
from discreet.release._release import NO_READING as NO_READING
from discreet.release._release import canonical_mechanism as canonical_mechanism
from discreet.release._release import is_label as is_label
from discreet.release._release import mechanism_document as mechanism_document
from discreet.release._release import read_mechanism as read_mechanism
from discreet.release._release import within_group as within_group

__all__ = ["LONGEST_LABEL", "Release"]
