"""discreet: publish Bayesian posteriors under differential privacy, and read them back honestly.

A mechanism is a conditional distribution P(output | secret statistics). Drawing from it publishes, comparing it
between neighbouring data sets proves the guarantee, and reading it as a likelihood lets the reader infer the truth
behind the noise.

The public names are listed in `__init__.pyi`, and each is loaded when it is first asked for. Here is what a newcomer
needs; the rest is in rooms: `discreet.mechanisms`, `noise`, `models`, `inference`, `planning`, `guarantees`, and, for
what the papers published and for what not to do, `discreet_papers.as_published`.
"""

from discreet.on_demand import names_on_demand

__getattr__, __dir__, __all__ = names_on_demand(__name__, __file__)
