//! Cuts a program into its parts. An unclosed part reaches to the end.

use super::string_values::{escaped, parts};
use super::syntax::{BackquoteMeaning, InlineSyntax, StringInterpolation};
use super::token::{InlineStringPart, InlineStringUse, InlineToken, LONG_SIGNS, SIGNS};

/// The state of cutting a program.
pub(super) struct InlineLexer<'a> {
    pub(super) text: &'a [char],
    pub(super) at: usize,
    syntax: &'a InlineSyntax,
    pub(super) tokens: Vec<InlineToken>,
    /// The number of open `(` and `[`. Inside them a line does not end a statement.
    open: usize,
    /// Code that stands inside of strings and patterns.
    pub(super) nested: Vec<String>,
}

impl<'a> InlineLexer<'a> {
    /// A lexer for a text.
    pub(super) fn new(text: &'a [char], syntax: &'a InlineSyntax) -> Self {
        Self { text, at: 0, syntax, tokens: Vec::new(), open: 0, nested: Vec::new() }
    }

    /// Returns the parts.
    pub(super) fn run(&mut self) -> Vec<InlineToken> {
        while self.at < self.text.len() {
            if !(self.blank() || self.comment() || self.string() || self.word()) {
                self.sign();
            }
        }
        std::mem::take(&mut self.tokens)
    }

    pub(super) fn letter(&self, ahead: usize) -> char {
        self.text.get(self.at + ahead).copied().unwrap_or('\0')
    }

    fn begins(&self, text: &str) -> bool {
        text.chars().enumerate().all(|(index, letter)| self.text.get(self.at + index) == Some(&letter))
    }

    fn blank(&mut self) -> bool {
        let letter = self.letter(0);
        if letter == '\n' && self.open == 0 {
            self.tokens.push(InlineToken::Line);
        }
        // A backslash continues the line.
        let continued = letter == '\\' && self.letter(1) == '\n';
        let blank = letter.is_whitespace() || continued;
        self.at += usize::from(blank) + usize::from(continued);
        blank
    }

    fn comment(&mut self) -> bool {
        if let Some((open, close)) = self.syntax.block
            && self.begins(open)
        {
            self.at += open.chars().count();
            while self.at < self.text.len() && !self.begins(close) {
                self.at += 1;
            }
            self.at = (self.at + close.chars().count()).min(self.text.len());
            return true;
        }
        // Perl's `$#list`
        let name = self.syntax.sigils.contains('$') && self.at > 0 && self.text[self.at - 1] == '$';
        if name || !self.syntax.comments.iter().any(|open| self.begins(open)) {
            return false;
        }
        while self.at < self.text.len() && self.letter(0) != '\n' {
            self.at += 1;
        }
        true
    }

    fn string(&mut self) -> bool {
        let syntax = self.syntax;
        match self.letter(0) {
            quote @ ('"' | '\'') if syntax.python => self.python_string(quote, true, false),
            '"' => self.quoted('"', true, syntax.inside, InlineStringUse::Text),
            '\'' if syntax.single => {
                self.quoted('\'', syntax.single_escapes, StringInterpolation::Text, InlineStringUse::Text)
            }
            '`' if syntax.backquote == BackquoteMeaning::Template => {
                self.quoted('`', true, StringInterpolation::Dollar, InlineStringUse::Template)
            }
            '`' if syntax.backquote == BackquoteMeaning::Script => {
                let inside = if syntax.inside == StringInterpolation::Hash {
                    StringInterpolation::Hash
                } else {
                    StringInterpolation::Dollar
                };
                self.quoted('`', true, inside, InlineStringUse::Run);
            }
            '/' if syntax.patterns && self.expects_value() => {
                self.at += 1;
                let _ = self.until('/', true);
                self.skip_flags();
                self.tokens.push(InlineToken::Text(Vec::new(), InlineStringUse::Text));
            }
            '[' if syntax.long_brackets && self.letter(1) == '[' => {
                let from = self.at + 2;
                while self.at < self.text.len() && !self.begins("]]") {
                    self.at += 1;
                }
                let text: String = self.text[from.min(self.at)..self.at].iter().collect();
                self.at = (self.at + 2).min(self.text.len());
                self.tokens.push(InlineToken::Text(vec![InlineStringPart::Text(text)], InlineStringUse::Text));
            }
            '%' if syntax.percent && self.expects_value() => return self.percent(),
            _ => return false,
        }
        true
    }

    /// Reads a string in quotes at the cursor.
    fn quoted(&mut self, quote: char, escapes: bool, inside: StringInterpolation, used: InlineStringUse) {
        self.at += 1;
        let body = self.until(quote, false);
        self.push(&body, quote, escapes, inside, used);
    }

    pub(super) fn push(
        &mut self,
        body: &[char],
        quote: char,
        escapes: bool,
        inside: StringInterpolation,
        used: InlineStringUse,
    ) {
        let template = used == InlineStringUse::Template;
        let parts = match (inside, escapes) {
            (StringInterpolation::Text, true) => vec![InlineStringPart::Text(escaped(body, self.syntax.python))],
            (StringInterpolation::Text, false) => vec![InlineStringPart::Text(raw(body, quote))],
            (inside, _) => parts(body, inside, template),
        };
        self.push_parts(parts, used);
    }

    fn push_parts(&mut self, parts: Vec<InlineStringPart>, used: InlineStringUse) {
        for part in &parts {
            if let InlineStringPart::Code(code) = part
                && code.contains(['(', '`', '"', '\''])
            {
                self.nested.push(code.clone());
            }
        }
        self.tokens.push(InlineToken::Text(parts, used));
    }

