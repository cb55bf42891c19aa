"""A replica that takes part in a job: says where a step ends and does what has arrived since.

    attach -> step -> [add, take or replace -> took] -> step ... -> wait ... -> detach

Nothing here may stop training: a daemon that is not there or dies is one warning, and is tried
again now and then; a refused exchange leaves the arrays untouched.
"""

import time
import warnings
from dataclasses import dataclass

import numpy as np

from p2ptrain.arrays import flat_numpy
from p2ptrain.link import Link, LinkError, Refused, SharedFloats, default_socket
from p2ptrain.order import batch_hash
from p2ptrain.spec import spec_text

RETRY_SECONDS = 5.0
ANSWER_SECONDS = 90.0  # opening a job may take the daemon a minute


@dataclass
class Last:
    """What the last exchange brought."""

    applied: bool = False  # the arrays were moved by it
    reason: str = ""  # why nothing came; empty where something did
    state: str = "alone"  # running, held, finishing, done, gone; alone: no daemon
    lr_scale: float = 1.0  # what the size of the mesh makes of the rate
    learning_rate: float = 0.0  # of the job's schedule
    progress: float = 0.0  # of the whole mesh, in [0, 1]


class Run:
    """`arrays` is a dict of numpy arrays, the live parameters, or a FlatArrays over other ones.

    `settings` (see spec_text) propose the job where it does not exist. `set_samples` is the size
    of the training set, which jobs that end by epochs need.
    """

    active = []  # runs whose `with` block is open, the innermost last: what loader() belongs to

    def __init__(self, arrays, job, settings=None, socket=None, set_samples=0):
        self._flat = flat_numpy(arrays) if isinstance(arrays, dict) else arrays
        self._job = job
        self._settings = settings
        self._socket = socket or default_socket()
        self._set_samples = set_samples
        self._link = None
        self._memory = None
        self._retry_at = 0.0
        self._was_refused = False
        self._was_attached = False
        self._batch = (0, 0)  # samples and hash of the batch that the loader gave last
        self.loss = None
        self.last = Last(reason="not attached yet")
        self.seed = 0
        self.peer = ""
        self._attach()

    # --- for loops ------------------------------------------------------------------------------

    @property
    def is_attached(self):
        return self._link is not None

    @property
    def is_over(self):
        """The mesh takes no step any more: leave the loop."""
        return self.last.state in ("finishing", "done", "gone")

    def log(self, loss):
        """The loss of this step; numbers and torch scalars alike."""
        self.loss = float(loss)

    def set_batch(self, samples, indices=None):
        """What the next step is made of; loader() does it."""
        self._batch = (samples, batch_hash(indices) if indices is not None else 0)

    def average(self, samples=0, loss=None):
        """Ends a step: hands over what is asked for, adds what has come. True if it moved."""
        if loss is not None:
            self.log(loss)
        told_samples, told_hash = self._batch
        line = {
            "op": "step",
            "samples": int(samples or told_samples or 1),
            "loss": self.loss if self.loss is not None and np.isfinite(self.loss) else 0.0,
            "batch_hash": told_hash,
        }
        self.last.applied = False
        if not self._is_there():
            return False
        applied = self._exchange(line)
        while self.last.state == "held" and self.is_attached:  # the recipe waits for others
            applied = self._exchange({"op": "wait"}) or applied
        self.last.applied = applied
        return applied

    def finish(self):
        """After the last step: goes on averaging until the model is final, then leaves."""
        while self.is_attached and self.last.state not in ("done", "gone"):
            self._exchange({"op": "wait"})
        self.close()

    def close(self):
        """Leaves the parameters with the daemon, which averages on without this process."""
        if not self.is_attached:
            return
        try:
            self._flat.copy_range(0, self._flat.count, self._memory.snapshot)
            self._link.ask({"op": "detach"})
        except LinkError as error:
            warnings.warn(f"p2ptrain: left without a farewell: {error}", stacklevel=2)
        self._let_go()

    def __enter__(self):
        Run.active.append(self)
        return self

    def __exit__(self, kind, value, trace):
        Run.active.remove(self)
        if kind is None and self.is_over:
            self.finish()
        else:
            self.close()

    # --- the daemon -----------------------------------------------------------------------------

    def _is_there(self):
        if self._link is None and not self._was_refused and time.monotonic() >= self._retry_at:
            self._attach()
        return self._link is not None

    def _attach(self):
        tensors = self._flat.tensors()
        line = {"op": "attach", "job": self._job, "tensors": tensors,
                "set_samples": int(self._set_samples), "keep": self._was_attached}
        if self._settings is not None:
            line["spec"] = spec_text(self._job, tensors, self._settings)
        try:
            self._link = Link(self._socket, ANSWER_SECONDS)
            self._memory = SharedFloats(self._flat.count)
            answer = self._link.ask(line, self._memory.fd, self._on_slow)
            self.seed = int(answer.get("seed", 0))
            self.peer = str(answer.get("peer", ""))
            self._carry_out(answer)
            self._was_attached = True
            if self.last.state in ("done", "gone"):
                warnings.warn(
                    f"p2ptrain: job {self._job} is {self.last.state} already; name another one, or"
                    f" remove it: p2pctl job remove {self._job}", stacklevel=3)
        except LinkError as error:
            self._lose(error)

    def _on_slow(self):
        warnings.warn(
            f"p2ptrain: waits for job {self._job} ("
            + ("p2pd does not know it yet; settings={...} would propose it" if not self._settings
               else "p2pd has taken the proposal; look at p2pctl job list") + ")", stacklevel=4)

    def _exchange(self, line):
        try:
            return self._carry_out(self._link.ask(line))
        except LinkError as error:
            self._lose(error)
            return False

    def _carry_out(self, offer):
        """Does what an offer asks; raises before anything is touched where it makes no sense."""
        add, take = self._ranges(offer, "add"), self._ranges(offer, "take")
        is_replaced = bool(offer.get("replace"))
        values = self._memory.displacement
        given = [values] if is_replaced else [values[at : at + count] for at, count in add]
        if not all(np.isfinite(part).all() for part in given):
            raise LinkError("p2pd offered numbers that are not finite")

        if is_replaced:
            self._flat.copy_range(0, self._flat.count, self._memory.snapshot)
            self._flat.replace_all(values)
        for at, count in add:
            self._flat.add_range(at, count, values)
        for at, count in take:
            self._flat.copy_range(at, count, self._memory.snapshot)
        if is_replaced or add or take:
            self._link.ask({"op": "took"})
        self.last = Last(
            bool(add) or is_replaced, str(offer.get("reason", "")), str(offer.get("state", "gone")),
            float(offer.get("lr_scale", 1)), float(offer.get("learning_rate", 0)),
            float(offer.get("progress", 0)))
        return self.last.applied

    def _ranges(self, offer, name):
        ranges = offer.get(name, [])
        for at, count in ranges:
            if at < 0 or count < 0 or at + count > self._flat.count:
                raise LinkError("p2pd named a range outside of the parameters")
        return ranges

    def _lose(self, error):
        self._let_go()
        self._was_refused = isinstance(error, Refused)
        self._retry_at = time.monotonic() + RETRY_SECONDS
        self.last = Last(reason=str(error))
        warnings.warn(f"p2ptrain: training goes on alone: {error}", stacklevel=2)

    def _let_go(self):
        if self._link is not None:
            self._link.close()
        if self._memory is not None:
            self._memory.close()
        self._link = self._memory = None
