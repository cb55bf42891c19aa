#!/usr/bin/python3
"""The simulator held against eight real daemons: what it says of a mesh is what the mesh does.

Eight p2pd on loopback, an eighth of a core and less each, train one job; a stage is made of what
they measured of themselves half-way, and p2psim runs the same job on it. Run by meson with the
folder of the build in P2P_BUILD. Uses the nodes of tools/demo.py.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tools"))
sys.dont_write_bytecode = True
import demo  # noqa: E402
import demo_node  # noqa: E402

BUILD = os.environ["P2P_BUILD"]
P2PSIM = os.path.join(BUILD, "tools", "sim", "p2psim")
DUTIES = [0.1, 0.1, 0.1, 0.05, 0.05, 0.05, 0.025, 0.0125]
RECIPE = ["ad-psgd", "when=every(16)", "codec=delta(q8)"]
EPOCHS = 5
WITHIN = 0.10
WITHIN_SWAPS = 0.35  # a third of them bring replicas together at the end, until the last report
ATTEMPTS = 3  # a shared machine may be slower in one half of a run than in the other
JOB = f"""schema = "p2pd.job/1"

[job]
name = "eight"
seed = 7

[model]
kind = "mlp"
layers = [784, 128, 10]
activation = "relu"
init = "he"

[data]
set = "fashion-mnist"
split = "iid"

[train]
epochs = {EPOCHS}
batch_size = 32

[optimizer]
kind = "sgd"
momentum = 0.9

[schedule]
kind = "cosine"
base_lr = 0.02
scale = "none"
warmup = 0.02
final_lr = 0.001

[mixing]
recipe = "ad-psgd"
when = "every(16)"
codec = "delta(q8)"
min_peers = {len(DUTIES)}

[eval]
every = "1h"
"""


class Eight:
    """The daemons, and what they said of themselves half-way and at the end."""

    def __init__(self, folder):
        options = argparse.Namespace(build=BUILD, folder=folder, json=True)
        self.folder = folder
        self.demo = demo.Demo(options)
        self.nodes = [demo_node.Node(self.demo, f"n{i + 1}", d) for i, d in enumerate(DUTIES)]
        for node in self.nodes:
            node.make_identity()
        network = demo.network_id(self.nodes)
        for node in self.nodes:
            node.write_config(network, [other for other in self.nodes if other is not node])
        self.job = os.path.join(folder, "eight.toml")
        with open(self.job, "w", encoding="utf-8") as file:
            file.write(JOB)
        self.documents = []

    def run(self, seconds):
        for node in self.nodes:
            node.start()
        for node in self.nodes:
            node.ctl("wait", "peers=7", "--timeout", "60s")
        self.nodes[0].ctl("job", "submit", self.job)
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            own = [self.own(node) for node in self.nodes]
            samples = sum(member.get("samples", 0) for member in own)
            if not self.documents and samples > 0.5 * EPOCHS * 60000:
                self.survey()
            if all(member.get("state") == "done" for member in own):
                return own
            time.sleep(0.5)
        raise AssertionError(f"not done within {seconds} s: {own}; logs in {self.folder}")

    def own(self, node):
        document = node.document("job", "show", "eight")
        members = document["job"]["members"] if document else []
        return next((m for m in members if m["self"]), {})

    def survey(self):
        for node in self.nodes:
            for asked in (["peer", "list"], ["job", "show", "eight"], ["status"]):
                path = os.path.join(self.folder, f"{node.name}-{asked[0]}.json")
                with open(path, "w", encoding="utf-8") as file:
                    json.dump(node.document(*asked), file)
                self.documents.append(path)

    def stop(self):
        for node in self.nodes:
            if node.process:
                node.process.terminate()
        for node in self.nodes:
            node.stop()


def p2psim(*arguments):
    done = subprocess.run([P2PSIM, *arguments], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise AssertionError(f"p2psim {' '.join(arguments)}: {done.stderr}")
    return done.stdout


class Simulator(unittest.TestCase):
    def test_says_of_eight_daemons_what_they_do(self):
        faults = []
        for _ in range(ATTEMPTS):
            faults = [line for line, is_near in self.compare() if not is_near]
            if not faults:
                return
        self.fail(f"in {ATTEMPTS} runs: {faults}")

    def compare(self):
        """Lines of what is real and what was simulated, and whether they are near."""
        with tempfile.TemporaryDirectory(prefix="p2ptrain-eight-") as folder:
            eight = Eight(folder)
            try:
                real = eight.run(180)
            finally:
                eight.stop()
            stage = os.path.join(folder, "stage.toml")
            with open(stage, "w", encoding="utf-8") as file:
                file.write(p2psim("from-mesh", *eight.documents, "--job", eight.job))
                file.write("\n" + p2psim("calibrate"))
            simulated = json.loads(p2psim(
                "run", "--stage", stage, "--recipe", RECIPE[0], "--set", RECIPE[1], "--set",
                RECIPE[2], "--looks", "10", "-o", "json"))
        nodes = simulated["nodes"]
        self.assertEqual(len(DUTIES), len(nodes))
        pairs = [
            ("seconds to the end", median(m["training_seconds"] for m in real),
             simulated["seconds"], WITHIN),
            ("samples of all", sum(m["samples"] for m in real),
             sum(n["samples"] for n in nodes), WITHIN),
            ("swaps of all", sum(m["swaps"] for m in real),
             sum(n["swaps"] for n in nodes), WITHIN_SWAPS),
            ("accuracy", median(m["accuracy"] for m in real),
             median(n["accuracy_ratio"] for n in nodes), WITHIN)]
        compared = []
        for what, one, other, within in pairs:
            ratio = other / one
            line = f"{what}: real {one:.4g}, simulated {other:.4g}, ratio {ratio:.3f}"
            print(line, flush=True)
            compared.append((line, abs(ratio - 1) < within))
        return compared


def median(values):
    ordered = sorted(values)
    return ordered[len(ordered) // 2]


if __name__ == "__main__":
    unittest.main()
