"""Where the boxes of a graph stand: parents before children, no two boxes on the same spot.

In a tree, a variable's depth is the length of the path that leads to it, and each branch gets a strip of its own, so
that arrows never cross. Other graphs are placed in layers. Depth runs from left to right, or from top to bottom where
that makes a picture less wide.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from discreet.show.charts.layered_layout import layered

Size = tuple[float, float]
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
class Layout:
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
) -> Layout:
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
        return Layout(sideways, width, height, True, passed)
    turned = {name: Box(box.top, box.left, box.height, box.width) for name, box in down.items()}
    passed = {arrow: [(y, x) for x, y in points] for arrow, points in passed_down.items()}
    return Layout(turned, other_width, other_height, False, passed)


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
