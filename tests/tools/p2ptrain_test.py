#!/usr/bin/python3
"""The Python client against a daemon that says what the test wants: tools/python/p2ptrain."""

import array
import json
import mmap
import os
import socket
import sys
import tempfile
import threading
import unittest
import warnings

try:
    import numpy as np
except ImportError:
    print("python3-numpy is not installed")
    sys.exit(77)

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tools", "python"))

import p2ptrain  # noqa: E402
from p2ptrain import arrays as flat  # noqa: E402

ANSWER = {"ok": True, "state": "running", "add": [], "take": [], "replace": False,
          "lr_scale": 1.0, "learning_rate": 0.1, "progress": 0.0, "reason": ""}
ATTACHED = {**ANSWER, "seed": 7, "peer": "abc", "batch_size": 4, "steps": 0, "samples": 0}


class FakeDaemon:
    """Answers each line with the next of `script`: a dict, or a function of the memory and the line
    that gives one. None closes the connection. What was said is in `lines`."""

    def __init__(self, folder, script):
        self.path = os.path.join(folder, "tensor.sock")
        self.lines = []
        self.snapshots = []
        self.memory = None
        self._script = list(script)
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._listener.bind(self.path)
        self._listener.listen(4)
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self):
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return  # closed
            with client:
                self._serve(client)

    def _serve(self, client):
        text = b""
        while True:
            data, control, _, _ = client.recvmsg(1 << 20, socket.CMSG_SPACE(4))
            for _, _, payload in control:
                fd = array.array("i", payload)[0]
                size = os.fstat(fd).st_size
                self.memory = np.frombuffer(mmap.mmap(fd, size), dtype=np.float32).reshape(2, -1)
                os.close(fd)
            if not data:
                return
            text += data
            while b"\n" in text:
                line, text = text.split(b"\n", 1)
                if not self._answer(client, json.loads(line)):
                    return

    def _answer(self, client, line):
        self.lines.append(line)
        if line["op"] in ("took", "detach"):
            self.snapshots.append(self.memory[0].copy())
            client.sendall(b'{"ok":true}\n')
            return True
        step = self._script.pop(0) if self._script else None
        answer = step(self.memory, line) if callable(step) else step
        if answer is None:
            return False
        client.sendall(json.dumps(answer).encode() + b"\n")
        return True

    def close(self):
        self._listener.shutdown(socket.SHUT_RDWR)  # ends accept(), too
        self._listener.close()
        self._thread.join()

    def ops(self):
        return [line["op"] for line in self.lines]


def offering(values=None, **changes):
    """A script's step that puts `values` into the displacement area."""

    def answer(memory, _line):
        if values is not None:
            memory[1, :] = values
        return {**ANSWER, **changes}

    return answer


