"""A study: the declarations of a whole investigation in one file, `study.toml`.

The file mirrors the Python interface: reading it gives the same objects that you would make by hand. It contains no
value from the data. It is read strictly, so a misspelt key cannot silently change what is published.
"""

from discreet._core.on_demand import names_on_demand

__getattr__, __dir__, __all__ = names_on_demand(__name__, __file__)
