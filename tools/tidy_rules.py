"""The tables of tools/tidy.py: who may include whom, which calls are banned where, which words.

This is the dependency table of ARCHITECTURE.md as data. To allow something, change a row here and
say why in the commit. A pattern is a path from the root without its extension; `*` matches
anything, and a pattern also matches all that lies below it. How the rows are read is in tidy.py.
"""

COLUMNS_MAX = 100
FUNCTION_LINES_MAX = 60
FILE_LINES_MAX = 400
HEADER_COMMENT_LINES_MIN = 2

# Ours. The first row whose pattern matches a file says what it may include.
ANYTHING = ["core", "proto", "daemon", "tools", "tests"]
MAY_INCLUDE = [
    ("core/base", ["core/base"]),
    ("core/mesh", ["core/base", "core/mesh"]),
    ("core/mixing", ["core/base", "core/mixing"]),
    ("core/job", ["core/base", "core/job"]),
    ("core/codec", ["core/base", "core/codec"]),
    ("core/nn", ["core/base", "core/nn"]),
    ("core/data", ["core/base", "core/data"]),
    ("core/train", ["core/base", "core/job/spec", "core/nn", "core/data", "core/train"]),
    ("core/node", ["core"]),
    ("proto", ["core/base", "core/node/message", "core/*/messages", "core/job/spec", "proto"]),
    ("daemon/trainer*", ["core/node", "core/base", "core/nn", "core/data", "core/train",
                         "core/codec", "proto", "daemon"]),
    ("daemon/workers*", ["core/node", "core/base", "core/nn", "core/data", "core/codec", "proto",
                         "daemon"]),
    ("daemon", ["core/node", "core/base", "proto", "daemon"]),
    ("tools/p2pctl", ["core/base", "proto/control", "proto/json", "proto/json_fwd", "proto/keys",
                      "proto/invite", "tools/p2pctl"]),
    ("tools/sim", ["core", "proto", "tools/sim"]),
    ("tools/bench", ANYTHING),
    ("tests", ANYTHING),
]

# Vendors: one door to each. (name, what its headers look like, who may include them)
ANY_TEST = ["tests", "tools/bench"]
VENDORS = [
    ("libsodium", r"sodium([./].*)?", ["proto/sodium", *ANY_TEST]),
    ("OpenSSL", r"openssl/.*", ["proto/evp", *ANY_TEST]),
    ("msgpack", r"msgpack([./].*)?", ["proto/msgpack", *ANY_TEST]),
    ("toml++", r"(toml\+\+|tomlplusplus)/.*|toml\.hpp", ["proto/toml", *ANY_TEST]),
    ("nlohmann-json", r"nlohmann/.*", ["proto/json", "proto/json_fwd", *ANY_TEST]),
    ("Asio", r"asio([./].*)?", ["daemon/asio", "daemon/asio_impl", *ANY_TEST]),
    ("libmicrohttpd", r"microhttpd\.h", ["daemon/control_server", *ANY_TEST]),
    ("libcurl", r"curl/.*", ["tools/p2pctl", *ANY_TEST]),
    ("CLI11", r"CLI/.*|CLI11\.hpp", ["daemon", "tools/p2pctl", "tools/sim", *ANY_TEST]),
    ("zlib", r"zlib\.h|zconf\.h", ["core/data/gzip", *ANY_TEST]),
    ("Eigen", r"(unsupported/)?Eigen/.*", ["core/nn/*kernel*", "core/codec/*kernel*", *ANY_TEST]),
    ("SQLite", r"sqlite3\.h", ["daemon/store", *ANY_TEST]),
    ("GoogleTest", r"g(test|mock)/.*", ["tests"]),
    ("RapidCheck", r"rapidcheck([./].*)?", ["tests"]),
    ("Google Benchmark", r"benchmark/.*", ["tools/bench"]),
]
ONE_FILE_A_PROGRAM = ("CLI11", ["daemon", "tools/p2pctl", "tools/sim"])

# C and POSIX headers: the floors that decide and compute ask nothing of the system.
SYSTEM_HEADER_USERS = ["daemon", "tools", "tests", "core/data/file"]
PROCESSOR_HEADERS = r"immintrin\.h|cpuid\.h|arm_neon\.h|sys/auxv\.h"
PROCESSOR_HEADER_USERS = ["core/base", "core/codec", "core/nn"]

