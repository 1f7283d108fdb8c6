//! Heredocs: announced on one line, with their bodies behind it.

use super::reader::{Reader, Result};
use super::syntax::{Heredoc, Part, Redirection, Word};

/// One whose body is still to come.
pub(super) struct Pending {
    number: usize,
    delimiter: String,
    quoted: bool,
    tabs: bool,
}

impl Reader<'_> {
    /// What follows `<<`.
    pub(super) fn heredoc(&mut self, op: &'static str, fd: Option<u32>) -> Result<Redirection> {
        let start = self.at;
        let Some(target) = self.word()? else { return self.fault() };
        let raw = self.slice(start..self.at);
        let quoted = raw.bytes().any(|byte| matches!(byte, b'\'' | b'"' | b'\\'));
        let delimiter = if quoted { literal(&target.parts) } else { raw.to_owned() };
        let number = self.heredocs.len();
        self.heredocs.push(Heredoc::default());
        self.pending.push(Pending { number, delimiter: delimiter.clone(), quoted, tabs: op == "<<-" });
        let target = Word { parts: vec![Part::Quoted(delimiter)], span: target.span };
        Ok(Redirection { op, fd, target, heredoc: Some(number) })
    }

    /// The bodies that begin here.
    pub(super) fn bodies(&mut self) -> Result<()> {
        for pending in std::mem::take(&mut self.pending) {
            let start = self.at;
            let (end, next) = self.body_end(&pending);
            let parts = if pending.quoted {
                vec![Part::Quoted(self.slice(start..end).to_owned())]
            } else {
                self.nested(|reader| reader.parts_until(end, true))?
            };
            let parts = if pending.tabs { without_tabs(parts) } else { parts };
            self.at = next;
            if let Some(body) = self.heredocs.get_mut(pending.number) {
                *body = Heredoc { parts, span: start..end };
            }
        }
        Ok(())
    }

    /// Where the body ends, and where the text goes on. The end of the text ends it, too, as in bash.
    fn body_end(&self, pending: &Pending) -> (usize, usize) {
        let mut at = self.at;
        while at < self.end {
            let line = self.slice(at..self.end);
            let length = memchr::memchr(b'\n', line.as_bytes()).unwrap_or(line.len());
            let text = &line[..length];
            let text = if pending.tabs { text.trim_start_matches('\t') } else { text };
            let next = (at + length + 1).min(self.end);
            if text == pending.delimiter {
                return (at, next);
            }
            // Within `$(…)` bash also ends it at the delimiter just before the parenthesis.
            if let Some(rest) = text.strip_prefix(pending.delimiter.as_str())
                && rest.starts_with(')')
                && !pending.delimiter.is_empty()
            {
                return (at, at + length - rest.len());
            }
            at = next;
        }
        (self.end, self.end)
    }
}

fn literal(parts: &[Part]) -> String {
    parts
        .iter()
        .map(|part| match part {
            Part::Text(text) | Part::Quoted(text) => text.clone(),
            Part::Double(parts) => literal(parts),
            _ => String::new(),
        })
        .collect()
}

/// `<<-` takes the tabs at the beginning of lines away.
fn without_tabs(parts: Vec<Part>) -> Vec<Part> {
    let mut fresh = true;
    let strip = |part| match part {
        Part::Quoted(text) => {
            let mut kept = String::with_capacity(text.len());
            for line in text.split_inclusive('\n') {
                kept.push_str(if fresh { line.trim_start_matches('\t') } else { line });
                fresh = line.ends_with('\n');
            }
            Part::Quoted(kept)
        }
        part => {
            fresh = false;
            part
        }
    };
    parts.into_iter().map(strip).collect()
}
