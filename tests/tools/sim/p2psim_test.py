#!/usr/bin/python3
"""p2psim from its command line: what it prints, its exit codes, and that a run replays.

    p2psim_test.py P2PSIM PLOT_PY
"""

import importlib.util
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
import unittest

DATA = "/usr/share/datasets/fashion-mnist"
P2PSIM = None
PLOT = None

JOB = """schema = "p2pd.job/1"
job.name = "tiny"
model.kind = "mlp"
model.layers = [784, 8, 10]
data.set = "fashion-mnist"
train.samples = 4000
train.batch_size = 32
optimizer.kind = "sgd"
schedule.kind = "constant"
schedule.base_lr = 0.05
"""

STAGE = """schema = "p2psim.stage/1"
[stage]
description = "two machines"
job = "tiny.job.toml"
[[site]]
name = "A"
speeds = [1, 0.5]
"""


def p2psim(*arguments):
    return subprocess.run([P2PSIM, *arguments], capture_output=True, text=True, timeout=120,
                          check=False)


class Tool(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.stage = os.path.join(cls.scratch.name, "tiny.toml")
        for name, text in (("tiny.toml", STAGE), ("tiny.job.toml", JOB)):
            with open(os.path.join(cls.scratch.name, name), "w", encoding="utf-8") as file:
                file.write(text)

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    def test_stages_and_recipes_are_listed_for_people_and_programs(self):
        self.assertIn("three-site-8", p2psim("stages").stdout)
        document = json.loads(p2psim("recipes", "-o", "json").stdout)
        self.assertEqual("p2psim.recipes/1", document["schema"])
        names = {each["name"]: each["baseline"] for each in document["recipes"]}
        self.assertFalse(names["ad-psgd"])
        self.assertTrue(names["free"])

    def test_what_does_not_exist_is_a_usage_error_that_names_what_does(self):
        for arguments, known in (
                (("run", "--stage", "nowhere"), "three-site-8"),
                (("run", "--stage", self.stage, "--recipe", "ad-sgd"), "p2psim recipes"),
                (("compare", "--stage", self.stage, "--recipes", "no-such"), "p2psim recipes"),
                (("compare", "--stage", self.stage, "--recipes", "free", "--seeds", "0"),
                 "--seeds"),
                (("run", "--stage", self.stage, "--looks", "0"), "--looks"),
                (("run", "--stage", self.stage, "--limit", "-1"), "--limit"),
                (("run", "--stage", self.stage, "--target", "87"), "--target"),
                (("run", "--stage", self.stage, "--seed", "-3"), "--seed"),
                (("run", "--stage", self.stage, "--set", "codec"), "codec=q8"),
                (("run", "--stage", self.stage, "--set", "codec=q9"), "delta(q8)"),
                (("run", "--stage", self.stage, "--recipe", "diloco-ring", "--set", "H=3"),
                 "outer_lr"),
                (("compare", "--stage", self.stage, "--recipes", "ad-psgd:q8"), "axis=value")):
            done = p2psim(*arguments)
            self.assertEqual(2, done.returncode, arguments)
            self.assertIn(known, done.stderr, arguments)
            self.assertEqual("", done.stdout)

    def written(self, name, document):
        path = os.path.join(self.scratch.name, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(document if isinstance(document, str) else json.dumps(document))
        return path

    def test_what_a_live_mesh_measured_becomes_a_stage_that_runs(self):
        def peer(name, site, state, rtt):
            return {"name": name, "id": name * 26, "site": site, "state": state,
                    "addresses": [], "rtt_seconds": rtt, "silent_seconds": 0.1, "note": None}
        peers = self.written("peers.json", {"schema": "p2pd.peers/1", "peers": [
            peer("n1", "east", "self", None), peer("n2", "east", "connected", 0.002),
            peer("n3", "west", "connected", 0.080)]})
        def member(name, rate):
            return {"name": name, "id": name * 26, "state": "running",
                    "samples_per_second": rate, "utilization": 0.5}
        jobs = self.written("job.json", {"schema": "p2pd.job/1", "job": {"members": [
            member("n1", 1600.0), member("n2", 400.0), member("n3", None)]}})
        job = os.path.join(self.scratch.name, "tiny.job.toml")
        done = p2psim("from-mesh", peers, jobs, "--job", job)
        self.assertEqual(0, done.returncode, done.stderr)
        self.assertIn('step = "10000us"', done.stdout)   # 32 samples at half of 3,200 a second
        self.assertIn('0.25,  # "n2"', done.stdout)
        self.assertIn('1,  # "n3": not measured, a default', done.stdout)
        self.assertIn('round_trip = "80000us"  # median of 1', done.stdout)
        self.assertIn('inside_round_trip = "2000us"  # median of 1', done.stdout)
        stage = self.written("mesh.toml", done.stdout)
        run = p2psim("run", "--stage", stage, "-o", "json")
        self.assertEqual(0, run.returncode, run.stderr)
        outcome = json.loads(run.stdout)
        self.assertEqual(3, len(outcome["nodes"]))
        self.assertGreater(outcome["nodes"][0]["samples"], 2 * outcome["nodes"][1]["samples"])

    def test_what_this_machine_costs_can_be_appended_to_a_stage(self):
        done = p2psim("calibrate")
        self.assertEqual(0, done.returncode, done.stderr)
        with open(os.path.join(self.scratch.name, "tiny.toml"), encoding="utf-8") as file:
            stage = self.written("calibrated.toml", file.read() + "\n" + done.stdout)
        run = p2psim("run", "--stage", stage, "-o", "json")
        self.assertEqual(0, run.returncode, run.stderr)

    def test_recipes_are_ranked_on_drawn_stages(self):
        done = p2psim("rank", "--draw", "5", "--stages", "2", "--recipes", "none", "--limit", "5",
                      "--looks", "3", "--below", "0.5", "-o", "json")
        self.assertEqual(0, done.returncode, done.stderr)
        document = json.loads(done.stdout)
        self.assertEqual(["drawn-5", "drawn-6"], [s["stage"] for s in document["stages"]])
        self.assertEqual("none", document["recipes"][0]["recipe"])

    def test_documents_that_make_no_stage_are_named_with_what_to_do(self):
        job = os.path.join(self.scratch.name, "tiny.job.toml")
        for document, code, said in (
                ("{", 2, "bad.json"), ('{"schema": "p2pd.health/1"}', 2, "p2pd.health/1"),
                ("{}", 2, "no schema"), ('{"schema": "p2pd.peers/1"}', 2, "p2pctl peer list")):
            bad = self.written("bad.json", document)
            done = p2psim("from-mesh", bad, "--job", job)
            self.assertEqual(code, done.returncode, document)
            self.assertIn(said, done.stderr)
            self.assertIn("next:", done.stderr)
            self.assertEqual("", done.stdout)
        self.assertEqual(2, p2psim("from-mesh", "nowhere.json", "--job", job).returncode)

    def test_a_run_says_what_it_came_to_and_is_the_same_again(self):
        arguments = ("run", "--stage", self.stage, "--set", "codec=delta(q8)", "-o", "json")
        done = p2psim(*arguments)
        self.assertEqual(0, done.returncode, done.stderr)
        outcome = json.loads(done.stdout)
        self.assertEqual("p2psim.outcome/1", outcome["schema"])
        self.assertEqual(2, len(outcome["nodes"]))
        self.assertEqual(outcome["nodes"][0]["loss"], outcome["nodes"][1]["loss"])
        self.assertGreater(outcome["nodes"][0]["accuracy_ratio"], 0.3)
        self.assertEqual(outcome["digest"], json.loads(p2psim(*arguments).stdout)["digest"])

    def test_a_comparison_has_a_row_for_each_and_a_target_from_the_free_network(self):
        done = p2psim("compare", "--stage", self.stage, "--recipes",
                      "free,ad-psgd:codec=delta(q8),none", "--seeds", "2")
        self.assertEqual(0, done.returncode, done.stderr)
        self.assertRegex(done.stdout, r"target [1-9]\d\.\d\d %, medians of 2 seeds")
        for row in ("free", "ad-psgd:codec=delta(q8)", "none"):
            self.assertRegex(done.stdout, rf"(?m)^{re.escape(row)} .* 2/2$")

    def test_a_run_that_does_not_end_fails_with_the_command_that_replays_it(self):
        done = p2psim("run", "--stage", self.stage, "--limit", "0.1", "--seed", "3")
        self.assertEqual(1, done.returncode)
        self.assertIn("not done after", done.stderr)
        command = re.search(r"replay: p2psim (.*)", done.stderr).group(1)
        again = p2psim(*shlex.split(command))
        self.assertEqual(1, again.returncode)
        digest = r"digest ([0-9a-f]{16})"
        self.assertEqual(re.search(digest, done.stdout).group(1),
                         re.search(digest, again.stdout).group(1))

    def test_curves_have_a_line_a_look_and_become_pictures(self):
        path = os.path.join(self.scratch.name, "curves.jsonl")
        done = p2psim("compare", "--stage", self.stage, "--recipes", "free,ad-psgd,none",
                      "--seeds", "2", "--looks", "8", "--curves", path)
        self.assertEqual(0, done.returncode, done.stderr)
        with open(path, encoding="utf-8") as file:
            points = [json.loads(line) for line in file]
        self.assertEqual({("free", 1), ("free", 2), ("ad-psgd", 1), ("ad-psgd", 2), ("none", 1),
                          ("none", 2)}, {(point["recipe"], point["seed"]) for point in points})
        own = [point for point in points if (point["recipe"], point["seed"]) == ("ad-psgd", 2)]
        self.assertGreaterEqual(len(own), 8)
        for figure in ("seconds", "samples", "megabytes"):
            values = [point[figure] for point in own]
            self.assertEqual(sorted(values), values)
        self.assertGreaterEqual(own[-1]["samples"], 4000)
        self.assertGreater(own[-1]["accuracy_ratio"], own[0]["accuracy_ratio"])
        if importlib.util.find_spec("matplotlib") is None:
            self.skipTest("python3-matplotlib is not installed: no pictures")
        self.draw(path)

    def draw(self, curves):
        folder = os.path.join(self.scratch.name, "pictures")
        command = [sys.executable, "-B", PLOT, curves, "-o", folder]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        self.assertEqual(0, done.returncode, done.stderr)
        self.assertEqual(["accuracy-megabytes.svg", "accuracy-samples.svg", "accuracy-time.svg",
                          "distance-time.svg"], sorted(os.listdir(folder)))
        for name in os.listdir(folder):
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                text = file.read()
            self.assertIn("<svg", text)
            self.assertIn("ad-psgd", text)
        broken = self.write("broken.jsonl", '{"schema": "p2psim.curve/1", "seed": 1}\n')
        done = subprocess.run([sys.executable, "-B", PLOT, broken, "-o", folder],
                              capture_output=True, text=True, check=False)
        self.assertEqual(2, done.returncode)
        self.assertIn("line 1", done.stderr)

    def trace(self, *arguments):
        """A run of the tiny stage on record: the file's path, and its lines."""
        path = os.path.join(self.scratch.name, "run.trace")
        done = p2psim("run", "--stage", self.stage, "--trace", path, *arguments)
        self.assertEqual(0, done.returncode, done.stderr)
        with open(path, encoding="utf-8") as file:
            return path, file.read().splitlines()

    def write(self, name, text):
        path = os.path.join(self.scratch.name, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def test_a_trace_replays_though_the_stage_file_has_changed(self):
        path, lines = self.trace("--seed", "4", "--set", "codec=delta(q8)", "--nodes", "3")
        self.write("tiny.toml", STAGE.replace("0.5", "0.25"))
        try:
            done = p2psim("replay", path)
        finally:
            self.write("tiny.toml", STAGE)
        self.assertEqual(0, done.returncode, done.stdout + done.stderr)
        self.assertIn(f"{len(lines) - 2} digests", done.stdout)
        self.assertGreater(len(lines), 4)

    def test_a_replay_says_between_which_digests_it_parts(self):
        _, lines = self.trace()
        points = [json.loads(line) for line in lines[1:-1]]
        self.assertGreater(len(points), 4)
        points[3]["digest"] = "0" * 16
        broken = [lines[0], *map(json.dumps, points), lines[-1]]
        done = p2psim("replay", self.write("broken.trace", "\n".join(broken) + "\n"))
        self.assertEqual(1, done.returncode, done.stderr)
        self.assertIn(f"between event {points[2]['events']} ", done.stdout)
        self.assertIn(f"and event {points[3]['events']} ", done.stdout)
        changed = [*lines[:-1], json.dumps({"outcome": "0" * 16})]
        done = p2psim("replay", self.write("changed.trace", "\n".join(changed) + "\n"))
        self.assertEqual(1, done.returncode, done.stderr)
        self.assertIn("what came out is not", done.stdout)

    def test_another_seed_in_the_head_parts_at_once(self):
        _, lines = self.trace()
        head = json.loads(lines[0])
        head["seed"] += 1
        done = p2psim("replay", self.write("seed.trace", "\n".join(
            [json.dumps(head), *lines[1:]]) + "\n"))
        self.assertEqual(1, done.returncode, done.stderr)
        self.assertIn("between the beginning and event", done.stdout)

    def test_what_is_no_whole_trace_is_a_usage_error_that_names_the_line(self):
        _, lines = self.trace()
        text = "\n".join(lines) + "\n"
        head = json.loads(lines[0])
        newer = json.dumps({**head, "schema": "p2psim.trace/9"})
        less = json.dumps({name: head[name] for name in head if name != "looks"})
        stage = json.dumps({**head, "stage": {**head["stage"], "text": "schema = 3"}})
        for what, said in (
                ("", "empty"),
                (text[:-5], f"line {len(lines)}"),
                ("\n".join(lines[:-1]) + "\n", "the run did not end"),
                (STAGE, "line 1"),
                ('{"schema": "p2psim.stages/1"}\n', "no trace"),
                (newer + "\n", "p2psim.trace/9"),
                (less + "\n", "missing"),
                (stage + "\n", "schema wants"),
                (text + lines[1] + "\n", "after the last line"),
                (text.replace('"events"', '"event"', 1), "line 2")):
            done = p2psim("replay", self.write("torn.trace", what))
            self.assertEqual(2, done.returncode, (said, done.stdout))
            self.assertIn(said, done.stderr)
        self.assertEqual(2, p2psim("replay", self.scratch.name + "/none").returncode)


if __name__ == "__main__":
    if not os.path.isdir(DATA):
        print(f"{DATA} is not there (apt-get install dataset-fashion-mnist)")
        sys.exit(77)
    P2PSIM = os.path.abspath(sys.argv.pop(1))
    PLOT = os.path.abspath(sys.argv.pop(1))
    unittest.main()
