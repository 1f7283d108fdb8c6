//! Heredocs. Their bodies begin on the line after their commands.

use super::reader::{ScriptReader, ScriptResult};
use super::syntax::{HeredocBody, PendingHeredoc, RedirectSyntax, WordPart, WordSyntax};

impl ScriptReader<'_> {
    /// Reads the delimiter behind `<<`.
    pub(super) fn heredoc(&mut self, op: &'static str, fd: Option<u32>) -> ScriptResult<RedirectSyntax> {
        let start = self.at;
        let Some(target) = self.word()? else { return self.fault() };
        let raw = self.slice(start..self.at);
        let quoted = raw.bytes().any(|byte| matches!(byte, b'\'' | b'"' | b'\\'));
        let delimiter = if quoted { literal(&target.parts) } else { raw.to_owned() };
        let number = self.heredocs.len();
        self.heredocs.push(HeredocBody::default());
        let strips_tabs = op == "<<-";
        self.pending.push(PendingHeredoc { number, delimiter: delimiter.clone(), quoted, strips_tabs });
        let target = WordSyntax { parts: vec![WordPart::Quoted(delimiter)], span: target.span };
        Ok(RedirectSyntax { op, fd, target, heredoc: Some(number) })
    }

    /// Reads the bodies that begin here.
    pub(super) fn bodies(&mut self) -> ScriptResult<()> {
        for pending in std::mem::take(&mut self.pending) {
            let start = self.at;
            let (end, next) = self.body_end(&pending);
            let parts = if pending.quoted {
                vec![WordPart::Quoted(self.slice(start..end).to_owned())]
            } else {
                self.read_one_level_deeper(|reader| reader.parts_until(end, true))?
            };
            let parts = if pending.strips_tabs { without_tabs(parts) } else { parts };
            self.at = next;
            if let Some(body) = self.heredocs.get_mut(pending.number) {
                *body = HeredocBody { parts, span: start..end };
            }
        }
        Ok(())
    }

    /// Returns the end of a body, and the start of the text behind it. As in bash, the end of the text ends the body,
    /// too.
    fn body_end(&self, pending: &PendingHeredoc) -> (usize, usize) {
        let mut at = self.at;
        while at < self.end {
            let line = self.slice(at..self.end);
            let length = memchr::memchr(b'\n', line.as_bytes()).unwrap_or(line.len());
            let text = &line[..length];
            let text = if pending.strips_tabs { text.trim_start_matches('\t') } else { text };
            let next = (at + length + 1).min(self.end);
            if text == pending.delimiter {
                return (at, next);
            }
            // Within `$(…)` a line that begins with the delimiter and has a parenthesis behind it also ends the body.
            // Bash runs the rest of that line: `EOF)`, `EOF rm x )`.
            if self.substitutions > 0
                && let Some(rest) = text.strip_prefix(pending.delimiter.as_str())
                && rest.contains(')')
            {
                return (at, at + length - rest.len());
            }
            at = next;
        }
        (self.end, self.end)
    }
}

fn literal(parts: &[WordPart]) -> String {
    parts
        .iter()
        .map(|part| match part {
            WordPart::Text(text) | WordPart::Quoted(text) => text.clone(),
            WordPart::Double(parts) => literal(parts),
            _ => String::new(),
        })
        .collect()
}

/// Removes the tabs at the beginning of lines, for `<<-`.
fn without_tabs(parts: Vec<WordPart>) -> Vec<WordPart> {
    let mut fresh = true;
    let strip = |part| match part {
        WordPart::Quoted(text) => {
            let mut kept = String::with_capacity(text.len());
            for line in text.split_inclusive('\n') {
                kept.push_str(if fresh { line.trim_start_matches('\t') } else { line });
                fresh = line.ends_with('\n');
            }
            WordPart::Quoted(kept)
        }
        part => {
            fresh = false;
            part
        }
    };
    parts.into_iter().map(strip).collect()
}
