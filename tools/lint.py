"""The rules of the house, checked: ./dev lint. `--format` formats the sources instead.

Each rule is a function from a file to its problems, so that lint_test.py can show it firing. A
problem is (line, sentence). What a rule means and why is said in its docstring.
"""

import concurrent.futures
import hashlib
import os
import pathlib
import re
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
CXX_FOLDERS = ("src/", "sim/", "tests/", "bench/", "fuzz/")

# From the ground up: a folder may use only itself and what stands before it.
HOUSE = ("base", "runtime", "job", "routing", "policy", "output", "store", "bus", "gate",
         "scheduler", "workflow", "edge", "worker", "cli", "app")
PURE = ("job", "routing", "policy", "output")
# Contracts whose implementations are folders of their own, known only to app/ and to tests.
CONTRACTS = ("store", "bus")
ASIO_FOLDERS = ("runtime", "edge", "bus", "worker", "cli")
# The client of a server that keeps what a store is asked to keep.
ASIO_INSIDE = ("src/store/redis/client/",)

CLOCK = "take the time from the Clock of the loop (runtime/clock.h)"
SLEEP = "nothing sleeps: co_await loop.delay(…), and let tests move simulated time"
THREAD = "threads are made in src/runtime only (runtime/thread.h); post work to a Loop"
RANDOM = "draw from the seeded Random (runtime/random.h), so that a run can be replayed"
ENGINE = RANDOM + "; a test may seed its own"
BANNED = (
    (r"\bsystem_clock\b", CLOCK),
    (r"\bsteady_clock\s*::\s*now\b", CLOCK),
    (r"\bhigh_resolution_clock\b", CLOCK),
    (r"\bgettimeofday\b", CLOCK),
    (r"\bclock_gettime\b", CLOCK),
    (r"\btime\s*\(\s*(?:nullptr|NULL|0)\s*\)", CLOCK),
    (r"(?<![\w.>])u?sleep\s*\(", SLEEP),
    (r"\bnanosleep\b", SLEEP),
    (r"\bsleep_(?:for|until)\b", SLEEP),
    (r"\bstd\s*::\s*j?thread\b", THREAD),
    (r"\bstd\s*::\s*async\b", THREAD),
    (r"\bpthread_create\b", THREAD),
    (r"\bs?rand\s*\(", RANDOM),
    (r"\brandom_device\b", RANDOM),
    (r"\bmt19937(?:_64)?\b", ENGINE),
    (r"\bdefault_random_engine\b", ENGINE),
)

# Written so that this file does not mention what it forbids.
OUTSIDE = (
    (r"\.\./" + "shared", "names a file outside the repository"),
    (r"(?i)\bissue" + r"\s*#?\s*\d+\b", "names a ticket: say the reason itself"),
    (r"(?<![\w.])/" + r"(?:work|opt|home|root)/", "names a path of one machine"),
    (r"(?i)\bdesign" + r",\s+section\b", "points to a text outside the repository"),
)

COMMENT_OR_STRING = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(?P<end>[^(\s]*)\(.*?\)(?P=end)"|"(?:\\.|[^"\\\n])*"'
    r"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'", re.S)
INCLUDE = re.compile(r'^\s*#\s*include\s+(?:"([^"]+)"|<([^>]+)>)', re.M)


def code_only(text):
    """The text with comments and strings blanked, lines kept where they are."""
    return COMMENT_OR_STRING.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), text)


def line_at(text, position):
    return text.count("\n", 0, position) + 1


def is_test(path):
    # The suites that every store and every bus pass are tests in headers.
    suite = path == "src/store/contract_suite.h" or path.startswith(
        ("src/store/contract/", "src/bus/contract/"))
    return path.startswith("tests/") or path.endswith(("_test.cc", "_fixture.h")) or suite


