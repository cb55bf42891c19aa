#!/usr/bin/python3
"""Two p2pd, each with a numpy training process of its own: they end with one and the same model.

    external_mesh_test.py P2PD

Both processes propose the same job, train on different samples of one linear problem, and leave
when the mesh has agreed. Needs loopback only.
"""

import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest

try:
    import numpy as np
except ImportError:
    print("python3-numpy is not installed")
    sys.exit(77)

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tools", "python"))

import p2ptrain  # noqa: E402

P2PD = None
NETWORK = "b" * 51 + "a"
SAMPLES, BATCH = 6000, 10
JOB = {"job.seed": 3, "train.samples": SAMPLES, "train.batch_size": BATCH, "mixing.min_peers": 2,
       "checkpoint.every": "0s"}


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Node:
    def __init__(self, folder, name):
        self.folder = os.path.join(folder, name)
        os.mkdir(self.folder, 0o700)
        self.name = name
        self.port = free_port()
        self.id = subprocess.run(
            [P2PD, "--make-identity", self.path("identity.key")], check=True, capture_output=True,
            text=True).stdout.strip()

    def path(self, *parts):
        return os.path.join(self.folder, *parts)

    def start(self, other):
        with open(self.path("peers.toml"), "w", encoding="utf-8") as file:
            file.write(f'[[peer]]\nid = "{other.id}"\nname = "{other.name}"\n'
                       f'addresses = ["127.0.0.1:{other.port}"]\n')
        with open(self.path("p2pd.toml"), "w", encoding="utf-8") as file:
            file.write(
                f'node.name = "{self.name}"\nnode.state_dir = "{self.path("state")}"\n'
                f'identity.key_file = "{self.path("identity.key")}"\n'
                f'network.id = "{NETWORK}"\nnetwork.listen = ["127.0.0.1:{self.port}"]\n'
                f'trust.peers_file = "{self.path("peers.toml")}"\n'
                f'control.socket = "{self.path("c.sock")}"\n'
                f'control.status_socket = "{self.path("s.sock")}"\n'
                f'control.tensor_socket = "{self.path("t.sock")}"\n'
                "limits.min_free_bytes = 0\n")
        with open(self.path("log"), "wb") as log:
            self.process = subprocess.Popen(
                [P2PD, "--config", self.path("p2pd.toml")], stdin=subprocess.DEVNULL, stdout=log,
                stderr=log)
        until = time.monotonic() + 20
        while not os.path.exists(self.path("t.sock")):
            if self.process.poll() is not None or time.monotonic() > until:
                raise AssertionError(self.log())
            time.sleep(0.01)

    def log(self):
        with open(self.path("log"), encoding="utf-8", errors="replace") as file:
            return file.read()

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout=60)

    def final_model(self):
        with open(self.path("state/jobs/line/line-final.safetensors"), "rb") as file:
            return file.read()


class Trainer(threading.Thread):
    """Least squares on samples of its own; `arrays` are the live parameters."""

    def __init__(self, node, seed):
        super().__init__(daemon=True)
        self._socket = node.path("t.sock")
        self._random = np.random.default_rng(seed)
        self.arrays = {"w": np.zeros(20, dtype=np.float32), "b": np.zeros(1, dtype=np.float32)}
        self.steps = 0
        self.state = ""

    def run(self):
        with p2ptrain.Run(self.arrays, job="line", settings=JOB, socket=self._socket) as run:
            while not run.is_over and run.is_attached:
                run.average(samples=BATCH, loss=self.step())
                self.steps += 1
        self.state = run.last.state

    def step(self):
        inputs = self._random.normal(size=(BATCH, 20)).astype(np.float32)
        error = inputs @ self.arrays["w"] + self.arrays["b"] - (inputs @ TRUTH + 2)
        self.arrays["w"] -= 0.02 * inputs.T @ error / BATCH
        self.arrays["b"] -= 0.02 * error.mean()
        return float((error**2).mean())


TRUTH = np.linspace(-1, 1, 20).astype(np.float32)


class ExternalMesh(unittest.TestCase):
    def test_two_training_processes_end_with_one_model(self):
        with tempfile.TemporaryDirectory() as folder:
            a, b = Node(folder, "a"), Node(folder, "b")
            a.start(b)
            b.start(a)
            try:
                self.train(a, b)
            finally:
                codes = [node.stop() for node in (a, b)]
            self.assertEqual([0, 0], codes, a.log() + b.log())

    def train(self, a, b):
        trainers = [Trainer(a, 1), Trainer(b, 2)]
        for trainer in trainers:
            trainer.start()
        for trainer in trainers:
            trainer.join(timeout=120)
            self.assertFalse(trainer.is_alive(), a.log() + b.log())
        self.assertEqual(["done", "done"], [t.state for t in trainers], a.log() + b.log())
        self.assertGreaterEqual(sum(t.steps for t in trainers) * BATCH, 0.9 * SAMPLES)
        self.assertTrue(all(t.steps > 10 for t in trainers), [t.steps for t in trainers])
        self.assertEqual(a.final_model(), b.final_model())
        for trainer in trainers:
            np.testing.assert_allclose(TRUTH, trainer.arrays["w"], atol=0.2)
        np.testing.assert_allclose(trainers[0].arrays["w"], trainers[1].arrays["w"], atol=1e-3)


if __name__ == "__main__":
    P2PD = os.path.abspath(sys.argv.pop(1))
    unittest.main()
