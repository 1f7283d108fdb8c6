//! A rule of a host: `git status:*`, `npm run build`, `write:src/**`, `read-only`.

use thiserror::Error;

use super::foreign_rules::{self, ForeignRuleFault};
use super::write_glob::WriteGlob;
use crate::rules::quote;

/// A rule of a host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PermissionPattern {
    /// Words that are the command, or that the command begins with.
    Command {
        /// The words.
        words: Vec<String>,
        /// Whether more words may follow.
        prefix: bool,
    },
    /// Files that may be written.
    Write(WriteGlob),
    /// Commands that only read.
    ReadOnly,
}

/// Returns the rule for a command with these words, or for all that begin with them, as [`Pattern::parse`] reads it.
pub fn command_rule(words: &[impl AsRef<str>], prefix: bool) -> String {
    let words: Vec<String> = words.iter().map(|word| quote(word.as_ref())).collect();
    words.join(" ") + if prefix { ":*" } else { "" }
}

/// A rule that means nothing, in one of the lists.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{list}: {fault}")]
pub struct BadPermissionRule {
    /// The list: `allow`, `ask` or `deny`.
    pub list: &'static str,
    /// The fault.
    pub fault: BadPermissionPattern,
}

/// A rule that means nothing.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum BadPermissionPattern {
    /// No text.
    #[error("a rule is empty")]
    Empty,
    /// `:*`
    #[error("{0:?} names no command")]
    NoCommand(String),
    /// `write:`
    #[error("{0:?} names no files")]
    NoGlob(String),
    /// `git commit -m "x`
    #[error("{0:?} has a quote that does not end")]
    Quote(String),
    /// `npm *`, `Bash(npm publish:*)`, `/npm publish/`
    #[error("{rule:?}: {why}{}", instead_of(instead))]
    Foreign {
        /// The rule as it was given.
        rule: String,
        /// The fault.
        why: String,
        /// The rule that was probably meant. Empty if that is not known.
        instead: String,
    },
}

fn instead_of(instead: &str) -> String {
    if instead.is_empty() { String::new() } else { format!("; write {instead:?}") }
}

impl PermissionPattern {
    /// Reads a rule.
    ///
    /// # Errors
    /// Fails on a rule that means nothing.
    pub fn parse(text: &str) -> Result<Self, BadPermissionPattern> {
        let rule = text.trim();
        if rule.is_empty() {
            return Err(BadPermissionPattern::Empty);
        }
        if let Some(glob) = rule.strip_prefix("write:") {
            let glob = glob.trim();
            if glob.is_empty() {
                return Err(BadPermissionPattern::NoGlob(text.to_owned()));
            }
            return Ok(Self::Write(WriteGlob::new(glob)));
        }
        if rule == "read-only" {
            return Ok(Self::ReadOnly);
        }
        let (command, prefix) = match rule.strip_suffix(":*") {
            // `\:*` is text.
            Some(command) if !command.ends_with('\\') => (command, true),
            _ => (rule, false),
        };
        if let Some(ForeignRuleFault { why, instead }) = foreign_rules::foreign_fault(rule, command) {
            return Err(BadPermissionPattern::Foreign { rule: text.to_owned(), why, instead });
        }
        let words = split(command).ok_or_else(|| BadPermissionPattern::Quote(text.to_owned()))?;
        match words.first() {
            Some(head) if !head.is_empty() => Ok(Self::Command { words, prefix }),
            _ => Err(BadPermissionPattern::NoCommand(text.to_owned())),
        }
    }
}

