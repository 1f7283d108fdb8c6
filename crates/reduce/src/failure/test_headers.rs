//! Headers of failed tests: lines that name the test whose block follows.

/// The start and the end of a header, of pytest, cargo, go, jest, vitest, unittest and Maven.
const HEADERS: [(&str, &str); 8] = [
    ("___", "___"),
    ("---- ", " ----"),
    ("--- FAIL: ", ""),
    ("  ● ", ""),
    (" FAIL  ", ""),
    ("FAIL: ", ""),
    ("ERROR: ", ")"),
    ("[ERROR] ", "!"),
];

/// Starts of lines behind the last block.
const ENDS: [&str; 8] = ["===", "failures:", "test result:", "Test Suites:", "⎯⎯⎯", "FAIL", "PASS", "ok "];

/// Follows the lines of an output and finds the header of each block.
#[derive(Clone, Copy, Debug, Default, Hash)]
pub struct TestHeaders {
    number: usize,
    /// Whether the numbered list is that of tests which are not run yet.
    is_pending: bool,
}

impl TestHeaders {
    /// Takes the next line, with its number from 1. Returns the number of the header above it, of a header its own, and
    /// 0 outside of a block.
    pub fn next(&mut self, line: &str, number: usize) -> usize {
        match line.as_bytes().first() {
            Some(b'P') if line.starts_with("Pending:") => self.is_pending = true,
            Some(b'F') if line.starts_with("Failures:") => self.is_pending = false,
            _ => {}
        }
        if is_header(line) && !(self.is_pending && super::is_numbered(line)) {
            self.number = number;
        } else if self.number > 0 && is_behind_blocks(line) {
            self.number = 0;
        }
        self.number
    }
}

/// Returns whether a line is behind the last block.
pub(super) fn is_behind_blocks(line: &str) -> bool {
    ENDS.iter().any(|start| line.starts_with(start))
}

/// Returns whether a line names the failed test of the lines below.
pub(super) fn is_header(line: &str) -> bool {
    let text = if line.starts_with("    ") { line.trim_start() } else { line };
    let first = text.as_bytes().first().copied().unwrap_or_default();
    if !matches!(first, b'_' | b'-' | b' ' | b'F' | b'E' | b'[' | b'0'..=b'9') {
        return false;
    }
    let is_of = |(start, end): &(&str, &str)| {
        let rest = if start.as_bytes()[0] == first { text.strip_prefix(start) } else { None };
        rest.and_then(|rest| rest.strip_suffix(end))
            .is_some_and(|name| name.contains(char::is_alphanumeric) && name != "Console")
    };
    matches!(first, b' ' | b'0'..=b'9') && super::is_numbered(line)
        || HEADERS.iter().any(is_of) && (first != b'[' || text.contains("<<< "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_of_failed_tests_are_found() {
        for line in [
            "_______________________________ test_order[a-1] ________________________________",
            "_____________________ ERROR at setup of TestOrders.test_a ______________________",
            "---- orders::tests::keep_their_order stdout ----",
            "--- FAIL: TestOrders (0.00s)",
            "    --- FAIL: TestOrders/empty (0.00s)",
            "  ● orders › keep their order",
            " FAIL  src/orders.test.ts > orders > keep their order",
            "FAIL: test_order (tests.Orders.test_order)",
        ] {
            assert!(is_header(line), "{line}");
        }
        for line in ["__________", "-----------", "---- Captured", "--- PASS: TestA", "● nginx.service", ""] {
            assert!(!is_header(line), "{line}");
        }
    }

    #[test]
    fn a_block_ends_with_the_next_header_or_the_summary() {
        let mut headers = TestHeaders::default();
        let lines = ["a", "---- x stdout ----", "b", "", "---- y stdout ----", "c", "failures:", "    x"];
        let numbers: Vec<usize> = lines.iter().zip(1..).map(|(line, number)| headers.next(line, number)).collect();
        assert_eq!(numbers, [0, 2, 2, 2, 5, 5, 0, 0]);
    }
}
