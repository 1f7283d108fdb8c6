//! Tries a rule on the commands that it names. Only what is one simple command: the engine's tests try them all.

use crate::safety::command::{Command, Redirect, Scene};
use crate::safety::rules::{Hit, Rule};
use crate::safety::value::{Piece, Value};

/// The scene that rule files are written for.
pub fn scene() -> Scene {
    Scene {
        cwd: "/home/dev/project".to_owned(),
        home: "/home/dev".to_owned(),
        temp: vec!["/tmp".to_owned(), "/var/tmp".to_owned()],
    }
}

/// What a rule finds in one simple command; `None` where the text is more than that.
pub fn check(rule: &Rule, text: &str) -> Option<Option<Hit>> {
    let mut words = words(text)?;
    let mut redirects = Vec::new();
    let mut argv = Vec::new();
    let mut assignments = Vec::new();
    words.reverse();
    while let Some(word) = words.pop() {
        let bare = word.known().map(|text| text.trim_start_matches(|char: char| char.is_ascii_digit()).to_owned());
        if let Some(op) = bare.filter(|op| matches!(op.as_str(), "\u{1}>" | "\u{1}>>" | "\u{1}<")) {
            let target = words.pop()?;
            redirects.push(Redirect { op: op[1..].to_owned(), fd: None, target, source: String::new(), cwd: Value::of(scene().cwd) });
        } else if let Some((name, value)) =
            word.known().filter(|_| argv.is_empty()).and_then(|text| text.split_once('='))
        {
            assignments.push((name.to_owned(), Value::of(value)));
        } else {
            argv.push(word);
        }
    }
    let scene = scene();
    let cwd = Value::of(scene.cwd.as_str());
    let command = Command { argv: &argv, assignments: &assignments, redirects: &redirects, cwd: &cwd, scene: &scene };
    let listed = rule.heads.is_empty() || command.name().is_some_and(|name| rule.heads.contains(&name));
    Some(if listed { (rule.check)(&command) } else { None })
}

fn words(text: &str) -> Option<Vec<Value>> {
    let mut words = Vec::new();
    let mut word: Option<Value> = None;
    let mut chars = text.chars().peekable();
    while let Some(char) = chars.next() {
        let start = word.is_none();
        match char {
            ' ' => words.extend(word.take()),
            ';' | '|' | '&' | '(' | ')' | '`' | '{' | '\n' => return None,
            '>' | '<' => {
                words.extend(word.take());
                let double = chars.next_if_eq(&char).is_some();
                if matches!(chars.peek(), Some('&' | '<' | '|')) || double && char == '<' {
                    return None;
                }
                words.push(Value::of(format!("\u{1}{char}{}", if double { ">" } else { "" })));
            }
            '\'' => {
                let own = word.get_or_insert_default();
                own.push(Piece::Text(chars.by_ref().take_while(|char| *char != '\'').collect()));
            }
            '"' => {
                let inner: String = chars.by_ref().take_while(|char| *char != '"').collect();
                if inner.contains(['$', '`', '\\']) {
                    return None;
                }
                word.get_or_insert_default().push(Piece::Text(inner));
            }
            '\\' => word.get_or_insert_default().push(Piece::Text(chars.next()?.to_string())),
            '$' => {
                let mut name = String::new();
                while let Some(char) = chars.next_if(|char| char.is_ascii_alphanumeric() || *char == '_') {
                    name.push(char);
                }
                match name.as_str() {
                    "HOME" => word.get_or_insert_default().push(Piece::Text(scene().home)),
                    "PWD" => word.get_or_insert_default().push(Piece::Text(scene().cwd)),
                    _ => return None,
                }
            }
            '~' if start && matches!(chars.peek(), None | Some('/' | ' ')) => word = Some(Value::of(scene().home)),
            '~' if start => return None,
            '*' | '?' => word.get_or_insert_default().push(Piece::Glob(char.to_string())),
            '[' => {
                let class: String = chars.by_ref().take_while(|char| *char != ']').collect();
                word.get_or_insert_default().push(Piece::Glob(format!("[{class}]")));
            }
            char => word.get_or_insert_default().push(Piece::Text(char.to_string())),
        }
    }
    words.extend(word);
    Some(words)
}
