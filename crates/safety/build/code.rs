//! Writes records as Rust.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::family::{
    CommandOptionRecord, ExternalEffectRecord, OverwritingRecord, ProgramFamily, ProgramRecord, SendingRecord,
    SentOperandsRecord,
};
use crate::parts::{
    CommandMarkRecord, DatabaseNameRecord, HookOptionsRecord, InterpreterRecord, LastingEffectRecord, LoginShellRecord,
    OperandConditionRecord, OptionSpecRecord, OptionStyleRecord, PermissionArityRecord, ProgramEffectRecord,
    ProgramFactsRecord, QueryClientRecord, QueryDialectRecord, RecordText, WrappedCommandFormRecord, WrapperRecord,
    WrittenFileWordsRecord,
};

/// Returns a module for each family, with the tables of all families and, for tests, `EXAMPLES`.
pub fn of(families: &BTreeMap<String, ProgramFamily>) -> String {
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
        "static FAMILIES: &[&[program::ProgramSpec]] = {tables};\n\
        pub static SENDINGS: &[sending::SendingSpec] = {sends};\n\
        pub static OVERWRITES: &[overwriting::OverwritingSpec] = {overwrites};\n\
        pub static BEYOND: &[(&str, &str)] = {beyond};\n\
        #[cfg(test)]\nstatic EXAMPLES: &[(&str, &[&str], &[&str])] = {examples};\n"
    )
}

fn module(code: &mut String, name: &str, family: &ProgramFamily) {
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
        writeln!(items, "pub static COMMAND_OPTIONS: &[super::program::CommandOptionSpec] = {entries};").expect("text");
    }
    if !family.programs.is_empty() {
        let programs = list(family.programs.iter().map(program));
        writeln!(items, "pub(super) static PROGRAMS: &[super::program::ProgramSpec] = {programs};").expect("text");
    }
    if !items.is_empty() {
        write!(code, "pub mod {name} {{\n{items}}}\n").expect("text");
    }
}

