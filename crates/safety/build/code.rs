//! Writes records as Rust.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::family::{Beyond, CommandOptions, Family, Overwrites, Program, Sends, Sent};
use crate::parts::{
    Arity, Dashes, Database, Dialect, Effect, Facts, Form, Hook, Interpreter, Lasting, Login, Operands, Options,
    Queries, Style, Target, Text, Wrapper,
};

/// Returns a module for each family, with the tables of all families and, for tests, `EXAMPLES`.
pub fn of(families: &BTreeMap<String, Family>) -> String {
    let mut code = String::new();
    for (name, family) in families {
        module(&mut code, name, family);
    }
    let with_programs = || families.iter().filter(|(_, family)| !family.programs.is_empty());
    let tables = list(with_programs().map(|(name, _)| format!("{name}::PROGRAMS")));
    let sends = list(families.values().flat_map(|family| &family.sends).map(sends));
    let overwrites = list(families.values().flat_map(|family| &family.overwrites).map(overwrites));
    let beyond = list(families.values().flat_map(|family| &family.beyond).map(beyond));
    let examples = list(with_programs().flat_map(|(_, family)| &family.programs).filter_map(examples));
    code + &format!(
        "static FAMILIES: &[&[program::Program]] = {tables};\n\
        pub static SENDINGS: &[sending::Sending] = {sends};\n\
        pub static OVERWRITES: &[overwriting::Overwriting] = {overwrites};\n\
        pub static BEYOND: &[(&str, &str)] = {beyond};\n\
        #[cfg(test)]\nstatic EXAMPLES: &[(&str, &[&str], &[&str])] = {examples};\n"
    )
}

fn module(code: &mut String, name: &str, family: &Family) {
    let mut items = String::new();
    for (name, spec) in &family.specs {
        let name = constant(name);
        writeln!(items, "pub static {name}: crate::options::OptionSpec = {};", options(spec)).expect("text");
    }
    for (name, words) in &family.words {
        writeln!(items, "pub static {}: &str = {};", constant(name), text(words)).expect("text");
    }
    for (name, pairs) in &family.pairs {
        let pairs = list(pairs.iter().map(|(key, value)| format!("({key:?}, {})", text(value))));
        writeln!(items, "pub static {}: &[(&str, &str)] = {pairs};", constant(name)).expect("text");
    }
    if !family.command_options.is_empty() {
        let entries = list(family.command_options.iter().map(command_options));
        writeln!(items, "pub static COMMAND_OPTIONS: &[super::program::CommandOption] = {entries};").expect("text");
    }
    if !family.programs.is_empty() {
        let programs = list(family.programs.iter().map(program));
        writeln!(items, "pub(super) static PROGRAMS: &[super::program::Program] = {programs};").expect("text");
    }
    if !items.is_empty() {
        write!(code, "pub mod {name} {{\n{items}}}\n").expect("text");
    }
}

fn program(program: &Program) -> String {
    let rules = program.rules.iter().map(|(count, paths)| format!("({}, {})", arity(count), text(paths)));
    format!(
        "super::program::Program {{ names: {}, words: super::program::Words::{:?}, options: {}, wrappers: {}, hooks: {}, \
        interpreters: {}, rule: {}, sub_rules: {}, effect: {}, subcommands: {}, facts: {} }}",
        text(&program.names),
        program.words,
        options(&program.options),
        list(program.wrappers.iter().map(wrapper)),
        list(program.hooks.iter().map(hook)),
        list(program.interpreters.iter().map(interpreter)),
        arity(&program.rule),
        list(rules),
        effect(&program.effect),
        subcommands(program),
        facts(&program.facts),
    )
}

fn arity(arity: &Arity) -> String {
    format!("super::program::Arity::{arity:?}")
}

fn effect(effect: &Effect) -> String {
    let variant = match effect {
        Effect::Unknown => "Unknown".to_owned(),
        Effect::Reads => "Reads".to_owned(),
        Effect::Changes => "Changes".to_owned(),
        Effect::ReadsUnless(unless) => format!(
            "ReadsUnless(super::program::Unless {{ writes: {}, runs: {}, operands: {:?} }})",
            text(&unless.writes),
            text(&unless.runs),
            unless.operands
        ),
    };
    format!("super::program::Effect::{variant}")
}

