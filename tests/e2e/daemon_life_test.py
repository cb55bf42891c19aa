#!/usr/bin/python3
"""A p2pd as its supervisor sees it: exit codes, signals, and what it tells systemd.

Called by meson with the path of p2pd; tests/e2e/mesh_test.py has the other bad starts. Each test
has a folder of its own; ports are the kernel's choice. Nothing waits by sleeping: datagrams and
ends of processes are waited for, with a deadline.
"""

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import unittest

P2PD = ""
DEADLINE = 30


class DaemonLife(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="p2pd-life-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.notify = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.addCleanup(self.notify.close)
        self.notify.bind(self.path("notify"))
        self.notify.settimeout(DEADLINE)
        self.listen = "127.0.0.1:0"
        self.more = ""
        self.write_config()

    def path(self, name):
        return os.path.join(self.folder, name)

    def write_config(self):
        with open(self.path("p2pd.toml"), "w", encoding="ascii") as file:
            file.write(
                f'[node]\nstate_dir = "{self.path("state")}"\n'
                f'[identity]\nkey_file = "{self.path("identity.key")}"\n'
                f'[network]\nlisten = ["{self.listen}"]\n'
                f'[trust]\npeers_file = "{self.path("peers.toml")}"\n'
                f'[control]\nsocket = "{self.path("control.sock")}"\n'
                f'status_socket = "{self.path("status.sock")}"\n'
                f'tensor_socket = "{self.path("tensor.sock")}"\nsocket_group = ""\n'
                '[log]\nformat = "text"\n' + self.more)

    def start(self, *flags):
        environment = dict(os.environ, NOTIFY_SOCKET=self.path("notify"))
        process = subprocess.Popen(
            [P2PD, "--config", self.path("p2pd.toml"), *flags],
            env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(self.kill, process)
        return process

    @staticmethod
    def kill(process):
        if process.poll() is None:
            process.kill()
        process.communicate()

    def end(self, process):
        """Exit code, standard output and standard error of one that ends."""
        out, err = process.communicate(timeout=DEADLINE)
        return process.returncode, out, err

    def told(self, wanted):
        """Reads what systemd is told until `wanted` comes."""
        heard = []
        while True:
            message = self.notify.recv(4096).decode()
            heard.append(message)
            if message.startswith(wanted):
                return heard

    def ready(self, *flags):
        process = self.start(*flags)
        self.told("READY=1")
        return process

    def test_is_ready_without_peers_and_stops_with_zero(self):
        process = self.ready()
        process.send_signal(signal.SIGTERM)
        self.told("STOPPING=1")
        code, _, err = self.end(process)
        self.assertEqual(0, code, err)
        self.assertIn("event=stopped", err)

    def test_an_interrupt_stops_it_too(self):
        process = self.ready()
        process.send_signal(signal.SIGINT)
        self.assertEqual(0, self.end(process)[0])

    def test_tells_its_status(self):
        self.ready()
        self.assertEqual("STATUS=0/0 peers", self.told("STATUS=")[-1])

    def test_asked_twice_it_stops_at_once_with_zero(self):
        process = self.ready()
        process.send_signal(signal.SIGTERM)
        self.told("STOPPING=1")
        process.send_signal(signal.SIGTERM)
        self.assertEqual(0, self.end(process)[0])

    def test_a_reload_is_announced_and_goes_on(self):
        process = self.ready()
        process.send_signal(signal.SIGHUP)
        self.assertRegex(self.told("RELOADING=1")[-1], r"^RELOADING=1\nMONOTONIC_USEC=\d+$")
        self.told("READY=1")
        process.send_signal(signal.SIGTERM)
        code, _, err = self.end(process)
        self.assertEqual(0, code)
        self.assertIn("event=reloaded", err)

    def test_a_reload_that_cannot_be_changes_nothing(self):
        process = self.ready()
        with open(self.path("peers.toml"), "w", encoding="ascii") as file:
            file.write("[[peer]]\nid = 3\n")
        process.send_signal(signal.SIGHUP)
        self.told("RELOADING=1")
        self.told("READY=1")
        process.send_signal(signal.SIGTERM)
        code, _, err = self.end(process)
        self.assertEqual(0, code)
        self.assertIn("event=reload_failed", err)
        self.assertNotIn("event=reloaded", err)

    def test_asked_for_a_state_report_it_goes_on(self):
        process = self.ready()
        process.send_signal(signal.SIGQUIT)
        process.send_signal(signal.SIGHUP)
        self.told("RELOADING=1")
        process.send_signal(signal.SIGTERM)
        self.assertEqual(0, self.end(process)[0])

    def test_unknown_flags_are_64(self):
        self.assertEqual(64, self.end(self.start("--no-such-flag"))[0])

    def test_a_broken_allow_list_is_78(self):
        with open(self.path("peers.toml"), "w", encoding="ascii") as file:
            file.write("[[peer]\n")
        self.assertEqual(78, self.end(self.start())[0])

    def test_a_held_state_is_75_and_names_the_holder(self):
        first = self.ready()
        code, _, err = self.end(self.start())
        self.assertEqual(75, code, err)
        self.assertIn(str(first.pid), err)

    def test_a_held_port_is_69_and_names_the_holder(self):
        with socket.socket() as holder:
            holder.bind(("127.0.0.1", 0))
            holder.listen()
            self.listen = f"127.0.0.1:{holder.getsockname()[1]}"
            self.write_config()
            code, _, err = self.end(self.start())
        self.assertEqual(69, code, err)
        self.assertIn(f"pid {os.getpid()}", err)

    def test_a_broken_invariant_is_70(self):
        process = self.ready()
        process.send_signal(signal.SIGABRT)  # what P2P_CHECK raises
        self.assertEqual(70, self.end(process)[0])

    def test_print_id_makes_a_key_once_and_opens_nothing(self):
        code, first, _ = self.end(self.start("--print-id"))
        self.assertEqual(0, code)
        self.assertRegex(first, r"^[a-z2-7]{52}\n$")
        self.assertEqual(first, self.end(self.start("--print-id"))[1])
        self.assertFalse(os.path.exists(self.path("state")))

    def test_check_says_whether_a_start_would_work(self):
        self.assertEqual(0, self.end(self.start("--check"))[0])
        self.assertFalse(os.path.exists(self.path("state")))
        self.more = "[shutdown]\ndrain_timeout = 3\n"
        self.write_config()
        self.assertEqual(78, self.end(self.start("--check"))[0])

    def test_the_printed_configuration_can_be_read(self):
        code, text, _ = self.end(self.start("--print-config"))
        self.assertEqual(0, code)
        with open(self.path("p2pd.toml"), "w", encoding="ascii") as file:
            file.write(text)
        self.assertEqual(0, self.end(self.start("--check"))[0])

    def test_sockets_of_a_killed_daemon_are_taken_over(self):
        process = self.ready()
        process.kill()
        process.wait(DEADLINE)
        self.assertTrue(os.path.exists(self.path("control.sock")))
        again = self.ready()
        again.send_signal(signal.SIGTERM)
        self.assertEqual(0, self.end(again)[0])

    def test_each_start_raises_the_incarnation(self):
        numbers = []
        for _ in range(2):
            process = self.ready()
            process.send_signal(signal.SIGTERM)
            self.assertEqual(0, self.end(process)[0])
            with open(self.path("state/incarnation"), encoding="ascii") as file:
                numbers.append(int(re.search(r"\d+", file.read()).group()))
        self.assertEqual(numbers[0] + 1, numbers[1])


if __name__ == "__main__":
    P2PD = os.path.abspath(sys.argv.pop(1))
    unittest.main()
