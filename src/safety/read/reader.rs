//! The reader: where it stands in the text, and lists and pipelines.

use std::collections::HashSet;

use super::syntax::{AndOr, Fault, Heredoc, Join, Kind, List, Node, Pipeline, Script, Span};

/// The deepest nesting that is read. A person gives up long before; the stack of a small thread does not.
const MAX_DEPTH: usize = 64;
/// A reading that goes back over more than this many bytes, or times the text, gives up: it would be quadratic.
const MAX_LOOKAHEAD: (usize, usize) = (1 << 16, 4);

/// What was read.
#[derive(Debug, Default)]
pub struct Read {
    /// The script.
    pub script: Script,
    /// Bodies of heredocs, by their numbers.
    pub heredocs: Vec<Heredoc>,
    /// Where heads of simple commands begin.
    pub heads: HashSet<usize>,
    /// Places where a witness is not to be believed: backticks with backslashes, arithmetic.
    pub aside: Vec<Span>,
}

impl Read {
    /// Whether every one of these heads, which somebody else found, was found here, too.
    pub fn knows(&self, heads: &[usize]) -> bool {
        heads.iter().all(|head| self.heads.contains(head) || self.aside.iter().any(|span| span.contains(head)))
    }
}

/// Reads a text as bash would.
pub fn read(text: &str) -> Read {
    let mut reader = Reader {
        text,
        at: 0,
        end: text.len(),
        depth: 0,
        ahead: 0,
        pending: Vec::new(),
        heredocs: Vec::new(),
        heads: HashSet::new(),
        aside: Vec::new(),
        base: Some(0),
    };
    let script = reader.script();
    Read { script, heredocs: reader.heredocs, heads: reader.heads, aside: reader.aside }
}

/// Where the reader stands.
pub(super) struct Reader<'a> {
    pub text: &'a str,
    pub at: usize,
    pub end: usize,
    depth: usize,
    /// Bytes that were looked at in advance.
    ahead: usize,
    /// Heredocs whose bodies follow the next newline.
    pub pending: Vec<super::heredoc::Pending>,
    pub heredocs: Vec<Heredoc>,
    heads: HashSet<usize>,
    aside: Vec<Span>,
    /// Where the text begins in the whole one; `None` where it is no part of that.
    pub base: Option<usize>,
}

pub(super) type Result<T> = std::result::Result<T, Fault>;

