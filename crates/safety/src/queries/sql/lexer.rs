//! Splits SQL into tokens, in one pass.

use super::dialect::SqlDialect;
use super::token::{SqlToken, SqlTokenKind};
use crate::queries::unknown_mark::UNKNOWN;

/// Splits a text into tokens.
pub(super) fn tokens(text: &str, dialect: SqlDialect) -> Vec<SqlToken<'_>> {
    let mut lexer = SqlLexer {
        text,
        at: 0,
        dialect,
        tokens: Vec::new(),
        delimiter: ";",
        versioned: false,
        line_end: 0,
        fresh_line: true,
        fresh_statement: true,
    };
    while lexer.at < text.len() {
        lexer.next();
    }
    lexer.tokens
}

struct SqlLexer<'a> {
    text: &'a str,
    at: usize,
    dialect: SqlDialect,
    tokens: Vec<SqlToken<'a>>,
    /// The sign that ends a statement, which `DELIMITER` changes.
    delimiter: &'a str,
    /// Whether the lexer is in a comment that MySQL runs: `/*!50000 DROP TABLE x */`.
    versioned: bool,
    /// The end of the line that was searched last.
    line_end: usize,
    /// Whether only blanks precede on this line.
    fresh_line: bool,
    /// Whether no token precedes in this statement.
    fresh_statement: bool,
}

impl<'a> SqlLexer<'a> {
    /// Reads a token, a comment, or a blank.
    fn next(&mut self) {
        let rest = &self.text[self.at..];
        let Some(first) = rest.chars().next() else { return };
        if first.is_whitespace() {
            self.fresh_line |= first == '\n';
            self.at += first.len_utf8();
            return;
        }
        if self.comment(rest) || self.client_line(rest, first) {
            return;
        }
        let (line, statement) = (self.fresh_line, self.fresh_statement);
        self.fresh_line = false;
        self.fresh_statement = false;
        if rest.starts_with(self.delimiter) {
            return self.end(self.delimiter.len());
        }
        match first {
            '\\' => self.backslash(rest),
            '\'' => self.quoted(1, SqlTokenKind::Text, self.dialect.escapes()),
            '"' if self.dialect.double_quoted_strings() => self.quoted(1, SqlTokenKind::Text, true),
            '"' | '`' => self.quoted(1, SqlTokenKind::Name, false),
            '[' if self.dialect.bracketed_names() => self.quoted(1, SqlTokenKind::Name, false),
            '$' if self.dialect.dollar_quotes() && dollar_tag(rest).is_some() => self.dollar_quoted(rest),
            '0'..='9' => {
                self.push(SqlTokenKind::Number, length(rest, |char| char.is_ascii_alphanumeric() || char == '.'))
            }
            _ if begins_word(first, self.dialect) => self.word(rest, line, statement),
            _ => self.sign(rest, first),
        }
    }

    fn push(&mut self, kind: SqlTokenKind, length: usize) {
        self.tokens.push(SqlToken { kind, text: &self.text[self.at..self.at + length] });
        self.at += length;
    }

    fn end(&mut self, length: usize) {
        self.push(SqlTokenKind::End, length);
        self.fresh_statement = true;
    }

    /// Skips a comment.
    fn comment(&mut self, rest: &str) -> bool {
        let mysql = self.dialect == SqlDialect::MySql;
        let line = if let Some(comment) = rest.strip_prefix("--") {
            // In MySQL `5--1` is a subtraction.
            !mysql || comment.chars().next().is_none_or(char::is_whitespace)
        } else {
            rest.starts_with('#') && self.dialect.hash_comments()
        };
        if line {
            self.at += rest.find('\n').unwrap_or(rest.len());
        } else if mysql && (rest.starts_with("/*!") || rest.starts_with("/*M!")) {
            let version = length(&rest[3..], |char| char.is_ascii_digit() || char == '!');
            self.at += 3 + version;
            self.versioned = true;
        } else if self.versioned && rest.starts_with("*/") {
            self.at += 2;
            self.versioned = false;
        } else if rest.starts_with("/*") {
            self.at += comment_length(rest, self.dialect.nested_comments());
        } else {
            return false;
        }
        true
    }

    /// Reads a line that is a command of the client: `.read file`, `:r file`, `GO`.
    fn client_line(&mut self, rest: &str, first: char) -> bool {
        let begins = match self.dialect {
            SqlDialect::TransactSql if self.fresh_line => {
                let line = rest.lines().next().unwrap_or_default().trim_end();
                let (word, count) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
                if word.eq_ignore_ascii_case("go") && count.trim().bytes().all(|byte| byte.is_ascii_digit()) {
                    self.end(line.len());
                    return true;
                }
                first == ':' || rest.starts_with("!!")
            }
            dialect => dialect.dot_commands() && first == '.' && self.fresh_line && self.fresh_statement,
        };
        if begins {
            self.push(SqlTokenKind::Client, rest.find('\n').unwrap_or(rest.len()));
        }
        begins
    }

