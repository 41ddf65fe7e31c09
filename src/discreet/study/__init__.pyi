from discreet.study._declarations import Declarations as Declarations
from discreet.study._forms import Form as Form
from discreet.study._forms import mechanism_form as mechanism_form
from discreet.study._forms import query_forms as query_forms
from discreet.study._keys import Maker as Maker
from discreet.study._mechanisms import ways_of as ways_of
from discreet.study._queries import KINDS as KINDS
from discreet.study._questions import Question
from discreet.study._study import Study
from discreet.study._template import template as template

__all__ = [
    "Question",
    "Study",
]
