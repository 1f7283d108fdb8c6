//! The records of a family as they are written. `data/programs/README.md` explains the keys.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use toml::{Table, Value};

use crate::shared::Shared;

/// Lists of words or of paths, written as one text or as several.
#[derive(Debug, Default, Deserialize)]
#[serde(untagged)]
pub enum Text {
    #[default]
    None,
    One(String),
    Several(Vec<String>),
}

/// A file of records.
#[derive(Debug, Default)]
pub struct Family {
    pub programs: Vec<Program>,
    pub sends: Vec<Sends>,
    pub command_options: Vec<CommandOptions>,
    /// Option specs that rules read.
    pub specs: BTreeMap<String, Options>,
    /// Lists that rules read.
    pub words: BTreeMap<String, Text>,
    /// Lists by name that rules read.
    pub pairs: BTreeMap<String, BTreeMap<String, Text>>,
}

/// One record.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Program {
    pub names: Text,
    #[serde(default)]
    pub words: Words,
    #[serde(default)]
    pub options: Options,
    #[serde(default)]
    pub wrappers: Vec<Wrapper>,
    #[serde(default)]
    pub hooks: Vec<Hook>,
    #[serde(default)]
    pub interpreters: Vec<Interpreter>,
    #[serde(default)]
    pub rule: Arity,
    #[serde(default)]
    pub rules: BTreeMap<String, Text>,
    #[serde(default)]
    pub effect: Effect,
    #[serde(default)]
    pub subcommands: Subcommands,
    #[serde(default)]
    pub lasting: Vec<Lasting>,
    #[serde(default)]
    pub facts: Facts,
    #[serde(default)]
    pub passes: Vec<String>,
    #[serde(default)]
    pub asks: Vec<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Words {
    #[default]
    Data,
    Commands,
    Unknown,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub enum Arity {
    Words(usize),
    Named(String),
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Effect {
    #[default]
    Unknown,
    Reads,
    ReadsUnless(Unless),
    Changes,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Unless {
    #[serde(default)]
    pub writes: Text,
    #[serde(default)]
    pub runs: Text,
    pub operands: Option<usize>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Subcommands {
    pub reads: Text,
    pub changes: Text,
    pub other: Text,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct Facts {
    pub only_runs_commands: bool,
    pub runs_elsewhere: bool,
    pub prints_its_version: bool,
    pub prints_shell_code: Option<Text>,
    pub formats: Option<Formats>,
    pub writes: Option<Target>,
    pub erases: Option<Erases>,
    pub runs_tasks: bool,
    pub contains: Vec<Contained>,
    pub queries: Option<Queries>,
    pub test_database: Option<Text>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Formats {
    pub writes: Text,
    pub reads: Text,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Erases {
    pub files: Target,
    #[serde(default)]
    pub with: Text,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Contained {
    pub sub: Text,
    pub program: Text,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Target {
    Operands,
    OperandsWith(Text),
    LastUnless(Text),
    Values(Text),
    Prefixed(Text),
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Options {
    pub style: Style,
    pub short: Text,
    pub long: Text,
}

#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum Style {
    #[default]
    Leading,
    Gnu,
    Exact,
    Go,
    GoAnywhere,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Wrapper {
    pub sub: Text,
    pub options: Options,
    pub form: Form,
    pub operands: usize,
    pub assignments: bool,
    pub again: bool,
    pub dashes: Dashes,
    pub behind: Option<Text>,
    pub chdir: Text,
    pub script: Text,
    pub stop: Text,
    pub switch: Text,
    pub login: Login,
    pub line: bool,
    pub elsewhere: bool,
    pub child: bool,
}

#[derive(Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum Form {
    #[default]
    Rest,
    Joined,
    Each,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Dashes {
    #[default]
    End,
    Begin,
    Need,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Login {
    #[default]
    Never,
    Alone,
    With(Text),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hook {
    pub options: Text,
    #[serde(default)]
    pub begins: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Interpreter {
    pub language: Language,
    #[serde(default)]
    pub options: Options,
    #[serde(default)]
    pub code: Text,
    #[serde(default)]
    pub flag: Text,
    #[serde(default)]
    pub stop: Text,
    #[serde(default)]
    pub subcommand: Text,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Language {
    Python,
    Ruby,
    Perl,
    JavaScript,
    Php,
    Lua,
    Awk,
    Other,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lasting {
    #[serde(default)]
    pub sub: Text,
    pub stake: Stake,
    pub says: Text,
    #[serde(default)]
    pub instead: Text,
    #[serde(default)]
    pub with: Text,
    #[serde(default)]
    pub unless: Text,
    #[serde(default)]
    pub operands: Operands,
    pub options: Option<Options>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stake {
    Infrastructure,
    Cluster,
    Containers,
    Database,
    Cloud,
    Publication,
    System,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Operands {
    #[default]
    Any,
    Missing,
    Given,
    Unknown,
    Unlike(Text),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Queries {
    pub language: Dialect,
    #[serde(default)]
    pub sub: Text,
    #[serde(default)]
    pub options: Options,
    #[serde(default)]
    pub code: Text,
    pub operands: Option<usize>,
    #[serde(default)]
    pub files: Text,
    #[serde(default)]
    pub harmless: Text,
    #[serde(default)]
    pub database: Database,
    #[serde(default)]
    pub safe: Text,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Dialect {
    Postgres,
    MySql,
    Sqlite,
    DuckDb,
    ClickHouse,
    TransactSql,
    Warehouse,
    Mongo,
    Redis,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Database {
    Named(Text),
    Option(Text),
    File,
}

/// One way in which programs send data.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sends {
    pub names: Text,
    #[serde(default)]
    pub sub: Text,
    #[serde(default)]
    pub options: Options,
    #[serde(default)]
    pub text: Text,
    #[serde(default)]
    pub files: Text,
    #[serde(default)]
    pub marked: Marked,
    #[serde(default)]
    pub operands: Sent,
    pub input: Option<Text>,
    pub to: Option<Text>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Marked {
    pub whole: Text,
    pub field: Text,
    pub name: Text,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sent {
    #[default]
    Other,
    Addresses,
    Host,
    Fields,
    Files,
    Copies(Text),
}

/// Options of subcommands whose value is a command.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CommandOptions {
    pub sub: Text,
    pub options: Options,
    pub commands: Text,
    pub via: Text,
}

impl Default for Arity {
    fn default() -> Self {
        Self::Words(1)
    }
}

impl Default for Database {
    fn default() -> Self {
        Self::Option(Text::None)
    }
}

impl Text {
    /// The whole text, with one blank between words.
    pub fn joined(&self) -> String {
        self.parts()
            .iter()
            .map(|part| part.split_whitespace().collect::<Vec<_>>().join(" "))
            .collect::<Vec<_>>()
            .join(" ")
    }

    /// The words of a list.
    pub fn words(&self) -> impl Iterator<Item = &str> {
        self.parts().iter().flat_map(|part| part.split_whitespace())
    }

    /// The texts that it is written as.
    pub fn parts(&self) -> &[String] {
        match self {
            Self::None => &[],
            Self::One(text) => std::slice::from_ref(text),
            Self::Several(texts) => texts,
        }
    }
}

impl Family {
    /// Reads a file of records. An error names the record.
    pub fn read(text: &str) -> Result<Self, String> {
        let mut table: Table = toml::from_str(text).map_err(|error| error.to_string())?;
        let shared = Shared::take(&mut table);
        let mut family = Self::default();
        for (key, value) in table {
            match key.as_str() {
                "program" => family.programs = records("program", value, &shared)?,
                "sends" => family.sends = records("sends", value, &shared)?,
                "command-options" => family.command_options = records("command-options", value, &shared)?,
                "specs" => family.specs = read("specs", value, &shared)?,
                "words" => family.words = read("words", value, &shared)?,
                "pairs" => family.pairs = read("pairs", value, &shared)?,
                other => return Err(format!("unknown table `{other}`")),
            }
        }
        Ok(family)
    }
}

/// Reads an array of records.
fn records<T: DeserializeOwned>(key: &str, value: Value, shared: &Shared) -> Result<Vec<T>, String> {
    let Value::Array(items) = value else { return Err(format!("`{key}` is written `[[{key}]]`")) };
    let named = |item: &Value| {
        let name = item.get("names").or_else(|| item.get("sub"));
        name.and_then(Value::as_str).unwrap_or(key).to_owned()
    };
    items.into_iter().map(|item| read(&named(&item), item, shared)).collect()
}

fn read<T: DeserializeOwned>(name: &str, mut value: Value, shared: &Shared) -> Result<T, String> {
    let resolved = shared.resolve(name, &mut value);
    resolved
        .and_then(|()| value.try_into().map_err(|error: toml::de::Error| error.message().to_owned()))
        .map_err(|error| format!("{name}: {error}"))
}
