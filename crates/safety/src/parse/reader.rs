//! The reader: its place in the text, lists and pipelines.

use super::syntax::{
    AndOrList, AndOrOperator, ByteSpan, CommandList, CommandNode, HeredocBody, PendingHeredoc, PipelineSyntax,
    ScriptFault, ScriptSyntax, WordPart,
};

/// Deepest nesting that is read. Deeper nesting would overflow the stack of a small thread.
const MAX_DEPTH: usize = 64;
/// Most bytes, and multiples of the text, that are read again before the reader gives up. More would be quadratic.
const MAX_LOOKAHEAD: (usize, usize) = (1 << 16, 4);

/// A text after it was read.
#[derive(Debug, Default)]
pub struct ParsedScript {
    /// The script.
    pub script: ScriptSyntax,
    /// The bodies of heredocs, by number.
    pub heredocs: Vec<HeredocBody>,
}

/// Reads a text as bash does.
pub fn read(text: &str) -> ParsedScript {
    read_pieces(text, usize::MAX)
}

/// Reads a text as bash does, but no more than this many pieces of it: pipelines, and parts of words. More of them are
/// a [`Fault::Limit`]. So a text of many small words takes no more memory than the caller allows for, while the length
/// of a heredoc does not count.
pub fn read_pieces(text: &str, most: usize) -> ParsedScript {
    let mut reader = ScriptReader::new(text, most);
    let script = reader.script();
    ParsedScript { script, heredocs: reader.heredocs }
}

/// Reads a text as bash expands the body of a heredoc: with its expansions, whatever quotes are around them.
pub fn read_expansions(text: &str) -> std::result::Result<(Vec<WordPart>, Vec<HeredocBody>), ScriptFault> {
    let mut reader = ScriptReader::new(text, usize::MAX);
    let parts = reader.parts_until(text.len(), true)?;
    Ok((parts, reader.heredocs))
}

/// A reader of one text.
pub(super) struct ScriptReader<'a> {
    pub text: &'a str,
    pub at: usize,
    pub end: usize,
    depth: usize,
    /// The number of substitutions around this place: `$(…)`, `<(…)`.
    pub substitutions: usize,
    /// The number of bytes that were read ahead.
    ahead: usize,
    /// The number of pieces that may still be read.
    pieces: usize,
    /// Heredocs whose bodies follow the next newline.
    pub pending: Vec<PendingHeredoc>,
    pub heredocs: Vec<HeredocBody>,
}

pub(super) type ScriptResult<T> = std::result::Result<T, ScriptFault>;

impl<'a> ScriptReader<'a> {
    fn new(text: &'a str, pieces: usize) -> Self {
        Self {
            text,
            at: 0,
            end: text.len(),
            depth: 0,
            substitutions: 0,
            ahead: 0,
            pieces,
            pending: Vec::new(),
            heredocs: Vec::new(),
        }
    }

    pub fn peek(&self) -> Option<u8> {
        self.peek_at(0)
    }

    pub fn peek_at(&self, ahead: usize) -> Option<u8> {
        let at = self.at + ahead;
        if at < self.end { self.text.as_bytes().get(at).copied() } else { None }
    }

