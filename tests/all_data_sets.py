"""All data sets of a small network with their posterior probabilities: the slow, obvious twin of every reading."""

import itertools
from collections.abc import Sequence
from math import prod

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, logsumexp

import discreet as dc
from discreet.mechanism import sized
from discreet.privacy import compositions


class AllDataSets:
    """Counts of all combinations of levels, one data set in each row, and what releases say about them."""

    def __init__(self, releases: Sequence[dc.Release]) -> None:
        self.network, size = releases[0].model, sized(releases[0].mechanism).size
        shape = [len(variable.levels) for variable in self.network.variables]
        names = [variable.name for variable in self.network.variables]
        joint = np.array(list(compositions(size, prod(shape))))
        logs = gammaln(size + 1) - gammaln(joint + 1).sum(axis=1)
        records = np.array(list(itertools.product(*map(range, shape))))
        self.tables: dict[str, NDArray[np.int64]] = {}
        for family, prior in zip(self.network.families, self.network.prior, strict=True):
            own = self.network.shape(family)
            places = np.ravel_multi_index([records[:, names.index(name)] for name in family], own)
            table = joint @ (places[:, None] == np.arange(prod(own)))
            rows, a = table.reshape(len(joint), -1, own[-1]), np.array(prior)
            logs += (gammaln(a + rows) - gammaln(a)).sum(axis=(1, 2))
            logs += (gammaln(a.sum()) - gammaln(a.sum() + rows.sum(axis=2))).sum(axis=1)
            self.tables[family[-1]] = rows
        self.cells = np.concatenate(
            [self.tables[family[-1]].reshape(len(joint), -1) for family in self.network.maximal_families], axis=1
        )
        self.log_prior = logs
        logs = logs + sum(release.mechanism.log_prob(release.counts, self.cells) for release in releases)
        self.log_evidence = float(logsumexp(logs))
        self.chances = np.exp(logs - self.log_evidence)

    def values(self) -> NDArray[np.float64]:
        """Return the expected probabilities given each data set, of all cells of all families in one row."""
        found = []
        for (name, rows), prior in zip(self.tables.items(), self.network.prior, strict=True):
            shapes = rows + np.array(prior)
            found.append((shapes / shapes.sum(axis=-1, keepdims=True)).reshape(len(shapes), -1))
            assert name
        return np.concatenate(found, axis=1)

    def means(self) -> NDArray[np.float64]:
        """Return the posterior means of all probabilities."""
        return np.asarray(self.chances @ self.values())