class WithDaemon(unittest.TestCase):
    """Eight parameters in two arrays, and a daemon to tell of them."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.arrays = {"w": np.arange(6, dtype=np.float32).reshape(2, 3),
                       "b": np.array([10, 20], dtype=np.float32)}

    def start(self, *script, **options):
        self.daemon = FakeDaemon(self.folder.name, script)
        self.addCleanup(self.daemon.close)
        run = p2ptrain.Run(self.arrays, job="tiny", socket=self.daemon.path, **options)
        self.addCleanup(run._let_go)
        return run

    def everything(self):
        return np.concatenate([values.reshape(-1) for values in self.arrays.values()])


class RunTest(WithDaemon):
    def test_attach_tells_names_and_shapes_and_brings_sealed_memory(self):
        run = self.start(ATTACHED)
        self.assertEqual(
            [{"name": "w", "shape": [2, 3]}, {"name": "b", "shape": [2]}],
            self.daemon.lines[0]["tensors"])
        self.assertEqual((2, 8), self.daemon.memory.shape)
        self.assertEqual((7, "abc"), (run.seed, run.peer))
        self.assertFalse(self.daemon.lines[0]["keep"])

    def test_a_step_hands_over_what_was_asked_and_adds_what_has_come(self):
        before = self.everything()
        run = self.start(
            ATTACHED, offering(np.full(8, 0.5), add=[[2, 4]], take=[[0, 8]], progress=0.25))
        self.assertTrue(run.average(samples=4, loss=0.75))
        expected = before.copy()
        expected[2:6] += 0.5
        np.testing.assert_array_equal(expected, self.everything())
        np.testing.assert_array_equal(expected, self.daemon.snapshots[-1])
        self.assertEqual(["attach", "step", "took"], self.daemon.ops())
        self.assertEqual((4, 0.75), (self.daemon.lines[1]["samples"], self.daemon.lines[1]["loss"]))
        self.assertEqual(0.25, run.last.progress)

    def test_storage_is_written_and_never_replaced(self):
        weights = self.arrays["w"]
        run = self.start(ATTACHED, offering(np.ones(8), add=[[0, 8]]))
        run.average(samples=4)
        self.assertIs(weights, self.arrays["w"])
        self.assertEqual(1.0, weights[0, 0])

    def test_why_nothing_came_is_told(self):
        run = self.start(ATTACHED, {**ANSWER, "reason": "nothing has arrived since"})
        self.assertFalse(run.average(samples=4))
        self.assertEqual("nothing has arrived since", run.last.reason)
        self.assertEqual(["attach", "step"], self.daemon.ops())

    def test_a_replacement_hands_over_the_old_values_first(self):
        before = self.everything()
        self.start(offering(np.full(8, 3.0), **{**ATTACHED, "replace": True}))
        np.testing.assert_array_equal(np.full(8, 3.0), self.everything())
        np.testing.assert_array_equal(before, self.daemon.snapshots[-1])

    def test_a_held_step_waits_and_serves_until_it_may_go_on(self):
        run = self.start(
            ATTACHED, {**ANSWER, "state": "held"},
            offering(np.ones(8), add=[[0, 8]], state="held"), ANSWER)
        self.assertTrue(run.average(samples=4))
        self.assertEqual(["attach", "step", "wait", "took", "wait"], self.daemon.ops())
        self.assertEqual("running", run.last.state)

    def test_numbers_that_are_not_finite_leave_the_arrays_untouched(self):
        before = self.everything()
        run = self.start(ATTACHED, offering(np.full(8, np.nan), add=[[0, 8]]))
        with self.assertWarns(UserWarning):
            self.assertFalse(run.average(samples=4))
        np.testing.assert_array_equal(before, self.everything())

    def test_ranges_outside_of_the_parameters_leave_them_untouched(self):
        for add in ([[7, 2]], [[-1, 2]], [[0, 9]]):
            before = self.everything()
            run = self.start(ATTACHED, offering(np.ones(8), add=add))
            with self.assertWarns(UserWarning):
                run.average(samples=4)
            np.testing.assert_array_equal(before, self.everything())
            os.unlink(self.daemon.path)

    def test_a_refusal_is_a_warning_and_is_not_asked_again(self):
        refusal = {"ok": False, "error": {"text": "these tensors are not those of job tiny",
                                          "why": "shapes", "next": "run the same model"}}
        with self.assertWarnsRegex(UserWarning, "these tensors are not.*run the same model"):
            run = self.start(refusal)
        self.assertFalse(run.average(samples=4))
        self.assertEqual(["attach"], self.daemon.ops())
        self.assertEqual("alone", run.last.state)

    def test_no_daemon_is_a_warning_and_training_goes_on(self):
        with self.assertWarnsRegex(UserWarning, "/nowhere/tensor.sock"):
            run = p2ptrain.Run(self.arrays, job="tiny", socket="/nowhere/tensor.sock")
        before = self.everything()
        self.assertFalse(run.average(samples=4))
        self.assertIn("/nowhere/tensor.sock", run.last.reason)
        np.testing.assert_array_equal(before, self.everything())

    def test_a_daemon_that_dies_is_found_again_with_our_parameters(self):
        run = self.start(ATTACHED, None, ATTACHED, ANSWER)
        with self.assertWarns(UserWarning):
            self.assertFalse(run.average(samples=4))
        self.assertFalse(run.is_attached)
        run._retry_at = 0.0  # not to wait for it
        run.average(samples=4)
        self.assertTrue(run.is_attached)
        self.assertEqual(["attach", "step", "attach", "step"], self.daemon.ops())
        self.assertTrue(self.daemon.lines[2]["keep"])

    def test_the_end_is_averaged_to_and_the_parameters_are_left_behind(self):
        with self.start(
            ATTACHED, {**ANSWER, "state": "finishing"},
            offering(np.ones(8), add=[[0, 8]], take=[[0, 8]], state="finishing"),
            {**ANSWER, "state": "done"}) as run:
            run.average(samples=4)
            self.assertTrue(run.is_over)
        self.assertEqual(["attach", "step", "wait", "took", "wait", "detach"], self.daemon.ops())
        np.testing.assert_array_equal(self.everything(), self.daemon.snapshots[-1])
        self.assertFalse(run.is_attached)

    def test_an_exception_leaves_the_job_at_once(self):
        with self.assertRaises(KeyError):
            with self.start(ATTACHED, {**ANSWER, "state": "finishing"}) as run:
                run.average(samples=4)
                raise KeyError("ours")
        self.assertEqual(["attach", "step", "detach"], self.daemon.ops())
        self.assertEqual([], p2ptrain.Run.active)

    def test_a_loss_that_is_not_a_number_is_not_sent(self):
        run = self.start(ATTACHED, ANSWER)
        run.average(samples=4, loss=float("nan"))
        self.assertEqual(0.0, self.daemon.lines[1]["loss"])

    def test_a_job_that_does_not_exist_is_proposed_from_the_model(self):
        self.start(ATTACHED, settings={"train.samples": 1000, "mixing.recipe": "ad-psgd"})
        self.assertEqual(
            'job.name = "tiny"\nmodel.kind = "external"\n'
            'model.tensors = [{ name = "w", shape = [2, 3] }, { name = "b", shape = [2] }]\n'
            'mixing.codec = "delta(q8)"\n'
            'train.samples = 1000\nmixing.recipe = "ad-psgd"\n', self.daemon.lines[0]["spec"])

    def test_the_loader_gives_its_batches_their_hash_and_ends_with_the_job(self):
        dataset = [(np.float32([i]), i % 3) for i in range(12)]
        with self.start(ATTACHED, ANSWER, {**ANSWER, "state": "done"}) as run:
            seen = []
            for inputs, labels in p2ptrain.loader(dataset, batch_size=4):
                self.assertEqual(((4, 1), (4,)), (inputs.shape, labels.shape))
                seen += inputs[:, 0].astype(int).tolist()
                run.average()
        order = p2ptrain.permutation(12, 7, "abc", 0)
        self.assertEqual(order[:8].tolist(), seen)
        self.assertEqual(p2ptrain.batch_hash(order[:4]), self.daemon.lines[1]["batch_hash"])
        self.assertEqual(4, self.daemon.lines[1]["samples"])


class OrderTest(unittest.TestCase):
    def test_each_epoch_holds_every_sample_once(self):
        sampler = p2ptrain.Sampler(100, seed=1, peer="a")
        first, second = list(sampler), list(sampler)
        self.assertEqual(list(range(100)), sorted(first))
        self.assertEqual(list(range(100)), sorted(second))
        self.assertNotEqual(first, second)

    def test_seed_peer_and_epoch_each_change_the_order(self):
        base = p2ptrain.permutation(50, 1, "a", 0).tolist()
        self.assertEqual(base, p2ptrain.permutation(50, 1, "a", 0).tolist())
        for other in ((2, "a", 0), (1, "b", 0), (1, "a", 1)):
            self.assertNotEqual(base, p2ptrain.permutation(50, *other).tolist())

    def test_the_order_is_the_same_on_every_machine(self):
        self.assertEqual([5, 6, 2, 4, 3, 0, 7, 1], p2ptrain.permutation(8, 7, "abc", 0).tolist())

    def test_alone_the_loader_makes_one_pass_or_as_many_as_asked(self):
        dataset = [np.float32(i) for i in range(10)]
        self.assertEqual(3, len(list(p2ptrain.loader(dataset, 3))))
        self.assertEqual(6, len(list(p2ptrain.loader(dataset, 3, epochs=2))))
        self.assertEqual(0, len(list(p2ptrain.loader(dataset, 11, epochs=2))))


class LowPrecisionTest(unittest.TestCase):
    def test_displacements_below_half_a_unit_add_up_instead_of_vanishing(self):
        half = {"w": np.full(1000, 1.0, dtype=np.float16)}
        parameters = flat.flat_numpy(half)
        step = np.full(1000, 1e-4, dtype=np.float32)  # a unit in the last place is 1e-3
        single = np.float32(1.0)
        for _ in range(1000):
            parameters.add_range(0, 1000, step)
            single += np.float32(1e-4)
        self.assertAlmostEqual(1.1, float(half["w"].astype(np.float64).mean()), delta=1e-3)
        out = np.zeros(1000, dtype=np.float32)
        parameters.copy_range(0, 1000, out)
        np.testing.assert_array_equal(np.full(1000, single), out)  # as if it were float32

    def test_plain_half_precision_would_lose_them(self):
        plain = np.float16(1.0)
        for _ in range(1000):
            plain = np.float16(plain + np.float16(1e-4))
        self.assertEqual(1.0, float(plain))

    def test_whole_numbers_are_refused(self):
        with self.assertRaises(TypeError):
            flat.flat_numpy({"w": np.zeros(3, dtype=np.int32)})


class OptimizerStandIn:
    """What averaging() needs of an optimizer."""

    def __init__(self):
        self.steps = 0

    def step(self):
        self.steps += 1
        return "result"


class AveragingTest(WithDaemon):
    """The wrapped step, without torch: the parameters are numpy's."""

    def test_each_step_of_the_optimizer_ends_one_of_ours_and_is_unwrapped_after(self):
        from p2ptrain import torch_loop

        daemon = FakeDaemon(self.folder.name, [ATTACHED, ANSWER, ANSWER])
        self.addCleanup(daemon.close)
        arrays, plain = self.arrays, torch_loop.flat_torch
        torch_loop.flat_torch = lambda model: flat.flat_numpy(arrays)
        self.addCleanup(setattr, torch_loop, "flat_torch", plain)
        opt = OptimizerStandIn()
        with p2ptrain.averaging(None, opt, job="tiny", socket=daemon.path) as avg:
            for loss in (0.5, 0.25):
                avg.log(loss=loss)
                self.assertEqual("result", opt.step())
        opt.step()
        self.assertEqual(3, opt.steps)
        self.assertEqual(["attach", "step", "step", "detach"], daemon.ops())
        self.assertEqual([0.5, 0.25], [line["loss"] for line in daemon.lines[1:3]])


if __name__ == "__main__":
    warnings.simplefilter("always")
    unittest.main()
