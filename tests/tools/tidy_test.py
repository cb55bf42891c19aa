#!/usr/bin/env python3
"""Shows for every rule of tools/tidy.py that it can fail, and that what is right passes.

Each case is a tree of one file or two. A rule without a case here fails RulesHaveCases, so that no
rule can rot into one that never fires.
"""

import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import tidy  # noqa: E402  (the path comes first)
import tidy_rules  # noqa: E402
from cpp_text import functions, read_cpp  # noqa: E402

HEADER = "#pragma once\n\n// What it is.\n// Why it is.\n\n"
SOURCE = "// What it is.\n"


def body(lines):
    return "int f() {\n" + "    g();\n" * lines + "}\n"


# rule, a tree that must break it, a near one that must not
CASES = [
    ("room-include",
     {"core/mesh/a.hpp": HEADER + '#include "core/mixing/swap.hpp"\n'},
     {"core/mesh/a.hpp": HEADER + '#include "core/base/time.hpp"\n'}),
    ("room-include",
     {"core/base/a.hpp": HEADER + '#include "core/codec/codec.hpp"\n'},
     {"core/codec/a.hpp": HEADER + '#include "core/codec/codec.hpp"\n'}),
    ("room-include",
     {"proto/a.hpp": HEADER + '#include "core/mesh/directory.hpp"\n'},
     {"proto/a.hpp": HEADER + '#include "core/mesh/messages.hpp"\n'}),
    ("room-include",
     {"daemon/driver.hpp": HEADER + '#include "core/nn/model.hpp"\n'},
     {"daemon/trainer.hpp": HEADER + '#include "core/nn/model.hpp"\n'}),
    ("room-include",
     {"tools/p2pctl/a.hpp": HEADER + '#include "daemon/options.hpp"\n'},
     {"tools/p2pctl/a.hpp": HEADER + '#include "proto/json.hpp"\n'}),
    ("room-include",
     {"core/mesh/a.hpp": HEADER + '#include "time.hpp"\n'},
     {"core/mesh/a.hpp": HEADER + '// #include "time.hpp"\n'}),
    ("room-include",
     {"attic/a.hpp": HEADER + '#include "core/base/time.hpp"\n'},
     {"tools/sim/a.hpp": HEADER + '#include "core/mesh/views.hpp"\n'}),
    ("vendor-door",
     {"proto/cipher.hpp": HEADER + "#include <nobody/vendor.hpp>\n"},
     {"proto/cipher.hpp": HEADER + "#include <vector>\n"}),
    ("vendor-door",
     {"core/mesh/a.hpp": HEADER + "#include <sys/socket.h>\n"},
     {"core/data/file.hpp": HEADER + "#include <sys/mman.h>\n"}),
    ("vendor-door",
     {"proto/a.hpp": HEADER + "#include <immintrin.h>\n"},
     {"core/codec/a.hpp": HEADER + "#include <immintrin.h>\n"}),
    ("vendor-door",
     {"daemon/a.cpp": SOURCE + "#include <CLI/CLI.hpp>\n",
      "daemon/b.cpp": SOURCE + "#include <CLI/CLI.hpp>\n"},
     {"daemon/a.cpp": SOURCE + "#include <CLI/CLI.hpp>\n",
      "tools/p2pctl/b.cpp": SOURCE + "#include <CLI/CLI.hpp>\n"}),
    ("header-form",
     {"core/base/a.hpp": "// What it is.\n// Why.\n#pragma once\n"},
     {"core/base/a.hpp": HEADER}),
    ("header-form",
     {"core/base/a.hpp": "#pragma once\n\n// What it is.\n\nint a();\n"},
     {"tests/support/a.hpp": HEADER + "int a();\n"}),
    ("own-header-first",
     {"core/base/a.hpp": HEADER,
      "core/base/a.cpp": '#include <vector>\n\n#include "core/base/a.hpp"\n'},
     {"core/base/a.hpp": HEADER,
      "core/base/a.cpp": '#include "core/base/a.hpp"\n\n#include <vector>\n'}),
    ("opening-comment", {"daemon/main.cpp": "int main() {}\n"},
     {"daemon/main.cpp": SOURCE + "int main() {}\n"}),
    ("opening-comment", {"tools/a.py": "import os\n"}, {"tools/a.py": '"""What it is."""\n'}),
    ("opening-comment", {"tools/check": "#!/bin/bash\nset -e\n"},
     {"tools/check": "#!/bin/bash\n# What it is.\nset -e\n"}),
    ("line-length", {"core/base/a.hpp": HEADER + "//" + "x" * 99 + "\n"},
     {"core/base/a.hpp": HEADER + "//" + "x" * 98 + "\n"}),
    ("line-length", {"tools/a.sh": "# What.\n#" + "x" * 100 + "\n"},
     {"tools/a.sh": "# What.\n#" + "x" * 99 + "\n"}),
    ("file-length", {"tests/a_test.cpp": "// line\n" * 401}, {"tests/a_test.cpp": "// l\n" * 400}),
    ("function-length", {"daemon/a.cpp": SOURCE + body(61)}, {"daemon/a.cpp": SOURCE + body(59)}),
    ("function-length",
     {"daemon/a.cpp": SOURCE + "A::A(int a)\n    : a_{a} {\n" + "    g();\n" * 61 + "}\n"},
     {"daemon/a.cpp": SOURCE + "const int table[] = {\n" + "    1,\n" * 61 + "};\n"}),
    ("function-length",
     {"daemon/a.cpp": SOURCE + "struct A {\n" + body(61) + "};\n"},
     {"daemon/a.cpp": SOURCE + "struct A {\n" + "    int f() const;\n" * 61 + "};\n"}),
    ("function-length",
     {"tools/a.py": '"""What."""\n\n\ndef f():\n' + "    g()\n" * 61},
     {"tools/a.py": '"""What."""\n\n\ndef f():\n' + "    g()\n" * 59}),
    ("clock", {"core/mesh/a.hpp": HEADER + "auto t = Clock::now();\n"},
     {"core/mesh/a.hpp": HEADER + "// no now() here\nauto t = known();\n"}),
    ("clock", {"proto/a.hpp": HEADER + "auto t = now();\n"},
     {"daemon/a.hpp": HEADER + "auto t = Clock::now();\n"}),
    ("threads", {"core/node/a.hpp": HEADER + "std::mutex m;\n"},
     {"daemon/a.hpp": HEADER + "std::mutex m;\n"}),
    ("threads", {"core/nn/a.hpp": HEADER + "#include <thread>\n"},
     {"core/nn/a.hpp": HEADER + 'auto s = "std::thread";\n'}),
    ("sleep", {"tests/a_test.cpp": "std::this_thread::sleep_for(x);\n"},
     {"tests/a_test.cpp": "auto sleep_for = 1;\n"}),
    ("files", {"core/data/idx.hpp": HEADER + "std::ifstream file;\n"},
     {"core/data/file.hpp": HEADER + "std::ifstream file;\n"}),
    ("logs", {"core/job/a.hpp": HEADER + 'inline void f() { std::printf("x"); }\n'},
     {"core/job/a.hpp": HEADER + 'inline void f() { std::snprintf(b, 1, "x"); }\n'}),
    ("randomness", {"core/data/a.hpp": HEADER + "#include <random>\n"},
     {"core/data/a.hpp": HEADER + '#include "core/base/rng.hpp"\nint strand(int);\n'}),
    ("unordered", {"core/mesh/a.hpp": HEADER + "std::unordered_map<int, int> m;\n"},
     {"core/mesh/a.hpp": HEADER + "std::map<int, int> m;\n"}),
    ("pointer-key", {"core/mesh/a.hpp": HEADER + "std::map<Peer*, int> m;\n"},
     {"core/mesh/a.hpp": HEADER + "std::map<PeerId, Peer*> m;\n"}),
    ("exceptions", {"core/job/a.hpp": HEADER + "inline void f() { throw 1; }\n"},
     {"core/job/a.hpp": HEADER + "int rethrown();  // never throw\n"}),
    ("recipe-name", {"core/node/a.hpp": HEADER + 'auto r = "ad-psgd";\n'},
     {"core/node/a.hpp": HEADER + "// as in AD-PSGD (Lian 2018)\n"}),
    ("recipe-name", {"core/mixing/a.hpp": HEADER + "bool is_d_psgd = diloco;\n"},
     {"core/mixing/recipe.hpp": HEADER + "bool is_d_psgd;\n"}),
    ("banned-name", {"daemon/a.hpp": HEADER + "class LinkManager;\n"},
     {"daemon/a.hpp": HEADER + "double link_utilization();\n"}),
    ("banned-name", {"daemon/string_util.hpp": HEADER}, {"daemon/utilization.hpp": HEADER}),
    ("test-name", {"tests/a_test.cpp": "TEST(Ring, works) {}\n"},
     {"tests/a_test.cpp": "TEST(Ring, DropsTheOldest) {}\n"}),
    ("test-name", {"tests/a_test.cpp": "TEST_F(\n    ring_test, DropsTheOldest) {}\n"},
     {"tests/a_test.cpp": "TEST_F(\n    RingTest, DropsTheOldest) {}\n"}),
    ("spelling", {"core/mesh/a.hpp": HEADER + "int neighbor_count();\n"},
     {"core/mesh/a.hpp": HEADER + "int neighbour_count();\n"}),
    ("todo", {"daemon/a.hpp": HEADER + "// TODO(now): finish\n"},
     {"daemon/a.hpp": HEADER + "// TODO(soon): read it twice.\n"}),
    ("todo", {"daemon/a.hpp": HEADER + "// TODO: finish\n"},
     {"daemon/a.hpp": HEADER + "// TODO(perf): keep the buffer.\n"}),
]


