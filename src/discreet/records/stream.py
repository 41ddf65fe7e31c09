"""Columns of numbers from an engine's Arrow stream, taken over as NumPy arrays without any further package.

The layout is that of the Arrow C data interface: an array has a length, an offset and buffers, the first of which tells
gaps (one bit for each value), the second holds the values.
"""

import ctypes
from collections.abc import Iterator, Sequence
from ctypes import CFUNCTYPE, POINTER, c_char_p, c_int, c_int64, c_void_p
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

Item = TypeVar("Item", bound=np.generic)
Numbers = NDArray[np.number]


class _Array(ctypes.Structure):
    pass


class _Stream(ctypes.Structure):
    pass


_Array._fields_ = [
    ("length", c_int64), ("null_count", c_int64), ("offset", c_int64), ("n_buffers", c_int64), ("n_children", c_int64),
    ("buffers", POINTER(c_void_p)), ("children", POINTER(POINTER(_Array))), ("dictionary", POINTER(_Array)),
    ("release", CFUNCTYPE(None, POINTER(_Array))), ("private_data", c_void_p),
]  # fmt: skip
_Stream._fields_ = [
    ("get_schema", c_void_p), ("get_next", CFUNCTYPE(c_int, POINTER(_Stream), POINTER(_Array))),
    ("get_last_error", CFUNCTYPE(c_char_p, POINTER(_Stream))), ("release", CFUNCTYPE(None, POINTER(_Stream))),
    ("private_data", c_void_p),
]  # fmt: skip

_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_pointer.restype, _pointer.argtypes = c_void_p, [ctypes.py_object, c_char_p]


class Streams(Protocol):
    """What hands out an Arrow stream."""

    def __arrow_c_stream__(self) -> object:
        """Return the stream, in a capsule."""


def streamed(exporter: Streams, kinds: Sequence[np.dtype[np.number]], gaps: Sequence[float]) -> Iterator[list[Numbers]]:
    """Yield the columns of every batch of a stream whose columns have these types, with these numbers for gaps.

    The arrays of a batch may be used until the next one is asked for.
    """
    capsule = exporter.__arrow_c_stream__()
    stream = ctypes.cast(_pointer(capsule, b"arrow_array_stream"), POINTER(_Stream))
    while True:
        batch = _Array()
        if stream.contents.get_next(stream, ctypes.byref(batch)):
            raise RuntimeError  # whoever called drops this, and the engine's words with it
        if not batch.release:
            return
        try:
            start, size = batch.offset, batch.length
            children = [batch.children[place].contents for place in range(batch.n_children)]
            yield [_column(*each, start, size) for each in zip(children, kinds, gaps, strict=True)]
        finally:
            batch.release(ctypes.byref(batch))


def _column(child: _Array, kind: np.dtype[np.number], gap: float, start: int, size: int) -> Numbers:
    first = start + child.offset
    values = _view(child.buffers[1], kind, first, size)
    if not child.null_count or not child.buffers[0]:
        return values
    bits = _view(child.buffers[0], np.dtype(np.uint8), 0, (first + size + 7) // 8)
    known = np.unpackbits(bits, bitorder="little")[first : first + size]
    return np.where(known, values, np.array(gap, dtype=kind))


def _view(address: int | None, kind: np.dtype[Item], first: int, size: int) -> NDArray[Item]:
    if not address or not size:
        return np.zeros(0, dtype=kind)
    whole = (ctypes.c_char * ((first + size) * kind.itemsize)).from_address(address)
    return np.frombuffer(memoryview(whole), dtype=kind)[first:]
