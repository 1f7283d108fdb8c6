//! The parts of records as they are written.

use serde::Deserialize;

/// Lists of words or of paths, written as one text or as several.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(untagged)]
pub enum Text {
    #[default]
    None,
    One(String),
    Several(Vec<String>),
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Words {
    #[default]
    Data,
    Commands,
    Unknown,
}

/// The number of words that a permission rule repeats: `2`, `"2 or none"`, `"exact"` or `"never"`.
#[derive(Debug, Deserialize, PartialEq, Eq, PartialOrd, Ord)]
#[serde(try_from = "Written")]
pub enum Arity {
    Words(usize),
    WordsOrNone(usize),
    Exact,
    Never,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Written {
    Number(usize),
    Name(String),
}

impl TryFrom<Written> for Arity {
    type Error = String;

    fn try_from(written: Written) -> Result<Self, String> {
        let name = match written {
            Written::Number(count) => return Ok(Self::Words(count)),
            Written::Name(name) => name,
        };
        let or_none = name.strip_suffix(" or none").and_then(|count| count.parse().ok());
        match name.as_str() {
            "exact" => Ok(Self::Exact),
            "never" => Ok(Self::Never),
            _ => or_none
                .map(Self::WordsOrNone)
                .or_else(|| name.parse().ok().map(Self::Words))
                .ok_or(format!("`{name}` is no number of words, and not `exact` or `never`")),
        }
    }
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

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Unless {
    pub writes: Text,
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

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Hook {
    pub options: Text,
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
    Containing(Text),
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