    pub fn rest(&self) -> &'a str {
        self.text.get(self.at..self.end).unwrap_or_default()
    }

    pub fn looking_at(&self, text: &str) -> bool {
        self.text.as_bytes().get(self.at..self.end).is_some_and(|rest| rest.starts_with(text.as_bytes()))
    }

    /// Takes this text, if it comes next.
    pub fn take(&mut self, text: &str) -> bool {
        let found = self.looking_at(text);
        if found {
            self.at += text.len();
        }
        found
    }

    /// Takes the next character.
    pub fn take_char(&mut self) -> Option<char> {
        let next = self.rest().chars().next()?;
        self.at += next.len_utf8();
        Some(next)
    }

    pub fn fault<T>(&self) -> ScriptResult<T> {
        Err(ScriptFault::Syntax(self.at))
    }

    pub fn expect(&mut self, text: &str) -> ScriptResult<()> {
        if self.take(text) { Ok(()) } else { self.fault() }
    }

    pub fn slice(&self, span: ByteSpan) -> &'a str {
        self.text.get(span).unwrap_or_default()
    }

    /// Reads one level deeper.
    pub fn read_one_level_deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> ScriptResult<T>) -> ScriptResult<T> {
        if self.depth >= MAX_DEPTH {
            return Err(ScriptFault::Limit);
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }

    /// Reads the list of `$(…)` or `<(…)`, up to its parenthesis.
    pub fn read_substituted_list(&mut self) -> ScriptResult<CommandList> {
        self.substitutions += 1;
        let list = self.list();
        self.substitutions -= 1;
        let list = list?;
        self.expect(")")?;
        Ok(list)
    }

    /// Counts bytes that will be read again.
    pub fn looked_ahead(&mut self, bytes: usize) -> ScriptResult<()> {
        self.ahead += bytes;
        if self.ahead > MAX_LOOKAHEAD.0.max(MAX_LOOKAHEAD.1 * self.text.len()) {
            Err(ScriptFault::Limit)
        } else {
            Ok(())
        }
    }

    /// Counts a piece of the text.
    pub fn count_piece(&mut self) -> ScriptResult<()> {
        self.pieces = self.pieces.checked_sub(1).ok_or(ScriptFault::Limit)?;
        Ok(())
    }

    /// Reads another text, from between backticks, with the heredocs and the depth of this reader.
    pub fn read_other_text<T>(
        &mut self,
        text: &str,
        read: impl FnOnce(&mut ScriptReader<'_>) -> ScriptResult<T>,
    ) -> ScriptResult<T> {
        let mut reader = ScriptReader {
            text,
            at: 0,
            end: text.len(),
            depth: self.depth,
            substitutions: 0,
            ahead: self.ahead,
            pieces: self.pieces,
            pending: Vec::new(),
            heredocs: std::mem::take(&mut self.heredocs),
        };
        let result = reader.read_one_level_deeper(read);
        self.ahead = reader.ahead;
        self.pieces = reader.pieces;
        self.heredocs = reader.heredocs;
        result
    }

    /// Reads the whole text. Lines before a fault are kept, since bash runs them.
    fn script(&mut self) -> ScriptSyntax {
        let mut script = ScriptSyntax::default();
        loop {
            script.end = self.at;
            match self.line() {
                Ok(None) => break,
                Ok(Some(list)) => script.body.extend(list),
                Err(fault) => {
                    script.fault = Some(fault);
                    break;
                }
            }
        }
        script
    }

    /// Reads one complete command: up to a newline that is not nested.
    fn line(&mut self) -> ScriptResult<Option<CommandList>> {
        self.newlines()?;
        if self.peek().is_none() {
            self.bodies()?;
            return Ok(None);
        }
        let mut list = CommandList::new();
        while let Some(entry) = self.and_or()? {
            list.push(entry);
            if matches!(self.peek(), Some(b'\n') | None) {
                return Ok(Some(list));
            }
        }
        self.fault()
    }

    /// Reads a list up to the word or sign that ends it, which is not taken.
    pub fn list(&mut self) -> ScriptResult<CommandList> {
        self.read_one_level_deeper(|reader| {
            let mut list = CommandList::new();
            loop {
                reader.newlines()?;
                match reader.and_or()? {
                    Some(entry) => list.push(entry),
                    None => return Ok(list),
                }
            }
        })
    }

    /// Reads a list that must not be empty.
    pub fn some_list(&mut self) -> ScriptResult<CommandList> {
        let list = self.list()?;
        if list.is_empty() { self.fault() } else { Ok(list) }
    }

    fn and_or(&mut self) -> ScriptResult<Option<AndOrList>> {
        self.blanks();
        let Some(first) = self.pipeline()? else { return Ok(None) };
        let mut pipelines = vec![(AndOrOperator::And, first)];
        loop {
            self.blanks();
            let join = if self.take("&&") {
                AndOrOperator::And
            } else if self.take("||") {
                AndOrOperator::Or
            } else {
                break;
            };
            self.newlines()?;
            match self.pipeline()? {
                Some(next) => pipelines.push((join, next)),
                None => return self.fault(),
            }
        }
        let background = self.peek() == Some(b'&');
        if background || (self.peek() == Some(b';') && self.peek_at(1) != Some(b';') && self.peek_at(1) != Some(b'&')) {
            self.at += 1;
            self.blanks();
        }
        Ok(Some(AndOrList { pipelines, background }))
    }

    fn pipeline(&mut self) -> ScriptResult<Option<PipelineSyntax>> {
        self.count_piece()?;
        let (mut negated, mut negation) = (false, None);
        let mut timed = false;
        loop {
            self.blanks();
            let place = self.at;
            if self.keyword("!") {
                negated = !negated;
                negation.get_or_insert(place);
            } else if self.keyword("time") {
                timed = true;
                self.blanks();
                let _ = self.keyword("-p") || self.keyword("--");
            } else {
                break;
            }
        }
        let Some(first) = self.command()? else {
            // `time` and `!` need no command.
            return Ok((negation.is_some() || timed).then(|| PipelineSyntax {
                commands: Vec::new(),
                negated,
                negation,
            }));
        };
        let mut commands = vec![first];
        while let Some(pipes_stderr) = self.pipe() {
            if let Some(last) = commands.last_mut() {
                last.pipes_stderr = pipes_stderr;
            }
            self.newlines()?;
            // Bash takes `!` before a whole pipeline only.
            if self.at_keyword("!") {
                return self.fault();
            }
            match self.command()? {
                Some(next) => commands.push(next),
                None => return self.fault(),
            }
        }
        Ok(Some(PipelineSyntax { commands, negated, negation }))
    }

    /// Takes a pipe, if one comes next. Returns whether it takes standard error, too.
    fn pipe(&mut self) -> Option<bool> {
        self.blanks();
        if self.looking_at("||") {
            return None;
        }
        if self.take("|&") {
            return Some(true);
        }
        self.take("|").then_some(false)
    }

    /// Reads one command. `None` at a word or sign that ends a list.
    fn command(&mut self) -> ScriptResult<Option<CommandNode>> {
        self.blanks();
        match self.peek() {
            None | Some(b')' | b'\n' | b';' | b'&' | b'|') if !self.looking_at("&>") => return Ok(None),
            _ => {}
        }
        if self.ends_list() {
            return Ok(None);
        }
        let start = self.at;
        if let Some(kind) = self.compound()? {
            let end = self.at;
            let redirects = self.redirects()?;
            let ended = self.peek().is_none_or(is_meta) && !self.looking_at("(");
            let node = CommandNode::new(kind, redirects, start, end);
            return if ended || self.ends_list() { Ok(Some(node)) } else { self.fault() };
        }
        let simple = self.simple()?;
        match simple {
            Some(node) => Ok(Some(node)),
            None => self.fault(),
        }
    }

    fn ends_list(&self) -> bool {
        // Most words begin with another letter.
        if !matches!(self.peek(), Some(b't' | b'e' | b'f' | b'd' | b'}')) {
            return false;
        }
        ["then", "else", "elif", "fi", "do", "done", "esac", "}"].iter().any(|word| self.at_keyword(word))
    }

    /// Returns whether this word comes next, whole and unquoted.
    pub fn at_keyword(&self, word: &str) -> bool {
        self.looking_at(word) && self.peek_at(word.len()).is_none_or(is_meta)
    }

    /// Takes this word if it comes next.
    pub fn keyword(&mut self, word: &str) -> bool {
        let found = self.at_keyword(word);
        if found {
            self.at += word.len();
        }
        found
    }

    /// Skips blanks, comments and joined lines.
    pub fn blanks(&mut self) {
        loop {
            match self.peek() {
                Some(b' ' | b'\t') => self.at += 1,
                Some(b'\\') if self.peek_at(1) == Some(b'\n') => self.at += 2,
                Some(b'#') if self.at == 0 || self.text.as_bytes().get(self.at - 1).copied().is_none_or(is_meta) => {
                    self.at = memchr::memchr(b'\n', self.rest().as_bytes()).map_or(self.end, |length| self.at + length);
                }
                _ => return,
            }
        }
    }

    /// Skips blanks, comments and newlines, and reads the heredoc bodies that begin there.
    pub fn newlines(&mut self) -> ScriptResult<()> {
        loop {
            self.blanks();
            if self.peek() != Some(b'\n') {
                return Ok(());
            }
            self.at += 1;
            self.bodies()?;
        }
    }
}

/// Returns whether a byte ends a word.
pub(super) fn is_meta(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'<' | b'>' | b'(' | b')')
}