def found_in(tree):
    """The findings that tidy.py has in `tree`, path to text."""
    with tempfile.TemporaryDirectory() as folder:
        for path, text in tree.items():
            file = Path(folder, path)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        findings, _ = tidy.check_tree(Path(folder))
        return findings


class Rules(unittest.TestCase):
    def test_each_rule_fails_on_what_it_forbids_and_on_nothing_near_it(self):
        for rule, bad, good in CASES:
            with self.subTest(rule=rule, bad=bad):
                self.assertIn(rule, {f.rule for f in found_in(bad)})
            with self.subTest(rule=rule, good=good):
                self.assertEqual([], found_in(good))

    def test_each_rule_has_a_case(self):
        source = (ROOT / "tools/tidy.py").read_text(encoding="utf-8")
        quoted = set(re.findall(r'"([a-z]+(?:-[a-z]+)+|spelling|todo)"', source))
        quoted -= {"utf-8", "ls-files", "exclude-standard"}
        known = quoted | {ban[0] for ban in tidy_rules.BANS}
        self.assertEqual(known, {rule for rule, _, _ in CASES})

    def test_each_vendor_is_refused_outside_its_door_and_let_in_through_it(self):
        samples = {
            "libsodium": "sodium.h", "OpenSSL": "openssl/evp.h", "msgpack": "msgpack.hpp",
            "toml++": "toml++/toml.h", "nlohmann-json": "nlohmann/json.hpp", "Asio": "asio.hpp",
            "libmicrohttpd": "microhttpd.h", "libcurl": "curl/curl.h", "CLI11": "CLI/CLI.hpp",
            "zlib": "zlib.h", "Eigen": "Eigen/Core", "SQLite": "sqlite3.h",
            "GoogleTest": "gmock/gmock.h", "RapidCheck": "rapidcheck.h",
            "Google Benchmark": "benchmark/benchmark.h",
        }
        self.assertEqual([name for name, _, _ in tidy_rules.VENDORS], list(samples))
        for name, _, doors in tidy_rules.VENDORS:
            line = f"#include <{samples[name]}>\n"
            door = doors[0].replace("*", "x")
            with self.subTest(vendor=name):
                outside = found_in({"core/mesh/a.hpp": HEADER + line})
                self.assertEqual(["vendor-door"], [f.rule for f in outside])
                self.assertEqual([], found_in({f"{door}.hpp": HEADER + line}))

    def test_a_finding_names_file_line_rule_and_mending(self):
        bad = {"core/mesh/a.hpp": HEADER + "\nint neighbor();\n"}
        (finding,) = found_in(bad)
        self.assertEqual(("core/mesh/a.hpp", 7, "spelling"), (finding.path, finding.line,
                                                              finding.rule))
        self.assertIn("write `neighbour`", finding.text)

    def test_the_real_tree_passes(self):
        findings, count = tidy.check_tree(ROOT)
        self.assertEqual([], findings)
        self.assertGreater(count, 20)