    /// Returns the text before this letter, past backslashes. The cursor moves behind the letter.
    fn until(&mut self, close: char, one_line: bool) -> Vec<char> {
        let from = self.at;
        let mut class = false;
        while self.at < self.text.len() {
            match self.letter(0) {
                '\\' => self.at += 1,
                '\n' if one_line => break,
                '[' if one_line => class = true,
                ']' if one_line => class = false,
                letter if letter == close && !class => break,
                _ => {}
            }
            self.at += 1;
        }
        let end = self.at.min(self.text.len());
        self.at = (end + 1).min(self.text.len());
        self.text[from.min(end)..end].to_vec()
    }

    fn until_three(&mut self, quote: char) -> Vec<char> {
        let from = self.at;
        while self.at < self.text.len() && !(0..3).all(|ahead| self.letter(ahead) == quote) {
            self.at += if self.letter(0) == '\\' { 2 } else { 1 };
        }
        let end = self.at.min(self.text.len());
        self.at = (end + 3).min(self.text.len());
        self.text[from.min(end)..end].to_vec()
    }

    fn word(&mut self) -> bool {
        let first = self.letter(0);
        let sigil = self.syntax.sigils.contains(first)
            && (self.letter(1).is_alphanumeric() || matches!(self.letter(1), '_' | '{') || first == '$');
        // `%` and `&` begin names only where a value is expected.
        let sigil = sigil && (first == '$' || first == '@' || (self.expects_value() && self.letter(1) != '{'));
        if !(first == '_' || first.is_alphanumeric() || sigil) {
            return false;
        }
        let from = self.at;
        self.at += 1;
        while self.letter(0) == '_'
            || self.letter(0).is_alphanumeric()
            || (self.letter(0) == '$' && self.syntax.sigils == "$")
        {
            self.at += 1;
        }
        let word: String = self.text[from..self.at].iter().collect();
        if self.syntax.python && self.prefixed(&word) {
            return true;
        }
        if self.syntax.perl && self.operator(&word) {
            return true;
        }
        // Ruby's `rm_rf!`
        if self.syntax.bare_calls && matches!(self.letter(0), '!' | '?') && !matches!(self.letter(1), '=' | '~') {
            self.at += 1;
        }
        self.tokens.push(InlineToken::Word(word));
        true
    }

    /// Reads Python's `rb'…'`.
    fn prefixed(&mut self, word: &str) -> bool {
        let quote = self.letter(0);
        let letters = word.len() <= 2 && word.chars().all(|letter| "rbfutRBFUT".contains(letter));
        if !letters || !matches!(quote, '"' | '\'') {
            return false;
        }
        let has = |letter: char| word.to_ascii_lowercase().contains(letter);
        self.python_string(quote, !has('r'), has('f'));
        true
    }

    fn python_string(&mut self, quote: char, escapes: bool, formatted: bool) {
        let three = (0..3).all(|ahead| self.letter(ahead) == quote);
        self.at += if three { 3 } else { 1 };
        let body = if three { self.until_three(quote) } else { self.until(quote, false) };
        let text = if escapes { escaped(&body, true) } else { body.iter().collect() };
        let parts = if formatted { super::string_values::formatted(&text) } else { vec![InlineStringPart::Text(text)] };
        self.push_parts(parts, InlineStringUse::Text);
    }

    /// Skips the letters behind a pattern. Returns whether `e` is among them.
    pub(super) fn skip_flags(&mut self) -> bool {
        let mut runs = false;
        while self.letter(0).is_ascii_alphabetic() {
            runs |= self.letter(0) == 'e';
            self.at += 1;
        }
        runs
    }

    /// Returns whether a value may begin here. If so, `/` is no division and `%` no remainder.
    pub(super) fn expects_value(&self) -> bool {
        match self.tokens.last() {
            None | Some(InlineToken::Line) => true,
            Some(InlineToken::Sign(sign)) => !matches!(*sign, ")" | "]" | "}"),
            Some(InlineToken::Word(word)) => {
                matches!(
                    word.as_str(),
                    "return"
                        | "if"
                        | "unless"
                        | "and"
                        | "or"
                        | "not"
                        | "split"
                        | "when"
                        | "while"
                        | "grep"
                        | "case"
                        | "typeof"
                        | "in"
                        | "of"
                        | "puts"
                        | "print"
                        | "system"
                        | "exec"
                        | "each"
                )
            }
            Some(InlineToken::Text(..) | InlineToken::List(_)) => false,
        }
    }

    fn sign(&mut self) {
        if let Some(sign) = LONG_SIGNS.iter().find(|sign| self.begins(sign)) {
            self.at += sign.len();
            self.tokens.push(InlineToken::Sign(sign));
            return;
        }
        let letter = self.letter(0);
        self.at += 1;
        match letter {
            '(' | '[' => self.open += 1,
            ')' | ']' => self.open = self.open.saturating_sub(1),
            _ => {}
        }
        let mut bytes = [0; 4];
        let text: &str = letter.encode_utf8(&mut bytes);
        self.tokens.push(InlineToken::Sign(SIGNS.iter().find(|sign| **sign == text).copied().unwrap_or("")));
    }
}

/// Returns a string in which a backslash only keeps its quote and itself.
fn raw(body: &[char], quote: char) -> String {
    let mut text = String::new();
    let mut letters = body.iter().copied().peekable();
    while let Some(letter) = letters.next() {
        match letters.peek() {
            Some(next) if letter == '\\' && (*next == quote || *next == '\\') => text.extend(letters.next()),
            _ => text.push(letter),
        }
    }
    text
}
