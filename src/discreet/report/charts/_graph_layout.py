"""Where the boxes of a graph stand: parents before children, no two boxes on the same spot.

In a tree, a variable's depth is the length of the path that leads to it, and each branch gets a strip of its own, so
that arrows never cross. Depth runs from left to right, or from top to bottom where that makes a picture less wide.

Other graphs stand in layers, with arrows that go around boxes. Every variable stands in a layer behind all its parents,
as near to its children as that allows. An arrow that passes a layer gets a place of its own there. Layers are ordered
so that few arrows cross: each place moves to the mean of its neighbours in the layer before, then in the layer behind,
again and again, and the best order is kept (Sugiyama, Tagawa and Toda, 1981). Within that order places then move as
near to their neighbours as others leave room.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

Place = tuple[str, str, int]
"""A box (name, name, layer), or where the arrow from a parent to a child passes a layer."""
Size = tuple[float, float]

_ROUNDS = 30
_THIN = 6.0  # room for an arrow that passes a layer


def layered(
    parents: Mapping[str, Sequence[str]], sizes: Mapping[str, Size], between: float, apart: float
) -> tuple[dict[str, tuple[float, float]], dict[tuple[str, str], list[tuple[float, float]]]]:
    """Return the left upper corner of each box and the points that each arrow passes, depth from left to right."""
    layer = _layers(parents)
    links = _links(parents, layer)
    rows = _ordered(_rows(links, layer), links)
    heights = {place: sizes[place[0]][1] if place[0] == place[1] else _THIN for row in rows for place in row}
    middle = _spread(rows, links, heights, apart)
    widths = [max(sizes[p[0]][0] for p in row if p[0] == p[1]) for row in rows]
    lefts = np.cumsum([0.0, *(width + between for width in widths)])[:-1]
    top = min(middle[p] - heights[p] / 2 for p in middle)
    boxes = {n: (float(lefts[k]), middle[n, n, k] - sizes[n][1] / 2 - top) for n, k in layer.items()}
    paths: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for child, above in parents.items():
        for parent in above:
            passed = range(layer[parent] + 1, layer[child])
            ends = [(float(lefts[k]), middle[parent, child, k] - top, widths[k]) for k in passed]
            paths[parent, child] = [point for x, y, width in ends for point in ((x, y), (x + width, y))]
    return boxes, paths


def _layers(parents: Mapping[str, Sequence[str]]) -> dict[str, int]:
    """Return the layer of each variable: behind its parents, then as near to its children as these allow."""
    layer: dict[str, int] = {}
    for name, above in parents.items():
        layer[name] = 1 + max((layer[parent] for parent in above), default=-1)
    children: dict[str, list[str]] = {name: [] for name in parents}
    for name, above in parents.items():
        for parent in above:
            children[parent].append(name)
    for name in reversed(list(parents)):
        if children[name]:
            layer[name] = min(layer[child] for child in children[name]) - 1
    first = min(layer.values())
    return {name: number - first for name, number in layer.items()}


def _links(parents: Mapping[str, Sequence[str]], layer: Mapping[str, int]) -> list[tuple[Place, Place]]:
    """Return every step of every arrow, from one layer to the next."""
    links = []
    for child, above in parents.items():
        for parent in above:
            passed = [(parent, child, k) for k in range(layer[parent] + 1, layer[child])]
            stops = [(parent, parent, layer[parent]), *passed, (child, child, layer[child])]
            links += list(pairwise(stops))
    return links


def _rows(links: Sequence[tuple[Place, Place]], layer: Mapping[str, int]) -> list[list[Place]]:
    rows: list[list[Place]] = [[] for _ in range(max(layer.values()) + 1)]
    for place in dict.fromkeys([p for link in links for p in link] + [(n, n, k) for n, k in layer.items()]):
        rows[place[2]].append(place)
    return rows


def _neighbours(links: Sequence[tuple[Place, Place]]) -> tuple[dict[Place, list[Place]], dict[Place, list[Place]]]:
    before: dict[Place, list[Place]] = {}
    behind: dict[Place, list[Place]] = {}
    for one, two in links:
        behind.setdefault(one, []).append(two)
        before.setdefault(two, []).append(one)
    return before, behind


def _ordered(rows: list[list[Place]], links: Sequence[tuple[Place, Place]]) -> list[list[Place]]:
    """Return the rows in an order with few crossings."""
    before, behind = _neighbours(links)
    best, least = rows, _crossings(rows, behind)
    for number in range(_ROUNDS):
        forwards = number % 2 == 0
        seen, rows = before if forwards else behind, [list(row) for row in rows]
        for k in range(1, len(rows)) if forwards else range(len(rows) - 2, -1, -1):
            rank = {place: r for r, place in enumerate(rows[k - 1 if forwards else k + 1])}
            present = {place: r for r, place in enumerate(rows[k])}
            rows[k].sort(key=lambda p: np.mean([rank[q] for q in seen[p]]) if p in seen else present[p])
        found = _crossings(rows, behind)
        if found < least:
            best, least = rows, found
    return best


def _crossings(rows: Sequence[Sequence[Place]], behind: Mapping[Place, Sequence[Place]]) -> int:
    """Return how many pairs of steps cross."""
    total = 0
    for row, following in pairwise(rows):
        rank = {place: r for r, place in enumerate(following)}
        ends = [sorted(rank[q] for q in behind.get(place, [])) for place in row]
        flat = [(number, end) for number, each in enumerate(ends) for end in each]
        total += sum(1 for i, (a, x) in enumerate(flat) for b, y in flat[i + 1 :] if a < b and x > y)
    return total


def _spread(
    rows: Sequence[Sequence[Place]], links: Sequence[tuple[Place, Place]], heights: Mapping[Place, float], apart: float
) -> dict[Place, float]:
    """Return the middle of every place across its layer: near the mean of its neighbours, in the order given."""
    before, behind = _neighbours(links)
    middle: dict[Place, float] = {}
    for row in rows:
        ends = np.cumsum([0.0, *(heights[place] + apart for place in row)])
        shift = ends[-1] / 2
        middle |= {p: float(start + heights[p] / 2 - shift) for p, start in zip(row, ends[:-1], strict=True)}
    for number in range(5 * _ROUNDS):
        for row in rows if number % 2 == 0 else rows[::-1]:
            around = [[*before.get(place, []), *behind.get(place, [])] for place in row]
            wanted = [
                float(np.mean([middle[q] for q in a])) if a else middle[p] for p, a in zip(row, around, strict=True)
            ]
            weights = [8.0 if place[0] != place[1] else 1.0 for place in row]  # long arrows rather straight
            gaps = [(heights[one] + heights[two]) / 2 + apart for one, two in pairwise(row)]
            middle |= dict(zip(row, _apart(wanted, weights, gaps), strict=True))
    return middle


def _apart(wanted: Sequence[float], weights: Sequence[float], gaps: Sequence[float]) -> list[float]:
    """Return the nearest positions in rising order with these gaps, by pooling neighbours that want to overlap."""
    offsets = np.cumsum([0.0, *gaps])
    pools: list[tuple[float, float, int]] = []  # mean, weight, length
    for place, want in enumerate(wanted):
        pool = (want - offsets[place], weights[place], 1)
        while pools and pools[-1][0] > pool[0]:
            mean, weight, length = pools.pop()
            total = weight + pool[1]
            pool = ((mean * weight + pool[0] * pool[1]) / total, total, length + pool[2])
        pools.append(pool)
    means = [mean for mean, _, length in pools for _ in range(length)]
    return [float(mean + offset) for mean, offset in zip(means, offsets, strict=True)]


Point = tuple[float, float]


@dataclass(frozen=True)
class Box:
    """A rectangle: its left and upper edge, its width and its height."""

    left: float
    top: float
    width: float
    height: float

    @property
    def middle(self) -> tuple[float, float]:
        """Return the centre."""
        return self.left + self.width / 2, self.top + self.height / 2


@dataclass(frozen=True)
class GraphLayout:
    """The boxes by name, how large the whole is, whether depth runs from left to right, and what long arrows pass."""

    boxes: Mapping[str, Box]
    width: float
    height: float
    sideways: bool
    passed: Mapping[tuple[str, str], Sequence[Point]] = field(default_factory=dict)

    def path(self, parent: str, child: str) -> list[Point]:
        """Return the corners of the arrow from a parent to a child, between the middles of facing sides."""
        first, second = self.boxes[parent], self.boxes[child]
        between = self.passed.get((parent, child), ())
        if self.sideways:
            return [(first.left + first.width, first.middle[1]), *between, (second.left, second.middle[1])]
        return [(first.middle[0], first.top + first.height), *between, (second.middle[0], second.top)]


def layout(
    parents: Mapping[str, Sequence[str]], sizes: Mapping[str, Size], between: float, apart: float, widest: float
) -> GraphLayout:
    """Place boxes of these sizes. `parents` names parents before children.

    `between` is the room for arrows from one depth to the next, `apart` the room between neighbours of one depth. Depth
    runs from left to right if the whole is then not wider than `widest`, or not wider than the other way.
    """
    flipped = {name: (height, width) for name, (width, height) in sizes.items()}
    place = _place if all(len(above) <= 1 for above in parents.values()) else _place_in_layers
    sideways, passed = place(parents, sizes, between, apart)
    down, passed_down = place(parents, flipped, between, apart)
    width, height = _extent(sideways)
    other_height, other_width = _extent(down)
    if width <= max(widest, other_width):
        return GraphLayout(sideways, width, height, True, passed)
    turned = {name: Box(box.top, box.left, box.height, box.width) for name, box in down.items()}
    passed = {arrow: [(y, x) for x, y in points] for arrow, points in passed_down.items()}
    return GraphLayout(turned, other_width, other_height, False, passed)


def _extent(boxes: Mapping[str, Box]) -> Size:
    return max(box.left + box.width for box in boxes.values()), max(box.top + box.height for box in boxes.values())


Passed = dict[tuple[str, str], list[Point]]


def _place_in_layers(
    parents: Mapping[str, Sequence[str]], sizes: Mapping[str, Size], between: float, apart: float
) -> tuple[dict[str, Box], Passed]:
    """Place boxes of any graph with depth from left to right, and the points that long arrows pass."""
    corners, passed = layered(parents, sizes, between, apart)
    return {name: Box(*corner, *sizes[name]) for name, corner in corners.items()}, passed


def _place(
    parents: Mapping[str, Sequence[str]], sizes: Mapping[str, Size], between: float, apart: float
) -> tuple[dict[str, Box], Passed]:
    """Place boxes of a tree with depth from left to right; its arrows pass nothing."""
    depth: dict[str, int] = {}
    hanging: dict[str, list[str]] = {name: [] for name in parents}
    for name, above in parents.items():
        depth[name] = 1 + max((depth[parent] for parent in above), default=-1)
        if above:
            hanging[above[0]].append(name)
    lefts, column = [0.0], 0.0
    for number in range(max(depth.values())):
        column += max(sizes[name][0] for name in parents if depth[name] == number) + between
        lefts.append(column)
    strips = _strips(list(parents), hanging, sizes, apart)
    tops = _tops([name for name, above in parents.items() if not above], hanging, sizes, strips, apart)
    return {name: Box(lefts[depth[name]], tops[name], *sizes[name]) for name in parents}, {}


def _strips(
    names: Sequence[str], hanging: Mapping[str, Sequence[str]], sizes: Mapping[str, Size], apart: float
) -> dict[str, float]:
    """Return how much room each branch needs: its own box, or all that hang on it one below the other."""
    strips: dict[str, float] = {}
    for name in reversed(names):  # children before parents
        below = [strips[child] for child in hanging[name]]
        strips[name] = max(sizes[name][1], sum(below) + apart * max(0, len(below) - 1))
    return strips


def _tops(
    roots: Sequence[str],
    hanging: Mapping[str, Sequence[str]],
    sizes: Mapping[str, Size],
    strips: Mapping[str, float],
    apart: float,
) -> dict[str, float]:
    """Return the upper edge of every box, in the middle of its strip."""
    tops: dict[str, float] = {}
    waiting, start = [], 0.0
    for root in roots:
        waiting.append((root, start))
        start += strips[root] + apart
    while waiting:
        name, begin = waiting.pop()
        tops[name] = begin + (strips[name] - sizes[name][1]) / 2
        room = sum(strips[child] for child in hanging[name]) + apart * max(0, len(hanging[name]) - 1)
        begin += (strips[name] - room) / 2
        for child in hanging[name]:
            waiting.append((child, begin))
            begin += strips[child] + apart
    return tops
