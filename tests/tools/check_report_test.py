#!/usr/bin/env python3
"""Shows that tools/check_report.py counts cases, names what was not run, and misses no failure."""

import contextlib
import io
import json
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))

import check_report  # noqa: E402  (the path comes first)

XML = """<testsuites><testsuite name="Ring">
<testcase classname="Ring" name="Keeps" status="run" result="completed"/>
<testcase classname="Ring" name="Waits" status="run" result="skipped">
<skipped message="no&#x0A;network"/></testcase>
<testcase classname="Ring" name="Off" status="notrun" result="suppressed"/>
{failure}</testsuite></testsuites>"""
FAILURE = '<testcase classname="Ring" name="Drops" status="run"><failure message="x"/></testcase>'


class Report(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.build = Path(folder.name)
        self.tests, self.entries = [], []

    def add(self, name, result, protocol="exitcode", xml=None, stdout=""):
        self.tests.append({"name": name, "protocol": protocol, "workdir": None,
                           "suite": ["p2ptrain:unit"],
                           "cmd": [str(self.build / "tests/daemon" / name)]})
        self.entries.append({"name": name, "result": result, "returncode": 1, "stdout": stdout})
        if xml:
            (self.build / f"{name}.xml").write_text(xml, encoding="utf-8")

    def report(self):
        """(exit status, printed lines)"""
        (self.build / "meson-info").mkdir()
        info, log = self.build / "meson-info/intro-tests.json", self.build / "log.json"
        info.write_text(json.dumps(self.tests), encoding="utf-8")
        log.write_text("\n".join(json.dumps(e) for e in self.entries), encoding="utf-8")
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            status = check_report.print_report(check_report.read_logs(self.build, [log]))
        return status, out.getvalue().splitlines()

    def test_counts_the_cases_of_a_program_and_names_those_not_run(self):
        self.add("ring", "OK", "gtest", XML.format(failure=""))
        status, lines = self.report()
        self.assertEqual(0, status)
        self.assertEqual("1 passed, 0 failed, 2 skipped", lines[-1])
        self.assertIn("NOT RUN  ring: Ring.Waits  (no network)", lines)
        self.assertIn("NOT RUN  ring: Ring.Off  (disabled)", lines)

    def test_finds_the_cases_though_meson_puts_the_suite_before_the_name(self):
        self.add("ring", "OK", "gtest", XML.format(failure=""))
        self.entries[0]["name"] = "p2ptrain:unit / ring"
        self.assertEqual("1 passed, 0 failed, 2 skipped", self.report()[1][-1])

    def test_a_failed_case_is_one_failure_and_not_two(self):
        self.add("ring", "FAIL", "gtest", XML.format(failure=FAILURE))
        status, lines = self.report()
        self.assertEqual(1, status)
        self.assertIn("FAILED  ring: Ring.Drops", lines)
        self.assertEqual("1 passed, 1 failed, 2 skipped", lines[-1])

    def test_a_program_that_dies_fails_though_no_case_says_so(self):
        self.add("crash", "FAIL", "gtest")
        self.add("late", "TIMEOUT")
        self.add("sanitized", "ERROR", "gtest", XML.format(failure=""))
        status, lines = self.report()
        self.assertEqual(1, status)
        self.assertEqual("1 passed, 3 failed, 2 skipped", lines[-1])

    def test_exit_77_is_not_run_and_says_why(self):
        self.add("good", "OK")
        self.add("docker", "SKIP", stdout="setting up\nneeds root\n")
        status, lines = self.report()
        self.assertEqual(0, status)
        self.assertEqual(["NOT RUN  docker  (needs root)", "1 passed, 0 failed, 1 skipped"], lines)

    def test_a_run_in_which_nothing_ran_is_a_failure(self):
        self.add("docker", "SKIP")
        status, _ = self.report()
        self.assertEqual(1, status)

    def test_says_nothing_of_skips_when_there_are_none(self):
        self.add("good", "OK")
        self.assertEqual((0, ["1 passed, 0 failed"]), self.report())


if __name__ == "__main__":
    unittest.main()
