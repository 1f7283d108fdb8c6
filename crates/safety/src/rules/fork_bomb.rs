//! Processes that start each other without end.

use super::safety_rule::{RuleHit, RulePrograms, SafetyRule};
use crate::simple_command_view::SimpleCommandView;
use crate::verdict::SafetyVerdict;

pub static RULE: SafetyRule = SafetyRule {
    id: "fork-bomb",
    level: SafetyVerdict::Deny,
    doc: "Starts processes that start processes until the machine stands still: a function that calls itself in the \
          background or in a pipe, or a loop of forks in another language.",
    programs: RulePrograms::All,
    check,
    matches: &[
        ":(){ :|:& };:",
        ":() { : | : & }; :",
        "bomb() { bomb | bomb & }; bomb",
        "f() { f & f & }; f",
        "perl -e 'fork while fork'",
        "perl -e 'fork while 1'",
        "ruby -e 'loop { fork }'",
        "ruby -e 'fork while true'",
        "python3 -c 'import os; [os.fork() for _ in iter(int, 1)]'",
    ],
    passes: &[
        ":",
        ": > file",
        "f() { echo x | cat; }; f",
        "f() { sleep 1 & }; f",
        "f() { f2 & }; f",
        "perl -e 'print \"fork while fork\\n\"'",
        "python3 -c 'import os; print(os.getpid())'",
        "python3 -c 'import os; pid = os.fork()'",
        "ruby -e 'puts 1'",
        "echo ':(){ :|:& };:'",
        "npm run fork",
    ],
};

/// Texts of fork loops in programs, without blanks.
static LOOPS: &[&str] = &[
    "forkwhilefork",
    "forkwhile1",
    "forkwhiletrue",
    "forkuntil0",
    "while(1){fork",
    "while(true){fork",
    "for(;;){fork",
    "while1{fork",
    "loop{fork",
    "loopdofork",
    "whiletrue:os.fork()",
    "while1:os.fork()",
    "whiletruedofork",
    "[os.fork()for_initer(",
    "while(1){pcntl_fork",
    "while(true){pcntl_fork",
];

/// Programs whose code may be among their arguments.
static INTERPRETERS: &[&str] = &["perl", "python", "python3", "python2", "ruby", "php"];

fn check(command: &SimpleCommandView) -> Option<RuleHit> {
    (command.name().is_some_and(|name| INTERPRETERS.contains(&name)) && loops(command)).then(hit)
}

fn loops(command: &SimpleCommandView) -> bool {
    let texts = command.args().iter().filter_map(|arg| arg.known());
    texts.filter(|text| text.contains("fork")).any(|text| {
        let dense: String = text.chars().filter(|char| !char.is_whitespace()).flat_map(char::to_lowercase).collect();
        let found = |form: &&str| dense.find(form).is_some_and(|at| !dense[..at].ends_with(['"', '\'']));
        LOOPS.iter().any(found)
    })
}

/// Returns the hit. The engine uses it, too, for a function that calls itself.
pub fn hit() -> RuleHit {
    RuleHit::exact(
        "permission denied: this is a fork bomb, it starts processes until the machine stands still. Start a fixed number of processes instead",
        "",
    )
}
