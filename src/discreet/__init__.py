"""discreet: publish Bayesian posteriors under differential privacy, and read them back honestly.

A mechanism is a conditional distribution P(output | secret statistics). Drawing from it publishes, comparing it
between neighbouring data sets proves the guarantee, and using it as a likelihood lets the reader infer the truth
behind the noise.

The public names are listed in `__init__.pyi`, and each is loaded when it is first asked for. Here is what most studies
need. The rest is in folders: one for each kind of question (`discreet.tables`, `numbers`, `regression`, `networks`,
`programs`), `draws` and `choices` for what the source papers publish, and `mechanism`, `noise`, `privacy`, `inference`,
`planning`, `verification`, `ledger`, `publishing` and `report` for what all questions share. Modules whose names begin
with an underscore are private. What the papers published and nobody should use is in `discreet_papers.as_published`.
"""

from discreet._core.on_demand import names_on_demand

__getattr__, __dir__, __all__ = names_on_demand(__name__, __file__)
