//! The records of a family as they are written. `data/programs/README.md` explains the keys.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use toml::{Table, Value};

use crate::parts::{Arity, Effect, Facts, Hook, Interpreter, Lasting, Options, Subcommands, Text, Words, Wrapper};
use crate::shared::Shared;

/// A file of records.
#[derive(Debug, Default)]
pub struct Family {
    pub programs: Vec<Program>,
    pub sends: Vec<Sends>,
    pub overwrites: Vec<Overwrites>,
    pub beyond: Vec<Beyond>,
    pub command_options: Vec<CommandOptions>,
    /// Option specs that rules read.
    pub specs: BTreeMap<String, Options>,
    /// Lists that rules read.
    pub words: BTreeMap<String, Text>,
    /// Lists by name that rules read.
    pub pairs: BTreeMap<String, BTreeMap<String, Text>>,
}

/// One record.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Program {
    pub names: Text,
    pub words: Words,
    pub options: Options,
    pub wrappers: Vec<Wrapper>,
    pub hooks: Vec<Hook>,
    pub interpreters: Vec<Interpreter>,
    pub rule: Arity,
    pub rules: BTreeMap<Arity, Text>,
    pub effect: Effect,
    pub subcommands: Subcommands,
    pub lasting: Vec<Lasting>,
    pub facts: Facts,
    pub sends: Vec<Sends>,
    pub overwrites: Vec<Overwrites>,
    pub passes: Vec<String>,
    pub asks: Vec<String>,
}

/// One way in which programs send data.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Sends {
    /// All names of the record that it stands in, if none are given.
    pub names: Option<Text>,
    pub sub: Text,
    pub options: Options,
    pub text: Text,
    pub files: Text,
    pub marked: Marked,
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

/// A use of programs that deletes or overwrites what exists.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Overwrites {
    /// As for `Sends`.
    pub names: Option<Text>,
    pub sub: Text,
    pub with: Text,
    pub unless: Text,
    pub operands: Text,
}

/// Programs with effects beyond files.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Beyond {
    pub names: Text,
    pub what: Text,
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

impl Family {
    /// Reads a file of records. An error names the record.
    pub fn read(text: &str) -> Result<Self, String> {
        let mut table: Table = toml::from_str(text).map_err(|error| error.to_string())?;
        let shared = Shared::take(&mut table);
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
fn programs(value: Value, shared: &Shared) -> Result<Vec<Program>, String> {
    let programs: Vec<Program> = records("program", value, shared)?;
    let nameless = programs.iter().any(|program| program.names.words().next().is_none());
    if nameless { Err("a program has no `names`".to_owned()) } else { Ok(programs) }
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