/// The subcommands, the lasting ones last: of several entries for the same path the first counts for reading.
fn subcommands(program: &Program) -> String {
    let own = &program.subcommands;
    let plain = [("Reads", &own.reads), ("Changes", &own.changes), ("Unknown", &own.other)];
    let plain = plain.into_iter().flat_map(|(effect, lists)| lists.parts().iter().map(move |list| (effect, list)));
    let plain = plain.map(|(effect, list)| format!("(super::program::Effect::{effect}, {})", line(list)));
    let lasting = program
        .lasting
        .iter()
        .map(|lasting| format!("(super::program::Effect::Lasts(&{}), {})", self::lasting(lasting), text(&lasting.sub)));
    list(plain.chain(lasting))
}

fn lasting(lasting: &Lasting) -> String {
    let operands = match &lasting.operands {
        Operands::Unlike(words) => format!("Unlike({})", text(words)),
        Operands::Containing(words) => format!("Containing({})", text(words)),
        plain => format!("{plain:?}"),
    };
    let spec = lasting.options.as_ref().map_or("None".to_owned(), |spec| format!("Some({})", options(spec)));
    format!(
        "super::lasting::Lasting {{ stake: super::lasting::Stake::{:?}, says: {}, instead: {}, with: {}, unless: {}, \
        operands: super::lasting::Operands::{operands}, spec: {spec} }}",
        lasting.stake,
        text(&lasting.says),
        text(&lasting.instead),
        text(&lasting.with),
        text(&lasting.unless),
    )
}

fn facts(facts: &Facts) -> String {
    let plain = [
        (facts.only_runs_commands, "OnlyRunsCommands"),
        (facts.runs_elsewhere, "RunsElsewhere"),
        (facts.prints_its_version, "PrintsItsVersion"),
        (facts.runs_tasks, "RunsTasks"),
    ];
    let mut all: Vec<String> = plain.into_iter().filter(|(holds, _)| *holds).map(|(_, name)| name.to_owned()).collect();
    all.extend(facts.prints_shell_code.as_ref().map(|words| format!("PrintsShellCode({})", text(words))));
    all.extend(
        facts
            .formats
            .as_ref()
            .map(|formats| format!("Formats {{ writes: {}, reads: {} }}", text(&formats.writes), text(&formats.reads))),
    );
    all.extend(facts.writes.as_ref().map(|files| format!("Writes({})", target(files))));
    all.extend(
        facts.erases.as_ref().map(|erases| format!("Erases({}, {})", target(&erases.files), text(&erases.with))),
    );
    if !facts.contains.is_empty() {
        let pairs = facts.contains.iter().map(|inner| format!("({}, {})", text(&inner.sub), text(&inner.program)));
        all.push(format!("Contains({})", list(pairs)));
    }
    all.extend(facts.queries.as_ref().map(|client| format!("Queries(&{})", queries(client))));
    all.extend(facts.test_database.as_ref().map(|words| format!("TestDatabase({})", text(words))));
    list(all.into_iter().map(|fact| format!("super::program::Fact::{fact}")))
}

fn target(target: &Target) -> String {
    let variant = match target {
        Target::Operands => "Operands".to_owned(),
        Target::OperandsWith(words) => format!("OperandsWith({})", text(words)),
        Target::LastUnless(words) => format!("LastUnless({})", text(words)),
        Target::Values(words) => format!("Values({})", text(words)),
        Target::Prefixed(start) => format!("Prefixed({})", text(start)),
    };
    format!("super::program::Target::{variant}")
}

fn options(options: &Options) -> String {
    let Options { style, short, long } = options;
    format!(
        "crate::options::OptionSpec {{ short: {}, long: {}, permute: {}, abbreviate: {}, go: {} }}",
        text(short),
        text(long),
        matches!(style, Style::Gnu | Style::GoAnywhere),
        matches!(style, Style::Gnu | Style::Leading),
        matches!(style, Style::Go | Style::GoAnywhere),
    )
}

fn wrapper(wrapper: &Wrapper) -> String {
    let login = match &wrapper.login {
        Login::With(words) => format!("With({})", text(words)),
        plain => format!("{plain:?}"),
    };
    let (dashes, marks) = match &wrapper.behind {
        Some(marks) => (&Dashes::Need, text(marks)),
        None => (&wrapper.dashes, "\"--\"".to_owned()),
    };
    format!(
        "super::wrapper::Wrapper {{ sub: {}, spec: {}, form: super::wrapper::Form::{:?}, operands: {}, assignments: {}, \
        again: {}, dashes: super::wrapper::Dashes::{dashes:?}, marks: {marks}, chdir: {}, script: {}, stop: {}, \
        switch: {}, login: super::wrapper::Login::{login}, line: {}, elsewhere: {}, prefix: {} }}",
        text(&wrapper.sub),
        options(&wrapper.options),
        wrapper.form,
        wrapper.operands,
        wrapper.assignments,
        wrapper.again,
        text(&wrapper.chdir),
        text(&wrapper.script),
        text(&wrapper.stop),
        text(&wrapper.switch),
        wrapper.line,
        wrapper.elsewhere,
        wrapper.form == Form::Rest && !wrapper.elsewhere && !wrapper.child,
    )
}

