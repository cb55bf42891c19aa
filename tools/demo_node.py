"""One p2pd of the demo: its folder, configuration, process, and what p2pctl says of it.

Used by tools/demo.py and by the tests with real processes.
"""

import json
import os
import socket
import subprocess

DATA = "/usr/share/datasets/fashion-mnist"


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
                f'[node]\nname = "{self.name}"\nsite = "demo"\n'
                f'state_dir = "{self.path("state")}"\n\n'
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
