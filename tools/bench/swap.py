"""Two p2pd on loopback that swap one shard, and gloo's all-reduce of as many bytes.

A swap is the whole of it: open, snapshot, encode, seal, send, open, decode, agree, apply, close,
over TCP between two processes that train beside it (a batch of one, a tenth of the time). gloo's
all-reduce is in the clear and between two PyTorch processes of one thread each. What is measured
is left to report.py to put in a table.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tools"))

from demo import network_id  # noqa: E402
from demo_node import Node, Stopped  # noqa: E402

FLOAT_BYTES = 4
HIDDEN = {1: 329, 16: 5200}  # neurons of the one hidden layer, by the model's size in MiB
DUTY = 0.1
JOB = """\
schema = "p2pd.job/1"
job.name = "swap"
model.kind = "mlp"
model.layers = [784, {hidden}, 10]
model.activation = "relu"
data.set = "fashion-mnist"
train.minutes = 10
train.batch_size = 1
optimizer.kind = "sgd"
schedule.kind = "constant"
schedule.base_lr = 1e-6
mixing.recipe = "ad-psgd"
mixing.codec = "fp32"
mixing.min_peers = 2
eval.every = "0s"
checkpoint.every = "0s"
"""


def shard_bytes(mebibytes):
    hidden = HIDDEN[mebibytes]
    return FLOAT_BYTES * (784 * hidden + hidden + hidden * 10 + 10)


class Mesh:
    """Two daemons with one job; what demo_node.Node wants of its owner."""

    def __init__(self, build, mebibytes):
        self.p2pd = os.path.join(build, "daemon", "p2pd")
        self.p2pctl = os.path.join(build, "tools", "p2pctl", "p2pctl")
        self.mebibytes = mebibytes
        self.scratch = tempfile.TemporaryDirectory(prefix="p2ptrain-bench-")
        self.folder = self.scratch.name
        self.nodes = [Node(self, name, DUTY) for name in ("a", "b")]

    def __enter__(self):
        for node in self.nodes:
            node.make_identity()
        network = network_id(self.nodes)
        for node, other in zip(self.nodes, reversed(self.nodes)):
            node.write_config(network, [other])
        for node in self.nodes:
            node.start()
        for node in self.nodes:
            node.ctl("wait", "peers=1", "--timeout", "30s")
        job = os.path.join(self.folder, "swap.toml")
        with open(job, "w", encoding="utf-8") as file:
            file.write(JOB.format(hidden=HIDDEN[self.mebibytes]))
        self.nodes[0].ctl("job", "submit", job)
        return self

    def __exit__(self, *_):
        for node in self.nodes:
            if node.process:
                node.process.kill()
                node.process.wait()
        self.scratch.cleanup()

    def edge(self):
        document = self.nodes[0].document("job", "show", "swap")
        edges = document["job"]["edges"] if document else []
        return edges[0] if edges else {"applied": 0, "swap_seconds": None}

    def swap_seconds(self, swaps, limit_seconds=60):
        """Of the newest swaps (a mean that forgets: weight 0.1), once `swaps` more are applied."""
        deadline = time.monotonic() + limit_seconds
        first = self.edge()["applied"]
        while True:
            edge = self.edge()
            if edge["applied"] >= first + swaps:
                return edge["swap_seconds"]
            if time.monotonic() > deadline:
                raise Stopped(f"{edge['applied'] - first} swaps in {limit_seconds} s: {edge}")
            time.sleep(0.2)


def ours(build, mebibytes, samples=5):
    """Seconds a swap, one sample for each 30 swaps."""
    with Mesh(build, mebibytes) as mesh:
        mesh.swap_seconds(30)  # warm-up
        return [mesh.swap_seconds(30) for _ in range(samples)]


def gloo(mebibytes, samples=5):
    """Seconds an all-reduce: medians of 30 each."""
    floats = shard_bytes(mebibytes) // FLOAT_BYTES
    with tempfile.TemporaryDirectory(prefix="p2ptrain-bench-") as folder:
        others = [
            subprocess.Popen(
                [sys.executable, "-B", os.path.abspath(__file__), folder, str(rank), str(floats),
                 str(samples)], stdout=subprocess.PIPE, text=True)
            for rank in range(2)]
        outputs = [other.communicate(timeout=300)[0] for other in others]
    if any(other.returncode != 0 for other in others):
        raise Stopped("gloo's all-reduce failed; is python3-torch whole?")
    return json.loads(outputs[0])


def reduce_all(folder, rank, floats, samples):
    """One of two processes that average `floats` numbers over and over."""
    import torch
    import torch.distributed as dist

    torch.set_num_threads(1)
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    dist.init_process_group(
        "gloo", init_method=f"file://{folder}/meeting", rank=rank, world_size=2)
    values = torch.ones(floats)
    medians = []
    for sample in range(samples + 1):
        times = []
        for _ in range(30):
            dist.barrier()
            begun = time.perf_counter()
            dist.all_reduce(values)
            times.append(time.perf_counter() - begun)
            values.fill_(1)
        if sample > 0:
            medians.append(statistics.median(times))
    print(json.dumps(medians))


if __name__ == "__main__":
    reduce_all(sys.argv[1], *(int(word) for word in sys.argv[2:5]))
