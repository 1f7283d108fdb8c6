//! The names of failed tests.

use std::hash::{DefaultHasher, Hash, Hasher};

use super::{is_numbered, line_prefix, test_headers};

/// Most lines of a title behind its first one.
const TITLE: usize = 3;

/// The names so far. Bounded: a newer name replaces an older one, which may then be shown again.
#[derive(Debug, Hash)]
pub struct RecentTestNames {
    slots: Box<[u64; Self::SLOTS]>,
    /// Number of lines that may belong to a title which has begun.
    title: usize,
}

impl Default for RecentTestNames {
    fn default() -> Self {
        Self { slots: Box::new([0; Self::SLOTS]), title: 0 }
    }
}

impl RecentTestNames {
    const SLOTS: usize = 512;

    /// Takes the next line. Returns whether it names a failed test that no line before has named. `reports`: whether
    /// the line tells of a failure.
    pub fn is_new_name(&mut self, line: &str, reports: bool) -> bool {
        // Mocha writes the names of the suites behind the number, and that of the test in a line of its own.
        if self.title > 0 {
            self.title -= 1;
            if line.starts_with("    ") && line.ends_with(':') {
                self.title = 0;
                return true;
            }
        }
        if reports && is_numbered(line) {
            self.title = TITLE;
        }
        reports && self.is_new(line)
    }

    fn is_new(&mut self, line: &str) -> bool {
        let Some(name) = name(line) else { return false };
        let is_new = self.add(name);
        // The header of the test in `tests/a.py::test_b FAILED` is `___ test_b ___`.
        let last = name.rsplit([':', '/', '›', '>', '.']).next().unwrap_or(name).trim();
        if last.len() < name.len() {
            self.add(last);
        }
        is_new
    }

    fn add(&mut self, name: &str) -> bool {
        let mut hasher = DefaultHasher::new();
        name.hash(&mut hasher);
        let hash = hasher.finish() | 1;
        let slot = &mut self.slots[(hash >> 32) as usize % Self::SLOTS];
        std::mem::replace(slot, hash) != hash
    }
}

/// Returns the name of the failed test in a line of a failure, without its place in the run and its time.
fn name(line: &str) -> Option<&str> {
    let text = line.trim();
    if test_headers::is_header(line) {
        let name = text.trim_matches(['_', '-', '●', ' ']);
        let name = ["FAIL: ", "FAIL ", "ERROR: "].iter().find_map(|start| name.strip_prefix(start)).unwrap_or(name);
        return Some(undecorated(name));
    }
    const STARTS: [&str; 9] =
        ["FAILED ", "ERROR tests", "not ok ", "rspec ./", "[  FAILED  ] ", "(fail) ", "Failed ", "FAIL ", "FAIL ["];
    if let Some(start) = STARTS.iter().find(|start| text.starts_with(**start)) {
        let name = if start.ends_with(' ') { &text[start.len()..] } else { text };
        return Some(undecorated(
            name.split_once(" - ").filter(|_| text.contains("::")).map_or(name, |(name, _)| name),
        ));
    }
    if let Some(name) = line_prefix::after_sign(text) {
        return Some(undecorated(name));
    }
    let bare = undecorated(text);
    const ENDS: [&str; 9] =
        [" FAILED", " FAIL", " ERROR", "***Failed", "***Timeout", "***Exception", "***Not Run", "(Failed)", "' failed"];
    ENDS.iter().find_map(|end| bare.strip_suffix(end)).map(|name| name.trim_end_matches([' ', '.', ':']))
}

/// Returns a name without the time or share behind it: `[ 33%]`, `(0.00s)`, `[4 ms]`, ` in 0.3s`, `1.00 sec`.
fn undecorated(text: &str) -> &str {
    let mut text = text.trim_end();
    for (open, close) in [('[', "%]"), ('[', "ms]"), ('(', "s)"), ('(', "seconds)"), ('(', "ms)")] {
        if let Some(start) = text.strip_suffix(close).and_then(|head| head.rfind(open)) {
            let is_time = text[start + 1..text.len() - close.len()].chars().all(|c| "0123456789. mµus".contains(c));
            text = if is_time { text[..start].trim_end() } else { text };
        }
    }
    let is_number = |number: &str| number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let text =
        text.strip_suffix(" sec").map_or(text, |head| head.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.'));
    match text.rsplit_once(" in ") {
        Some((name, time)) if time.strip_suffix('s').is_some_and(is_number) => name,
        _ => text.trim_end(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_has_one_name_in_all_its_lines() {
        for (name, lines) in [
            (
                "tests/a.py::test_b[1]",
                &["tests/a.py::test_b[1] FAILED   [ 33%]", "FAILED tests/a.py::test_b[1] - assert 1 == 2"] as &[_],
            ),
            ("TestA/two", &["    --- FAIL: TestA/two (0.00s)"]),
            ("test_access", &["_______ test_access _______"]),
            ("orders::test_7", &["---- orders::test_7 stdout ----"]),
            ("Math.Sums", &["[  FAILED  ] Math.Sums (0 ms)", "  Failed Math.Sums [4 ms]"]),
            ("mixed > sums", &["(fail) mixed > sums [0.12ms]"]),
        ] {
            for line in lines {
                let own = super::name(line).map(|own| own.trim_end_matches(" stdout"));
                assert_eq!(own, Some(name), "{line}");
            }
        }
        assert_eq!(super::name("error: no such thing"), None);
    }

    #[test]
    fn a_name_is_new_once() {
        let mut names = RecentTestNames::default();
        let lines = [
            "tests/a.py::test_b FAILED [ 3%]",
            "___ test_b ___",
            "FAILED tests/a.py::test_b - no",
            "FAILED tests/a.py::test_c",
        ];
        assert_eq!(lines.map(|line| names.is_new_name(line, true)), [true, false, false, true]);
    }
}
