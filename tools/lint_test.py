"""Shows each rule of lint.py firing, and where it must stay silent. Run by ./dev lint."""

import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.dont_write_bytecode = True
import lint


def found(path, text):
    return [problem.split(": ", 1) for problem in lint.check_text(path, text)]


def places(path, text):
    return [place for place, _ in found(path, text)]


class BannedCalls(unittest.TestCase):
    CALLS = ("auto t = std::chrono::system_clock::now();", "auto t = steady_clock::now();",
             "high_resolution_clock::now();", "gettimeofday(&v, 0);", "clock_gettime(0, &t);",
             "time(nullptr);", "sleep(1);", "usleep(5);", "::nanosleep(&t, 0);",
             "std::this_thread::sleep_for(1s);", "std::thread t;", "std::jthread t;",
             "std::async(f);", "pthread_create(&t, 0, f, 0);", "int n = rand();",
             "std::random_device d;", "std::mt19937 r;")

    def test_each_is_found_with_its_line(self):
        for call in self.CALLS:
            with self.subTest(call):
                self.assertIn("src/scheduler/x.cc:2", places("src/scheduler/x.cc", "\n" + call))
                self.assertIn("sim/x.cc:1", places("sim/x.cc", call))

    def test_the_problem_says_what_to_use(self):
        self.assertIn("loop.delay", found("sim/x.cc", "sleep(1);")[0][1])

    def test_runtime_may_use_them(self):
        for call in self.CALLS:
            self.assertEqual([], places("src/runtime/x.cc", call))

    def test_comments_strings_and_longer_names_are_no_calls(self):
        for text in ('// no sleep(1) here', '/* std::thread\n */', 'auto s = "rand()";',
                     'auto s = R"(time(nullptr))";', "int n = operand(1);", "loop.sleep(1s);",
                     "using T = std::chrono::steady_clock::time_point;", "runtime(0);",
                     "int n = 1'000'000; int m = 2'0;"):
            with self.subTest(text):
                self.assertEqual([], places("src/scheduler/x.cc", text))

    def test_a_digit_separator_does_not_hide_what_follows(self):
        self.assertEqual(["sim/x.cc:1"], places("sim/x.cc", "int n = 1'000; sleep(1); int m = 2'0;"))

    def test_tests_may_make_threads_and_seed_engines_but_not_sleep_or_draw_unseeded(self):
        self.assertEqual([], places("src/store/x_test.cc", "std::thread t;"))
        self.assertEqual([], places("src/store/x_test.cc", "std::mt19937_64 engine(7);"))
        self.assertEqual(["src/store/x_test.cc:1"], places("src/store/x_test.cc", "sleep(1);"))
        self.assertEqual(["src/store/x_test.cc:1"], places("src/store/x_test.cc", "random_device r;"))

    def test_bench_may_read_clocks_but_not_sleep(self):
        self.assertEqual([], places("bench/x.cc", "steady_clock::now(); std::thread t;"))
        self.assertEqual(["bench/x.cc:1"], places("bench/x.cc", "sleep_for(1s);"))
        self.assertEqual(["tests/x.cc:1"], places("tests/x.cc", "usleep(1);"))


class OwnIncludes(unittest.TestCase):
    def problems(self, **headers):
        texts = {f"src/base/{name}.h": text for name, text in headers.items()}
        return list(lint.OwnIncludes(texts).problems("src/base/x.h"))

    def test_a_header_asks_for_what_only_the_precompiled_headers_bring(self):
        for name in ("std::string s;", "std::vector<int> v;", "boost::asio::io_context c;",
                     "fmt::format();", "cordum::agent::v1::BusPacket p;"):
            with self.subTest(name):
                found = self.problems(x="#pragma once\n" + name)
                self.assertEqual(1, len(found))
                self.assertTrue(found[0].startswith("src/base/x.h:2: "), found)

    def test_it_may_ask_through_headers_of_the_house(self):
        self.assertEqual([], self.problems(x='#include "base/y.h"\nstd::vector<int> v;',
                                           y='#include "base/x.h"\n#include <vector>'))
        self.assertEqual([], self.problems(x="#include <boost/asio/post.hpp>\nboost::asio::post();"))

    def test_comments_ask_for_nothing(self):
        self.assertEqual([], self.problems(x="// a std::vector"))


class IncludeDirection(unittest.TestCase):
    def test_upwards_is_refused(self):
        text = '#include "base/ids.h"\n#include "scheduler/submit.h"\n'
        self.assertEqual(["src/store/x.h:2"], places("src/store/x.h", text))

    def test_downwards_and_sideways_are_fine(self):
        text = '#include "base/ids.h"\n#include "store/store.h"\n#include "scheduler/y.h"\n'
        self.assertEqual([], places("src/scheduler/x.cc", text))

    def test_pure_folders_do_not_use_runtime(self):
        for folder in lint.PURE:
            self.assertEqual([f"src/{folder}/x.cc:1"],
                             places(f"src/{folder}/x.cc", '#include "runtime/clock.h"'))
        self.assertEqual([], places("src/routing/x_test.cc", '#include "runtime/random.h"'))

    def test_an_unknown_folder_must_find_its_place(self):
        self.assertEqual(["src/misc/x.cc:1"], places("src/misc/x.cc", ""))

    def test_sim_tests_and_bench_may_include_anything(self):
        text = '#include "scheduler/submit.h"\n#include "store/rocksdb/rocksdb_store.h"\n'
        for path in ("sim/x.cc", "tests/behaviour/x.cc", "bench/x.cc"):
            self.assertEqual([], places(path, text))


