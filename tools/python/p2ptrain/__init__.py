"""Train one model on many machines: the client side of p2pd for any training loop.

    with p2ptrain.averaging(model, opt, job="cifar") as avg:      # PyTorch
        for x, y in p2ptrain.loader(dataset, batch_size=64):
            opt.zero_grad(); loss = loss_fn(model(x), y); loss.backward(); opt.step()
            avg.log(loss=loss)

    run = p2ptrain.Run(arrays, job="mine")                        # numpy
    run.average(samples=64, loss=0.3)                             # between two steps

The job's recipe decides what is exchanged and when; the script only says where a step ends. A dead
daemon is a warning and training goes on. Standard library and numpy only; torch only where the
caller uses it.
"""

from p2ptrain.order import Sampler, batch_hash, loader, permutation, sampler
from p2ptrain.run import Last, Run
from p2ptrain.spec import spec_text
from p2ptrain.torch_loop import averaging

__all__ = [
    "Last", "Run", "Sampler", "averaging", "batch_hash", "loader", "permutation", "sampler",
    "spec_text",
]
__version__ = "0.1.0"
