//! Simple commands, with their assignments and redirects.

use super::reader::{ScriptReader, ScriptResult};
use super::syntax::{
    AssignmentSyntax, CommandNode, CommandNodeKind, RedirectSyntax, ScriptFault, UnexpandedCommand, WordPart,
    WordSyntax,
};

/// Redirects. A longer operator precedes its prefixes.
const REDIRECTS: [&str; 11] = ["<<<", "<<-", "<<", "<&", "<>", "<", ">>", ">|", ">&", ">", "&>"];

impl ScriptReader<'_> {
    /// Reads a simple command, or the definition of a function. Both begin with a word.
    pub(super) fn simple(&mut self) -> ScriptResult<Option<CommandNode>> {
        let start = self.at;
        let mut simple = UnexpandedCommand::default();
        let mut end = start;
        loop {
            self.blanks();
            if let Some(redirection) = self.redirection()? {
                simple.redirects.push(redirection);
                end = self.at;
                continue;
            }
            if simple.words.is_empty()
                && let Some(assignment) = self.assignment()?
            {
                simple.assignments.push(assignment);
                end = self.at;
                continue;
            }
            let Some(word) = self.word()? else { break };
            if simple.words.is_empty() && simple.assignments.is_empty() && simple.redirects.is_empty() {
                self.blanks();
                if self.peek() == Some(b'(')
                    && let Some(kind) = self.named_function(&word)?
                {
                    return Ok(Some(CommandNode::new(kind, Vec::new(), start, self.at)));
                }
                self.at = word.span.end;
            }
            end = self.at;
            simple.words.push(word);
        }
        if simple.words.is_empty() && simple.assignments.is_empty() && simple.redirects.is_empty() {
            return Ok(None);
        }
        if self.peek() == Some(b'(') {
            return self.fault();
        }
        simple.span = start..end;
        Ok(Some(CommandNode::new(CommandNodeKind::Simple(simple), Vec::new(), start, end)))
    }

    fn named_function(&mut self, word: &WordSyntax) -> ScriptResult<Option<CommandNodeKind>> {
        self.at += 1;
        self.blanks();
        if !self.take(")") {
            return self.fault();
        }
        let name = self.slice(word.span.clone()).to_owned();
        self.function(name).map(Some)
    }

    /// Reads `NAME=…`, `NAME+=…` or `NAME[…]=…`.
    fn assignment(&mut self) -> ScriptResult<Option<AssignmentSyntax>> {
        let start = self.at;
        let Some((name, after)) = self.assigned(start)? else { return Ok(None) };
        let append = self.text.as_bytes().get(after.wrapping_sub(2)) == Some(&b'+');
        let mut index = None;
        if self.text.as_bytes().get(start + name.len()) == Some(&b'[') {
            self.at = start + name.len() + 1;
            let close = after - if append { 3 } else { 2 };
            index = Some(self.parts_until(close, false)?);
        }
        self.at = after;
        let value = self.assigned_value(after)?;
        let source = self.slice(start..self.at).to_owned();
        Ok(Some(AssignmentSyntax { name, index, append, value, source }))
    }

    /// Returns the name of the assignment that begins here, and the start of its value.
    pub(super) fn assigned(&mut self, start: usize) -> ScriptResult<Option<(String, usize)>> {
        let bytes = self.text.as_bytes();
        let mut at = start;
        while at < self.end && (bytes[at].is_ascii_alphanumeric() || bytes[at] == b'_') {
            at += 1;
        }
        if at == start || bytes[start].is_ascii_digit() {
            return Ok(None);
        }
        let name = self.slice(start..at).to_owned();
        if at < self.end && bytes[at] == b'[' {
            match self.matching(at, b'[', b']')? {
                Some(close) => at = close + 1,
                // bash reads on to the bracket that closes, over blanks and newlines.
                None => return self.fault(),
            }
        }
        if at < self.end && bytes[at] == b'+' {
            at += 1;
        }
        Ok((at < self.end && bytes[at] == b'=').then_some((name, at + 1)))
    }

    fn assigned_value(&mut self, start: usize) -> ScriptResult<WordSyntax> {
        if self.peek() == Some(b'(') {
            let part = self.array()?;
            return Ok(WordSyntax { parts: vec![part], span: start..self.at });
        }
        Ok(self.word()?.unwrap_or(WordSyntax { parts: Vec::new(), span: start..start }))
    }

    /// Reads `(…)` behind `NAME=`.
    pub(super) fn array(&mut self) -> ScriptResult<WordPart> {
        self.read_one_level_deeper(|reader| {
            reader.expect("(")?;
            let mut words = Vec::new();
            loop {
                reader.newlines()?;
                if reader.take(")") {
                    return Ok(WordPart::Array(words));
                }
                if reader.peek() == Some(b'[') && reader.matching(reader.at, b'[', b']')?.is_none() {
                    return reader.fault();
                }
                match reader.word()? {
                    Some(word) => words.push(word),
                    None => return reader.fault(),
                }
            }
        })
    }

    /// Reads the redirects behind a compound command.
    pub(super) fn redirects(&mut self) -> ScriptResult<Vec<RedirectSyntax>> {
        let mut redirects = Vec::new();
        loop {
            self.blanks();
            match self.redirection()? {
                Some(redirection) => redirects.push(redirection),
                None => return Ok(redirects),
            }
        }
    }

    fn redirection(&mut self) -> ScriptResult<Option<RedirectSyntax>> {
        let start = self.at;
        let mut fd = None;
        // Most words begin with another sign.
        if !matches!(self.peek(), Some(b'<' | b'>' | b'&' | b'{' | b'0'..=b'9')) {
            return Ok(None);
        }
        let digits = self.rest().bytes().take_while(u8::is_ascii_digit).count();
        let name = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'[' | b']');
        let named = if self.peek() == Some(b'{') { self.rest().bytes().skip(1).take_while(name).count() } else { 0 };
        let skip = if named > 0 && self.peek_at(named + 1) == Some(b'}') { named + 2 } else { digits };
        if skip > 0 {
            if !matches!(self.peek_at(skip), Some(b'<' | b'>')) {
                return Ok(None);
            }
            fd = self.slice(start..start + digits).parse().ok();
            self.at += skip;
        }
        let found =
            if self.take("&>>") { Some("&>>") } else { REDIRECTS.iter().copied().find(|op| self.looking_at(op)) };
        let Some(op) = found else {
            self.at = start;
            return Ok(None);
        };
        if op != "&>>" {
            // `<(…)` and `>(…)` are words.
            if matches!(op, "<" | ">") && self.peek_at(1) == Some(b'(') {
                self.at = start;
                return Ok(None);
            }
            self.at += op.len();
        }
        self.blanks();
        if matches!(op, "<<" | "<<-") {
            return self.heredoc(op, fd).map(Some);
        }
        match self.word()? {
            Some(target) => Ok(Some(RedirectSyntax { op, fd, target, heredoc: None })),
            None => Err(ScriptFault::Syntax(self.at)),
        }
    }
}
