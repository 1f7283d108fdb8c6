//! Judges whether a command only reads, by the records of the programs. For some programs, their words are read.

use std::collections::HashSet;
use std::sync::LazyLock;

use super::{awk, git, sed};
use crate::analysis::ReadOnly;
use crate::eval::EnvironmentBlock;
use crate::name_lists::{has_word, words};
use crate::options::{OptionSpec, may_be_option, parse};
use crate::programs;
use crate::programs::call::{CallEffect, effects};
use crate::programs::program::{ProgramEffect, ProgramFact, ProgramSpec, ReadOnlyExceptions};
use crate::programs::search::{NARROWING_TESTS, OTHER_VALUED_TESTS};
use crate::programs::variables::{HIJACKING, RUNNING};
use crate::simple_command_view::{ExpandedRedirect, SimpleCommandView};
use crate::word_value::{ValuePiece, WordValue};

/// If one of these is the only word, programs with `PrintsItsVersion` print a text about themselves.
const VERSIONS: &str = "--help --version -V -h -v -version";

/// Options with which reading subcommands write, open an editor or a browser, or run another program.
const DOUBTFUL: &str =
    "--web --output --output-file --out --config --kubeconfig --toolexec --exec --vettool -exec -toolexec";

/// Returns whether one command only reads. A command inside it is judged by itself, and a `wrapper` does nothing else.
pub fn read_only(command: &SimpleCommandView, environment: EnvironmentBlock, wrapper: bool) -> ReadOnly {
    let redirected = command.redirects.iter().map(redirect).max().unwrap_or(ReadOnly::Yes);
    let running = command.assignments.iter().any(|(name, value)| makes_programs_run(name, value));
    let assigned = if running { ReadOnly::Unknown } else { ReadOnly::Yes };
    // Another machine may have other programs by these names.
    let own = if wrapper { read_only_if(command.name() != Some("ssh")) } else { program(command, environment) };
    redirected.max(assigned).max(own)
}

fn redirect(redirect: &ExpandedRedirect) -> ReadOnly {
    let target = redirect.target.known();
    if redirect.writes_file() {
        let stream = |path: &str| {
            matches!(path, "/dev/null" | "/dev/stdout" | "/dev/stderr" | "/dev/tty") || path.starts_with("/dev/fd/")
        };
        return if target.is_some_and(stream) { ReadOnly::Yes } else { ReadOnly::No };
    }
    // For bash, these names open connections.
    let net = |path: &str| path.starts_with("/dev/tcp/") || path.starts_with("/dev/udp/");
    if redirect.op == "<" && target.is_none_or(net) && net(redirect.target.prefix()) {
        ReadOnly::Unknown
    } else {
        ReadOnly::Yes
    }
}

/// Returns whether a variable makes a program run something else than its name says.
pub fn variable_hijacks(name: &str) -> bool {
    has_word(HIJACKING, name)
}

/// Returns whether a variable makes programs run something.
pub fn makes_programs_run(name: &str, value: &WordValue) -> bool {
    let pager = name == "PAGER" || name.ends_with("_PAGER");
    let git = name.starts_with("GIT_") && !matches!(name, "GIT_OPTIONAL_LOCKS" | "GIT_TERMINAL_PROMPT");
    match value.known() {
        Some("cat" | "") if pager => false,
        Some(prompt) if name == "PS4" => prompt.contains("$(") || prompt.contains('`'),
        _ => pager || git || DECIDING.has(name),
    }
}

/// The variables that decide what runs.
struct DecidingVariables {
    names: HashSet<&'static str>,
    beginnings: Vec<&'static str>,
}

static DECIDING: LazyLock<DecidingVariables> = LazyLock::new(|| {
    let all = || words(HIJACKING).chain(words(RUNNING));
    let is_beginning = |name: &&str| name.ends_with('_');
    DecidingVariables { names: all().collect(), beginnings: all().filter(is_beginning).collect() }
});

impl DecidingVariables {
    fn has(&self, name: &str) -> bool {
        self.names.contains(name) || self.beginnings.iter().any(|beginning| name.starts_with(beginning))
    }
}

