"""Mechanisms and readings as the papers published them, for study and comparison rather than for releases.

They are the papers' own variants of mechanisms (rounded or truncated Laplace noise, updates that pay for every entry,
exponents that no proof covers), and readings that take noisy numbers at face value. `discreet.suggest` never chooses
any of them. Those with a proved guarantee may be published, and are read like everything else; the two Hellinger
mechanisms whose guarantee is only claimed are refused.
"""

from discreet._core.on_demand import names_on_demand

__getattr__, __dir__, __all__ = names_on_demand(__name__, __file__)
