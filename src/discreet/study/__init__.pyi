from discreet.study.questions import Question
from discreet.study.study import Study

__all__ = ["Question", "Study"]
