//! Lines of tools, and how they are judged.

use super::{FailureSeverity, severity};

/// Returns the lines whose judgement is wrong.
fn others<'a>(lines: &[&'a str], right: impl Fn(FailureSeverity) -> bool) -> Vec<&'a str> {
    lines.iter().copied().filter(|line| !right(severity(line))).collect()
}

#[test]
fn failures_of_tools_are_found() {
    let lines = [
        "error: cannot find value `x` in this scope",
        "error[E0308]: mismatched types",
        "thread 'main' panicked at src/main.rs:3:5:",
        "thread 'tests::a' (123) panicked at src/lib.rs:9:9:",
        "test tests::adds ... FAILED",
        "test result: FAILED. 3 passed; 1 failed; 0 ignored",
        "src/a.ts(12,5): error TS2322: Type 'string' is not assignable to type 'number'.",
        "src/a.ts:12:5 - error TS2322: Type 'string' is not assignable.",
        "a.c:3:10: fatal error: missing.h: No such file or directory",
        "src/main.cpp:14:3: error: expected ';' after expression",
        "FAILED tests/test_a.py::test_b - AssertionError: assert 1 == 2",
        "ERROR tests/test_a.py - ModuleNotFoundError: No module named 'x'",
        "tests/test_a.py::test_b FAILED                                   [ 50%]",
        "E       AssertionError: assert 1 == 2",
        "E   assert 1 == 2",
        "tests/test_a.py:7: AssertionError",
        "=================== 1 failed, 2 passed in 0.12s ===================",
        "--- FAIL: TestAdd (0.00s)",
        "    --- FAIL: TestAdd/negative (0.00s)",
        "FAIL\texample.com/pkg\t0.012s",
        "FAIL src/a.test.ts",
        " FAIL  src/a.test.ts > adds",
        "panic: runtime error: index out of range [5] with length 3",
        "  ✕ adds numbers (3 ms)",
        " × src/a.test.ts > adds 5ms",
        "not ok 3 - adds numbers",
        "Traceback (most recent call last):",
        "ValueError: invalid literal for int() with base 10: 'x'",
        "requests.exceptions.ConnectionError: HTTPConnectionPool",
        "Exception in thread \"main\" java.lang.NullPointerException: x",
        "java.lang.IllegalStateException: no",
        "fatal: not a git repository (or any of the parent directories): .git",
        "CONFLICT (content): Merge conflict in a.txt",
        " ! [rejected]        main -> main (fetch first)",
        "npm ERR! code ELIFECYCLE",
        "npm error code E404",
        "make: *** [Makefile:2: all] Error 1",
        "make[1]: *** No rule to make target 'x'.  Stop.",
        "ninja: build stopped: subcommand failed.",
        "bash: line 1: foo: command not found",
        "cat: missing.txt: No such file or directory",
        "grep: x: Permission denied",
        "Segmentation fault (core dumped)",
        "Killed",
        "/usr/bin/ld: a.o: undefined reference to `f'",
        "ld: symbol(s) not found for architecture arm64",
        "collect2: error: ld returned 1 exit status",
        "curl: (7) Failed to connect to localhost port 80: Connection refused",
        "E: Unable to locate package nope",
        "ERROR: No matching distribution found for nope",
        "CMake Error at CMakeLists.txt:3 (find_package):",
        "BUILD FAILED in 3s",
        "[ERROR] Failed to execute goal org.apache.maven.plugins",
        "[ERROR] /src/A.java:[12,5] cannot find symbol",
        "FAILURE: Build failed with an exception.",
        "> Task :compileJava FAILED",
        "FAIL: test_add (tests.Test.test_add)",
        "FAILED (failures=1, errors=2)",
        "Tests:       1 failed, 4 passed, 5 total",
        "2026-01-02T03:04:05.678Z ERROR worker crashed: out of memory",
        "2026-01-02 03:04:05,678 - app - CRITICAL - disk full",
        "03:04:05 [worker-2] FATAL could not open the database",
        "web-1  | Error: listen EADDRINUSE: address already in use :::3000",
        "#12 0.345 E: Package 'x' has no installation candidate",
        "Error: Cannot find module './x'",
        "Uncaught TypeError: x is not a function",
        "error Command failed with exit code 1.",
        "ELIFECYCLE Command failed with exit code 1.",
        "subprocess.CalledProcessError: Command '['x']' returned non-zero exit status 2.",
        "Process exited with code 137",
        "  12:5  error  'x' is not defined  no-undef",
        "✖ 3 problems (3 errors, 0 warnings)",
        "Found 2 errors in 1 file.",
        "vet: ./a.go:3:2: undefined: x",
        "./a.go:3:2: undefined: x",
        "rustc: error: no input files",
        "Error response from daemon: No such container: x",
        "Cannot connect to the Docker daemon at unix:///var/run/docker.sock.",
        "level=error msg=\"no\"",
        "AssertionError: Tuples differ: (\"a\", 1) != (\"b\", {'x'})",
        "test_requests.py:362: TypeError",
        "./main.go:1299:6: cmd.Check undefined (type *Command has no field or method Check)",
        "test_issue_16313 ok                                                       [FAIL]",
        "Error processing line 1 of /opt/site-packages/x.pth:",
        "Execution failed for task ':test'.",
        "    orders_test.go:14: got 3, want 4",
        "*** stack smashing detected ***: terminated",
        "terminate called after throwing an instance of 'std::runtime_error'",
        "< HTTP/2 503",
        "  ● orders › keep their order",
        "rspec ./spec/a_spec.rb:3 # A works",
        "     Failure/Error: expect(a).to eq(b)",
        "//app:test                                          FAILED in 0.3s",
        "ld: library not found for -lx",
        "# fail 1",
        "orders.rb:3:in `count': undefined method `size' for nil:NilClass (NoMethodError)",
        "** (RuntimeError) no orders",
        "Failed asserting that 2 is identical to 3.",
        "  Failed Math.Tests.Sums [4 ms]",
        "  1) Failure:",
        "* What went wrong:",
        "No space left on device",
    ];
    assert_eq!(others(&lines, |found| found == FailureSeverity::Failure), [""; 0]);
}