impl<'a> Reader<'a> {
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
        self.rest().as_bytes().starts_with(text.as_bytes())
    }

    /// Takes this text, if it comes next.
    pub fn take(&mut self, text: &str) -> bool {
        let found = self.looking_at(text);
        if found {
            self.at += text.len();
        }
        found
    }

    /// The next character, whole.
    pub fn take_char(&mut self) -> Option<char> {
        let next = self.rest().chars().next()?;
        self.at += next.len_utf8();
        Some(next)
    }

    pub fn fault<T>(&self) -> Result<T> {
        Err(Fault::Syntax(self.at))
    }

    pub fn expect(&mut self, text: &str) -> Result<()> {
        if self.take(text) { Ok(()) } else { self.fault() }
    }

    pub fn slice(&self, span: Span) -> &'a str {
        self.text.get(span).unwrap_or_default()
    }

    /// A command begins here.
    pub fn head(&mut self, at: usize) {
        if let Some(base) = self.base {
            self.heads.insert(base + at);
        }
    }

    /// Here the witness may have other places, or see commands in what is none.
    pub fn set_aside(&mut self, span: Span) {
        if let Some(base) = self.base {
            self.aside.push(base + span.start..base + span.end);
        }
    }

    /// One level deeper.
    pub fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if self.depth >= MAX_DEPTH {
            return Err(Fault::Limit);
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }

    /// Bytes that will be read again.
    pub fn looked_ahead(&mut self, bytes: usize) -> Result<()> {
        self.ahead += bytes;
        if self.ahead > MAX_LOOKAHEAD.0.max(MAX_LOOKAHEAD.1 * self.text.len()) { Err(Fault::Limit) } else { Ok(()) }
    }

    /// Reads another text with this reader's bodies and depth: what stands between backticks.
    pub fn other<T>(
        &mut self,
        text: &str,
        base: Option<usize>,
        read: impl FnOnce(&mut Reader<'_>) -> Result<T>,
    ) -> Result<T> {
        let mut reader = Reader {
            text,
            at: 0,
            end: text.len(),
            depth: self.depth,
            ahead: self.ahead,
            pending: Vec::new(),
            heredocs: std::mem::take(&mut self.heredocs),
            heads: std::mem::take(&mut self.heads),
            aside: std::mem::take(&mut self.aside),
            base,
        };
        let result = reader.nested(read);
        self.ahead = reader.ahead;
        self.heredocs = reader.heredocs;
        self.heads = reader.heads;
        self.aside = reader.aside;
        result
    }

    /// The whole text. What was read before a fault is kept: bash runs it, too.
    fn script(&mut self) -> Script {
        let mut script = Script::default();
        loop {
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

    /// One complete command: up to a newline outside of everything.
    fn line(&mut self) -> Result<Option<List>> {
        self.newlines()?;
        if self.peek().is_none() {
            self.bodies()?;
            return Ok(None);
        }
        let mut list = List::new();
        while let Some(entry) = self.and_or()? {
            list.push(entry);
            if matches!(self.peek(), Some(b'\n') | None) {
                return Ok(Some(list));
            }
        }
        self.fault()
    }

    /// A list up to a word or sign that ends it, which is left.
    pub fn list(&mut self) -> Result<List> {
        self.nested(|reader| {
            let mut list = List::new();
            loop {
                reader.newlines()?;
                match reader.and_or()? {
                    Some(entry) => list.push(entry),
                    None => return Ok(list),
                }
            }
        })
    }

    /// A list in which something must stand.
    pub fn some_list(&mut self) -> Result<List> {
        let list = self.list()?;
        if list.is_empty() { self.fault() } else { Ok(list) }
    }

    fn and_or(&mut self) -> Result<Option<AndOr>> {
        self.blanks();
        let Some(first) = self.pipeline()? else { return Ok(None) };
        let mut pipelines = vec![(Join::And, first)];
        loop {
            self.blanks();
            let join = if self.take("&&") {
                Join::And
            } else if self.take("||") {
                Join::Or
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
        Ok(Some(AndOr { pipelines, background }))
    }

    fn pipeline(&mut self) -> Result<Option<Pipeline>> {
        let mut prefixed = false;
        loop {
            self.blanks();
            if self.keyword("!") {
                // What is found does not depend on it.
            } else if self.at_keyword("time") {
                // For the witness it is a command like any other.
                self.head(self.at);
                self.at += "time".len();
                self.blanks();
                let _ = self.keyword("-p") || self.keyword("--");
            } else {
                break;
            }
            prefixed = true;
        }
        let Some(first) = self.command()? else {
            // `time` and `!` may stand alone.
            return Ok(prefixed.then(|| Pipeline { commands: Vec::new() }));
        };
        let mut commands = vec![first];
        loop {
            self.blanks();
            if self.looking_at("||") || !(self.take("|&") || self.take("|")) {
                return Ok(Some(Pipeline { commands }));
            }
            self.newlines()?;
            match self.command()? {
                Some(next) => commands.push(next),
                None => return self.fault(),
            }
        }
    }

    /// One command; `None` where something stands that ends a list.
    fn command(&mut self) -> Result<Option<Node>> {
        self.blanks();
        match self.peek() {
            None | Some(b')' | b'\n' | b';' | b'&' | b'|') if !self.looking_at("&>") => return Ok(None),
            _ => {}
        }
        if self.ends_list() {
            return Ok(None);
        }
        if let Some(kind) = self.compound()? {
            let redirects = self.redirects()?;
            let ended = self.peek().is_none_or(is_meta) && !self.looking_at("(");
            return if ended || self.ends_list() { Ok(Some(Node { kind, redirects })) } else { self.fault() };
        }
        let simple = self.simple()?;
        match simple {
            Some(node) => Ok(Some(node)),
            None => self.fault(),
        }
    }

    fn ends_list(&self) -> bool {
        ["then", "else", "elif", "fi", "do", "done", "esac", "}"].iter().any(|word| self.at_keyword(word))
    }

    /// Whether this word stands here, whole and unquoted.
    pub fn at_keyword(&self, word: &str) -> bool {
        self.looking_at(word) && self.peek_at(word.len()).is_none_or(is_meta)
    }

    /// Takes this word if it stands here.
    pub fn keyword(&mut self, word: &str) -> bool {
        let found = self.at_keyword(word);
        if found {
            self.at += word.len();
        }
        found
    }

    /// Blanks and joined lines.
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

    /// Blanks, comments and newlines, with the bodies of heredocs that begin there.
    pub fn newlines(&mut self) -> Result<()> {
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

/// Ends a word.
pub(super) fn is_meta(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'<' | b'>' | b'(' | b')')
}

/// A compound command as a node without redirects.
impl From<Kind> for Node {
    fn from(kind: Kind) -> Self {
        Self { kind, redirects: Vec::new() }
    }
}
