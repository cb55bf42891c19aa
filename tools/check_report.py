#!/usr/bin/env python3
"""Counts what `meson test` ran, case by case, and names what failed and what was not run.

    tools/check_report.py BUILD --suites              the suites that BUILD registers
    tools/check_report.py BUILD --tests-in FOLDER...  the tests whose program was built below FOLDER
    tools/check_report.py BUILD --logs LOG...         the report; its last line is the sum

A GoogleTest program counts as its cases, anything else as one. Meson alone would call a program
with skipped cases "OK", so the cases are read from the XML that each program leaves. The report
exits 1 when anything failed or nothing ran.
"""

import argparse
import json
import sys
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass
from pathlib import Path

BAD = {"FAIL", "TIMEOUT", "ERROR", "INTERRUPT", "UNEXPECTEDPASS"}


@dataclass
class Case:
    """One case and how it ended: passed, failed or skipped."""

    name: str
    outcome: str
    why: str = ""


def registered_tests(build):
    """What Meson knows of each test, by name."""
    tests = json.loads((build / "meson-info/intro-tests.json").read_text(encoding="utf-8"))
    return {test["name"]: test for test in tests}


def suites_of(test):
    return [suite.split(":", 1)[-1] for suite in test["suite"]]


def xml_of(build, test):
    """Where a GoogleTest program leaves its cases (Meson passes --gtest_output)."""
    return Path(test["workdir"] or build) / f"{test['name']}.xml"


def gtest_cases(path):
    """The cases in one GoogleTest XML file; none when it isn't there or was cut short."""
    try:
        root = ElementTree.parse(path).getroot()
    except (OSError, ElementTree.ParseError):
        return []
    cases = []
    for case in root.iter("testcase"):
        name = f"{case.get('classname')}.{case.get('name')}"
        skipped = case.find("skipped")
        if case.find("failure") is not None:
            cases.append(Case(name, "failed"))
        elif case.get("status") == "notrun":
            cases.append(Case(name, "skipped", "disabled"))
        elif skipped is not None:
            why = " ".join((skipped.get("message") or skipped.text or "").split())
            cases.append(Case(name, "skipped", why))
        else:
            cases.append(Case(name, "passed"))
    return cases


def last_line(text):
    lines = [line.strip() for line in (text or "").splitlines() if line.strip()]
    return lines[-1] if lines else ""


def cases_of(entry, test, build):
    """The cases of one entry of Meson's log."""
    name, result = entry["name"], entry["result"]
    cases = gtest_cases(xml_of(build, test)) if test and test["protocol"] == "gtest" else []
    for case in cases:
        case.name = f"{name}: {case.name}"
    if result in BAD and not any(case.outcome == "failed" for case in cases):
        cases.append(Case(name, "failed", f"{result.lower()}, exit {entry.get('returncode')}"))
    elif result == "SKIP":
        why = last_line(entry.get("stdout")) or last_line(entry.get("stderr")) or "exit 77"
        cases = [Case(name, "skipped", why)]
    elif not cases:
        cases.append(Case(name, "passed"))
    return cases


def read_logs(build, logs):
    """All cases of Meson's JSON logs; the last entry of a name counts."""
    tests, entries = registered_tests(build), {}
    for log in logs:
        for line in Path(log).read_text(encoding="utf-8").splitlines():
            entry = json.loads(line)
            entry["name"] = entry["name"].rsplit(" / ", 1)[-1]  # "p2ptrain:unit / base"
            entries[entry["name"]] = entry
    return [case for name, entry in entries.items()
            for case in cases_of(entry, tests.get(name), build)]


def print_report(cases):
    """Names what failed and what was not run; the last line is the sum."""
    by_outcome = {kind: [c for c in cases if c.outcome == kind] for kind in
                  ("passed", "failed", "skipped")}
    for title, kind in (("NOT RUN", "skipped"), ("FAILED", "failed")):
        for case in by_outcome[kind]:
            print(f"{title}  {case.name}" + (f"  ({case.why})" if case.why else ""))
    skipped = len(by_outcome["skipped"])
    line = f"{len(by_outcome['passed'])} passed, {len(by_outcome['failed'])} failed"
    print(line + (f", {skipped} skipped" if skipped else ""))
    return 1 if by_outcome["failed"] or not by_outcome["passed"] else 0


def main():
    parser = argparse.ArgumentParser(description="what meson test ran, case by case")
    parser.add_argument("build", type=Path)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--suites", action="store_true")
    what.add_argument("--tests-in", nargs="+", metavar="FOLDER")
    what.add_argument("--logs", nargs="*", metavar="LOG")
    arguments = parser.parse_args()
    build = arguments.build.resolve()
    if arguments.suites:
        tests = registered_tests(build).values()
        print("\n".join(sorted({suite for test in tests for suite in suites_of(test)})))
        return 0
    if arguments.tests_in:
        folders = tuple(str(build / folder) + "/" for folder in arguments.tests_in)
        for name, test in registered_tests(build).items():
            if any(part.startswith(folders) for part in test["cmd"]):
                print(name)
        return 0
    return print_report(read_logs(build, arguments.logs))


if __name__ == "__main__":
    sys.exit(main())
