"""PyTorch: the parameters of a model as flat arrays, and a step of its optimizer as a step of ours.

torch is imported only here and only when called. Written for 1.13 and later: the optimizer's step
is wrapped, since hooks after it came with 2.0.
"""

import numpy as np

from p2ptrain.arrays import FlatArrays
from p2ptrain.run import Run


def flat_torch(model):
    """Over the parameters that are trained; tied ones once. Integers and buffers stay at home."""
    import torch

    sources = []
    seen = set()
    for name, parameter in model.named_parameters():
        if not parameter.requires_grad or id(parameter) in seen:
            continue
        seen.add(id(parameter))

        def read(parameter=parameter):
            values = parameter.detach().to("cpu", torch.float32).contiguous()
            return values.numpy()

        def write(new, parameter=parameter):
            with torch.no_grad():
                parameter.copy_(torch.from_numpy(np.ascontiguousarray(new, dtype=np.float32)))

        is_exact = parameter.dtype in (torch.float32, torch.float64)
        sources.append((name, tuple(parameter.shape), is_exact, read, write))
    return FlatArrays(sources)


class averaging(Run):  # noqa: N801: reads as a verb in `with p2ptrain.averaging(...)`
    """A Run over `model` that averages after each step of `opt`, inside its `with` block."""

    def __init__(self, model, opt, job, settings=None, socket=None, set_samples=0):
        self._opt = opt
        self._plain_step = None
        super().__init__(flat_torch(model), job, settings, socket, set_samples)

    def __enter__(self):
        self._plain_step = self._opt.step

        def step(*arguments, **named):
            result = self._plain_step(*arguments, **named)
            self.average()
            return result

        self._opt.step = step
        return super().__enter__()

    def __exit__(self, kind, value, trace):
        del self._opt.step  # the class's own is behind it
        super().__exit__(kind, value, trace)
