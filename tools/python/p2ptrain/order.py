"""Which samples this node trains on, and in which order: a function of (seed, peer, epoch).

So every node draws its own permutation of the set, joins and losses move nobody's data, and the
same script with the same seed on two machines does not train on the same batches.
"""

import hashlib

import numpy as np


def permutation(count, seed, peer, epoch):
    """Of range(count); the same arguments give the same one, everywhere (Philox is counter-based
    and its raw stream is fixed, which shuffles of libraries are not)."""
    text = f"p2ptrain order {seed} {peer} {epoch}".encode()
    key = int.from_bytes(hashlib.blake2b(text, digest_size=16).digest(), "little")
    words = np.random.Philox(key=key).random_raw(count)
    return np.argsort(words, kind="stable")


def batch_hash(indices):
    """Stands for a batch in reports: two nodes with equal ones train on the same samples."""
    data = np.ascontiguousarray(indices, dtype="<i8").tobytes()
    return int.from_bytes(hashlib.blake2b(data, digest_size=8).digest(), "little")


class Sampler:
    """Indices of one epoch of this node after the other; also a torch sampler (has __iter__)."""

    def __init__(self, count, seed=0, peer="", epoch=0):
        self._count = count
        self._seed = seed
        self._peer = peer
        self.epoch = epoch

    def __len__(self):
        return self._count

    def __iter__(self):
        order = permutation(self._count, self._seed, self._peer, self.epoch)
        self.epoch += 1
        return iter(order.tolist())


def _active_run(run):
    from p2ptrain.run import Run  # it needs this module's hash

    return run or (Run.active[-1] if Run.active else None)


def sampler(dataset, run=None):
    """A Sampler of this node over `dataset`, for torch's DataLoader."""
    run = _active_run(run)
    return Sampler(len(dataset), run.seed if run else 0, run.peer if run else "")


def _collate(items):
    """Tuples of arrays or numbers, one array a field; torch tensors stay torch's."""
    first = items[0]
    if isinstance(first, (tuple, list)):
        return tuple(_collate([item[i] for item in items]) for i in range(len(first)))
    if type(first).__module__.startswith("torch"):
        import torch

        return torch.stack(items)
    return np.stack([np.asarray(item) for item in items])


def loader(dataset, batch_size, run=None, epochs=None, collate=_collate):
    """Batches of `dataset` in this node's order, until the job is over.

    `epochs` bounds the passes over this node's order; without it, and without a daemon, there is
    one. Belongs to `run`, or to the innermost run whose `with` block is open.
    """
    run = _active_run(run)
    own = sampler(dataset, run)
    while epochs is None or own.epoch < epochs:
        order = list(own)
        for at in range(0, len(order) - batch_size + 1, batch_size):
            if run and run.is_over:
                return
            indices = order[at : at + batch_size]
            if run:
                run.set_batch(len(indices), indices)
            yield collate([dataset[i] for i in indices])
        is_endless = epochs is None and run is not None and run.is_attached
        if len(order) < batch_size or (epochs is None and not is_endless):
            return