    /// Reads a command of psql or mysql that begins with a backslash.
    fn backslash(&mut self, rest: &str) {
        let known = matches!(self.dialect, SqlDialect::Postgres | SqlDialect::MySql);
        let mut name = rest[1..].chars();
        match name.next() {
            Some(';') if known => {
                self.at += 1;
                self.end(1);
            }
            // `\G` of mysql.
            Some('g' | 'G') if self.dialect == SqlDialect::MySql => self.end(2),
            Some(first) if known && !first.is_whitespace() => {
                if self.line_end <= self.at {
                    self.line_end = self.at + rest.find('\n').unwrap_or(rest.len());
                }
                let line = self.line_end - self.at;
                // The next backslash begins another command, unless the output of this command goes to a program.
                let from = 1 + first.len_utf8();
                let next = rest[from..line].find('\\').filter(|_| first != '!').map(|next| from + next);
                let next = next.filter(|next| !rest[..*next].contains('|'));
                self.push(SqlTokenKind::Client, next.unwrap_or(line));
                let sends =
                    self.dialect == SqlDialect::Postgres && matches!(first, 'g' | 'w') && !rest.starts_with("\\w ");
                if sends {
                    self.end(0);
                }
            }
            _ => self.push(SqlTokenKind::Sign, 1),
        }
    }

    /// Reads a string or a name in quotes. A doubled quote is part of the text.
    fn quoted(&mut self, open: usize, kind: SqlTokenKind, escapes: bool) {
        self.at += open - 1;
        let rest = &self.text[self.at..];
        let quote = rest.as_bytes()[0];
        let close = if quote == b'[' { b']' } else { quote };
        let triple = [quote; 3];
        if self.dialect == SqlDialect::Warehouse && rest.as_bytes().starts_with(&triple) {
            let body = &rest[3..];
            let end = body.find(&rest[..3]).unwrap_or(body.len());
            self.tokens.push(SqlToken { kind, text: &body[..end] });
            self.at += (end + 6).min(rest.len());
            return;
        }
        let bytes = rest.as_bytes();
        let mut end = 1;
        while end < bytes.len() {
            match bytes[end] {
                b'\\' if escapes => end += 1,
                byte if byte == close && bytes.get(end + 1) == Some(&close) => end += 1,
                byte if byte == close => break,
                _ => {}
            }
            end += 1;
        }
        let end = rest.floor_char_boundary(end);
        self.tokens.push(SqlToken { kind, text: &rest[1..end.max(1)] });
        self.at += (end + 1).min(rest.len());
    }

    fn dollar_quoted(&mut self, rest: &'a str) {
        let tag = dollar_tag(rest).unwrap_or_default();
        let body = &rest[tag.len()..];
        let end = body.find(tag).unwrap_or(body.len());
        self.tokens.push(SqlToken { kind: SqlTokenKind::Text, text: &body[..end] });
        self.at += (end + 2 * tag.len()).min(rest.len());
    }

    fn word(&mut self, rest: &'a str, line: bool, statement: bool) {
        let length = word_length(rest);
        let word = &rest[..length];
        let quote = rest[length..].starts_with(['\'', '"']);
        let prefix = ["e", "b", "x", "n", "r", "rb", "br"].iter().any(|prefix| word.eq_ignore_ascii_case(prefix));
        if quote && prefix && (rest[length..].starts_with('\'') || self.dialect.double_quoted_strings()) {
            let escapes = self.dialect.escapes() || word.eq_ignore_ascii_case("e");
            return self.quoted(length + 1, SqlTokenKind::Text, escapes);
        }
        if self.dialect == SqlDialect::MySql && line {
            let end = rest.find('\n').unwrap_or(rest.len());
            if word.eq_ignore_ascii_case("delimiter") {
                self.delimiter =
                    rest[length..end].split_whitespace().next().filter(|sign| !sign.is_empty()).unwrap_or(";");
                self.at += end;
                self.fresh_statement = true;
                return;
            }
            if statement && (word.eq_ignore_ascii_case("system") || word.eq_ignore_ascii_case("source")) {
                self.push(SqlTokenKind::Client, end);
                self.fresh_statement = true;
                return;
            }
        }
        self.push(SqlTokenKind::Word, length);
    }

    fn sign(&mut self, rest: &str, first: char) {
        let two = ["<>", "!=", "<=", ">=", "=="].iter().any(|sign| rest.starts_with(sign));
        self.push(SqlTokenKind::Sign, if two { 2 } else { first.len_utf8() });
    }
}

/// Returns the number of bytes at the beginning that fit.
fn length(text: &str, fits: impl Fn(char) -> bool) -> usize {
    text.find(|char| !fits(char)).unwrap_or(text.len())
}

fn begins_word(first: char, dialect: SqlDialect) -> bool {
    let of_sqlcmd = dialect == SqlDialect::TransactSql && matches!(first, '#' | '@');
    first.is_alphabetic() || matches!(first, '_' | UNKNOWN) || of_sqlcmd
}

/// Returns the length of a word. An unknown part ends at the next sign or blank.
fn word_length(text: &str) -> usize {
    let first = text.chars().next().map_or(0, char::len_utf8);
    first + length(&text[first..], |char| char.is_alphanumeric() || matches!(char, '_' | '$' | '#' | UNKNOWN))
}

/// Returns the tag `$tag$` at the beginning.
fn dollar_tag(rest: &str) -> Option<&str> {
    let name = length(rest.strip_prefix('$')?, |char| char.is_alphanumeric() || char == '_');
    let closed = rest[1 + name..].starts_with('$') && !rest[1..].starts_with(|first: char| first.is_ascii_digit());
    closed.then(|| &rest[..name + 2])
}

fn comment_length(rest: &str, nested: bool) -> usize {
    let bytes = rest.as_bytes();
    let mut depth = 0;
    let mut at = 0;
    while at < bytes.len() {
        match &bytes[at..bytes.len().min(at + 2)] {
            b"/*" if nested || depth == 0 => {
                depth += 1;
                at += 2;
            }
            b"*/" => {
                depth -= 1;
                at += 2;
                if depth == 0 {
                    return at;
                }
            }
            _ => at += 1,
        }
    }
    bytes.len()
}
