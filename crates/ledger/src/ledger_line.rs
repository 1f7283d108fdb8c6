//! The form of a record: a line of JSON with a checksum as its last field.

use serde::Serialize;

use super::ledger_record::{LedgerRecord, RemovedLedgerFile, ShimId};

/// The field of the checksum, up to its value.
const SUM: &str = ",\"sum\":\"";
/// Length of that field and of the end of the record.
const TAIL: usize = SUM.len() + 8 + 2;

/// A record that is being written.
pub struct LedgerLine(Vec<u8>);

impl LedgerLine {
    /// Begins a record of this run.
    #[must_use]
    pub fn of(run: &str) -> Self {
        Self(Vec::with_capacity(512)).with("run", &run)
    }

    /// Begins a record about a file of the ledger.
    #[must_use]
    pub fn removed(removed: &RemovedLedgerFile<'_>) -> Self {
        Self(Vec::with_capacity(256)).with("removed", removed)
    }

    /// Adds a part.
    #[must_use]
    pub fn with(mut self, name: &str, part: &impl Serialize) -> Self {
        self.push_name(name);
        // These types have no map with keys that JSON lacks, and a vector takes every write.
        let _ = serde_json::to_writer(&mut self.0, part);
        self
    }

    /// Adds a part that is JSON already.
    #[must_use]
    pub fn with_json(mut self, name: &str, json: &str) -> Self {
        self.push_name(name);
        self.0.extend_from_slice(json.as_bytes());
        self
    }

    fn push_name(&mut self, name: &str) {
        self.0.push(if self.0.is_empty() { b'{' } else { b',' });
        self.0.push(b'"');
        self.0.extend_from_slice(name.as_bytes());
        self.0.extend_from_slice(b"\":");
    }

    /// Returns the line with its checksum and newline.
    #[must_use]
    pub fn finish(mut self) -> Vec<u8> {
        let sum = checksum(&self.0);
        self.0.extend_from_slice(SUM.as_bytes());
        self.0.extend_from_slice(format!("{sum:08x}\"}}\n").as_bytes());
        self.0
    }
}

fn checksum(bytes: &[u8]) -> u32 {
    #[expect(clippy::cast_possible_truncation, reason = "32 of the 128 bits")]
    let sum = twox_hash::XxHash3_128::oneshot(bytes) as u32;
    sum
}

/// Reads a line without its newline. `None` if it is damaged.
pub fn read_line(line: &[u8]) -> Option<LedgerRecord<'_>> {
    parse_record(check_line(line)?)
}

/// Returns the text of a line without its newline. `None` if it is damaged.
pub fn check_line(line: &[u8]) -> Option<&str> {
    let (text, tail) = line.split_at_checked(line.len().checked_sub(TAIL)?)?;
    let sum = tail.strip_prefix(SUM.as_bytes())?.strip_suffix(b"\"}")?;
    let sum = u32::from_str_radix(std::str::from_utf8(sum).ok()?, 16).ok()?;
    (sum == checksum(text)).then(|| simdutf8::basic::from_utf8(line).ok())?
}

/// Reads the text of a whole line.
pub fn parse_record(text: &str) -> Option<LedgerRecord<'_>> {
    serde_json::from_str(text).ok()
}

/// Returns the run of a whole line that has no start, without reading the rest. `None` for all other lines, and for
/// lines that have their parts in another order than [`LedgerLine`] writes them.
pub fn run_of_addition(text: &str) -> Option<&str> {
    let (run, rest) = text.strip_prefix("{\"run\":\"")?.split_once('"')?;
    let is_addition = [",\"end\":", ",\"note\":"].iter().any(|part| rest.starts_with(part));
    (is_addition && !run.contains('\\')).then_some(run)
}

/// The beginning of a line with a start.
#[derive(Debug, PartialEq, Eq)]
pub struct LineBeginning<'l> {
    /// The run.
    pub run: &'l str,
    /// The shim of the run, as JSON.
    shim: Option<&'l str>,
    /// The start of the run, ms since 1970.
    pub at: u64,
}

impl<'l> LineBeginning<'l> {
    /// Returns the shim of the run.
    pub fn shim(&self) -> Option<ShimId<'l>> {
        serde_json::from_str(self.shim?).ok()
    }
}

