#!/usr/bin/python3
"""Claims of papers put to the test in their small form: p2psim claims --small.

    claims_test.py P2PSIM FOLDER [NAME...]     (without names: all that have a small form)

A claim that does not hold is no failure. What is asserted: it runs, its control (no mixing) fails
the same measure, and it came out as its file expects. One case a claim, so that each is named.
"""

import json
import os
import subprocess
import sys
import unittest

DATA = "/usr/share/datasets/fashion-mnist"


def claims(p2psim, *arguments):
    return subprocess.run([p2psim, "claims", "-o", "json", *arguments],
                          capture_output=True, text=True, check=False)


def cases(rows):
    """A TestCase with a method for each row of the document."""
    def case(row):
        def test(self):
            said = f"{row['claim']}: {row['sentence']}\n{json.dumps(row, indent=1)}"
            self.assertEqual("", row["trouble"], said)
            self.assertTrue(row["control_fails"], "no measure: no mixing passes it\n" + said)
            self.assertEqual(row["expected"], row["holds"], said)
        return test
    methods = {"test_" + row["claim"].replace("-", "_"): case(row) for row in rows}
    return type("Claims", (unittest.TestCase,), methods)


class Command(unittest.TestCase):
    """What the command says of what it cannot do; no claim is run."""

    p2psim = folder = ""

    def refused(self, *arguments):
        done = claims(self.p2psim, *arguments)
        self.assertEqual(2, done.returncode, done.stderr)
        self.assertEqual("", done.stdout)
        self.assertIn("next:", done.stderr)
        return done.stderr

    def test_a_claim_that_is_not_there_is_told_with_those_that_are(self):
        self.assertIn("ad-psgd", self.refused("no-such-claim", "--folder", self.folder))

    def test_a_folder_without_claims_is_told_with_its_name(self):
        self.assertIn("/nowhere", self.refused("--folder", "/nowhere"))


def main():
    if not os.path.isdir(DATA):
        print(f"{DATA} is not there (apt-get install dataset-fashion-mnist)")
        return 77
    p2psim, folder, *names = sys.argv[1:]
    Command.p2psim, Command.folder = p2psim, folder
    done = claims(p2psim, "--folder", folder, "--small", "--jobs", str(os.cpu_count() or 1), *names)
    if not done.stdout:
        print(done.stderr, file=sys.stderr)
        return 1
    document = json.loads(done.stdout)
    if document["schema"] != "p2psim.claims/1":
        print("another schema: " + document["schema"], file=sys.stderr)
        return 1
    for row in document["claims"]:
        print(f"{row['claim']}: {row['value']} in {row['interval']}, bound {row['bound']}, "
              f"{row['seconds']:.0f} s")
    suite = unittest.TestSuite()
    for which in (Command, cases(document["claims"])):
        suite.addTests(unittest.defaultTestLoader.loadTestsFromTestCase(which))
    expected = names or [None]
    enough = len(document["claims"]) >= len(expected)
    return 0 if unittest.TextTestRunner().run(suite).wasSuccessful() and enough else 1


if __name__ == "__main__":
    sys.exit(main())
