//! The parts of records as they are written.

use serde::Deserialize;

/// Lists of words or of paths, written as one text or as several.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(untagged)]
pub enum RecordText {
    #[default]
    None,
    One(String),
    Several(Vec<String>),
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ArgumentKindRecord {
    #[default]
    Data,
    Commands,
    Unknown,
}

/// The number of words that a permission rule repeats: `2`, `"2 or none"`, `"exact"` or `"never"`.
#[derive(Debug, Deserialize, PartialEq, Eq, PartialOrd, Ord)]
#[serde(try_from = "PermissionArityText")]
pub enum PermissionArityRecord {
    Words(usize),
    WordsOrNone(usize),
    Exact,
    Never,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum PermissionArityText {
    Number(usize),
    Name(String),
}

impl TryFrom<PermissionArityText> for PermissionArityRecord {
    type Error = String;

    fn try_from(written: PermissionArityText) -> Result<Self, String> {
        let name = match written {
            PermissionArityText::Number(count) => return Ok(Self::Words(count)),
            PermissionArityText::Name(name) => name,
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
pub enum ProgramEffectRecord {
    #[default]
    Unknown,
    Reads,
    ReadsUnless(ReadOnlyExceptionsRecord),
    Changes,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ReadOnlyExceptionsRecord {
    pub writes: RecordText,
    pub runs: RecordText,
    pub operands: Option<usize>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SubcommandEffectsRecord {
    pub reads: RecordText,
    pub changes: RecordText,
    pub other: RecordText,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct ProgramFactsRecord {
    pub only_runs_commands: bool,
    pub runs_elsewhere: bool,
    pub prints_its_version: bool,
    pub prints_shell_code: Option<RecordText>,
    pub formats: Option<DeviceFormatRecord>,
    pub writes: Option<WrittenFileWordsRecord>,
    pub erases: Option<ErasureRecord>,
    pub runs_tasks: bool,
    pub contains: Vec<ContainedProgramRecord>,
    pub queries: Option<QueryClientRecord>,
    pub test_database: Option<RecordText>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct DeviceFormatRecord {
    pub writes: RecordText,
    pub reads: RecordText,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ErasureRecord {
    pub files: WrittenFileWordsRecord,
    #[serde(default)]
    pub with: RecordText,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ContainedProgramRecord {
    pub sub: RecordText,
    pub program: RecordText,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WrittenFileWordsRecord {
    Operands,
    OperandsWith(RecordText),
    LastUnless(RecordText),
    Values(RecordText),
    Prefixed(RecordText),
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct OptionSpecRecord {
    pub style: OptionStyleRecord,
    pub short: RecordText,
    pub long: RecordText,
}

#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum OptionStyleRecord {
    #[default]
    Leading,
    Gnu,
    Exact,
    Go,
    GoAnywhere,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct WrapperRecord {
    pub sub: RecordText,
    pub options: OptionSpecRecord,
    pub form: WrappedCommandFormRecord,
    pub operands: usize,
    pub assignments: bool,
    pub again: bool,
    pub dashes: CommandMarkRecord,
    pub behind: Option<RecordText>,
    pub chdir: RecordText,
    pub script: RecordText,
    pub stop: RecordText,
    pub switch: RecordText,
    pub login: LoginShellRecord,
    pub line: bool,
    pub elsewhere: bool,
    pub child: bool,
}

#[derive(Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum WrappedCommandFormRecord {
    #[default]
    Rest,
    Joined,
    Each,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CommandMarkRecord {
    #[default]
    End,
    Begin,
    Need,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LoginShellRecord {
    #[default]
    Never,
    Alone,
    With(RecordText),
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct HookOptionsRecord {
    pub options: RecordText,
    pub begins: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InterpreterRecord {
    pub language: InterpretedLanguageRecord,
    #[serde(default)]
    pub options: OptionSpecRecord,
    #[serde(default)]
    pub code: RecordText,
    #[serde(default)]
    pub flag: RecordText,
    #[serde(default)]
    pub stop: RecordText,
    #[serde(default)]
    pub subcommand: RecordText,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum InterpretedLanguageRecord {
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
pub struct LastingEffectRecord {
    #[serde(default)]
    pub sub: RecordText,
    pub stake: EffectStakeRecord,
    pub says: RecordText,
    #[serde(default)]
    pub instead: RecordText,
    #[serde(default)]
    pub with: RecordText,
    #[serde(default)]
    pub unless: RecordText,
    #[serde(default)]
    pub operands: OperandConditionRecord,
    pub options: Option<OptionSpecRecord>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EffectStakeRecord {
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
pub enum OperandConditionRecord {
    #[default]
    Any,
    Missing,
    Given,
    Unknown,
    Unlike(RecordText),
    Containing(RecordText),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QueryClientRecord {
    pub language: QueryDialectRecord,
    #[serde(default)]
    pub sub: RecordText,
    #[serde(default)]
    pub options: OptionSpecRecord,
    #[serde(default)]
    pub code: RecordText,
    pub operands: Option<usize>,
    #[serde(default)]
    pub files: RecordText,
    #[serde(default)]
    pub harmless: RecordText,
    #[serde(default)]
    pub database: DatabaseNameRecord,
    #[serde(default)]
    pub safe: RecordText,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum QueryDialectRecord {
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
pub enum DatabaseNameRecord {
    Named(RecordText),
    Option(RecordText),
    File,
}

impl Default for PermissionArityRecord {
    fn default() -> Self {
        Self::Words(1)
    }
}

impl Default for DatabaseNameRecord {
    fn default() -> Self {
        Self::Option(RecordText::None)
    }
}

impl RecordText {
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
