#!/usr/bin/python3
"""Runs the main job on this machine: four p2pd of unequal speed train one model together.

Called by tools/demo, which has built everything. Makes four identities and configurations in a
temporary folder, starts four daemons on loopback (three may use 0.4 of the time, one 0.04),
submits the job at one of them, shows all four until they hold the same model, exports it, and then
lets one node train alone for the same wall time. Ctrl-C cleans up.
"""

import argparse
import base64
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from demo_node import Node, Stopped
from demo_table import Table, human_bytes, shown

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FAST, SLOW = 0.4, 0.04
NAMES = ("n1", "n2", "n3", "n4")

JOB = """\
schema = "p2pd.job/1"

[job]
name = "{name}"
description = "Fashion-MNIST, tools/demo"
seed = 42

[model]
kind = "mlp"
layers = [784, 256, 128, 10]
activation = "relu"
init = "he"

[data]
set = "fashion-mnist"
split = "iid"

[train]
{length}
batch_size = 64

[optimizer]
kind = "sgd"
momentum = 0.9
weight_decay = 1e-4

[schedule]
kind = "cosine"
base_lr = 0.05
warmup = 0.02
final_lr = 0.001

[mixing]
recipe = "{recipe}"
min_peers = {peers}

[eval]
every = "5s"

[checkpoint]
every = "10s"
"""


class Demo:
    def __init__(self, options):
        self.options = options
        self.p2pd = os.path.join(options.build, "daemon", "p2pd")
        self.p2pctl = os.path.join(options.build, "tools", "p2pctl", "p2pctl")
        self.folder = options.folder or tempfile.mkdtemp(prefix="p2ptrain-demo-")
        self.nodes = []
        self.clients = []

    def say(self, text):
        print(f"demo: {text}", file=sys.stderr, flush=True)

    def start_mesh(self):
        self.nodes = [Node(self, name, SLOW if name == "n4" else FAST) for name in NAMES]
        for node in self.nodes:
            node.make_identity()
        network = network_id(self.nodes)
        for node in self.nodes:
            node.write_config(network, [other for other in self.nodes if other is not node])
        self.say(f"four nodes in {self.folder}: " + ", ".join(
            f"{n.name} ({n.id[:6]}, duty {n.duty}, port {n.port})" for n in self.nodes))
        for node in self.nodes:
            node.start()
        for node in self.nodes:
            node.ctl("wait", "peers=3", "--timeout", "30s")
        self.say("each has found the other three")

    def write_job(self, name, length, recipe, peers):
        path = os.path.join(self.folder, f"{name}.toml")
        with open(path, "w", encoding="utf-8") as file:
            file.write(JOB.format(name=name, length=length, recipe=recipe, peers=peers))
        return path

    def watch(self, nodes, job):
        """Shows the nodes until all are done; their last words, and the seconds it took."""
        table = Table(self.options.json)
        begun = time.monotonic()
        while True:
            documents = [node.document("job", "show", job) for node in nodes]
            own = [next((m for m in d["job"]["members"] if m["self"]), None) if d else None
                   for d in documents]
            seconds = time.monotonic() - begun
            first = next((d for d in documents if d), None)
            if first:
                table.show([(n.name, m) for n, m in zip(nodes, own)], first["job"], seconds)
            self.check_alive(nodes)
            states = [m["state"] if m else "" for m in own]
            if "failed" in states or "blocked" in states:
                raise Stopped(f"the job cannot go on: {json.dumps(documents, indent=1)[:4000]}")
            if all(m and m["state"] == "done" and self.is_measured(m) for m in own):
                return own, seconds
            if seconds > self.options.patience:
                raise Stopped(f"not done after {seconds:.0f} s: {states}; logs in {self.folder}")
            time.sleep(0.25)

    def is_measured(self, member):
        return self.options.pytorch or member.get("accuracy") is not None

    def check_alive(self, nodes):
        for node in nodes:
            if node.process and node.process.poll() is not None:
                raise Stopped(f"{node.name} ended with {node.process.returncode}; log: {node.log}")

    def run_native(self):
        recipe = self.options.recipe
        job = self.write_job("fashion", f"epochs = {self.options.epochs}", recipe, 4)
        self.nodes[0].ctl("job", "submit", job)
        return self.watch(self.nodes, "fashion")

    def run_pytorch(self):
        """Four PyTorch processes, one a node; they propose the job themselves."""
        script = os.path.join(ROOT, "tools", "python", "examples", "fashion_mnist_torch.py")
        for node in self.nodes:
            environment = dict(
                os.environ, P2PD_TENSOR_SOCKET=node.path("tensor.sock"), OMP_NUM_THREADS="1",
                PYTHONPATH=os.path.join(ROOT, "tools", "python"))
            with open(node.path("torch.log"), "wb") as log:
                self.clients.append(subprocess.Popen(
                    ["/usr/bin/python3", script, str(self.options.epochs)], env=environment,
                    stdout=log, stderr=log, stdin=subprocess.DEVNULL, start_new_session=True))
        deadline = time.monotonic() + 60
        while not any(node.document("job", "show", "fashion-torch") for node in self.nodes):
            if time.monotonic() > deadline or any(c.poll() for c in self.clients):
                raise Stopped(f"no PyTorch process proposed its job: {self.folder}/n*/torch.log")
            time.sleep(0.25)
        own, seconds = self.watch(self.nodes, "fashion-torch")
        for node, client in zip(self.nodes, self.clients):
            client.wait(timeout=60)
            with open(node.path("torch.log"), encoding="utf-8") as log:
                self.say(f"{node.name}: {log.read().strip().splitlines()[-1]}")
        return own, seconds

    def export(self, job):
        path = os.path.join(self.folder, "model.safetensors")
        self.nodes[0].ctl("checkpoint", "export", job, "--to", path)
        return path

    def run_alone(self, seconds):
        alone = Node(self, "alone", FAST)
        alone.make_identity()
        alone.write_config(network_id([alone]), [])
        alone.start()
        try:
            job = self.write_job("alone", f"minutes = {seconds / 60:.4f}", "auto", 1)
            self.say(f"one node alone, duty {FAST}, for the same {seconds:.0f} s")
            alone.ctl("job", "submit", job)
            own, _ = self.watch([alone], "alone")
            return own[0]
        finally:
            alone.stop()

    def stop(self):
        for client in self.clients:
            if client.poll() is None:
                client.terminate()
        for node in self.nodes:
            if node.process:
                node.process.terminate()
        for node in self.nodes:
            node.stop()

    def run(self):
        begun = time.monotonic()
        self.start_mesh()
        job = "fashion-torch" if self.options.pytorch else "fashion"
        own, seconds = self.run_pytorch() if self.options.pytorch else self.run_native()
        model = self.export(job)
        with open(model, "rb") as file:
            digest = hashlib.sha256(file.read()).hexdigest()
        hashes = {m["final_hash"] for m in own}
        if not self.options.keep:
            self.stop()
        single = None
        if not self.options.pytorch and not self.options.no_single:
            single = self.run_alone(seconds)
        self.tell(own, seconds, single, model, digest, hashes)
        if self.options.json:
            print(json.dumps(self.document(own, time.monotonic() - begun, single, model)))
        return 0 if len(hashes) == 1 else 1

    def document(self, own, seconds, single, model):
        keys = ("accuracy", "samples", "utilization", "bytes_sent")
        nodes = [dict({k: m.get(k) for k in keys}, name=name, loss=m.get("eval_loss"),
                      sha256=self.digest_at(node))
                 for name, node, m in zip(NAMES, self.nodes, own)]
        alone = single and dict({k: single.get(k) for k in keys}, loss=single.get("eval_loss"))
        return {"schema": "p2ptrain.demo/1", "seconds": round(seconds, 1), "nodes": nodes,
                "single_node": alone, "export": model}

    @staticmethod
    def digest_at(node):
        """Of the final model's file in the node's own run directory."""
        for folder, _, files in os.walk(node.path("state", "jobs")):
            for name in files:
                if name.endswith("-final.safetensors"):
                    with open(os.path.join(folder, name), "rb") as file:
                        return hashlib.sha256(file.read()).hexdigest()
        return None

    def tell(self, own, seconds, single, model, digest, hashes):
        say = self.say
        say(f"done in {seconds:.0f} s; " + (
            "all four hold the same model" if len(hashes) == 1 else f"MODELS DIFFER: {hashes}"))
        for name, m in zip(NAMES, own):
            accuracy = m.get("accuracy")
            say(f"  {name}  accuracy {'-' if accuracy is None else f'{100 * accuracy:.2f} %'}"
                f"  samples {m['samples']}  swaps {m['swaps']}"
                f"  utilization {shown(m.get('utilization'), '.3f')}"
                f"  sent {human_bytes(m.get('bytes_sent') or 0)}")
        if single:
            say(f"  alone  accuracy {100 * single['accuracy']:.2f} %  samples {single['samples']}")
        say(f"model     {model}  (sha256 {digest[:16]}..., loads with safetensors or numpy)")
        if self.options.keep:
            control = self.nodes[0].path("control.sock")
            say(f"the mesh runs on; look: {self.p2pctl} --socket {control} status")
            say("stop it:  kill " + " ".join(str(n.process.pid) for n in self.nodes))
        else:
            say(f"logs      {self.folder}/n*/p2pd.log; remove with: rm -r {self.folder}")
        say("next      tools/check runs the tests; README.md shows two machines and docker")


