#!/usr/bin/python3
"""Real processes on loopback: four p2pd train together; one is killed, one is stopped.

Run by meson with the folder of the build in P2P_BUILD. Uses the nodes of tools/demo.py.
"""

import argparse
import gzip
import hashlib
import json
import os
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tools"))
sys.dont_write_bytecode = True
import demo as demo_module  # noqa: E402
import demo_node  # noqa: E402

BUILD = os.environ["P2P_BUILD"]
DATA = demo_node.DATA


def until(condition, seconds, what):
    """Waits for a condition with a deadline; `what` may be a function, asked when it has passed."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        value = condition()
        if value:
            return value
        time.sleep(0.1)
    raise AssertionError(f"not within {seconds} s: {what() if callable(what) else what}")


class Mesh:
    """Four nodes as tools/demo makes them, with a job of some epochs."""

    def __init__(self, folder, epochs):
        options = argparse.Namespace(
            build=BUILD, folder=folder, json=True, keep=False, pytorch=False, epochs=epochs,
            recipe="ad-psgd", no_single=True, patience=200)
        self.demo = demo_module.Demo(options)
        self.demo.start_mesh()
        self.nodes = self.demo.nodes
        job = self.demo.write_job("fashion", f"epochs = {epochs}", "ad-psgd", 4)
        self.nodes[0].ctl("job", "submit", job)

    def own(self, node):
        document = node.document("job", "show", "fashion")
        if not document:
            return {}
        return next(m for m in document["job"]["members"] if m["self"])

    def steps(self, node):
        return self.own(node).get("steps") or 0

    @staticmethod
    def account(node):
        """What a node and its log say last."""
        shown = node.ctl("job", "show", "fashion", check=False)
        with open(node.log, encoding="utf-8", errors="replace") as log:
            lines = log.readlines()
        return f"--- {node.name}\n{shown.stdout}{shown.stderr}{''.join(lines[-40:])}"

    def finish(self, seconds=200):
        until(lambda: all(self.own(n).get("state") == "done" for n in self.nodes), seconds,
              lambda: "all done\n" + "\n".join(self.account(n) for n in self.nodes))
        digests = {self.demo.digest_at(n) for n in self.nodes}
        return digests, [self.own(n)["final_hash"] for n in self.nodes]


class RealProcesses(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="p2ptrain-e2e-")
        self.addCleanup(self.folder.cleanup)
        self.mesh = None

    def start(self, epochs):
        self.mesh = Mesh(self.folder.name, epochs)
        self.addCleanup(self.mesh.demo.stop)
        return self.mesh

    def test_a_node_killed_in_the_middle_comes_back_and_all_end_with_one_model(self):
        mesh = self.start(epochs=20)
        victim = mesh.nodes[2]
        until(lambda: mesh.own(victim).get("steps", 0) > 300, 60, "the victim trains")
        latest = victim.path("state", "jobs", "fashion", "checkpoints", "latest")
        until(lambda: os.path.exists(latest), 60, "the victim has a checkpoint")
        victim.process.send_signal(signal.SIGKILL)
        victim.process.wait()
        before = mesh.steps(mesh.nodes[0])
        until(lambda: mesh.steps(mesh.nodes[0]) > before + 50, 30, "the others go on")
        victim.start()
        digests, hashes = mesh.finish()
        self.assertEqual(1, len(digests), digests)
        self.assertEqual(1, len(set(hashes)), hashes)
        self.assertNotIn(None, digests)

    def test_a_node_stopped_for_twenty_seconds_holds_nobody_back(self):
        mesh = self.start(epochs=60)
        stopped, other = mesh.nodes[1], mesh.nodes[0]
        until(lambda: mesh.steps(other) > 300 and mesh.steps(stopped) > 100, 60, "all train")
        begun = mesh.steps(other), time.monotonic()
        time.sleep(4)  # a stretch of time is what is measured here, with nobody stopped
        normal = (mesh.steps(other) - begun[0]) / (time.monotonic() - begun[1])
        os.kill(stopped.process.pid, signal.SIGSTOP)
        try:
            begun = mesh.steps(other), time.monotonic()
            time.sleep(20)
            during = (mesh.steps(other) - begun[0]) / (time.monotonic() - begun[1])
        finally:
            os.kill(stopped.process.pid, signal.SIGCONT)
        self.assertGreater(during, 0.5 * normal)
        digests, hashes = mesh.finish(seconds=240)
        self.assertEqual(1, len(digests), digests)
        self.assertEqual(1, len(set(hashes)), hashes)


class Demo(unittest.TestCase):
    def test_its_exported_model_has_the_accuracy_that_it_says(self):
        with tempfile.TemporaryDirectory(prefix="p2ptrain-e2e-") as folder:
            done = subprocess.run(
                [sys.executable, "-B", os.path.join(ROOT, "tools", "demo.py"), "--build", BUILD,
                 "--json", "--epochs", "3", "--no-single", "--folder", folder],
                capture_output=True, text=True, timeout=200, check=False)
            self.assertEqual(0, done.returncode, done.stderr[-3000:])
            told = json.loads(done.stdout.splitlines()[-1])
            self.assertEqual("p2ptrain.demo/1", told["schema"])
            self.assertEqual(1, len({n["sha256"] for n in told["nodes"]}))
            with open(told["export"], "rb") as file:
                data = file.read()
            self.assertEqual(told["nodes"][0]["sha256"], hashlib.sha256(data).hexdigest())
            accuracy = self.accuracy(data)
            for node in told["nodes"]:
                self.assertAlmostEqual(accuracy, node["accuracy"], delta=0.001)
                self.assertGreater(node["accuracy"], 0.83)

    @staticmethod
    def accuracy(data):
        """As a script with numpy reads a safetensors file, and nothing of ours."""
        import numpy as np
        size = struct.unpack("<Q", data[:8])[0]
        header = json.loads(data[8:8 + size])
        tensors = {
            name: np.frombuffer(data, np.float32, offset=8 + size + entry["data_offsets"][0],
                                count=int(np.prod(entry["shape"]))).reshape(entry["shape"])
            for name, entry in header.items() if name != "__metadata__"}

        def idx(name, head):
            for suffix, opener in ((".gz", gzip.open), ("", open)):
                path = os.path.join(DATA, name + suffix)
                if os.path.exists(path):
                    with opener(path, "rb") as file:
                        return np.frombuffer(file.read(), np.uint8, offset=head)
            raise FileNotFoundError(name)

        train = idx("train-images-idx3-ubyte", 16).astype(np.float64) / 255
        images = idx("t10k-images-idx3-ubyte", 16).reshape(-1, 784)
        x = ((images / 255 - train.mean()) / train.std()).astype(np.float32)
        layers = sorted(int(name.split(".")[1]) for name in tensors if name.endswith("weight"))
        for layer in layers:
            x = x @ tensors[f"layers.{layer}.weight"].T + tensors[f"layers.{layer}.bias"]
            if layer != layers[-1]:
                x = np.maximum(x, 0)
        return float((x.argmax(axis=1) == idx("t10k-labels-idx1-ubyte", 8)).mean())


class BadStarts(unittest.TestCase):
    """Each ends with the code that the unit file and people rely on, and says what to do."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="p2ptrain-e2e-")
        self.addCleanup(self.folder.cleanup)

    def config(self, extra="", port=0):
        path = os.path.join(self.folder.name, "p2pd.toml")
        at = self.folder.name
        with open(path, "w", encoding="utf-8") as file:
            file.write(
                f'[node]\nstate_dir = "{at}/state"\n[identity]\nkey_file = "{at}/id.key"\n'
                f'[network]\nlisten = ["127.0.0.1:{port}"]\n'
                f'[trust]\npeers_file = "{at}/peers.toml"\n'
                f'[control]\nsocket = "{at}/c.sock"\nstatus_socket = "{at}/s.sock"\n'
                f'tensor_socket = "{at}/t.sock"\n{extra}')
        return path

    def run_p2pd(self, config):
        return subprocess.run(
            [os.path.join(BUILD, "daemon", "p2pd"), "--config", config], capture_output=True,
            text=True, timeout=30, check=False)

    def expect(self, done, code, *words):
        self.assertEqual(code, done.returncode, done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)

    def test_an_unknown_key_is_78_with_its_line_and_the_nearest_key(self):
        self.expect(self.run_p2pd(self.config("[jobs]\nduti = 0.5\n")), 78, "duti", "duty", ":")

    def test_an_identity_that_others_can_read_is_77(self):
        config = self.config()
        key = os.path.join(self.folder.name, "id.key")
        subprocess.run([os.path.join(BUILD, "daemon", "p2pd"), "--make-identity", key], check=True,
                       capture_output=True)
        os.chmod(key, 0o644)
        self.expect(self.run_p2pd(config), 77, key, "chmod")

    def test_a_port_in_use_is_69_and_names_it(self):
        import socket
        with socket.socket() as holder:
            holder.bind(("127.0.0.1", 0))
            holder.listen()
            port = holder.getsockname()[1]
            self.expect(self.run_p2pd(self.config(port=port)), 69, str(port))

    def test_a_state_folder_that_cannot_be_made_is_77(self):
        with open(os.path.join(self.folder.name, "state"), "w", encoding="utf-8"):
            pass  # a file where the folder should be
        self.expect(self.run_p2pd(self.config()), 77, "state")

    def test_a_second_p2pd_on_one_state_is_75(self):
        config = self.config()
        first = subprocess.Popen(
            [os.path.join(BUILD, "daemon", "p2pd"), "--config", config], stderr=subprocess.DEVNULL)
        try:
            until(lambda: os.path.exists(os.path.join(self.folder.name, "c.sock")), 10, "it is up")
            self.expect(self.run_p2pd(config), 75, str(first.pid))
        finally:
            first.terminate()
            self.assertEqual(0, first.wait(timeout=20))


if __name__ == "__main__":
    unittest.main(verbosity=2)
