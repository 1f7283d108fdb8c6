//! `emacs --eval '(shell-command "script")'`.

use super::hooks::behind;
use super::inner::InnerCommand;
use super::placeholders::PlaceholderText;
use crate::command::Command;

/// `emacs --eval '(shell-command "script")'`
pub(super) fn emacs(command: &Command) -> Vec<InnerCommand> {
    let args = command.args();
    let mut found = Vec::new();
    for (at, word) in args.iter().enumerate() {
        let code = match word.known() {
            Some("--eval" | "-eval" | "--execute" | "-execute" | "-e") => args.get(at + 1).cloned(),
            _ => behind(word, &["--eval=", "--execute="]).filter(|_| word.prefix().starts_with("--e")),
        };
        let Some(code) = code else { continue };
        let flat = PlaceholderText::of(&code);
        let mut rest = flat.text.as_str();
        while let Some(open) = rest.find('(') {
            rest = &rest[open + 1..];
            let removes = rest.starts_with("delete-directory");
            let runs = ["shell-command", "async-shell-command", "call-process-shell-command"]
                .iter()
                .any(|name| rest.starts_with(name));
            if (removes || runs)
                && let Some(text) = string(rest)
            {
                let text = flat.value(&text);
                found.extend(match removes {
                    true => Some(InnerCommand::argv(vec!["rm".into(), "-rf".into(), "--".into(), text], "emacs")),
                    false => InnerCommand::script(text, "emacs"),
                });
            }
        }
    }
    found
}

/// The next string of a Lisp call, where it is its first argument.
fn string(call: &str) -> Option<String> {
    let begin = call.find([' ', '\n'])?;
    let mut letters = call[begin..].trim_start().strip_prefix('"')?.chars();
    let mut text = String::new();
    while let Some(letter) = letters.next() {
        match letter {
            '"' => return Some(text),
            '\\' => text.extend(letters.next()),
            other => text.push(other),
        }
    }
    None
}