fn hook(hook: &Hook) -> String {
    format!("super::program::Hook {{ options: {}, begins: &{:?} }}", text(&hook.options), hook.begins)
}

fn interpreter(interpreter: &Interpreter) -> String {
    format!(
        "super::program::Interpreter {{ language: super::program::Language::{:?}, options: {}, code: {}, flag: {}, \
        stop: {}, subcommand: {} }}",
        interpreter.language,
        options(&interpreter.options),
        text(&interpreter.code),
        text(&interpreter.flag),
        text(&interpreter.stop),
        text(&interpreter.subcommand),
    )
}

fn queries(client: &Queries) -> String {
    let language = match &client.language {
        plain @ (Dialect::Mongo | Dialect::Redis) => format!("{plain:?}"),
        dialect => format!("Sql(crate::queries::sql::Dialect::{dialect:?})"),
    };
    let database = match &client.database {
        Database::Named(words) => format!("Named({})", text(words)),
        Database::Option(words) => format!("Option({})", text(words)),
        Database::File => "File".to_owned(),
    };
    format!(
        "super::query_client::QueryClient {{ language: crate::queries::QueryLanguage::{language}, sub: {}, options: {}, \
        code: {}, operands: {:?}, files: {}, harmless: {}, database: super::query_client::Database::{database}, \
        safe: {} }}",
        text(&client.sub),
        options(&client.options),
        text(&client.code),
        client.operands,
        text(&client.files),
        text(&client.harmless),
        text(&client.safe),
    )
}

fn sends(sends: &Sends) -> String {
    let marked = [("Whole", &sends.marked.whole), ("Field", &sends.marked.field), ("Name", &sends.marked.name)];
    let marked = marked.into_iter().filter(|(_, words)| words.words().next().is_some());
    let operands = match &sends.operands {
        Sent::Copies(target) => format!("Copies({})", text(target)),
        plain => format!("{plain:?}"),
    };
    let input = sends.input.as_ref().map_or("Named".to_owned(), |but| format!("Always({})", text(but)));
    format!(
        "sending::Sending {{ names: {}, sub: {}, options: {}, text: {}, files: {}, marked: {}, \
        operands: sending::Operands::{operands}, input: sending::StandardInput::{input}, to: {} }}",
        sends.names.as_ref().map_or_else(String::new, text),
        text(&sends.sub),
        options(&sends.options),
        text(&sends.text),
        text(&sends.files),
        list(marked.map(|(mark, words)| format!("(sending::Mark::{mark}, {})", text(words)))),
        sends.to.as_ref().map_or("\"another machine\"".to_owned(), text),
    )
}

fn overwrites(entry: &Overwrites) -> String {
    format!(
        "overwriting::Overwriting {{ programs: {}, sub: {}, with: {}, unless: {}, operands: {} }}",
        entry.names.as_ref().map_or_else(String::new, text),
        text(&entry.sub),
        text(&entry.with),
        text(&entry.unless),
        text(&entry.operands),
    )
}

fn beyond(entry: &Beyond) -> String {
    format!("({}, {})", text(&entry.names), text(&entry.what))
}

fn command_options(entry: &CommandOptions) -> String {
    format!(
        "super::program::CommandOption {{ subcommands: {}, spec: {}, options: {}, via: {} }}",
        text(&entry.sub),
        options(&entry.options),
        text(&entry.commands),
        text(&entry.via),
    )
}

fn examples(program: &Program) -> Option<String> {
    let Program { names, passes, asks, .. } = program;
    (!passes.is_empty() || !asks.is_empty()).then(|| format!("({}, &{passes:?}, &{asks:?})", text(names)))
}

/// `narrowing-tests` as `NARROWING_TESTS`.
fn constant(name: &str) -> String {
    name.replace('-', "_").to_ascii_uppercase()
}

fn list(items: impl Iterator<Item = String>) -> String {
    format!("&[{}]", items.collect::<Vec<_>>().join(", "))
}

fn text(text: &Text) -> String {
    format!("{:?}", text.joined())
}

/// One text of several.
fn line(text: &str) -> String {
    format!("{:?}", text.split_whitespace().collect::<Vec<_>>().join(" "))
}