class CommandLine(unittest.TestCase):
    def run_tidy(self, folder, *options):
        command = [sys.executable, str(ROOT / "tools/tidy.py"), "--root", folder, *options]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    def test_exits_1_on_a_finding_and_0_on_none(self):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "core/base/a.hpp")
            file.parent.mkdir(parents=True)
            file.write_text("int a;\n", encoding="utf-8")
            result = self.run_tidy(folder)
            self.assertEqual(1, result.returncode)
            self.assertTrue(result.stdout.startswith("core/base/a.hpp:1: header-form: "))
            file.write_text(HEADER, encoding="utf-8")
            self.assertEqual(0, self.run_tidy(folder).returncode)

    def test_staged_reads_the_index_and_not_the_folder(self):
        with tempfile.TemporaryDirectory() as folder:
            git = ["git", "-C", folder, "-c", "init.defaultBranch=main"]
            subprocess.run([*git, "init", "-q"], check=True)
            staged, other = Path(folder, "a.sh"), Path(folder, "b.sh")
            staged.write_text("set -e\n", encoding="utf-8")
            subprocess.run([*git, "add", "a.sh"], check=True)
            staged.write_text("# Mended, but not staged.\n", encoding="utf-8")
            other.write_text("set -e\n", encoding="utf-8")
            result = self.run_tidy(folder, "--staged")
            self.assertEqual(1, result.returncode)
            self.assertEqual(["a.sh"], [x.split(":")[0] for x in result.stdout.splitlines()])


class Reading(unittest.TestCase):
    def test_strings_comments_and_digit_separators_do_not_confuse_it(self):
        raw = 'int a = 65\'535;  // "{"\nauto s = R"(}{ // )"; char c = \'{\';\n/* { */ int b;\n'
        text = read_cpp(raw)
        self.assertEqual(len(raw), len(text.code))
        self.assertNotIn("{", text.code)
        self.assertIn("65'535", text.code)
        self.assertIn("int b;", text.code)

    def test_operators_templates_and_braced_defaults_are_functions_of_their_length(self):
        raw = (
            "namespace a {\n"
            "template <class T>\nstruct S : B<T> {\n"
            "    bool operator==(const S& o) const {\n        return true;\n    }\n"
            "    void f(Config c = {}) noexcept {\n        g({1});\n    }\n"
            "    std::vector<int> values = {1, 2};\n"
            "};\n}\n"
        )
        spans = [(f.first_line, f.last_line) for f in functions(read_cpp(raw).code)]
        self.assertEqual([(4, 6), (7, 9)], spans)


if __name__ == "__main__":
    unittest.main()
