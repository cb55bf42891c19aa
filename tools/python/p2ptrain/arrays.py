"""The live parameters as one flat float32 vector, whatever they are made of.

Arrays of lower precision keep a float32 remainder: a displacement is often smaller than half a
unit in their last place and would vanish, so what rounding left over is carried to the next one.
Storage is never replaced, only written.
"""

import numpy as np


class Slot:
    """One tensor: where it lies in the flat vector, how it is read and written."""

    def __init__(self, name, shape, offset, is_exact):
        self.name = name
        self.shape = tuple(int(extent) for extent in shape)
        self.offset = offset
        self.count = int(np.prod(self.shape, dtype=np.int64))
        self.remainder = None if is_exact else np.zeros(self.count, dtype=np.float32)


class FlatArrays:
    """`sources` is a list of (name, shape, is_exact, read, write): read() gives a float32 array,
    write(values) stores float32 values as well as its precision allows."""

    def __init__(self, sources):
        self.slots = []
        self._access = []
        offset = 0
        for name, shape, is_exact, read, write in sources:
            slot = Slot(name, shape, offset, is_exact)
            self.slots.append(slot)
            self._access.append((read, write))
            offset += slot.count
        self.count = offset

    def tensors(self):
        """As attach tells them."""
        return [{"name": slot.name, "shape": list(slot.shape)} for slot in self.slots]

    def copy_range(self, offset, count, out):
        """Parameters [offset, offset + count) to the same place in `out`."""
        for slot, read, _ in self._touched(offset, count):
            begin, end = self._part(slot, offset, count)
            values = self._exact(slot, read)[begin:end]
            out[slot.offset + begin : slot.offset + end] = values

    def add_range(self, offset, count, delta):
        """Adds `delta` (flat, as long as all) on [offset, offset + count)."""
        for slot, read, write in self._touched(offset, count):
            begin, end = self._part(slot, offset, count)
            values = self._exact(slot, read).copy()
            values[begin:end] += delta[slot.offset + begin : slot.offset + end]
            self._store(slot, read, write, values)

    def replace_all(self, values):
        for slot, (read, write) in zip(self.slots, self._access):
            self._store(slot, read, write, values[slot.offset : slot.offset + slot.count].copy())

    def _touched(self, offset, count):
        for slot, (read, write) in zip(self.slots, self._access):
            if slot.offset < offset + count and offset < slot.offset + slot.count:
                yield slot, read, write

    @staticmethod
    def _part(slot, offset, count):
        return max(0, offset - slot.offset), min(slot.count, offset + count - slot.offset)

    @staticmethod
    def _exact(slot, read):
        values = read().reshape(-1)
        return values if slot.remainder is None else values + slot.remainder

    @staticmethod
    def _store(slot, read, write, values):
        write(values.reshape(slot.shape))
        if slot.remainder is not None:
            slot.remainder = values - read().reshape(-1)


def flat_numpy(arrays):
    """Over a dict of numpy arrays; they are written in place."""
    sources = []
    for name, values in arrays.items():
        if not np.issubdtype(values.dtype, np.floating):
            raise TypeError(f"{name} holds {values.dtype}, not floating point numbers")

        def read(values=values):
            return np.ascontiguousarray(values, dtype=np.float32)

        def write(new, values=values):
            values[...] = new

        sources.append((name, values.shape, values.dtype.itemsize >= 4, read, write))
    return FlatArrays(sources)