/// Splits words like the shell. `None` if a quote does not end.
fn split(text: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut chars = text.chars();
    while let Some(char) = chars.next() {
        match char {
            char if char.is_whitespace() => words.extend(word.take()),
            '\'' => {
                let word = word.get_or_insert_default();
                loop {
                    match chars.next()? {
                        '\'' => break,
                        char => word.push(char),
                    }
                }
            }
            '"' => {
                let word = word.get_or_insert_default();
                loop {
                    match chars.next()? {
                        '"' => break,
                        '\\' => match chars.next()? {
                            char @ ('"' | '\\' | '$' | '`') => word.push(char),
                            char => word.extend(['\\', char]),
                        },
                        char => word.push(char),
                    }
                }
            }
            '\\' => word.get_or_insert_default().extend(chars.next()),
            char => word.get_or_insert_default().push(char),
        }
    }
    words.extend(word);
    Some(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_read_as_the_shell_reads_words() {
        for (rule, words, prefix) in [
            ("git status:*", &["git", "status"] as &[&str], true),
            ("git status :*", &["git", "status"], true),
            ("npm run build", &["npm", "run", "build"], false),
            ("echo 'a  b' \"c\\\"d\" e\\ f", &["echo", "a  b", "c\"d", "e f"], false),
            ("echo ''", &["echo", ""], false),
            ("echo 'a:*'", &["echo", "a:*"], false),
        ] {
            let words = words.iter().map(|word| (*word).to_owned()).collect();
            assert_eq!(PermissionPattern::parse(rule), Ok(PermissionPattern::Command { words, prefix }), "{rule}");
        }
    }

    #[test]
    fn rules_that_mean_nothing() {
        for rule in ["", "  ", ":*", " :*", "write:", "write:  ", "git 'x", "git \"x", "''", "'':*"] {
            assert!(PermissionPattern::parse(rule).is_err(), "{rule:?}");
        }
    }

    #[test]
    fn a_rule_of_another_tool_is_refused_with_the_rule_that_was_meant() {
        for (rule, wanted) in [
            ("npm *", "npm:*"),
            ("npm publish *", "npm publish:*"),
            ("npm pub*", "npm publish:*"),
            ("git pus*", "git push:*"),
            ("npm zzz*", "npm:*"),
            ("npm* publish", ""),
            ("*", ""),
            ("* publish", ""),
            ("npm:* publish", ""),
            ("Bash(npm publish:*)", "npm publish:*"),
            ("Bash(npm run test *)", "npm run test:*"),
            ("Bash(npm run build)", "npm run build"),
            ("Bash(npm", "npm"),
            ("Edit(src/**)", "write:src/**"),
            ("Read(src/**)", ""),
            ("/npm publish/", "npm publish:*"),
            ("/npm publish/i", "npm publish:*"),
            ("/^git push.*/", "git push:*"),
            ("/npm/", "npm:*"),
            ("^git push", "git push:*"),
            ("npm publish$", "npm publish:*"),
            ("npm.*publish", "npm publish:*"),
            ("npm test | tail", "npm test:*"),
            ("(npm", ""),
            ("npm test && ls", "npm test:*"),
            ("ls > out", ""),
            ("rm -rf $HOME", ""),
            ("echo $(id)", ""),
        ] {
            match PermissionPattern::parse(rule) {
                Err(BadPermissionPattern::Foreign { instead, .. }) => {
                    assert_eq!(instead, wanted, "{rule}");
                    assert!(wanted.is_empty() || PermissionPattern::parse(wanted).is_ok(), "{wanted}");
                }
                other => panic!("{rule}: {other:?}"),
            }
        }
    }

    #[test]
    fn quoted_signs_paths_and_colons_are_words() {
        for rule in [
            "grep 'a*'",
            "grep a\\*:*",
            "ls \"*.js\":*",
            "/usr/bin/git push:*",
            "/bin/ls /tmp/",
            "npm run test:unit",
            "[ -f x:*",
            "curl https://example.com/a?b=c:*",
            "echo 'a | b'",
            "grep 'a.*b$'",
            "rg \"^x.*\" src:*",
            "echo '$HOME' \\$",
            "write:src/**",
            "Rscript a.R",
            "git log HEAD^:*",
        ] {
            assert!(PermissionPattern::parse(rule).is_ok(), "{rule}: {:?}", PermissionPattern::parse(rule));
        }
    }
}
