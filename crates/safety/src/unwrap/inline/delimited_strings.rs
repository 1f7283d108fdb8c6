//! Strings between signs of one's own: Ruby's `%w(…)`, Perl's `qw(…)`, `s/…/…/`.

use super::lexer::InlineLexer;
use super::syntax::StringInterpolation;
use super::token::{InlineStringUse, InlineToken};

impl InlineLexer<'_> {
    /// Returns the text between the bracket or sign at the cursor and the closing one.
    pub(super) fn delimited(&mut self) -> Vec<char> {
        let open = self.letter(0);
        let close = match open {
            '(' => ')',
            '[' => ']',
            '{' => '}',
            '<' => '>',
            other => other,
        };
        self.at += 1;
        let from = self.at;
        let mut depth = 1;
        while self.at < self.text.len() {
            match self.letter(0) {
                '\\' => self.at += 1,
                letter if letter == close => {
                    depth -= 1;
                    if depth == 0 {
                        break;
                    }
                }
                letter if letter == open => depth += 1,
                _ => {}
            }
            self.at += 1;
        }
        let end = self.at.min(self.text.len());
        self.at = (end + 1).min(self.text.len());
        self.text[from.min(end)..end].to_vec()
    }

    /// Ruby's `%w(…)`.
    pub(super) fn percent(&mut self) -> bool {
        let kind = self.letter(1);
        let named = kind.is_ascii_alphabetic();
        let open = if named { self.letter(2) } else { kind };
        if open.is_alphanumeric()
            || open.is_whitespace()
            || open == '\0'
            || (named && !"wWqQxiI".contains(kind))
            || (!named && open == '=')
        {
            return false;
        }
        self.at += if named { 2 } else { 1 };
        let body = self.delimited();
        match kind {
            'w' | 'W' | 'i' | 'I' => self.tokens.push(InlineToken::List(split(&body))),
            'x' => self.push(&body, open, true, StringInterpolation::Hash, InlineStringUse::Run),
            'q' => self.push(&body, open, false, StringInterpolation::Text, InlineStringUse::Text),
            _ => self.push(&body, open, true, StringInterpolation::Hash, InlineStringUse::Text),
        }
        true
    }

    /// Reads Perl's `qw(…)` and other operators that look like names.
    pub(super) fn operator(&mut self, word: &str) -> bool {
        let two = matches!(word, "s" | "tr" | "y");
        if !two && !matches!(word, "q" | "qq" | "qw" | "qx" | "qr" | "m") {
            return false;
        }
        let mut blanks = 0;
        while self.letter(blanks) == ' ' {
            blanks += 1;
        }
        let open = self.letter(blanks);
        let named = matches!(self.tokens.last(), Some(InlineToken::Sign("->" | "{" | "$" | "@" | "%")));
        if named
            || open.is_alphanumeric()
            || open.is_whitespace()
            || matches!(open, '\0' | ',' | ';' | ')' | '=')
            || (blanks > 0 && open == '#')
        {
            return false;
        }
        self.at += blanks;
        let body = self.delimited();
        match word {
            "q" => self.push(&body, open, false, StringInterpolation::Text, InlineStringUse::Text),
            "qq" => self.push(&body, open, true, StringInterpolation::Dollar, InlineStringUse::Text),
            "qw" => self.tokens.push(InlineToken::List(split(&body))),
            "qx" => self.push(&body, open, true, StringInterpolation::Dollar, InlineStringUse::Run),
            _ => {
                let mut second = Vec::new();
                if two {
                    // `s{…}{…}` has a second opening bracket, `s/…/…/` does not.
                    if matches!(open, '(' | '[' | '{' | '<') {
                        while self.letter(0).is_whitespace() && self.at < self.text.len() {
                            self.at += 1;
                        }
                    } else {
                        self.at -= usize::from(self.at > 0);
                    }
                    second = self.delimited();
                }
                if self.skip_flags() && word == "s" {
                    self.nested.push(second.iter().collect());
                }
                self.tokens.push(InlineToken::Text(Vec::new(), InlineStringUse::Text));
            }
        }
        true
    }
}

fn split(body: &[char]) -> Vec<String> {
    body.iter().collect::<String>().split_whitespace().map(str::to_owned).collect()
}
