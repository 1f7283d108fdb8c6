//! Rules in the syntax of other tools. Taken as they stand they would match no command, and a deny rule that matches
//! nothing is a hole.

use crate::name_lists::paths;
use crate::programs;
use crate::rules::quote;

/// The fault of a rule in the syntax of another tool.
#[derive(Debug)]
pub(super) struct ForeignRuleFault {
    /// The fault in words.
    pub why: String,
    /// The rule that was probably meant. Empty if that is not known.
    pub instead: String,
}

/// Returns the fault of a rule that another tool would understand. `rest` is the rule without its `:*`.
pub(super) fn foreign_fault(rule: &str, rest: &str) -> Option<ForeignRuleFault> {
    tool_call_fault(rule).or_else(|| regular_expression_fault(rule)).or_else(|| shell_sign_fault(rest))
}

/// `Bash(npm publish:*)`, `Edit(src/**)`
fn tool_call_fault(rule: &str) -> Option<ForeignRuleFault> {
    let (name, inside) = rule.split_once('(')?;
    let is_name = name.starts_with(|first: char| first.is_ascii_uppercase())
        && name.chars().all(|next| next.is_ascii_alphanumeric() || next == '_');
    if !is_name {
        return None;
    }
    let inside = inside.strip_suffix(')').unwrap_or(inside).trim();
    let instead = match name {
        "Edit" | "Write" | "MultiEdit" | "NotebookEdit" => format!("write:{inside}"),
        "Bash" | "Shell" => star_fault(inside).map_or_else(|| inside.to_owned(), |(_, instead)| instead),
        _ => String::new(),
    };
    Some(ForeignRuleFault { why: "a rule is the command alone".to_owned(), instead })
}

/// `/npm publish/`, `^git push`, `npm.*publish$`
fn regular_expression_fault(rule: &str) -> Option<ForeignRuleFault> {
    // `/bin/ls /tmp/` is a command, `/ls` and `/ls/` are no programs.
    let body = rule.trim_end_matches(|next: char| next.is_ascii_lowercase());
    let body = body.strip_prefix('/').and_then(|body| body.strip_suffix('/'));
    let body = body.filter(|body| body.split_whitespace().next().is_some_and(|head| !head.contains('/')));
    let repeats = find_unquoted(rule, |next| next == '*').is_some_and(|(at, _)| rule[..at].ends_with('.'));
    let ends = rule.ends_with('$') && !rule.ends_with("\\$");
    if body.is_none() && !rule.starts_with('^') && !ends && !repeats {
        return None;
    }
    let inner = body.unwrap_or(rule);
    let plain = inner.trim_start_matches('^').trim_end_matches('$').replace(".*", " ");
    let words: Vec<&str> = plain.split_whitespace().take_while(|word| word.chars().all(is_plain)).collect();
    let instead = if words.is_empty() { String::new() } else { format!("{}:*", words.join(" ")) };
    Some(ForeignRuleFault { why: "a rule is words, not a regular expression".to_owned(), instead })
}

/// `npm *`, `npm pub*`, `a | b`, `rm $HOME`
fn shell_sign_fault(rest: &str) -> Option<ForeignRuleFault> {
    let foreign = |why: String, instead: String| Some(ForeignRuleFault { why, instead });
    if let Some((why, instead)) = star_fault(rest) {
        return foreign(why, instead);
    }
    match find_unquoted(rest, |next| matches!(next, '|' | '&' | ';' | '<' | '>' | '(' | ')' | '`' | '$'))? {
        (_, '$') => foreign(
            "a rule names no variable, since words are compared by value; write the value, or quote it".to_owned(),
            String::new(),
        ),
        (_, '>' | '<') => {
            foreign("a rule names no redirect; files are written as \"write:PATH\"".to_owned(), String::new())
        }
        (at, next) => {
            let before = rest[..at].trim();
            let instead = if before.is_empty() { String::new() } else { format!("{before}:*") };
            foreign(format!("a rule is one command, and {next:?} ends it; quote it if it is text"), instead)
        }
    }
}

/// Returns the fault of a `*`, with the rule that was probably meant.
fn star_fault(rest: &str) -> Option<(String, String)> {
    let rest = rest.strip_suffix(":*").unwrap_or(rest);
    let (at, _) = find_unquoted(rest, |next| next == '*')?;
    let start = rest[..at].rfind(char::is_whitespace).map_or(0, |blank| blank + 1);
    let (before, begun) = (rest[..start].trim_end(), &rest[start..at]);
    let mut why = "* stands only in :* at the end, for any further words".to_owned();
    let completed = (!begun.is_empty()).then(|| complete_subcommand(before, begun)).flatten();
    let instead = match (before, begun, completed) {
        ("", "", _) => {
            why += "; to match every command, leave out allow, or ask about what only reads with \"read-only\"";
            String::new()
        }
        (before, "", _) => format!("{before}:*"),
        (before, _, Some(word)) => format!("{before} {word}:*"),
        (before, _, None) => {
            let word = rest[start..].split_whitespace().next().unwrap_or_default();
            why += &format!("; a literal one is quoted: {}", quote(word));
            if before.is_empty() { String::new() } else { format!("{before}:*") }
        }
    };
    Some((why, instead))
}

/// Returns the only known subcommand of a program that begins like this.
fn complete_subcommand(program: &str, begun: &str) -> Option<&'static str> {
    let program = programs::of(program);
    let effects = program.subcommands.iter().map(|(_, paths)| *paths);
    let lists = effects.chain(program.sub_rules.iter().map(|(_, list)| *list));
    let words = lists.flat_map(paths).filter_map(|path| path.split(' ').next());
    let mut fitting: Vec<&str> = words.filter(|word| word.starts_with(begun) && word.chars().all(is_plain)).collect();
    fitting.sort_unstable();
    fitting.dedup();
    if let [only] = fitting.as_slice() { Some(only) } else { None }
}

fn is_plain(next: char) -> bool {
    next.is_ascii_alphanumeric() || matches!(next, '-' | '_' | '.' | '/' | ':')
}

/// Returns the first of these characters outside of quotes.
fn find_unquoted(text: &str, wanted: impl Fn(char) -> bool) -> Option<(usize, char)> {
    let mut quote = None;
    let mut chars = text.char_indices();
    while let Some((at, next)) = chars.next() {
        match (quote, next) {
            (None, '\\') | (Some('"'), '\\') => {
                chars.next();
            }
            (None, '\'' | '"') => quote = Some(next),
            (Some(open), _) if open == next => quote = None,
            (None, _) if wanted(next) => return Some((at, next)),
            _ => {}
        }
    }
    None
}
