#!/usr/bin/python3
"""Runs the main job on this machine: four p2pd of unequal speed train one model together.

Called by tools/demo, which has built everything. Makes four identities and configurations in a
temporary folder, starts four daemons on loopback (three may use 0.4 of the time, one 0.04),
submits the job at one of them, shows all four until they hold the same model, exports it, and then
lets one node train alone for the same wall time. Ctrl-C cleans up.
"""

import argparse
import hashlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
DATA = "/usr/share/datasets/fashion-mnist"
FAST, SLOW = 0.4, 0.04
NAMES = ("n1", "n2", "n3", "n4")
COLUMNS = ("NODE", "STATE", "STEP", "SAMPLES", "LOSS", "ACCURACY", "LINKS", "SENT", "DISTANCE")

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
{axes}
min_peers = {peers}

[eval]
every = "5s"

[checkpoint]
every = "10s"
"""


class Stopped(Exception):
    """Something that the demo needs did not happen; the text says what and where to look."""


class Node:
    """One p2pd with a folder of its own."""

    def __init__(self, demo, name, duty):
        self.demo, self.name, self.duty = demo, name, duty
        self.folder = os.path.join(demo.folder, name)
        self.port = free_port()
        self.config = os.path.join(self.folder, "p2pd.toml")
        self.log = os.path.join(self.folder, "p2pd.log")
        self.process = None
        self.id = None

    def path(self, *parts):
        return os.path.join(self.folder, *parts)

    def write_config(self, network, others):
        os.makedirs(self.folder, mode=0o700, exist_ok=True)
        peers = "".join(
            f'[[peer]]\nid = "{o.id}"\nname = "{o.name}"\naddresses = ["127.0.0.1:{o.port}"]\n\n'
            for o in others)
        with open(self.path("peers.toml"), "w", encoding="utf-8") as file:
            file.write(peers)
        with open(self.config, "w", encoding="utf-8") as file:
            file.write(
                f'[node]\nname = "{self.name}"\nsite = "demo"\nstate_dir = "{self.path("state")}"\n\n'
                f'[identity]\nkey_file = "{self.path("identity.key")}"\n\n'
                f'[network]\nid = "{network}"\nlisten = ["127.0.0.1:{self.port}"]\n'
                f'advertise = ["127.0.0.1:{self.port}"]\n\n'
                f'[trust]\npeers_file = "{self.path("peers.toml")}"\n\n'
                f'[control]\nsocket = "{self.path("control.sock")}"\n'
                f'status_socket = "{self.path("status.sock")}"\n'
                f'tensor_socket = "{self.path("tensor.sock")}"\n\n'
                f'[datasets]\nfashion-mnist = "{DATA}"\n\n'
                f"[limits]\nmin_free_bytes = 67108864\n\n"
                f"[jobs]\nthreads = 1\nduty = {self.duty}\n")

    def make_identity(self):
        os.makedirs(self.folder, mode=0o700, exist_ok=True)
        made = subprocess.run(
            [self.demo.p2pd, "--make-identity", self.path("identity.key")],
            capture_output=True, text=True, check=False)
        if made.returncode != 0:
            raise Stopped(f"p2pd made no identity: {made.stderr.strip()}")
        self.id = made.stdout.strip()

    def start(self):
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                [self.demo.p2pd, "--config", self.config], stdout=log, stderr=log,
                stdin=subprocess.DEVNULL, start_new_session=True)
        self.ctl("wait", "ready", "--timeout", "20s")

    def ctl(self, *arguments, check=True):
        done = subprocess.run(
            [self.demo.p2pctl, "--socket", self.path("control.sock"), *arguments],
            capture_output=True, text=True, check=False)
        if check and done.returncode != 0:
            raise Stopped(
                f"p2pctl {' '.join(arguments)} at {self.name} ended with {done.returncode}:\n"
                f"{(done.stderr or done.stdout).strip()}\nits log: {self.log}")
        return done

    def document(self, *arguments):
        done = self.ctl(*arguments, "-o", "json", check=False)
        try:
            return json.loads(done.stdout) if done.returncode == 0 else None
        except ValueError:
            return None

    def stop(self):
        if self.process is None:
            return
        self.process.terminate()
        try:
            self.process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process = None


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def human_bytes(count):
    for unit in ("B", "kB", "MB", "GB"):
        if count < 1000 or unit == "GB":
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1000
    return ""


def shown(value, form):
    return "-" if value is None else format(value, form)


class Table:
    """The four nodes, redrawn in place on a terminal; a plain line now and then elsewhere."""

    def __init__(self, quiet):
        self.is_live = sys.stderr.isatty() and not quiet
        self.drawn = 0
        self.said_at = 0.0

    def show(self, members, job, seconds):
        rows = [COLUMNS] + [self.row(name, member) for name, member in members]
        ratio = job.get("progress_ratio") or 0
        if not self.is_live:
            if time.monotonic() - self.said_at < 5:
                return
            self.said_at = time.monotonic()
            print(f"demo: {seconds:4.0f} s  {job.get('state'):9}  {100 * ratio:3.0f} %  " + "  ".join(
                f"{r[0]} step {r[2]} loss {r[4]}" for r in rows[1:]), file=sys.stderr, flush=True)
            return
        widths = [max(len(row[i]) for row in rows) for i in range(len(COLUMNS))]
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths)) for row in rows]
        bar = "#" * int(40 * ratio)
        left = job.get("time_left_seconds")
        tail = f"{left:.0f} s left" if left else job.get("state", "")
        lines.append(f"[{bar:40}] {100 * ratio:3.0f} %  {seconds:.0f} s  {tail}")
        if self.drawn:
            sys.stderr.write(f"\x1b[{self.drawn}A")
        sys.stderr.write("".join(f"\x1b[2K{line}\n" for line in lines))
        sys.stderr.flush()
        self.drawn = len(lines)

    @staticmethod
    def row(name, m):
        if m is None:
            return (name,) + ("-",) * (len(COLUMNS) - 1)
        accuracy = m.get("accuracy")
        return (
            name, m["state"], str(m["steps"]), str(m["samples"]), shown(m.get("train_loss"), ".3f"),
            "-" if accuracy is None else f"{100 * accuracy:.2f} %", shown(m.get("peers"), "d"),
            human_bytes(m.get("bytes_sent") or 0), shown(m.get("distance_ratio"), ".5f"))


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
        axes = "" if recipe != "ad-psgd" else 'when = "every(16)"\ncodec = "delta(q8)"'
        path = os.path.join(self.folder, f"{name}.toml")
        with open(path, "w", encoding="utf-8") as file:
            file.write(JOB.format(name=name, length=length, recipe=recipe, axes=axes, peers=peers))
        return path

    def watch(self, nodes, job):
        """Shows the nodes until all are done; their last words, and the seconds it took."""
        table = Table(self.options.json)
        begun = time.monotonic()
        while True:
            documents = [node.document("job", "show", job) for node in nodes]
            own = [next((m for m in d["members"] if m["self"]), None) if d else None
                   for d in documents]
            seconds = time.monotonic() - begun
            first = next((d for d in documents if d), None)
            if first:
                table.show([(n.name, m) for n, m in zip(nodes, own)], first["job"], seconds)
            self.check_alive(nodes)
            states = [m["state"] if m else "" for m in own]
            if "failed" in states or "blocked" in states:
                raise Stopped(f"the job cannot go on: {json.dumps(documents, indent=1)[:4000]}")
            if all(state == "done" and m.get("accuracy") is not None or state == "done"
                   and self.options.pytorch for state, m in zip(states, own)):
                return own, seconds
            if seconds > self.options.patience:
                raise Stopped(f"not done after {seconds:.0f} s: {states}; logs in {self.folder}")
            time.sleep(0.25)

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
        self.nodes[0].ctl("checkpoint", "export", job, "--output", path)
        return path

    def run_alone(self, seconds):
        alone = Node(self, "alone", FAST)
        alone.make_identity()
        alone.write_config(network_id([alone]), [])
        alone.start()
        try:
            job = self.write_job("alone", f"minutes = {seconds / 60:.4f}", "ad-psgd", 1)
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
            say(f"the mesh runs on; look: {self.p2pctl} --socket {self.nodes[0].path('control.sock')} status")
            say("stop it:  kill " + " ".join(str(n.process.pid) for n in self.nodes))
        else:
            say(f"logs      {self.folder}/n*/p2pd.log; remove with: rm -r {self.folder}")
        say("next      tools/check runs the tests; README.md shows two machines and docker")


def network_id(nodes):
    """A network of these nodes only: 52 characters of base32, drawn from their ids."""
    digest = hashlib.sha256("".join(node.id for node in nodes).encode()).digest()
    import base64
    return base64.b32encode(digest).decode().lower().rstrip("=")


def main():
    parser = argparse.ArgumentParser(prog="tools/demo", description=__doc__.split("\n\n", 1)[0])
    parser.add_argument("--build", default=os.path.join(ROOT, "build", "demo"), help=argparse.SUPPRESS)
    parser.add_argument("--keep", action="store_true", help="leave the mesh running at the end")
    parser.add_argument("--json", action="store_true", help="end with one line for programs")
    parser.add_argument("--pytorch", action="store_true", help="four PyTorch processes train")
    parser.add_argument("--epochs", type=int, default=None, help="over the set, by all together (20)")
    parser.add_argument("--recipe", default="ad-psgd", help="how replicas are mixed (ad-psgd)")
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
