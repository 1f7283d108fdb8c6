//! By the tables, and for some programs by what they are told to do.

use super::{awk, git, sed};
use crate::safety::analysis::ReadOnly;
use crate::safety::command::{Command, Redirect};
use crate::safety::follow::Environment;
use crate::safety::options::{Spec, parse};
use crate::safety::rules::VALUED;
use crate::safety::tables::arity::HIJACKING;
use crate::safety::tables::commands::{COMMANDS, DOUBTFUL};
use crate::safety::tables::files::{TEE, WGET};
use crate::safety::tables::readers::{PLAIN, READERS, RUNNING, Reader, TELLING, VERSIONS, WRITERS};
use crate::safety::value::{Piece, Value};

/// Whether one command only reads. What it runs in its turn is judged for itself; a `wrapper` does nothing else.
pub fn read_only(command: &Command, environment: Environment, wrapper: bool) -> ReadOnly {
    let redirected = command.redirects.iter().map(redirect).max().unwrap_or(ReadOnly::Yes);
    let running = command.assignments.iter().any(|(name, value)| runs(name, value));
    let assigned = if running { ReadOnly::Unknown } else { ReadOnly::Yes };
    // Another machine may have other programs by these names.
    let own = if wrapper { when(command.name() != Some("ssh")) } else { program(command, environment) };
    redirected.max(assigned).max(own)
}

fn redirect(redirect: &Redirect) -> ReadOnly {
    let target = redirect.target.known();
    if redirect.writes_file() {
        let stream = |path: &str| {
            matches!(path, "/dev/null" | "/dev/stdout" | "/dev/stderr" | "/dev/tty") || path.starts_with("/dev/fd/")
        };
        return if target.is_some_and(stream) { ReadOnly::Yes } else { ReadOnly::No };
    }
    // bash opens connections by these names.
    let net = |path: &str| path.starts_with("/dev/tcp/") || path.starts_with("/dev/udp/");
    if redirect.op == "<" && target.is_none_or(net) && net(redirect.target.prefix()) {
        ReadOnly::Unknown
    } else {
        ReadOnly::Yes
    }
}

/// Whether a variable makes programs run something.
fn runs(name: &str, value: &Value) -> bool {
    let pager = name == "PAGER" || name.ends_with("_PAGER");
    let git = name.starts_with("GIT_") && !matches!(name, "GIT_OPTIONAL_LOCKS" | "GIT_TERMINAL_PROMPT");
    match value.known() {
        Some("cat" | "") if pager => false,
        _ => pager || git || HIJACKING.contains(&name) || RUNNING.contains(&name),
    }
}

fn program(command: &Command, environment: Environment) -> ReadOnly {
    let Some(head) = command.argv.first() else { return ReadOnly::Yes };
    let base = head.base_name().unwrap_or_default();
    let args = command.args();
    if WRITERS.contains(&base) || base.starts_with("mkfs.") {
        let tells = |arg: &Value| matches!(arg.known(), Some("--help" | "--version"));
        let lists = matches!((base, args.first().and_then(Value::known)), ("kill" | "unzip" | "crontab", Some("-l")));
        return if head.known() == Some(base) && (args.iter().any(tells) || lists) {
            ReadOnly::Yes
        } else {
            ReadOnly::No
        };
    }
    // A name with a path may be any program.
    let Some(name) = head.known().filter(|name| !name.contains('/')) else { return ReadOnly::Unknown };
    let listed = READERS.iter().find(|reader| reader.name == name);
    let commands = COMMANDS.iter().find(|commands| commands.name == name);
    if let [arg] = args
        && arg.known().is_some_and(|arg| VERSIONS.contains(&arg))
        && (commands.is_some() || TELLING.contains(&name))
    {
        return ReadOnly::Yes;
    }
    match name {
        "export" | "declare" | "typeset" | "readonly" | "local" => assigns(args),
        "command" => when(args.first().is_some_and(|arg| matches!(arg.known(), Some("-v" | "-V")))),
        "find" | "gfind" => find(args),
        "sed" | "gsed" => sed::read_only(args),
        "awk" | "gawk" | "mawk" | "nawk" => awk::read_only(args),
        "git" => git::read_only(command, environment),
        "tee" => {
            let parsed = parse(args, &TEE);
            let files = parsed.operands.iter().filter_map(|at| args.get(*at));
            let null = |file: &Value| matches!(file.known(), Some("/dev/null" | "/dev/stderr" | "/dev/stdout"));
            if files.into_iter().all(null) { ReadOnly::Yes } else { ReadOnly::No }
        }
        "wget" => {
            let file = parse(args, &WGET).value(&["O", "output-document"]).and_then(Value::known).map(str::to_owned);
            if matches!(file.as_deref(), Some("-" | "/dev/null")) { ReadOnly::Unknown } else { ReadOnly::No }
        }
        "tar" => tar(args),
        "man" => when(args.iter().all(|arg| !arg.prefix().starts_with('-'))),
        _ if PLAIN.contains(&name) => ReadOnly::Yes,
        _ => match (listed, commands) {
            (Some(reader), _) => reads(reader, args),
            (None, Some(commands)) => by_command(commands.reads, commands.writes, args),
            (None, None) => ReadOnly::Unknown,
        },
    }
}