def includes(text):
    """(line, path, in angle brackets) of every include."""
    for match in INCLUDE.finditer(text):
        yield (line_at(text, match.start(1) if match[1] else match.start(2)),
               match[1] or match[2], match[1] is None)


def check_banned_calls(path, text):
    """Time, threads and chance come from src/runtime, or the simulator could not replay a run.
    Tests may make threads and seed an engine of their own; tests/ and bench/ may also read clocks.
    None sleep."""
    if path.startswith("src/runtime/") or not path.startswith(CXX_FOLDERS):
        return
    code = code_only(text)
    for pattern, advice in BANNED:
        if path.startswith(("tests/", "bench/")) and advice is not SLEEP:
            continue
        if is_test(path) and advice in (THREAD, ENGINE):
            continue
        for match in re.finditer(pattern, code):
            yield line_at(code, match.start()), f"{match.group().strip()}: {advice}"


def check_include_direction(path, text):
    """A folder of src/ uses only itself and the folders before it in HOUSE."""
    folder = folder_of(path)
    if folder is None:
        return
    if folder not in HOUSE:
        yield 1, f"src/{folder} has no place in the order of the house (HOUSE in tools/lint.py)"
        return
    for line, included, angled in includes(text):
        used = included.split("/")[0]
        if angled or used not in HOUSE:
            continue
        if HOUSE.index(used) > HOUSE.index(folder):
            yield line, f"{folder} must not use {used}, which stands above it"
        elif used == "runtime" and folder in PURE and not is_test(path):
            yield line, f"{folder} is pure: it must not use runtime"


def check_implementations_stay_hidden(path, text):
    """Of store and bus, code sees the contract: only app/, tests and an implementation itself
    include the headers of an implementation."""
    folder = folder_of(path)
    if folder is None or folder == "app" or is_test(path):
        return
    for line, included, angled in includes(text):
        parts = included.split("/")
        if angled or parts[0] not in CONTRACTS or len(parts) < 3:
            continue
        if not path.startswith(f"src/{parts[0]}/{parts[1]}/"):
            yield line, f"{included} is inside an implementation: use the contract in {parts[0]}/"


def check_asio(path, text):
    """Asio stays behind the loop, the edges and the bus, and in clients."""
    folder = folder_of(path)
    if folder is None or folder in ASIO_FOLDERS or path.startswith(ASIO_INSIDE):
        return
    for line, included, _ in includes(text):
        if re.match(r"(?:boost/)?asio(?:/|\.hpp)", included):
            yield line, f"asio belongs in {', '.join(f'src/{f}' for f in ASIO_FOLDERS)}"


def check_mentions(path, text):
    """A clone must make sense by itself."""
    for pattern, what in OUTSIDE:
        for match in re.finditer(pattern, text):
            yield line_at(text, match.start()), f"'{match.group().strip()}' {what}"


