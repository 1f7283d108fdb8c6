//! Programs and variables that hold a command in a way of their own: ansible, nodemon, Tcl, `PROMPT_COMMAND`, `BASH_ENV`.

use super::escapes::tcl_lines;
use super::inner::Inner;
use super::words::{is_stdin, variable};
use crate::safety::command::{Command, Input};
use crate::safety::level::Confidence;
use crate::safety::options::{Spec, parse};
use crate::safety::value::Value;

/// How many settings stand before ansible's script.
const SETTINGS: usize = 8;

/// `ansible hosts -m shell -a 'script'`; without a module it is `command`.
pub(super) fn ansible(command: &Command) -> Vec<Inner> {
    let long = &[
        "module-name=",
        "args=",
        "inventory=",
        "inventory-file=",
        "user=",
        "become-user=",
        "become-method=",
        "limit=",
        "forks=",
        "extra-vars=",
        "module-path=",
        "private-key=",
        "key-file=",
        "connection=",
        "timeout=",
        "background=",
        "poll=",
        "tree=",
        "vault-id=",
        "vault-password-file=",
        "playbook-dir=",
        "check",
        "list-hosts",
    ];
    let parsed = parse(command.args(), &Spec::gnu("m:a:i:u:l:f:e:M:c:T:B:P:t:bkKvoCDJh", long));
    let module = parsed.value(&["m", "module-name"]).map_or("command", |module| module.known().unwrap_or_default());
    if !matches!(module.rsplit('.').next(), Some("shell" | "command" | "raw"))
        || parsed.has(&["C", "check", "list-hosts", "h"])
    {
        return Vec::new();
    }
    let Some(mut script) = parsed.value(&["a", "args"]).cloned() else { return Vec::new() };
    // `chdir=/srv script`, `cmd='script'`
    for _ in 0..SETTINGS {
        let text = script.prefix();
        let blanks = text.len() - text.trim_start().len();
        let text = &text[blanks..];
        let setting =
            ["chdir=", "creates=", "removes=", "executable=", "warn="].iter().any(|name| text.starts_with(name));
        let length = match text.find(' ') {
            Some(blank) if setting => blank + 1,
            _ if text.starts_with("cmd=") => 4,
            _ => break,
        };
        script = script.after(blanks + length);
    }
    let mut inner = Inner::script(script, format!("ansible -m {module}"));
    if let Some(Inner::Script { elsewhere, .. }) = &mut inner {
        *elsewhere = true;
    }
    inner.into_iter().collect()
}

/// `nodemon --exec 'command line' words…`: what follows are further words of it.
pub(super) fn nodemon(command: &Command) -> Vec<Inner> {
    let args = command.args();
    let given = args.iter().enumerate().find_map(|(at, word)| match word.known() {
        Some("--exec" | "-x") => Some((args.get(at + 1)?.clone(), at + 2)),
        _ => word.prefix().starts_with("--exec=").then(|| (word.after("--exec=".len()), at + 1)),
    });
    let Some((line, next)) = given else { return Vec::new() };
    let plain = line.known().filter(|line| !line.contains(|next: char| "'\"\\$`;&|<>(){}*?#~\n".contains(next)));
    match plain {
        Some(line) => {
            let words = line.split_whitespace().map(Value::of);
            let rest = args.get(next..).unwrap_or_default();
            vec![Inner::argv(words.chain(rest.iter().cloned()).collect(), "nodemon --exec")]
        }
        None => Inner::script(line, "nodemon --exec").into_iter().collect(),
    }
}

/// A Tcl program on standard input.
pub(super) fn tcl(command: &Command, input: &Input) -> Vec<Inner> {
    let name = command.name().unwrap_or_default();
    if command.args().first().is_some_and(|file| !is_stdin(file)) {
        return Vec::new();
    }
    match input {
        Input::Text(text, _) => tcl_lines(text, name),
        Input::Opaque(_) => vec![Inner::Opaque { via: name.to_owned() }],
        Input::Inherited => Vec::new(),
    }
}

/// `export PROMPT_COMMAND='script'`: the next shell that has a prompt runs it.
pub(super) fn exported(command: &Command) -> Vec<Inner> {
    let assignments: Vec<_> = command.args().iter().filter_map(variable).collect();
    by_variables(&assignments, Confidence::Partial)
}

/// What a shell runs because of its environment.
pub(super) fn by_variables(assignments: &[(String, Value)], sure: Confidence) -> Vec<Inner> {
    let mut found: Vec<Inner> =
        assignments.iter().filter_map(|(name, text)| Inner::script(script_in(name, text)?, name.as_str())).collect();
    for inner in &mut found {
        if let Inner::Script { confidence, stdin, .. } = inner {
            *confidence = sure;
            *stdin = false;
        }
    }
    found
}

/// The script that a variable of this name is.
fn script_in(name: &str, text: &Value) -> Option<Value> {
    if name == "PROMPT_COMMAND" {
        return Some(text.clone());
    }
    let known = text.known()?;
    // The names of files, a prompt: what is substituted in them runs.
    if matches!(name, "BASH_ENV" | "ENV" | "PS0" | "PS1" | "PS2" | "PS4") && known.contains(['$', '`']) {
        return Some(Value::of(format!(": \"{known}\"")));
    }
    // A function that every bash below has. What it is called is what that is to run.
    let body = known.strip_prefix("()").filter(|_| name.starts_with("BASH_FUNC_"))?;
    Some(Value::of(format!("imported () {body}\nimported")))
}
