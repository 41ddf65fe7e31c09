"""A study: the declarations of a whole investigation in one file, `study.toml`.

The file is the Python interface written down: reading it gives the same objects that one would make by hand. It holds
no value from the data. Reading is strict, so that a misspelt key cannot silently change what is published.
"""

from discreet.study.questions import Question
from discreet.study.study import Study

__all__ = ["Question", "Study"]