# What the precompiled headers bring into every source: the build cannot tell whether a header asked
# for it. Names, and the headers that bring them.
BROUGHT = (
    (r"\bstd::string\b|\bstd::to_string\b", ("string", "sstream", "fstream", "filesystem")),
    (r"\bstd::string_view\b", ("string_view", "string")),
    (r"\bstd::vector\b", ("vector",)),
    (r"\bstd::array\b", ("array",)),
    (r"\bstd::deque\b", ("deque",)),
    (r"\bstd::list\b", ("list",)),
    (r"\bstd::(?:multi)?map\b", ("map",)),
    (r"\bstd::(?:multi)?set\b", ("set",)),
    (r"\bstd::unordered_(?:multi)?map\b", ("unordered_map",)),
    (r"\bstd::(?:optional|nullopt)\b", ("optional",)),
    (r"\bstd::(?:variant|monostate|visit|get_if|holds_alternative)\b", ("variant",)),
    (r"\bstd::(?:expected|unexpected)\b", ("expected",)),
    (r"\bstd::(?:unique_ptr|shared_ptr|weak_ptr|make_unique|make_shared|enable_shared_from_this)\b",
     ("memory",)),
    (r"\bstd::(?:function|hash|less|greater)\b", ("functional", "string", "memory")),
    (r"\bstd::(?:pair|exchange|move|swap|forward|make_pair)\b", ("utility",)),
    (r"\bu?int(?:8|16|32|64)_t\b", ("cstdint",)),
    (r"\bstd::span\b", ("span",)),
    (r"\bstd::chrono\b", ("chrono",)),
    (r"\bstd::coroutine_handle\b", ("coroutine",)),
    (r"\bstd::filesystem\b", ("filesystem",)),
    (r"\bstd::[io]fstream\b", ("fstream",)),
    (r"\bstd::[io]?stringstream\b", ("sstream",)),
    (r"\bstd::ranges::\w+\(", ("algorithm", "ranges")),
    (r"\bboost::asio\b", ("boost/asio",)),
    (r"\bboost::json\b", ("boost/json",)),
    (r"\bboost::container::small_vector\b", ("boost/container/small_vector.hpp",)),
    (r"\bboost::unordered_flat_map\b", ("boost/unordered/unordered_flat_map.hpp",)),
    (r"\bboost::unordered_flat_set\b", ("boost/unordered/unordered_flat_set.hpp",)),
    (r"\bfmt::", ("fmt/",)),
    (r"\btesting::|\b(?:EXPECT|ASSERT)_[A-Z]+\(", ("gtest/", "gmock/")),
    (r"\bgoogle::protobuf\b", ("google/protobuf", "cordum/")),
    (r"\bcordum::agent::v1\b|\bcap::", ("cordum/agent/v1/",)),
)


class OwnIncludes:
    """A header asks, itself or through headers of the house, for what its code names."""

    def __init__(self, texts):
        self.texts = texts  # by path
        self.known = {}

    def asked_for(self, path):
        """Everything that is included from here on, as it is written."""
        if path not in self.known:
            self.known[path] = set()  # a circle ends here
            asked = set()
            for _, included, angled in includes(self.texts[path]):
                asked.add(included)
                for place in () if angled else (f"src/{included}", included):
                    if place in self.texts:
                        asked |= self.asked_for(place)
            self.known[path] = asked
        return self.known[path]

    def problems(self, path):
        asked, code = self.asked_for(path), code_only(self.texts[path])
        for names, headers in BROUGHT:
            match = re.search(names, code)
            # A path is the beginning of a family of headers.
            if match and not any(one == header or ("/" in header and one.startswith(header))
                                 for one in asked for header in headers):
                yield (f"{path}:{line_at(code, match.start())}: {match.group()} needs "
                       f"#include of {headers[0]}: only the precompiled headers bring it")


TEXT_RULES = (check_banned_calls, check_include_direction, check_implementations_stay_hidden,
              check_asio, check_mentions)


def folder_of(path):
    """`store` of src/store/rocksdb/x.cc; None outside src/."""
    parts = path.split("/")
    return parts[1] if parts[0] == "src" and len(parts) > 2 else None


def check_text(path, text):
    problems = []
    for rule in TEXT_RULES:
        if rule is not check_mentions and not path.endswith((".cc", ".h")):
            continue
        problems += [f"{path}:{line}: {what}" for line, what in rule(path, text)]
    return problems


def repository_files():
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=ROOT,
                            check=True, capture_output=True, text=True).stdout
    return sorted(path for path in listed.split("\0") if path and (ROOT / path).is_file())


def text_of(path):
    try:
        return (ROOT / path).read_text()
    except UnicodeDecodeError:
        return ""  # not text: no rule applies


def check_format(sources):
    done = subprocess.run(["clang-format-19", "--dry-run", "-Werror", "--ferror-limit=1", *sources],
                          cwd=ROOT, capture_output=True, text=True)
    wrong = re.findall(r"^([^\s:]+:\d+):\d+: error:.*$", done.stderr, re.M)
    if done.returncode != 0 and not wrong:
        return [done.stderr.strip()]
    return [f"{place}: not formatted: run ./dev fmt" for place in wrong]