def network_id(nodes):
    """A network of these nodes only: 52 characters of base32, drawn from their ids."""
    digest = hashlib.sha256("".join(node.id for node in nodes).encode()).digest()
    return base64.b32encode(digest).decode().lower().rstrip("=")


def main():
    parser = argparse.ArgumentParser(prog="tools/demo", description=__doc__.split("\n\n", 1)[0])
    parser.add_argument(
        "--build", default=os.path.join(ROOT, "build", "demo"), help=argparse.SUPPRESS)
    parser.add_argument("--keep", action="store_true", help="leave the mesh running at the end")
    parser.add_argument("--json", action="store_true", help="end with one line for programs")
    parser.add_argument("--pytorch", action="store_true", help="four PyTorch processes train")
    parser.add_argument(
        "--epochs", type=int, default=None, help="over the set, by all together (20)")
    parser.add_argument("--recipe", default="auto", help="how replicas are mixed (auto)")
    parser.add_argument("--folder", help="work here instead of in a temporary folder")
    parser.add_argument("--no-single", action="store_true", help="leave out the single node")
    parser.add_argument("--patience", type=float, default=240, help=argparse.SUPPRESS)
    options = parser.parse_args()
    options.epochs = options.epochs or (3 if options.pytorch else 20)
    demo = Demo(options)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        status = demo.run()
        if not options.keep:
            demo.stop()
        return status
    except KeyboardInterrupt:
        demo.stop()
        shutil.rmtree(demo.folder, ignore_errors=True)
        print("\ndemo: interrupted; everything is stopped and removed", file=sys.stderr)
        return 130
    except Stopped as stopped:
        demo.say(str(stopped))
        demo.stop()
        return 1
    finally:
        if not options.keep:
            demo.stop()


if __name__ == "__main__":
    sys.exit(main())