fn when(reads: bool) -> ReadOnly {
    if reads { ReadOnly::Yes } else { ReadOnly::Unknown }
}

/// Whether a word may turn out to be an option.
pub(super) fn may_be_option(word: &Value) -> bool {
    word.has_hole() && (word.prefix().is_empty() || word.prefix().starts_with('-'))
}

fn assigns(args: &[Value]) -> ReadOnly {
    let running = |arg: &Value| match arg.prefix().split_once('=') {
        Some((name, value)) => runs(name, &Value::of(value)),
        None => arg.known().is_none(),
    };
    when(!args.iter().any(running))
}

fn reads(reader: &Reader, args: &[Value]) -> ReadOnly {
    let spec = Spec { short: reader.short, long: reader.long, permute: true, abbreviate: true };
    let parsed = parse(args, &spec);
    let operands: Vec<&Value> = parsed.operands.iter().filter_map(|at| args.get(*at)).collect();
    let more = reader.most.is_some_and(|most| operands.len() > most);
    // `date 01011200` sets the clock, `less +!cmd` runs cmd.
    let sets = reader.name == "date" && operands.iter().any(|operand| !operand.prefix().starts_with('+'));
    if parsed.has(reader.writes) || more || sets {
        return ReadOnly::No;
    }
    let before = parsed.dashes.unwrap_or(args.len());
    let doubtful = args[..before].iter().any(may_be_option)
        || reader.most.is_some()
            && args.iter().any(|arg| arg.pieces().iter().any(|piece| matches!(piece, Piece::Hole(true))))
        || reader.name == "less" && args.iter().any(|arg| arg.prefix().starts_with('+'));
    when(!parsed.has(reader.runs) && !doubtful)
}

/// `docker compose ps`: by its first words, which are no options.
fn by_command(reads: &[&str], writes: &[&str], args: &[Value]) -> ReadOnly {
    let Some(first) = args.first().and_then(Value::known) else { return ReadOnly::Unknown };
    let second = args.get(1).and_then(Value::known).map(|second| format!("{first} {second}"));
    let among = |list: &[&str]| list.contains(&first) || second.as_deref().is_some_and(|both| list.contains(&both));
    if among(writes) {
        return ReadOnly::No;
    }
    let doubtful = |arg: &Value| {
        let name = arg.prefix().split('=').next().unwrap_or_default();
        may_be_option(arg) || DOUBTFUL.contains(&name)
    };
    when(among(reads) && !args.iter().any(doubtful))
}

fn find(args: &[Value]) -> ReadOnly {
    let mut worst = ReadOnly::Yes;
    let mut at = 0;
    while let Some(arg) = args.get(at) {
        at += 1;
        let text = arg.known().unwrap_or_default();
        worst = worst.max(match text {
            "-delete" | "-fprint" | "-fprint0" | "-fprintf" | "-fls" => ReadOnly::No,
            // What it runs is judged for itself, where it is known.
            "-exec" | "-execdir" | "-ok" | "-okdir" => {
                let known = args.get(at).is_some_and(|head| head.known().is_some());
                at += args[at..].iter().take_while(|word| !matches!(word.known(), Some(";" | "+"))).count() + 1;
                when(known)
            }
            _ if VALUED.iter().any(|(test, _)| *test == text) => {
                at += 1;
                ReadOnly::Yes
            }
            _ => when(!may_be_option(arg)),
        });
    }
    worst
}

/// `tar tf FILE` and the like.
fn tar(args: &[Value]) -> ReadOnly {
    let Some(first) = args.first().and_then(Value::known) else { return ReadOnly::Unknown };
    let letters = first.strip_prefix('-').unwrap_or(first);
    if first.starts_with("--") {
        let long =
            ["--create", "--extract", "--get", "--append", "--update", "--delete", "--concatenate", "--catenate"];
        return if long.contains(&first) { ReadOnly::No } else { ReadOnly::Unknown };
    }
    if letters.contains(['c', 'x', 'r', 'u', 'A']) {
        return ReadOnly::No;
    }
    let plain = letters.contains('t') && letters.chars().all(|letter| "tvfzjJ".contains(letter));
    when(plain && args[1..].iter().all(|arg| !arg.prefix().starts_with('-') && !may_be_option(arg)))
}
