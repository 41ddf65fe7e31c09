"""The Bayes remap of three levels: its accuracy, summed over all outputs, is the specified one."""

import numpy as np
import pytest

import discreet as dc
from discreet.mathematics import hellinger_rows
from discreet.privacy import compositions


def test_the_remap_of_three_levels_has_the_stated_accuracy() -> None:
    """The specified accuracy for m = 3, prior (1, 1, 1), n = 10, epsilon = 1: .358341."""
    mechanism = dc.GeometricHistogram(dc.Categories("x", levels=("a", "b", "c"), prior=1, outside="a"), 10, epsilon=1)
    tables = np.array(list(compositions(10, 3)))
    evidence, parameters = mechanism.model.log_evidence(tables), mechanism.model.concentration + tables
    total = 0.0
    for output in mechanism.outputs_near(12):
        if output.tolist() != sorted(output.tolist()):
            continue  # the three levels are alike: one order stands for all
        joint = np.exp(evidence + mechanism.log_prob(output, tables))
        if joint.sum() > 1e-8:  # others have no say in six digits
            read = dc.infer(dc.Release(mechanism, tuple(map(int, output)), "x", simulated=True)).bayes_remap()
            copies = {1: 1, 2: 3, 3: 6}[len(set(output.tolist()))]
            total += copies * float(joint @ hellinger_rows(np.array(read.concentration), parameters))
    print(f"expected Hellinger distance {total:.6f}")
    assert total == pytest.approx(0.358341, abs=2e-5)
