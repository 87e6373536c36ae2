"""Runs the test programs of a build and adds up what they say. Called by ./dev test.

A program that passes gets one line; of one that fails, the failing tests are shown. The last line
is always `N passed, M failed, K skipped`. In CI (CI=true) a skipped test is a failure.
"""

import argparse
import concurrent.futures
import dataclasses
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

# A program that hangs must not hang CI: the slowest one under tsan takes a fraction of this.
PROGRAM_SECONDS_MAX = 1200
CRASH_LINES_SHOWN = 80
# Begun last, one of these would run alone at the end.
LONGEST = ("cluster_tests", "behaviour_tests", "bus_nats_tests", "chaos_tests", "crash_tests")


@dataclasses.dataclass
class Outcome:
    name: str
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    seconds: float = 0
    report: str = ""  # what a person needs to see: failures, and skips with their reason

    @property
    def ran_any(self):
        return self.passed + self.failed + self.skipped > 0


def run(command):
    """Exit status (None when it had to be stopped) and output of a command."""
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              timeout=PROGRAM_SECONDS_MAX, errors="replace")
        return done.returncode, done.stdout
    except subprocess.TimeoutExpired as stopped:
        output = stopped.stdout or b""
        return None, output.decode(errors="replace") if isinstance(output, bytes) else output


def how_it_ended(status):
    if status is None:
        return f"stopped after {PROGRAM_SECONDS_MAX} s"
    return f"died of signal {-status}" if status < 0 else f"exited with {status}"


def tail(output):
    return "\n".join(output.splitlines()[-CRASH_LINES_SHOWN:])


def section_of(test, output):
    """What a gtest program printed while it ran `test`."""
    start = output.find(f"[ RUN      ] {test}\n")
    if start < 0:
        return f"{test} failed\n"
    end = re.compile(rf"\[  (FAILED |SKIPPED) +\] {re.escape(test)}\b.*\n?").search(output, start)
    return output[start:end.end() if end else None]


def count_from_results(outcome, results, output):
    """Counts a finished program from gtest's JSON."""
    for suite in results["testsuites"]:
        for test in suite["testsuite"]:
            name = f"{suite['name']}.{test['name']}"
            if test.get("failures"):
                outcome.failed += 1
                outcome.report += section_of(name, output)
            elif test["result"] == "SKIPPED" or test["status"] == "NOTRUN":
                outcome.skipped += 1
                outcome.report += section_of(name, output) if test["status"] == "RUN" \
                    else f"{name} is disabled\n"
            else:
                outcome.passed += 1


def count_from_output(outcome, output):
    """Counts a program that died before it could write its results."""
    outcome.passed = len(re.findall(r"^\[       OK \] ", output, re.M))
    outcome.skipped = len(re.findall(r"^\[  SKIPPED \] .*ms\)$", output, re.M))
    outcome.failed = len(re.findall(r"^\[  FAILED  \] .*ms\)$", output, re.M))


def run_gtest(program, name_filter):
    started = time.monotonic()
    outcome = Outcome(program.name)
    with tempfile.TemporaryDirectory() as folder:
        results = pathlib.Path(folder) / "results.json"
        command = [str(program), f"--gtest_output=json:{results}", "--gtest_color=no"]
        if name_filter:
            command.append(f"--gtest_filter=*{name_filter}*")
        status, output = run(command)
        finished = status is not None and results.exists()
        if finished:
            count_from_results(outcome, json.loads(results.read_text()), output)
        else:
            count_from_output(outcome, output)
    if not finished or (status != 0 and outcome.failed == 0):
        # Also the end of a sanitizer's report after all tests passed.
        outcome.failed += 1
        outcome.report += f"{program.name} {how_it_ended(status)}\n{tail(output)}\n"
    outcome.seconds = time.monotonic() - started
    return outcome


def run_simulation(program, *arguments):
    started = time.monotonic()
    status, output = run([str(program), *arguments])
    outcome = Outcome(f"sim {' '.join(arguments)}", seconds=time.monotonic() - started)
    if status == 0:
        outcome.passed = 1
    else:
        outcome.failed = 1
        outcome.report = f"sim {how_it_ended(status)}\n{tail(output)}\n"
    return outcome


def planned(build, name_filter, seeds, planted):
    """The calls to make, those that take longest first; then those that span folders."""
    programs = dict(line.split(" ", 1) for line in (build / "programs.txt").read_text().splitlines())
    if "sim" in programs and name_filter.lower() in "sim":
        yield lambda: run_simulation(pathlib.Path(programs["sim"]), "--runs", str(seeds))
        if planted:
            yield lambda: run_simulation(pathlib.Path(programs["sim"]), "--planted")
    tests = map(pathlib.Path, (build / "test-programs.txt").read_text().splitlines())

    def place(program):
        if program.name in LONGEST:
            return LONGEST.index(program.name)
        return len(LONGEST) + ("tests" not in program.relative_to(build.resolve()).parts)

    for program in sorted(tests, key=place):
        yield lambda program=program: run_gtest(program, name_filter)


def show(outcome):
    counts = f"{outcome.passed} passed"
    if outcome.failed:
        counts += f", {outcome.failed} FAILED"
    if outcome.skipped:
        counts += f", {outcome.skipped} skipped"
    print(f"{outcome.name:<28} {outcome.seconds:6.1f} s  {counts}")
    if outcome.report:
        print("    " + outcome.report.rstrip().replace("\n", "\n    "))
    sys.stdout.flush()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--seeds", type=int, default=500)
    parser.add_argument("--filter", default="")
    parser.add_argument("--planted", action="store_true", help="show that planted bugs are caught")
    arguments = parser.parse_args()

    total = Outcome("total")
    # Tests with real servers wait for half of their time: one program more than there are cores.
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() + 1) as pool:
        calls = [pool.submit(call)
                 for call in planned(arguments.build, arguments.filter, arguments.seeds,
                                     arguments.planted)]
        for call in concurrent.futures.as_completed(calls):
            outcome = call.result()
            if not outcome.ran_any:
                continue
            show(outcome)
            total.passed += outcome.passed
            total.failed += outcome.failed
            total.skipped += outcome.skipped

    skips_fail = os.environ.get("CI") == "true" and total.skipped > 0
    if not total.ran_any:
        print(f"no test is named *{arguments.filter}*" if arguments.filter else "no test was found")
    elif skips_fail:
        print("in CI a skipped test is a failure")
    print(f"{total.passed} passed, {total.failed} failed, {total.skipped} skipped")
    sys.exit(1 if total.failed or skips_fail or not total.ran_any else 0)


if __name__ == "__main__":
    main()
