//! Shells, and the builtins that run code in one.

use super::program::Arity::Never;
use super::program::{Effect, Fact, Program};
use super::wrapper::Wrapper;

const BUILTIN: Wrapper = Wrapper::rest("", "");

const BUSYBOX: Wrapper = Wrapper::rest("", "list list-full install help");

pub(super) static PROGRAMS: &[Program] = &[
    Program {
        names: ". ash bash dash eval fish ksh sh source trap zsh",
        rule: Never,
        facts: &[Fact::OnlyRunsCommands],
        ..Program::COMMANDS
    },
    Program { names: "builtin", wrappers: &[BUILTIN], rule: Never, ..Program::UNKNOWN },
    Program { names: "busybox", wrappers: &[BUSYBOX], rule: Never, ..Program::UNKNOWN },
    Program { names: "command", wrappers: &[Wrapper::rest("pvV", "").stop("v V")], rule: Never, ..Program::UNKNOWN },
    Program { names: "coreutils", wrappers: &[Wrapper::rest("", "coreutils-prog=")], ..Program::UNKNOWN },
    Program { names: "csh rbash tcsh", ..Program::COMMANDS },
    Program { names: "declare export typeset", effect: Effect::Reads, ..Program::DATA },
    Program { names: "exec", wrappers: &[Wrapper::rest("cla:", "")], rule: Never, ..Program::UNKNOWN },
    Program { names: "mksh", facts: &[Fact::OnlyRunsCommands], ..Program::COMMANDS },
    Program { names: "nocorrect noglob", wrappers: &[BUILTIN], ..Program::UNKNOWN },
    Program { names: "powershell", rule: Never, ..Program::UNKNOWN },
    Program { names: "pwsh", rule: Never, ..Program::COMMANDS },
    Program { names: "toybox", wrappers: &[BUSYBOX], ..Program::UNKNOWN },
];