/// Returns the beginning of a line that has a start, without reading the rest. `None` for all other lines, and for
/// lines that have their parts in another order than [`LedgerLine`] writes them.
pub fn parse_beginning(text: &str) -> Option<LineBeginning<'_>> {
    const START: &str = "\"start\":{\"at\":";
    let (run, rest) = text.strip_prefix("{\"run\":\"")?.split_once("\",")?;
    let (shim, rest) = match rest.strip_prefix("\"shim\":") {
        Some(rest) => rest.find("],").map(|end| (rest.get(..=end), &rest[end + 2..]))?,
        None => (None, rest),
    };
    let (at, _) = rest.strip_prefix(START)?.split_once(',')?;
    (!run.contains('\\')).then_some(LineBeginning { run, shim, at: at.parse().ok()? })
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use super::super::ledger_record::{
        Actor, LedgerRunChanges, LedgerRunEnd, LedgerRunHost, LedgerRunNote, LedgerRunSecret, LedgerRunSilence,
        LedgerRunStart, LedgerRunState, LedgerRunTask,
    };
    use super::*;

    fn start() -> LedgerRunStart<'static> {
        LedgerRunStart {
            at: 7,
            command: "echo \"é\"\n".into(),
            redacted: true,
            cwd: "/srv".into(),
            host: LedgerRunHost { pid: 5, program: "node a.js".into() },
            actor: Some(Cow::Owned(Actor { agent: Some("a".into()), ..Actor::default() })),
            verdict: Some("warn".into()),
            rules: vec!["git-clean".into()],
            decided_by: None,
            target: None,
            draft: Some("d-1".into()),
            confinement: Some("workspace".into()),
            task: Some(LedgerRunTask { id: "t".into(), log: "/t.log".into() }),
            noted: true,
        }
    }

    fn end() -> LedgerRunEnd<'static> {
        LedgerRunEnd {
            code: Some(124),
            ms: Some(1.5),
            usage: Some([1, 2, 3]),
            ..LedgerRunEnd::with_state(9, LedgerRunState::TimedOut)
        }
    }

    #[test]
    fn a_record_is_read_as_it_was_written() {
        let json = serde_json::to_string(&start()).expect("JSON");
        let shim = ShimId(3, 4, "ab.cd".into());
        let note = LedgerRunNote {
            changes: Some(LedgerRunChanges { state: "known".into(), counts: [1, 0, 0, 2], paths: vec!["/a".into()] }),
            output: Some("/o".into()),
            end: Some(end()),
            silence: Some(LedgerRunSilence { ms: 5, waited_for: Some("ok?".into()) }),
            task: None,
            evidence: Some("passed".into()),
            reused: Some("r-0".into()),
            secrets: vec![LedgerRunSecret { name: "TOKEN".into(), host: "h".into(), count: 2, refused: 1 }],
        };
        let line = LedgerLine::of("r-1").with("shim", &shim).with_json("start", &json).with("end", &end());
        let line = line.with("note", &note).finish();
        let (newline, text) = line.split_last().expect("a line");
        assert_eq!(*newline, b'\n');
        let expected = LedgerRecord {
            run: "r-1".into(),
            shim: Some(shim),
            start: Some(Box::new(start())),
            end: Some(end()),
            note: Some(Box::new(note)),
            removed: None,
        };
        assert_eq!(read_line(text).expect("whole"), expected);
    }

    #[test]
    fn the_beginning_of_a_line_is_that_of_its_record() {
        let json = serde_json::to_string(&start()).expect("JSON");
        let shim = ShimId(3, 4, "ab.cd".into());
        let text = |line: LedgerLine| String::from_utf8(line.finish()).expect("text");
        let line = text(LedgerLine::of("r-1").with("shim", &shim).with_json("start", &json));
        let found = parse_beginning(&line).expect("a start");
        assert_eq!((found.run, found.at, found.shim()), ("r-1", start().at, Some(shim)));
        let line = text(LedgerLine::of("r-2").with_json("start", &json).with("end", &end()));
        let found = parse_beginning(&line).expect("a start");
        assert_eq!((found.run, found.at, found.shim()), ("r-2", start().at, None));
        for other in [LedgerLine::of("r").with("end", &end()), LedgerLine::of("r\\").with_json("start", &json)] {
            assert_eq!(parse_beginning(&text(other)), None);
        }
    }

    #[test]
    fn a_record_about_the_ledger_names_the_file() {
        let removed = RemovedLedgerFile { at: 1, file: "2020-01-01.jsonl".into(), bytes: 5, why: "old".into() };
        let line = LedgerLine::removed(&removed).finish();
        assert_eq!(read_line(line.trim_ascii_end()).expect("whole").removed, Some(removed));
    }

    #[test]
    fn every_change_of_a_byte_is_seen() {
        let line = LedgerLine::of("run").with("end", &end()).finish();
        let line = line.trim_ascii_end();
        assert!(read_line(line).is_some());
        for at in 0..line.len() {
            for change in [1, 0x20, 0x80] {
                let mut damaged = line.to_vec();
                damaged[at] ^= change;
                // The value of the checksum may be written in capitals.
                let same = damaged.eq_ignore_ascii_case(line) && at >= line.len() - TAIL;
                assert!(read_line(&damaged).is_none() || same, "{at} {}", String::from_utf8_lossy(&damaged));
            }
        }
        for length in 0..line.len() {
            assert!(read_line(&line[..length]).is_none(), "{length}");
            assert!(read_line(&line[length + 1..]).is_none(), "{length}");
        }
        assert!(read_line(&[line, line].concat()).is_none());
        for other in [&b""[..], b"{}", b"x", b"null", b"\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"] {
            assert!(read_line(other).is_none());
        }
    }

    #[test]
    fn a_field_of_a_later_version_is_passed_over() {
        let line = LedgerLine::of("run").with("later", &[1, 2]).with("end", &end()).finish();
        assert_eq!(read_line(line.trim_ascii_end()).expect("whole").end, Some(end()));
    }
}
