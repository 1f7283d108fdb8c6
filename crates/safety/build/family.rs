//! The records of a family as they are written. `data/programs/README.md` explains the keys.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use toml::{Table, Value};

use crate::parts::{
    ArgumentKindRecord, HookOptionsRecord, InterpreterRecord, LastingEffectRecord, OptionSpecRecord,
    PermissionArityRecord, ProgramEffectRecord, ProgramFactsRecord, RecordText, SubcommandEffectsRecord, WrapperRecord,
};
use crate::shared::SharedRecordValues;

/// A file of records.
#[derive(Debug, Default)]
pub struct ProgramFamily {
    pub programs: Vec<ProgramRecord>,
    pub sends: Vec<SendingRecord>,
    pub overwrites: Vec<OverwritingRecord>,
    pub beyond: Vec<ExternalEffectRecord>,
    pub command_options: Vec<CommandOptionRecord>,
    /// Option specs that rules read.
    pub specs: BTreeMap<String, OptionSpecRecord>,
    /// Lists that rules read.
    pub words: BTreeMap<String, RecordText>,
    /// Lists by name that rules read.
    pub pairs: BTreeMap<String, BTreeMap<String, RecordText>>,
}

/// One record.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ProgramRecord {
    pub names: RecordText,
    pub words: ArgumentKindRecord,
    pub options: OptionSpecRecord,
    pub wrappers: Vec<WrapperRecord>,
    pub hooks: Vec<HookOptionsRecord>,
    pub interpreters: Vec<InterpreterRecord>,
    pub rule: PermissionArityRecord,
    pub rules: BTreeMap<PermissionArityRecord, RecordText>,
    pub effect: ProgramEffectRecord,
    pub subcommands: SubcommandEffectsRecord,
    pub lasting: Vec<LastingEffectRecord>,
    pub facts: ProgramFactsRecord,
    pub sends: Vec<SendingRecord>,
    pub overwrites: Vec<OverwritingRecord>,
    pub passes: Vec<String>,
    pub asks: Vec<String>,
}

/// One way in which programs send data.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SendingRecord {
    /// All names of the record that it stands in, if none are given.
    pub names: Option<RecordText>,
    pub sub: RecordText,
    pub options: OptionSpecRecord,
    pub text: RecordText,
    pub files: RecordText,
    pub marked: MarkedFileOptionsRecord,
    pub operands: SentOperandsRecord,
    pub input: Option<RecordText>,
    pub to: Option<RecordText>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct MarkedFileOptionsRecord {
    pub whole: RecordText,
    pub field: RecordText,
    pub name: RecordText,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SentOperandsRecord {
    #[default]
    Other,
    Addresses,
    Host,
    Fields,
    Files,
    Copies(RecordText),
}

/// A use of programs that deletes or overwrites what exists.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct OverwritingRecord {
    /// As for `Sends`.
    pub names: Option<RecordText>,
    pub sub: RecordText,
    pub with: RecordText,
    pub unless: RecordText,
    pub operands: RecordText,
}

/// Programs with effects beyond files.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ExternalEffectRecord {
    pub names: RecordText,
    pub what: RecordText,
}

/// Options of subcommands whose value is a command.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CommandOptionRecord {
    pub sub: RecordText,
    pub options: OptionSpecRecord,
    pub commands: RecordText,
    pub via: RecordText,
}

impl ProgramFamily {
    /// Reads a file of records. An error names the record.
    pub fn read(text: &str) -> Result<Self, String> {
        let mut table: Table = toml::from_str(text).map_err(|error| error.to_string())?;
        let shared = SharedRecordValues::take(&mut table);
        let mut family = Self::default();
        for (key, value) in table {
            match key.as_str() {
                "program" => family.programs = programs(value, &shared)?,
                "sends" => family.sends = records("sends", value, &shared)?,
                "overwrites" => family.overwrites = records("overwrites", value, &shared)?,
                "beyond" => family.beyond = records("beyond", value, &shared)?,
                "command-options" => family.command_options = records("command-options", value, &shared)?,
                "specs" => family.specs = read("specs", value, &shared)?,
                "words" => family.words = read("words", value, &shared)?,
                "pairs" => family.pairs = read("pairs", value, &shared)?,
                other => return Err(format!("unknown table `{other}`")),
            }
        }
        family.gather()?;
        shared.unused().map_or(Ok(family), |name| Err(format!("nothing refers to `{name}`")))
    }

    /// Puts what stands in records beside what stands outside of them.
    fn gather(&mut self) -> Result<(), String> {
        for program in &mut self.programs {
            for mut entry in program.sends.drain(..) {
                entry.names.get_or_insert_with(|| program.names.clone());
                self.sends.push(entry);
            }
            for mut entry in program.overwrites.drain(..) {
                entry.names.get_or_insert_with(|| program.names.clone());
                self.overwrites.push(entry);
            }
        }
        let mut names =
            self.sends.iter().map(|entry| &entry.names).chain(self.overwrites.iter().map(|entry| &entry.names));
        if names.any(Option::is_none) { Err("an entry outside of a record has no `names`".to_owned()) } else { Ok(()) }
    }
}

/// Reads programs, each of which has a name.
fn programs(value: Value, shared: &SharedRecordValues) -> Result<Vec<ProgramRecord>, String> {
    let programs: Vec<ProgramRecord> = records("program", value, shared)?;
    let nameless = programs.iter().any(|program| program.names.words().next().is_none());
    if nameless { Err("a program has no `names`".to_owned()) } else { Ok(programs) }
}

/// Reads an array of records.
fn records<T: DeserializeOwned>(key: &str, value: Value, shared: &SharedRecordValues) -> Result<Vec<T>, String> {
    let Value::Array(items) = value else { return Err(format!("`{key}` is written `[[{key}]]`")) };
    let named = |item: &Value| {
        let name = item.get("names").or_else(|| item.get("sub"));
        name.and_then(Value::as_str).unwrap_or(key).to_owned()
    };
    items.into_iter().map(|item| read(&named(&item), item, shared)).collect()
}

fn read<T: DeserializeOwned>(name: &str, mut value: Value, shared: &SharedRecordValues) -> Result<T, String> {
    let resolved = shared.resolve(name, &mut value);
    resolved
        .and_then(|()| value.try_into().map_err(|error: toml::de::Error| error.message().to_owned()))
        .map_err(|error| format!("{name}: {error}"))
}
