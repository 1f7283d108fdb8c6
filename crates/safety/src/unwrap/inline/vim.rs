//! Commands for vim, ex and ed: `:!command`, `:r !command`, `call system('…')`.

use super::language_specs::LUA;
use super::program_search::{InlineLanguageSpec, commands_of_program};
use super::{call_specs, syntax};
use crate::simple_command_view::{CommandStdin, SimpleCommandView};
use crate::unwrap::inner_command::InnerCommand;
use crate::unwrap::placeholder_text::PlaceholderText;
use crate::unwrap::words::is_text;
use crate::word_value::WordValue;

/// Vim's own calls. They look like JavaScript's, except for comments.
static CALLS: &[call_specs::InlineCallSpec] = &[
    call_specs::InlineCallSpec { name: "system", needs: &[], runs: call_specs::InlineCallEffect::Script },
    call_specs::InlineCallSpec { name: "systemlist", needs: &[], runs: call_specs::InlineCallEffect::Script },
    call_specs::InlineCallSpec { name: "job_start", needs: &[], runs: call_specs::InlineCallEffect::Script },
    call_specs::InlineCallSpec { name: "jobstart", needs: &[], runs: call_specs::InlineCallEffect::Script },
    call_specs::InlineCallSpec { name: "termopen", needs: &[], runs: call_specs::InlineCallEffect::Script },
    call_specs::InlineCallSpec { name: "term_start", needs: &[], runs: call_specs::InlineCallEffect::Script },
];
static VIM: InlineLanguageSpec = InlineLanguageSpec { syntax: &syntax::PHP, calls: CALLS, runs: ("vim", "-c") };

/// Returns the commands that vim runs.
pub(super) fn vim(command: &SimpleCommandView, name: &str, input: &CommandStdin) -> Vec<InnerCommand> {
    let args = command.args();
    let mut found = Vec::new();
    let mut at = 0;
    let mut script = name == "ex";
    while let Some(word) = args.get(at) {
        let text = word.prefix();
        if is_text(word, "--") {
            break;
        } else if matches!(word.known(), Some("-c" | "--cmd")) {
            at += 1;
            if let Some(ex) = args.get(at) {
                add_ex_command(command, ex, &format!("{name} {}", text), &mut found);
            }
        } else if text.starts_with("-c") {
            add_ex_command(command, &word.after(2), &format!("{name} -c"), &mut found);
        } else if text.starts_with('+') {
            add_ex_command(command, &word.after(1), &format!("{name} +"), &mut found);
        } else if matches!(word.known(), Some("-e" | "-es" | "-E" | "-Es" | "-s")) {
            script = true;
        }
        at += 1;
    }
    if script && let CommandStdin::Text(text, _) = input {
        add_ex_lines(command, text, name, &mut found);
    }
    found
}

/// Returns the commands that ed runs.
pub(super) fn ed(command: &SimpleCommandView, input: &CommandStdin) -> Vec<InnerCommand> {
    let mut found = Vec::new();
    if let CommandStdin::Text(text, _) = input {
        add_ex_lines(command, text, "ed", &mut found);
    }
    found
}

fn add_ex_lines(command: &SimpleCommandView, text: &WordValue, via: &str, found: &mut Vec<InnerCommand>) {
    let flat = PlaceholderText::of(text);
    for line in flat.text.lines().filter(|line| line.contains(['!', '('])) {
        add_ex_command(command, &flat.value(line), via, found);
    }
}

/// Adds the commands in one ex command.
fn add_ex_command(command: &SimpleCommandView, ex: &WordValue, via: &str, found: &mut Vec<InnerCommand>) {
    let flat = PlaceholderText::of(ex);
    let text = flat.text.trim_start_matches(|letter: char| letter == ':' || letter.is_whitespace());
    if let Some(script) = shell_escape(text) {
        found.extend(InnerCommand::script(flat.value(script), via));
        return;
    }
    if let Some(code) = text.strip_prefix("lua ") {
        found.extend(commands_of_program(command, &LUA, &flat.value(code), via, Vec::new()));
    } else if text.contains('(') {
        found.extend(commands_of_program(command, &VIM, &flat.value(text), via, Vec::new()));
    }
}

/// Returns the text behind `!`, which a range, `silent` or `read` may precede.
fn shell_escape(text: &str) -> Option<&str> {
    let mut rest = text;
    for _ in 0..8 {
        rest = rest.trim_start_matches(|letter: char| letter.is_whitespace() || ":%$.,;0123456789+-'".contains(letter));
        if let Some(script) = rest.strip_prefix('!') {
            return Some(script);
        }
        let length = rest.find(|letter: char| !letter.is_alphabetic()).unwrap_or(rest.len());
        let (word, behind) = rest.split_at(length);
        let modifier = matches!(
            word,
            "silent"
                | "sil"
                | "exe"
                | "exec"
                | "execute"
                | "r"
                | "re"
                | "read"
                | "w"
                | "wr"
                | "write"
                | "noautocmd"
                | "noa"
                | "keepalt"
                | "vertical"
                | "terminal"
                | "term"
        );
        if !modifier {
            return None;
        }
        rest = match word {
            "silent" | "sil" | "noautocmd" | "noa" => behind.strip_prefix('!').unwrap_or(behind),
            // `execute "!rm x"`
            "exe" | "exec" | "execute" => {
                behind.trim_start().trim_start_matches(['"', '\'']).trim_end_matches(['"', '\''])
            }
            "terminal" | "term" => return Some(behind),
            _ => behind,
        };
    }
    None
}
