//! Headers of failed tests: lines that name the test whose block follows.

/// The start and the end of a header, of pytest, cargo, go, jest, vitest and unittest.
const HEADERS: [(&str, &str); 6] =
    [("___", "___"), ("---- ", " ----"), ("--- FAIL: ", ""), ("  ● ", ""), (" FAIL  ", ""), ("FAIL: ", "")];

/// Starts of lines behind the last block.
const ENDS: [&str; 8] = ["===", "failures:", "test result:", "Test Suites:", "⎯⎯⎯", "FAIL", "PASS", "ok "];

/// Follows the lines of an output and finds the header of each block.
#[derive(Clone, Copy, Debug, Default)]
pub struct Headers {
    number: usize,
}

impl Headers {
    /// Takes the next line, with its number from 1. Returns the number of the header above it, of a header its own, and
    /// 0 outside of a block.
    pub fn next(&mut self, line: &str, number: usize) -> usize {
        if is_header(line) {
            self.number = number;
        } else if self.number > 0 && ENDS.iter().any(|start| line.starts_with(start)) {
            self.number = 0;
        }
        self.number
    }
}

fn is_header(line: &str) -> bool {
    let text = if line.starts_with("    ") { line.trim_start() } else { line };
    HEADERS.iter().any(|(start, end)| {
        text.strip_prefix(start)
            .and_then(|rest| rest.strip_suffix(end))
            .is_some_and(|name| name.contains(char::is_alphanumeric))
    })
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
        let mut headers = Headers::default();
        let lines = ["a", "---- x stdout ----", "b", "", "---- y stdout ----", "c", "failures:", "    x"];
        let numbers: Vec<usize> = lines.iter().zip(1..).map(|(line, number)| headers.next(line, number)).collect();
        assert_eq!(numbers, [0, 2, 2, 2, 5, 5, 0, 0]);
    }
}
