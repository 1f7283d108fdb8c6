//! Words: their quotes, expansions and nested commands.

use std::rc::Rc;

use super::reader::{ScriptReader, ScriptResult, is_meta};
use super::syntax::{ExtendedPattern, ScriptFault, SubstitutedCommands, WordPart, WordSyntax};
use super::word_parts::{QuotingContext, WordPartCollector, is_plain};

impl ScriptReader<'_> {
    /// Reads a word, if one begins here.
    pub(super) fn word(&mut self) -> ScriptResult<Option<WordSyntax>> {
        self.word_with(false)
    }

    /// Reads a word behind `=~` or `==` in `[[ … ]]`, where parentheses and bars belong to the word.
    pub(super) fn pattern_word(&mut self) -> ScriptResult<Option<WordSyntax>> {
        self.word_with(true)
    }

    fn word_with(&mut self, pattern: bool) -> ScriptResult<Option<WordSyntax>> {
        let start = self.at;
        let mut parts = WordPartCollector::default();
        while let Some(byte) = self.peek() {
            match byte {
                b'(' if pattern => {
                    let pattern = self.parenthesised()?;
                    parts.push(WordPart::Pattern(Box::new(pattern)));
                }
                b'|' if pattern && !self.looking_at("||") => parts.text(self.take_char()),
                b'<' | b'>' if self.peek_at(1) == Some(b'(') => {
                    self.at += 2;
                    let list = self.read_substituted_list()?;
                    parts.push(WordPart::Process(Rc::new(SubstitutedCommands { list, text: None })));
                }
                b'(' if self.at > start && self.text.as_bytes().get(self.at - 1) == Some(&b'=') => {
                    // `declare -a x=(…)`
                    match self.assigned(start)? {
                        Some((_, after)) if after == self.at => {
                            let array = self.array()?;
                            parts.push(array);
                        }
                        _ => break,
                    }
                }
                byte if is_meta(byte) => break,
                b'?' | b'*' | b'+' | b'@' | b'!' if self.peek_at(1) == Some(b'(') => {
                    self.at += 1;
                    let mut pattern = self.parenthesised()?;
                    pattern.source.insert(0, char::from(byte));
                    parts.push(WordPart::Pattern(Box::new(pattern)));
                }
                _ => self.part(&mut parts, QuotingContext::None)?,
            }
        }
        if self.at == start {
            return Ok(None);
        }
        Ok(Some(WordSyntax { parts: parts.done(), span: start..self.at }))
    }

    /// Reads parts up to a place, across blanks: in `${…}`, arithmetic and heredocs.
    pub(super) fn parts_until(&mut self, end: usize, quoted: bool) -> ScriptResult<Vec<WordPart>> {
        let outer = self.end;
        self.end = end.min(outer);
        let mut parts = WordPartCollector::default();
        let quoting = if quoted { QuotingContext::Heredoc } else { QuotingContext::Arithmetic };
        let mut result = Ok(());
        while self.at < self.end {
            result = self.part(&mut parts, quoting);
            if result.is_err() {
                break;
            }
        }
        self.end = outer;
        result.map(|()| parts.done())
    }

    /// Reads parts up to the brace that closes `${…}`. The brace is not taken.
    pub(super) fn parts_in_braces(&mut self, quoted: bool) -> ScriptResult<Vec<WordPart>> {
        let quoting = if quoted { QuotingContext::QuotedBraces } else { QuotingContext::Braces };
        let mut parts = WordPartCollector::default();
        loop {
            match self.peek() {
                None => return self.fault(),
                Some(b'}') => return Ok(parts.done()),
                Some(_) => self.part(&mut parts, quoting)?,
            }
        }
    }

    /// Reads `(…)` as a part of a pattern.
    fn parenthesised(&mut self) -> ScriptResult<ExtendedPattern> {
        let Some(close) = self.matching(self.at, b'(', b')')? else { return self.fault() };
        let source = self.slice(self.at..close + 1).to_owned();
        self.at += 1;
        let parts = self.read_one_level_deeper(|reader| reader.parts_until(close, false))?;
        self.at = close + 1;
        Ok(ExtendedPattern { source, parts })
    }

    /// Reads one part of a word.
    fn part(&mut self, parts: &mut WordPartCollector, quoting: QuotingContext) -> ScriptResult<()> {
        self.count_piece()?;
        match self.peek() {
            Some(b'\\') => {
                self.at += 1;
                self.escape(parts, quoting)
            }
            Some(b'\'') if quoting.has_single() => {
                self.at += 1;
                let Some(length) = memchr::memchr(b'\'', self.rest().as_bytes()) else { return self.fault() };
                parts.quoted(self.slice(self.at..self.at + length));
                self.at += length + 1;
                Ok(())
            }
            Some(b'"') if quoting.has_double() => {
                let part = self.double()?;
                parts.push(part);
                Ok(())
            }
            Some(b'`') => {
                let part = self.backticks(quoting)?;
                parts.push(part);
                Ok(())
            }
            Some(b'$') => self.dollar(parts, quoting),
            _ => {
                let from = self.at;
                self.take_char();
                while self.peek().is_some_and(|byte| is_plain(byte, quoting)) {
                    self.at += 1;
                }
                let text = self.slice(from..self.at);
                if quoting.has_single() {
                    parts.plain(text)
                } else {
                    parts.quoted(text)
                }
                Ok(())
            }
        }
    }

    /// Reads the character behind a backslash.
    fn escape(&mut self, parts: &mut WordPartCollector, quoting: QuotingContext) -> ScriptResult<()> {
        let Some(next) = self.take_char() else {
            parts.quoted("\\");
            return Ok(());
        };
        let special = match quoting {
            QuotingContext::None | QuotingContext::Braces => true,
            QuotingContext::QuotedBraces => matches!(next, '$' | '`' | '"' | '\\' | '\n' | '}'),
            QuotingContext::Double | QuotingContext::Arithmetic => matches!(next, '$' | '`' | '"' | '\\' | '\n'),
            QuotingContext::Heredoc => matches!(next, '$' | '`' | '\\' | '\n'),
        };
        if !special {
            parts.quoted("\\");
        }
        if !(special && next == '\n') {
            parts.quoted(next.encode_utf8(&mut [0; 4]));
        }
        Ok(())
    }

    fn double(&mut self) -> ScriptResult<WordPart> {
        self.read_one_level_deeper(|reader| {
            reader.at += 1;
            let mut parts = WordPartCollector::default();
            loop {
                match reader.peek() {
                    None => return reader.fault(),
                    Some(b'"') => {
                        reader.at += 1;
                        return Ok(WordPart::Double(parts.done()));
                    }
                    Some(_) => reader.part(&mut parts, QuotingContext::Double)?,
                }
            }
        })
    }

    /// Reads the text between backticks as a text of its own, without the backslashes that protect it.
    fn backticks(&mut self, quoting: QuotingContext) -> ScriptResult<WordPart> {
        self.at += 1;
        let mut text = String::new();
        loop {
            match self.take_char() {
                None => return self.fault(),
                Some('`') => break,
                Some('\\') => match self.take_char() {
                    Some(next @ ('$' | '`' | '\\')) => text.push(next),
                    Some('"') if quoting.is_quoted() => text.push('"'),
                    Some(next) => {
                        text.push('\\');
                        text.push(next);
                    }
                    None => return self.fault(),
                },
                Some(next) => text.push(next),
            }
        }
        let list = self.read_other_text(&text, |reader| {
            let list = reader.list()?;
            reader.newlines()?;
            reader.bodies()?;
            if reader.at < reader.end { reader.fault() } else { Ok(list) }
        });
        Ok(WordPart::Command(Rc::new(SubstitutedCommands { list: list?, text: Some(text.into()) })))
    }

    fn dollar(&mut self, parts: &mut WordPartCollector, quoting: QuotingContext) -> ScriptResult<()> {
        match self.peek_at(1) {
            Some(b'\'') if quoting.has_single() || quoting == QuotingContext::Arithmetic => {
                self.at += 2;
                let text = self.ansi_c()?;
                parts.quoted(&text);
            }
            Some(b'"') if quoting.has_single() => {
                self.at += 1;
                let part = self.double()?;
                parts.push(part);
            }
            Some(b'(') => {
                if self.peek_at(2) == Some(b'(') {
                    let start = self.at;
                    self.at += 3;
                    if let Some(nested) = self.arithmetic()? {
                        parts.push(WordPart::Arithmetic(nested));
                        return Ok(());
                    }
                    self.at = start;
                }
                self.at += 2;
                let list = self.read_substituted_list()?;
                parts.push(WordPart::Command(Rc::new(SubstitutedCommands { list, text: None })));
            }
            Some(b'[') => {
                let Some(close) = self.matching(self.at + 1, b'[', b']')? else { return self.fault() };
                self.at += 2;
                let nested = self.read_one_level_deeper(|reader| reader.parts_until(close, false))?;
                self.at = close + 1;
                parts.push(WordPart::Arithmetic(nested));
            }
            Some(b'{') => {
                let parameter = self.read_one_level_deeper(|reader| reader.braced(quoting.is_quoted()))?;
                parts.push(WordPart::Parameter(Box::new(parameter)));
            }
            Some(byte) if byte.is_ascii_alphanumeric() || b"_@*#?-$!".contains(&byte) => {
                self.at += 1;
                let name = self.parameter_name(false);
                parts.push(WordPart::Parameter(Box::new(super::syntax::ParameterExpansion {
                    name,
                    ..Default::default()
                })));
            }
            _ => {
                self.at += 1;
                if quoting.has_single() { parts.plain("$") } else { parts.quoted("$") }
            }
        }
        Ok(())
    }

    /// Reads up to `))`. Returns `None` and takes nothing if the parentheses belong to a subshell in a substitution or
    /// in another subshell.
    pub(super) fn arithmetic(&mut self) -> ScriptResult<Option<Vec<WordPart>>> {
        let start = self.at;
        let pending = self.pending.len();
        let found = self.read_one_level_deeper(|reader| {
            let mut parts = WordPartCollector::default();
            let mut open = 0usize;
            loop {
                match reader.peek() {
                    Some(b')') if open == 0 && reader.take("))") => return Ok(Some(parts.done())),
                    None => return Ok(None),
                    Some(b')') if open == 0 => return Ok(None),
                    Some(b'(') => open += 1,
                    Some(b')') => open -= 1,
                    _ => {
                        reader.part(&mut parts, QuotingContext::Arithmetic)?;
                        continue;
                    }
                }
                parts.text(reader.take_char());
            }
        });
        match found {
            Ok(Some(parts)) => return Ok(Some(parts)),
            Err(ScriptFault::Limit) => return Err(ScriptFault::Limit),
            Ok(None) | Err(ScriptFault::Syntax(_)) => {}
        }
        self.looked_ahead(self.at - start)?;
        self.pending.truncate(pending);
        self.at = start;
        Ok(None)
    }

    /// Returns the place of the sign that closes the sign at `open`. Signs in quotes and behind backslashes do not
    /// count.
    pub(super) fn matching(&mut self, open: usize, opening: u8, closing: u8) -> ScriptResult<Option<usize>> {
        let bytes = self.text.as_bytes();
        let mut depth = 0usize;
        let mut at = open;
        let mut found = None;
        while at < self.end {
            match bytes[at] {
                b'\\' => at += 1,
                b'\'' => match memchr::memchr(b'\'', &bytes[at + 1..self.end]) {
                    Some(length) => at += length + 1,
                    None => break,
                },
                b'"' => {
                    at += 1;
                    while at < self.end && bytes[at] != b'"' {
                        at += if bytes[at] == b'\\' { 2 } else { 1 };
                    }
                }
                byte if byte == opening => depth += 1,
                byte if byte == closing => {
                    depth -= 1;
                    if depth == 0 {
                        found = Some(at);
                        break;
                    }
                }
                _ => {}
            }
            at += 1;
        }
        self.looked_ahead(at.min(self.end) - open)?;
        Ok(found)
    }
}