fn program(command: &SimpleCommandView, environment: EnvironmentBlock) -> ReadOnly {
    let Some(head) = command.argv.first() else { return ReadOnly::Yes };
    let base = head.base_name().unwrap_or_default();
    let args = command.args();
    if matches!(programs::of(base).effect, ProgramEffect::Changes) {
        let tells = |arg: &WordValue| matches!(arg.known(), Some("--help" | "--version"));
        let lists =
            matches!((base, args.first().and_then(WordValue::known)), ("kill" | "unzip" | "crontab", Some("-l")));
        return if head.known() == Some(base) && (args.iter().any(tells) || lists) {
            ReadOnly::Yes
        } else {
            ReadOnly::No
        };
    }
    // A name with a path may be any program.
    let Some(name) = head.known().filter(|name| !name.contains('/')) else { return ReadOnly::Unknown };
    let program = programs::of(name);
    if let [arg] = args
        && arg.known().is_some_and(|arg| has_word(VERSIONS, arg))
        && (!program.subcommands.is_empty() || program.has(|fact| matches!(fact, ProgramFact::PrintsItsVersion)))
    {
        return ReadOnly::Yes;
    }
    match name {
        "export" | "declare" | "typeset" | "readonly" | "local" => assigns(args),
        "command" => read_only_if(args.first().is_some_and(|arg| matches!(arg.known(), Some("-v" | "-V")))),
        "find" | "gfind" => find(args),
        "sed" | "gsed" => sed::read_only(args),
        "awk" | "gawk" | "mawk" | "nawk" => awk::read_only(args),
        "git" | "git.exe" => git::read_only(command, environment),
        "tee" => {
            let parsed = parse(args, &program.options);
            let files = parsed.operands.iter().filter_map(|at| args.get(*at));
            let null = |file: &WordValue| matches!(file.known(), Some("/dev/null" | "/dev/stderr" | "/dev/stdout"));
            if files.into_iter().all(null) { ReadOnly::Yes } else { ReadOnly::No }
        }
        "wget" => {
            let file =
                parse(args, &program.options).value("O output-document").and_then(WordValue::known).map(str::to_owned);
            if matches!(file.as_deref(), Some("-" | "/dev/null")) { ReadOnly::Unknown } else { ReadOnly::No }
        }
        "tar" => tar(args),
        "man" => read_only_if(args.iter().all(|arg| !arg.prefix().starts_with('-'))),
        _ => match program.effect {
            ProgramEffect::Reads => ReadOnly::Yes,
            ProgramEffect::ReadsUnless(unless) => reads(name, &program.options, unless, args),
            ProgramEffect::Changes => ReadOnly::No,
            ProgramEffect::Unknown | ProgramEffect::Lasts(_) => by_subcommand(program, args),
        },
    }
}

fn read_only_if(reads: bool) -> ReadOnly {
    if reads { ReadOnly::Yes } else { ReadOnly::Unknown }
}

fn assigns(args: &[WordValue]) -> ReadOnly {
    let running = |arg: &WordValue| match arg.prefix().split_once('=') {
        Some((name, value)) => makes_programs_run(name, &WordValue::of(value)),
        None => arg.known().is_none(),
    };
    read_only_if(!args.iter().any(running))
}

fn reads(name: &str, options: &OptionSpec, unless: ReadOnlyExceptions, args: &[WordValue]) -> ReadOnly {
    let parsed = parse(args, options);
    let operands: Vec<&WordValue> = parsed.operands.iter().filter_map(|at| args.get(*at)).collect();
    let more = unless.operands.is_some_and(|most| operands.len() > most);
    // `date 01011200` sets the clock, `less +!cmd` runs cmd.
    let sets = name == "date" && operands.iter().any(|operand| !operand.prefix().starts_with('+'));
    if parsed.has(unless.writes) || more || sets {
        return ReadOnly::No;
    }
    let before = parsed.dashes.unwrap_or(args.len());
    let doubtful = args[..before].iter().any(may_be_option)
        || unless.operands.is_some()
            && args.iter().any(|arg| arg.pieces().iter().any(|piece| matches!(piece, ValuePiece::Unknown(true))))
        || name == "less" && args.iter().any(|arg| arg.prefix().starts_with('+'));
    read_only_if(!parsed.has(unless.runs) && !doubtful)
}

/// Judges `docker compose ps` by its first words, if none of them is an option.
fn by_subcommand(program: &'static ProgramSpec, args: &[WordValue]) -> ReadOnly {
    let plain = |found: &CallEffect| !args[..found.end].iter().any(|arg| arg.prefix().starts_with('-'));
    let effects: Vec<CallEffect> = effects(program, args).into_iter().filter(plain).collect();
    let changes = |found: &CallEffect| match found.effect {
        ProgramEffect::Changes => true,
        ProgramEffect::Lasts(lasting) => lasting.is_certain(),
        ProgramEffect::Unknown | ProgramEffect::Reads | ProgramEffect::ReadsUnless(_) => false,
    };
    if effects.iter().any(changes) {
        return ReadOnly::No;
    }
    let doubtful = |arg: &WordValue| {
        let name = arg.prefix().split('=').next().unwrap_or_default();
        may_be_option(arg) || has_word(DOUBTFUL, name)
    };
    read_only_if(effects.iter().any(|found| matches!(found.effect, ProgramEffect::Reads)) && !args.iter().any(doubtful))
}

fn find(args: &[WordValue]) -> ReadOnly {
    let mut worst = ReadOnly::Yes;
    let mut at = 0;
    while let Some(arg) = args.get(at) {
        at += 1;
        let text = arg.known().unwrap_or_default();
        worst = worst.max(match text {
            "-delete" | "-fprint" | "-fprint0" | "-fprintf" | "-fls" => ReadOnly::No,
            // The inner command, if known, is judged by itself.
            "-exec" | "-execdir" | "-ok" | "-okdir" => {
                let known = args.get(at).is_some_and(|head| head.known().is_some());
                at += args[at..].iter().take_while(|word| !matches!(word.known(), Some(";" | "+"))).count() + 1;
                read_only_if(known)
            }
            _ if has_word(NARROWING_TESTS, text) || has_word(OTHER_VALUED_TESTS, text) => {
                at += 1;
                ReadOnly::Yes
            }
            _ => read_only_if(!may_be_option(arg)),
        });
    }
    worst
}

/// Judges `tar tf FILE` and the like.
fn tar(args: &[WordValue]) -> ReadOnly {
    let Some(first) = args.first().and_then(WordValue::known) else { return ReadOnly::Unknown };
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
    read_only_if(plain && args[1..].iter().all(|arg| !arg.prefix().starts_with('-') && !may_be_option(arg)))
}