# Calls. (rule, who must not, except, what it looks like in code, how to mend)
CORE, CORE_AND_PROTO = ["core"], ["core", "proto"]
BANS = [
    ("clock", [*CORE_AND_PROTO, "tools/sim"], [], r"\bnow\s*\(", "take the time as an argument"),
    ("threads", [*CORE_AND_PROTO, "tools/sim"], [],
     r"\bstd::(j?thread|async|future|promise|(recursive_|shared_|timed_)*mutex|lock_guard"
     r"|unique_lock|scoped_lock|condition_variable\w*)\b|\bthread_local\b"
     r"|#\s*include\s*<(thread|mutex|shared_mutex|condition_variable|future)>",
     "only daemon has threads and locks"),
    ("sleep", [*CORE_AND_PROTO, "tools/sim", "tests"], ["tests/e2e", "tests/mesh"],
     r"\b(sleep_for|sleep_until|u?sleep|nanosleep)\s*\(", "wait for an event, or tell the time"),
    ("files", CORE_AND_PROTO, ["core/data/file"],
     r"\b(f(re)?open|[io]?fstream|mmap|filesystem)\b|#\s*include\s*<(fstream|filesystem)>",
     "take bytes; core/data/file alone opens files"),
    ("logs", CORE_AND_PROTO, ["core/base/check"],
     r"\bstd::(cout|cerr|clog)\b|\b(v?f?printf|f?puts|perror|syslog)\s*\("
     r"|#\s*include\s*<iostream>", "return a Notice or an error; the daemon makes the log line"),
    ("randomness", [*CORE_AND_PROTO, "tools/sim"], [],
     r"#\s*include\s*<random>|\brandom_device\b|\bs?rand\s*\(|\bmt19937(_64)?\b"
     r"|\bstd::\w+_distribution\b", "draw from a core/base/rng that you are given"),
    ("unordered", CORE, [],
     r"\bunordered_(multi)?(map|set)\b|#\s*include\s*<unordered_(map|set)>",
     "use an ordered container, so that a seed replays"),
    ("pointer-key", CORE, [], r"\bstd::(map|set)<\s*(const\s+)?[\w:]+\s*\*",
     "key by PeerId or an index, so that a seed replays"),
    ("exceptions", CORE, [], r"\b(throw|try|catch)\b", "return a Result or a Status"),
]

# A recipe is one row of one file; its name elsewhere in core is a rule that leaked.
RECIPE_HOME = ["core/mixing/recipe", "core/mixing/recipe_table"]
RECIPES = [
    "d-psgd", "ad-psgd", "h-ad-psgd", "allreduce", "old-sgd", "cocod-sgd", "da-sgd", "hp-sgd",
    "od-sgd", "ssd-sgd", "dream-ddp", "palsgd", "dc-s3gd", "dc-asgd", "layup", "biased-local",
    "adaptive-period", "prague", "self-adjusting", "consensus-control", "dssp", "asgd", "diloco",
    "gasloc", "sparse-loco", "moniqua", "moshpit",
]

# Words. The right-hand side is what is written here.
NAMES_BANNED = r"\b\w*(Managers?|Helpers?|Utils?|Utilit(y|ies))(?![a-z])\w*"
FILE_NAMES_BANNED = r"(^|[_/])(manager|helper|util|utilitie)s?([_./]|$)"
SPELLING = {
    "neighbor": "neighbour",
    "behavior": "behaviour",
    "favor": "favour",
    "honor": "honour",
    "cancelation": "cancellation",
    "initialise": "initialize",
    "normalise": "normalize",
    "optimise": "optimize",
    "quantise": "quantize",
    "serialise": "serialize",
    "synchronise": "synchronize",
}
TODO_BAD = r"\b(TODO|FIXME|XXX)\b(?!\((soon|someday|perf)\): \S)"

# (file, rule, why): each a debt or a file that must name what it forbids.
EXCEPTIONS = [
    ("core/job/spec", "recipe-name", "the default recipe of a job is a name"),
    ("tools/tidy_rules", "spelling", "names the words"),
    ("tools/tidy_rules", "todo", "names the words"),
    ("tests/tools/tidy_test", "spelling", "shows that the rule can fail"),
    ("tests/tools/tidy_test", "todo", "shows that the rule can fail"),
]