def proven_by_its_source(header):
    """A source that includes its header first proves on every build that it compiles alone, but for
    what the precompiled headers bring, which OwnIncludes looks at."""
    source = header.removesuffix(".h") + ".cc"
    if not (ROOT / source).is_file():
        return False
    first = next(includes(code_with_strings(text_of(source))), None)
    return first is not None and first[1] == header.removeprefix("src/")


def code_with_strings(text):
    return re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.S)


class HeaderCheck:
    """Compiles headers alone, but for what the precompiled headers bring, which OwnIncludes looks
    at. What passed is remembered with a hash of all that it includes."""

    GENERATED = "build/dev/proto/generated"
    COMMAND = ["clang++-19", "-std=c++23", "-x", "c++-header", "-Isrc", "-I.", "-isystem",
               GENERATED]
    BROUGHT = "cmake/precompiled_tests.h"
    BY_CONTENT = ["-Xclang", "-fno-pch-timestamp"]  # as everything here is compared

    def __init__(self):
        self.memory = ROOT / "build/lint"
        self.memory.mkdir(parents=True, exist_ok=True)
        self.digests = {}
        self.extra = ["-MMD", "-fsyntax-only"]
        if (ROOT / self.BROUGHT).is_file():
            precompiled = str(self.memory / "precompiled.pch")
            problems = self.compile(
                self.BROUGHT, ["-MD", "-fpch-instantiate-templates", *self.BY_CONTENT, "-o",
                               precompiled])
            if problems:
                sys.exit(problems[0])
            self.extra += ["-include-pch", precompiled]

    def problems(self, header):
        return self.compile(header, self.extra)

    def compile(self, header, extra):
        name = header.replace("/", "__")
        dependencies, passed = self.memory / f"{name}.d", self.memory / f"{name}.passed"
        if passed.exists() and passed.read_text() == self.fingerprint(dependencies):
            return []
        done = subprocess.run([*self.COMMAND, *extra, "-MF", str(dependencies), "-MT", "x",
                               header], cwd=ROOT, capture_output=True, text=True)
        if done.returncode != 0:
            passed.unlink(missing_ok=True)
            return [f"{header}:1: does not compile alone\n{done.stderr.strip()}"]
        passed.write_text(self.fingerprint(dependencies))
        return []

    def fingerprint(self, dependencies):
        files = dependencies.read_text().replace("\\\n", " ").split()[1:]
        return hashlib.sha256("".join(map(self.digest, files)).encode()).hexdigest()

    def digest(self, path):
        if path not in self.digests:
            file = ROOT / path
            content = file.read_bytes() if file.exists() else b"gone"
            self.digests[path] = hashlib.sha256(content).hexdigest()
        return self.digests[path]


def check_headers(headers):
    check = HeaderCheck()
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        found = pool.map(check.problems, [h for h in headers if not proven_by_its_source(h)])
        return [problem for problems in found for problem in problems]


def main():
    started = time.monotonic()
    files = repository_files()
    sources = [f for f in files if f.startswith(CXX_FOLDERS) and f.endswith((".cc", ".h"))]
    if "--format" in sys.argv[1:]:
        sys.exit(subprocess.run(["clang-format-19", "-i", *sources], cwd=ROOT).returncode)

    problems = check_format(sources) if sources else []
    for path in files:
        problems += check_text(path, text_of(path))
    headers = [s for s in sources if s.endswith(".h")]
    own = OwnIncludes({path: text_of(path) for path in sources})
    problems += [problem for header in headers for problem in own.problems(header)]
    problems += check_headers(headers)

    for problem in problems:
        print(problem)
    seconds = time.monotonic() - started
    print(f"lint: {len(problems) or 'no'} problems in {len(files)} files, {seconds:.1f} s")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
