//! The start of a run, as its host writes it.

use std::borrow::Cow;
use std::sync::OnceLock;

use super::ledger_record::{Actor, LedgerRunHost, LedgerRunStart, MAX_RECORD};

/// Bytes of a record for all but its start.
const OTHERS: usize = 2048;
/// Longest text of an actor, characters.
const MAX_ACTOR: usize = 200;
/// Most rules that are listed.
const MAX_RULES: usize = 20;

/// Returns this process, as people know it: `node agent.js`.
pub fn own_host() -> &'static LedgerRunHost<'static> {
    static HOST: OnceLock<LedgerRunHost<'static>> = OnceLock::new();
    HOST.get_or_init(|| {
        let mut arguments = std::env::args_os().map(|argument| argument.to_string_lossy().into_owned());
        let base = |path: &str| path.rsplit('/').next().unwrap_or(path).to_owned();
        let program = arguments.next().map(|program| base(&program)).filter(|program| !program.is_empty());
        let program = program.unwrap_or_else(|| "node".to_owned());
        // The first argument of an interpreter is its script. The others may be secrets.
        let script = arguments.next().filter(|argument| !argument.starts_with('-'));
        let program = match script {
            Some(script) => format!("{program} {}", base(&script)),
            None => program,
        };
        LedgerRunHost { pid: std::process::id(), program: program.into() }
    })
}

/// Returns a start as JSON that fits into a record. What is too long is cut: the command at a character.
#[must_use]
pub fn to_json_within_record(mut start: LedgerRunStart<'_>) -> String {
    start.actor = start.actor.map(|actor| Cow::Owned(cut_actor(&actor)));
    start.rules.truncate(MAX_RULES);
    loop {
        let json = serde_json::to_string(&start).unwrap_or_default();
        let over = json.len().saturating_sub(MAX_RECORD - OTHERS);
        if over == 0 || start.command.is_empty() {
            return json;
        }
        // A byte of the command is up to six of the record.
        let keep = start.command.len().saturating_sub(over.div_ceil(6).max(start.command.len() / 64));
        let keep = start.command.floor_char_boundary(keep);
        start.command = Cow::Owned(start.command[..keep].to_owned());
    }
}

fn cut_actor(actor: &Actor) -> Actor {
    let text = |text: &Option<String>| text.as_ref().map(|text| text.chars().take(MAX_ACTOR).collect());
    Actor {
        agent: text(&actor.agent),
        session: text(&actor.session),
        tool_call_id: text(&actor.tool_call_id),
        user: text(&actor.user),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger_line::{self, LedgerLine};

    fn start(command: &str) -> LedgerRunStart<'_> {
        LedgerRunStart {
            at: 1,
            command: command.into(),
            redacted: false,
            cwd: "/srv".into(),
            host: own_host().clone(),
            actor: None,
            verdict: None,
            rules: Vec::new(),
            decided_by: None,
            target: None,
            draft: None,
            confinement: None,
            task: None,
            noted: false,
        }
    }

    fn line(json: &str) -> Vec<u8> {
        LedgerLine::of("a-run").with_json("start", json).finish()
    }

    #[test]
    fn a_command_too_long_for_a_record_is_cut_at_a_character() {
        for unit in ["x", "é", "\u{1f600}", "\n", "\u{1}", "\"", "a b\n"] {
            for length in [31_000, 40_000, 200_000] {
                let command = format!("echo {}", unit.repeat(length / unit.len()));
                let line = line(&to_json_within_record(start(&command)));
                assert!(line.len() <= MAX_RECORD, "{unit:?} {length}: {}", line.len());
                let kept =
                    ledger_line::read_line(line.trim_ascii_end()).expect("whole").start.expect("a start").command;
                assert!(command.starts_with(&*kept) && kept.len() > 4000, "{unit:?} {length}: {}", kept.len());
            }
        }
    }

    #[test]
    fn the_largest_fields_still_fit() {
        let actor = Actor { agent: Some("\u{1}".repeat(9999)), ..Actor::default() };
        let (command, cwd) = ("x".repeat(99_999), "\u{1}".repeat(4096));
        let rules = vec![Cow::Borrowed("git-clean"); 200];
        let start = LedgerRunStart { cwd: cwd.into(), actor: Some(Cow::Owned(actor)), rules, ..start(&command) };
        assert!(line(&to_json_within_record(start)).len() <= MAX_RECORD);
    }

    #[test]
    fn this_process_has_a_name() {
        assert_eq!(own_host().pid, std::process::id());
        assert!(!own_host().program.is_empty() && !own_host().program.contains('/'));
    }
}
