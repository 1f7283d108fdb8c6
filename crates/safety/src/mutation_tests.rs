//! Random commands: the corpus, cut, doubled, mixed and wrapped. `AGENT_BASH_MUTATIONS` is their number.

use std::time::{Duration, Instant};

use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use super::corpus_tests::{CorpusLine, corpus, judge};
use super::verdict::SafetyVerdict;

/// Time that only a hang takes, on a busy machine, too.
const TOO_LONG: Duration = Duration::from_secs(5);

/// Pieces that change the meaning of the text around them.
static PIECES: &[&str] = &[
    "'",
    "\"",
    "`",
    "\\",
    "$",
    "$(",
    "${",
    "$((",
    ")",
    "}",
    "))",
    "(",
    "{",
    " ",
    "\n",
    "\t",
    ";",
    ";;",
    "&",
    "&&",
    "|",
    "||",
    "|&",
    "<",
    ">",
    ">>",
    "<<",
    "<<-",
    "<<<",
    "<(",
    ">(",
    "#",
    "!",
    "*",
    "?",
    "[",
    "]",
    "[[",
    "]]",
    "~",
    "=",
    "+=",
    "{a,b}",
    "$'",
    "$\"",
    "EOF",
    "\nEOF\n",
    "if ",
    "then ",
    "fi",
    "for ",
    "in ",
    "do ",
    "done",
    "while ",
    "case ",
    "esac",
    "function f ",
    "f()",
    "select ",
    "coproc ",
    "time ",
    "eval ",
    "bash -c ",
    "sudo ",
    "xargs ",
    "trap ",
    "source ",
    "-",
    "--",
    "-c",
    ":-",
    ":?",
    "@",
    "é",
    "\u{1F600}",
    "\u{f8ff}",
    "\r",
    "\u{7f}",
];

/// Ways to run a command in the same shell or another one.
static WRAPPERS: &[fn(&str) -> String] = &[
    |command| format!("sudo {command}", command = simple(command)),
    |command| format!("env TRIED=1 {command}", command = simple(command)),
    |command| format!("nice -n 5 timeout 10 {command}", command = simple(command)),
    |command| format!("nohup {command} &", command = simple(command)),
    |command| format!("bash -c {}", quoted(command)),
    |command| format!("sh -ec {} name", quoted(command)),
    |command| format!("eval {}", quoted(command)),
    |command| format!("( {command}\n)"),
    |command| format!("{{ {command}\n}}"),
    |command| format!("echo \"$( {command}\n)\""),
    |command| format!("if {command}\nthen :; fi"),
    |command| format!("for i in 1 2; do {command}\ndone"),
    |command| format!("f() {{ {command}\n}}; f"),
    |command| format!("true && {command}"),
    |command| format!("cd . ; {command}"),
    |command| format!("bash <<< {}", quoted(command)),
    |command| format!("bash <<'END_OF_IT'\n{command}\nEND_OF_IT\n"),
    |command| format!("trap {} EXIT", quoted(command)),
    |command| format!("find . -name x -exec sh -c {} \\;", quoted(command)),
    |command| format!("python3 -c {}", quoted(&format!("import os; os.system({})", serde_json::json!(command)))),
    |command| format!("held_text={}; eval \"$held_text\"", quoted(command)),
];

/// A command as the arguments of a program: plain words, or a shell that runs it.
fn simple(command: &str) -> String {
    let words = !command.contains([';', '&', '|', '(', '{', '=', '<', '>', '\n', '!']);
    if words { command.to_owned() } else { format!("bash -c {}", quoted(command)) }
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

fn runner() -> TestRunner {
    let count = |name: &str| std::env::var(name).ok().and_then(|count| count.parse().ok());
    let cases = count("AGENT_BASH_MUTATIONS").unwrap_or(4_000);
    let seed = count("AGENT_BASH_SEED").unwrap_or_else(|| std::process::id().wrapping_mul(2_654_435_761));
    println!("AGENT_BASH_MUTATIONS={cases} AGENT_BASH_SEED={seed}");
    let mut bytes = [0; 32];
    bytes[..4].copy_from_slice(&seed.to_le_bytes());
    let config = Config { cases, failure_persistence: None, max_shrink_iters: 2_000, ..Config::default() };
    TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &bytes))
}

/// One change: its kind, its place in thousandths, its piece, its length.
type TextMutation = (u8, u16, usize, u16);

fn mutated(lines: &[CorpusLine], first: usize, changes: &[TextMutation]) -> String {
    let mut text = lines[first % lines.len()].command.clone();
    for &(kind, place, piece, amount) in changes {
        let at = |part: u16| {
            let mut at = text.len() * usize::from(part % 1_000) / 1_000;
            while !text.is_char_boundary(at) {
                at += 1;
            }
            at
        };
        let (from, to) = (at(place), at(place.saturating_add(amount % 300)).max(at(place)));
        match kind % 6 {
            0 => text.insert_str(from, PIECES[piece % PIECES.len()]),
            1 => text.replace_range(from..to, ""),
            2 => {
                let doubled = text[from..to].repeat(2);
                text.insert_str(from, &doubled);
            }
            3 => text.truncate(to),
            4 => text.insert_str(from, &lines[piece % lines.len()].command),
            _ => text = WRAPPERS[piece % WRAPPERS.len()](&text),
        }
        if text.len() > 16 * 1024 {
            break;
        }
    }
    text
}

#[test]
fn no_command_breaks_or_hangs_the_engine() {
    let lines = corpus();
    let change = (any::<u8>(), any::<u16>(), any::<usize>(), any::<u16>());
    let commands = (any::<usize>(), prop::collection::vec(change, 1..8));
    let run = runner().run(&commands, |(first, changes)| {
        let text = mutated(&lines, first, &changes);
        let start = Instant::now();
        let analysis = judge(&text);
        prop_assert!(start.elapsed() < TOO_LONG, "{:?} for {:?}", start.elapsed(), text);
        prop_assert!(
            analysis.complete || analysis.verdict >= SafetyVerdict::Ask,
            "not complete and let through: {:?}",
            text
        );
        Ok(())
    });
    if let Err(error) = run {
        panic!("{error}");
    }
}

#[test]
fn wrapping_a_denied_command_never_lets_it_through() {
    // Text cannot be appended to a line that ends in a comment or announces a heredoc, and `find` has its own `{}`.
    let plain = |line: &CorpusLine| {
        line.wanted == "deny" && !["\n", "#", "\0", "<<", "{}"].iter().any(|sign| line.command.contains(sign))
    };
    let lines: Vec<CorpusLine> = corpus().into_iter().filter(plain).collect();
    let layers = prop::collection::vec(any::<usize>(), 1..4);
    let run = runner().run(&(any::<usize>(), layers), |(first, layers)| {
        let mut text = lines[first % lines.len()].command.clone();
        for layer in layers {
            text = WRAPPERS[layer % WRAPPERS.len()](&text);
        }
        let verdict = judge(&text).verdict;
        prop_assert!(verdict >= SafetyVerdict::Ask, "{:?} for {:?}", verdict, text);
        Ok(())
    });
    if let Err(error) = run {
        panic!("{error}");
    }
}
