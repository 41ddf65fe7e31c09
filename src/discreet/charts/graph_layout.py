"""Where the boxes of a graph stand: parents before children, no two boxes on the same spot.

A variable's depth is the length of the longest path that leads to it. Every variable hangs on its deepest parent, and
each branch gets a strip of its own, so that the arrows of a tree never cross. Depth runs from left to right, or from
top to bottom where that makes a picture less wide.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

Size = tuple[float, float]


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
    """The boxes by name, how large the whole is, and whether depth runs from left to right."""

    boxes: Mapping[str, Box]
    width: float
    height: float
    sideways: bool

    def ends(self, parent: str, child: str) -> tuple[float, float, float, float]:
        """Return where the arrow from a parent to a child begins and ends: in the middle of facing sides."""
        first, second = self.boxes[parent], self.boxes[child]
        if self.sideways:
            return first.left + first.width, first.middle[1], second.left, second.middle[1]
        return first.middle[0], first.top + first.height, second.middle[0], second.top


def layout(
    parents: Mapping[str, Sequence[str]], sizes: Mapping[str, Size], between: float, apart: float, widest: float
) -> Layout:
    """Place boxes of these sizes. `parents` names parents before children.

    `between` is the room for arrows from one depth to the next, `apart` the room between neighbours of one depth. Depth
    runs from left to right if the whole is then not wider than `widest`, or not wider than the other way.
    """
    flipped = {name: (height, width) for name, (width, height) in sizes.items()}
    sideways = _place(parents, sizes, between, apart)
    down = _place(parents, flipped, between, apart)
    width, height = _extent(sideways)
    other_height, other_width = _extent(down)
    if width <= max(widest, other_width):
        return Layout(sideways, width, height, sideways=True)
    turned = {name: Box(box.top, box.left, box.height, box.width) for name, box in down.items()}
    return Layout(turned, other_width, other_height, sideways=False)


def _extent(boxes: Mapping[str, Box]) -> Size:
    return max(box.left + box.width for box in boxes.values()), max(box.top + box.height for box in boxes.values())


def _place(
    parents: Mapping[str, Sequence[str]], sizes: Mapping[str, Size], between: float, apart: float
) -> dict[str, Box]:
    """Place boxes with depth from left to right."""
    depth: dict[str, int] = {}
    hanging: dict[str, list[str]] = {name: [] for name in parents}
    for name, above in parents.items():
        depth[name] = 1 + max((depth[parent] for parent in above), default=-1)
        if above:
            hanging[max(above, key=lambda parent: depth[parent])].append(name)
    lefts, column = [0.0], 0.0
    for number in range(max(depth.values())):
        column += max(sizes[name][0] for name in parents if depth[name] == number) + between
        lefts.append(column)
    strips = _strips(list(parents), hanging, sizes, apart)
    tops = _tops([name for name, above in parents.items() if not above], hanging, sizes, strips, apart)
    return {name: Box(lefts[depth[name]], tops[name], *sizes[name]) for name in parents}


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