fn program(program: &ProgramRecord) -> String {
    let rules = program.rules.iter().map(|(count, paths)| format!("({}, {})", arity(count), text(paths)));
    format!(
        "super::program::ProgramSpec {{ names: {}, words: super::program::ArgumentKind::{:?}, options: {}, wrappers: {}, hooks: {}, \
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

fn arity(arity: &PermissionArityRecord) -> String {
    format!("super::program::PermissionArity::{arity:?}")
}

fn effect(effect: &ProgramEffectRecord) -> String {
    let variant = match effect {
        ProgramEffectRecord::Unknown => "Unknown".to_owned(),
        ProgramEffectRecord::Reads => "Reads".to_owned(),
        ProgramEffectRecord::Changes => "Changes".to_owned(),
        ProgramEffectRecord::ReadsUnless(unless) => format!(
            "ReadsUnless(super::program::ReadOnlyExceptions {{ writes: {}, runs: {}, operands: {:?} }})",
            text(&unless.writes),
            text(&unless.runs),
            unless.operands
        ),
    };
    format!("super::program::ProgramEffect::{variant}")
}

/// The subcommands, the lasting ones last: of several entries for the same path the first counts for reading.
fn subcommands(program: &ProgramRecord) -> String {
    let own = &program.subcommands;
    let plain = [("Reads", &own.reads), ("Changes", &own.changes), ("Unknown", &own.other)];
    let plain = plain.into_iter().flat_map(|(effect, lists)| lists.parts().iter().map(move |list| (effect, list)));
    let plain = plain.map(|(effect, list)| format!("(super::program::ProgramEffect::{effect}, {})", line(list)));
    let lasting = program.lasting.iter().map(|lasting| {
        format!("(super::program::ProgramEffect::Lasts(&{}), {})", self::lasting(lasting), text(&lasting.sub))
    });
    list(plain.chain(lasting))
}

fn lasting(lasting: &LastingEffectRecord) -> String {
    let operands = match &lasting.operands {
        OperandConditionRecord::Unlike(words) => format!("Unlike({})", text(words)),
        OperandConditionRecord::Containing(words) => format!("Containing({})", text(words)),
        plain => format!("{plain:?}"),
    };
    let spec = lasting.options.as_ref().map_or("None".to_owned(), |spec| format!("Some({})", options(spec)));
    format!(
        "super::lasting::LastingEffect {{ stake: super::lasting::EffectStake::{:?}, says: {}, instead: {}, with: {}, unless: {}, \
        operands: super::lasting::OperandCondition::{operands}, spec: {spec} }}",
        lasting.stake,
        text(&lasting.says),
        text(&lasting.instead),
        text(&lasting.with),
        text(&lasting.unless),
    )
}

fn facts(facts: &ProgramFactsRecord) -> String {
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
    list(all.into_iter().map(|fact| format!("super::program::ProgramFact::{fact}")))
}

fn target(target: &WrittenFileWordsRecord) -> String {
    let variant = match target {
        WrittenFileWordsRecord::Operands => "Operands".to_owned(),
        WrittenFileWordsRecord::OperandsWith(words) => format!("OperandsWith({})", text(words)),
        WrittenFileWordsRecord::LastUnless(words) => format!("LastUnless({})", text(words)),
        WrittenFileWordsRecord::Values(words) => format!("Values({})", text(words)),
        WrittenFileWordsRecord::Prefixed(start) => format!("Prefixed({})", text(start)),
    };
    format!("super::program::WrittenFileWords::{variant}")
}

fn options(options: &OptionSpecRecord) -> String {
    let OptionSpecRecord { style, short, long } = options;
    format!(
        "crate::options::OptionSpec {{ short: {}, long: {}, permute: {}, abbreviate: {}, go: {} }}",
        text(short),
        text(long),
        matches!(style, OptionStyleRecord::Gnu | OptionStyleRecord::GoAnywhere),
        matches!(style, OptionStyleRecord::Gnu | OptionStyleRecord::Leading),
        matches!(style, OptionStyleRecord::Go | OptionStyleRecord::GoAnywhere),
    )
}

fn wrapper(wrapper: &WrapperRecord) -> String {
    let login = match &wrapper.login {
        LoginShellRecord::With(words) => format!("With({})", text(words)),
        plain => format!("{plain:?}"),
    };
    let (dashes, marks) = match &wrapper.behind {
        Some(marks) => (&CommandMarkRecord::Need, text(marks)),
        None => (&wrapper.dashes, "\"--\"".to_owned()),
    };
    format!(
        "super::wrapper::WrapperSpec {{ sub: {}, spec: {}, form: super::wrapper::WrappedCommandForm::{:?}, operands: {}, assignments: {}, \
        again: {}, dashes: super::wrapper::CommandMarkMeaning::{dashes:?}, marks: {marks}, chdir: {}, script: {}, stop: {}, \
        switch: {}, login: super::wrapper::LoginShellCondition::{login}, line: {}, elsewhere: {}, prefix: {} }}",
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
        wrapper.form == WrappedCommandFormRecord::Rest && !wrapper.elsewhere && !wrapper.child,
    )
}

fn hook(hook: &HookOptionsRecord) -> String {
    format!("super::program::HookOptions {{ options: {}, begins: &{:?} }}", text(&hook.options), hook.begins)
}

fn interpreter(interpreter: &InterpreterRecord) -> String {
    format!(
        "super::program::InterpreterSpec {{ language: super::program::InterpretedLanguage::{:?}, options: {}, code: {}, flag: {}, \
        stop: {}, subcommand: {} }}",
        interpreter.language,
        options(&interpreter.options),
        text(&interpreter.code),
        text(&interpreter.flag),
        text(&interpreter.stop),
        text(&interpreter.subcommand),
    )
}

fn queries(client: &QueryClientRecord) -> String {
    let language = match &client.language {
        plain @ (QueryDialectRecord::Mongo | QueryDialectRecord::Redis) => format!("{plain:?}"),
        dialect => format!("Sql(crate::queries::sql::SqlDialect::{dialect:?})"),
    };
    let database = match &client.database {
        DatabaseNameRecord::Named(words) => format!("Named({})", text(words)),
        DatabaseNameRecord::Option(words) => format!("Option({})", text(words)),
        DatabaseNameRecord::File => "File".to_owned(),
    };
    format!(
        "super::query_client::QueryClientSpec {{ language: crate::queries::QueryLanguage::{language}, sub: {}, options: {}, \
        code: {}, operands: {:?}, files: {}, harmless: {}, database: super::query_client::DatabaseNameSource::{database}, \
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

fn sends(sends: &SendingRecord) -> String {
    let marked = [("Whole", &sends.marked.whole), ("Field", &sends.marked.field), ("Name", &sends.marked.name)];
    let marked = marked.into_iter().filter(|(_, words)| words.words().next().is_some());
    let operands = match &sends.operands {
        SentOperandsRecord::Copies(target) => format!("Copies({})", text(target)),
        plain => format!("{plain:?}"),
    };
    let input = sends.input.as_ref().map_or("Named".to_owned(), |but| format!("Always({})", text(but)));
    format!(
        "sending::SendingSpec {{ names: {}, sub: {}, options: {}, text: {}, files: {}, marked: {}, \
        operands: sending::SentOperands::{operands}, input: sending::StdinSendingCondition::{input}, to: {} }}",
        sends.names.as_ref().map_or_else(String::new, text),
        text(&sends.sub),
        options(&sends.options),
        text(&sends.text),
        text(&sends.files),
        list(marked.map(|(mark, words)| format!("(sending::FileMark::{mark}, {})", text(words)))),
        sends.to.as_ref().map_or("\"another machine\"".to_owned(), text),
    )
}

fn overwrites(entry: &OverwritingRecord) -> String {
    format!(
        "overwriting::OverwritingSpec {{ programs: {}, sub: {}, with: {}, unless: {}, operands: {} }}",
        entry.names.as_ref().map_or_else(String::new, text),
        text(&entry.sub),
        text(&entry.with),
        text(&entry.unless),
        text(&entry.operands),
    )
}

fn beyond(entry: &ExternalEffectRecord) -> String {
    format!("({}, {})", text(&entry.names), text(&entry.what))
}

fn command_options(entry: &CommandOptionRecord) -> String {
    format!(
        "super::program::CommandOptionSpec {{ subcommands: {}, spec: {}, options: {}, via: {} }}",
        text(&entry.sub),
        options(&entry.options),
        text(&entry.commands),
        text(&entry.via),
    )
}

fn examples(program: &ProgramRecord) -> Option<String> {
    let ProgramRecord { names, passes, asks, .. } = program;
    (!passes.is_empty() || !asks.is_empty()).then(|| format!("({}, &{passes:?}, &{asks:?})", text(names)))
}

/// `narrowing-tests` as `NARROWING_TESTS`.
fn constant(name: &str) -> String {
    name.replace('-', "_").to_ascii_uppercase()
}

fn list(items: impl Iterator<Item = String>) -> String {
    format!("&[{}]", items.collect::<Vec<_>>().join(", "))
}

fn text(text: &RecordText) -> String {
    format!("{:?}", text.joined())
}

/// One text of several.
fn line(text: &str) -> String {
    format!("{:?}", text.split_whitespace().collect::<Vec<_>>().join(" "))
}
