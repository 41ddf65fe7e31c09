"""A study: the declarations of a whole investigation in one file, `study.toml`.

The file mirrors the Python interface: reading it gives the same objects that you would make by hand. It contains no
value from the data. It is read strictly, so a misspelt key cannot silently change what is published.
"""

from discreet.study.questions import Question
from discreet.study.study import Study

__all__ = ["Question", "Study"]