class Implementations(unittest.TestCase):
    TEXT = '#include "store/rocksdb/rocksdb_store.h"\n'

    def test_are_hidden_from_the_rest(self):
        self.assertEqual(["src/scheduler/x.cc:1"], places("src/scheduler/x.cc", self.TEXT))
        self.assertEqual(["src/store/x.cc:1"], places("src/store/x.cc", self.TEXT))
        self.assertEqual(["src/store/memory/x.cc:1"], places("src/store/memory/x.cc", self.TEXT))

    def test_are_seen_by_themselves_by_tests_and_by_the_app(self):
        for path in ("src/store/rocksdb/x.cc", "src/scheduler/x_test.cc", "src/app/x.cc"):
            self.assertEqual([], places(path, self.TEXT))

    def test_use_their_contract(self):
        self.assertEqual([], places("src/store/rocksdb/x.cc", '#include "store/store.h"'))


class Asio(unittest.TestCase):
    def test_stays_in_its_folders(self):
        text = "#include <boost/asio/io_context.hpp>\n"
        self.assertEqual(["src/scheduler/x.cc:1"], places("src/scheduler/x.cc", text))
        for folder in lint.ASIO_FOLDERS:
            self.assertEqual([], places(f"src/{folder}/x.cc", text))

    def test_of_a_store_is_used_by_its_client_only(self):
        text = "#include <boost/asio/io_context.hpp>\n"
        self.assertEqual([], places("src/store/redis/client/x.cc", text))
        self.assertEqual(["src/store/redis/x.cc:1"], places("src/store/redis/x.cc", text))


class Mentions(unittest.TestCase):
    def test_of_what_a_clone_does_not_have_are_found(self):
        for text in ("see ../" + "shared/notes.md", "closes Issue" + " #12", "see issue" + " 3",
                     "cd /wor" + "k/main", "ls /op" + "t/wheels", "ls /ho" + "me/me/x",
                     "ls /ro" + "ot/x", "as said (design" + ", section 5)"):
            with self.subTest(text):
                self.assertEqual(["README.md:1"], places("README.md", text))

    def test_similar_words_are_fine(self):
        for text in ("an issue with 3 workers", "src/work/x.h", "shared/counters",
                     "usr/opt/x", "/options/home", "by design: section 5"):
            self.assertEqual([], places("README.md", text))


class Files(unittest.TestCase):
    """The rules that run a compiler or a formatter, on a tree of their own."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.root, lint.ROOT = lint.ROOT, pathlib.Path(self.folder.name)
        (lint.ROOT / "src/base").mkdir(parents=True)

    def tearDown(self):
        lint.ROOT = self.root
        self.folder.cleanup()

    def write(self, path, text):
        (lint.ROOT / path).write_text(text)
        return path

    def test_a_header_that_needs_another_first_is_found_and_found_again(self):
        header = self.write("src/base/x.h", "#pragma once\ninline std::string f();\n")
        for _ in range(2):
            self.assertIn("src/base/x.h:1: does not compile alone",
                          lint.check_headers([header])[0])
        self.write("src/base/x.h", "#pragma once\n#include \"base/y.h\"\ninline Y f();\n")
        self.write("src/base/y.h", "#pragma once\nstruct Y {};\n")
        self.assertEqual([], lint.check_headers([header]))
        self.write("src/base/y.h", "#pragma once\n")
        self.assertNotEqual([], lint.check_headers([header]))

    def test_only_a_source_that_includes_its_header_first_proves_it(self):
        header = self.write("src/base/x.h", "#pragma once\n")
        self.assertFalse(lint.proven_by_its_source(header))
        self.write("src/base/x.cc", "// About x.\n#include \"base/x.h\"\n#include <string>\n")
        self.assertTrue(lint.proven_by_its_source(header))
        self.write("src/base/x.cc", "#include <string>\n#include \"base/x.h\"\n")
        self.assertFalse(lint.proven_by_its_source(header))

    def test_a_source_that_is_not_formatted_is_found(self):
        (lint.ROOT / ".clang-format").write_text((self.root / ".clang-format").read_text())
        bad = self.write("src/base/bad.cc", "int  x ;\n")
        good = self.write("src/base/good.cc", "int x;\n")
        self.assertEqual(["src/base/bad.cc:1: not formatted: run ./dev fmt"],
                         lint.check_format([good, bad]))


if __name__ == "__main__":
    unittest.main()