#[test]
fn lines_that_say_nothing_of_a_failure_are_not_taken_for_one() {
    let lines = [
        "",
        "all good",
        "0 errors, 0 warnings",
        "test result: ok. 12 passed; 0 failed; 0 ignored",
        "✓ handles errors",
        "test handles_error ... ok",
        "tests/test_a.py::test_error PASSED                               [ 50%]",
        "   Compiling thiserror v2.0.1",
        "src/errors.ts",
        "-rw-r--r-- 1 root root 123 Jan  1 00:00 error.log",
        "src/a.ts:12:  throw new Error('x');",
        "12:    raise ValueError('x')",
        "    12→    raise ValueError('x')",
        "    throw new TypeError(`no ${x}`);",
        "  return Err(Error::new(\"fatal: no\"));",
        "Tests  12 passed (12)",
        "Failures: 0",
        "PASSED tests/test_a.py::test_b[TypeError-an unexpected keyword]",
        "SKIPPED [6] contextlib.py:81: Cannot compare svg files",
        "test_a (tests.A) ... expected failure",
        "                    checks.Error(",
        "# fail 0",
        "ℹ tests 41",
        "● nginx.service - A high performance web server",
        "// throws an error if it is missing",
        "< HTTP/2 200",
        "failed: 0",
        "✖ 2 problems (0 errors, 2 warnings)",
        "No errors found",
        "git commit -m 'x' # --fail-fast",
        "ok  \texample.com/errors\t0.012s",
    ];
    assert_eq!(others(&lines, |found| found < FailureSeverity::Mention), [""; 0]);
}

#[test]
fn a_check_of_cmake_that_finds_nothing_is_no_failure() {
    assert_eq!(severity("-- Looking for sys/event.h - not found"), FailureSeverity::Mention);
    assert_eq!(severity("-- Performing Test HAVE_AVX512 - Failed"), FailureSeverity::Mention);
}

#[test]
fn a_long_line_is_judged_by_its_ends() {
    let long = "x ".repeat(5_000);
    assert_eq!(severity(&long), FailureSeverity::None);
    assert_eq!(severity(&format!("Error: {long}")), FailureSeverity::Failure);
}
