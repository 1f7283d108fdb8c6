//! Commands that the queries of a client give to a shell: `psql -c '\! script'`, `sqlite3 db '.shell script'`.

use super::inner_command::InnerCommand;
use crate::programs::program::{ProgramFact, ProgramSpec};
use crate::queries::{UNKNOWN, shell_commands};
use crate::simple_command_view::{CommandStdin, SimpleCommandView};
use crate::word_value::{ValuePiece, WordValue};

/// Returns the commands in a client's queries.
pub(super) fn queries(
    command: &SimpleCommandView,
    name: &str,
    program: &ProgramSpec,
    input: &CommandStdin,
) -> Vec<InnerCommand> {
    let clients = program.facts.iter().filter_map(|fact| match fact {
        ProgramFact::Queries(client) => Some(*client),
        _ => None,
    });
    let mut found = Vec::new();
    for client in clients {
        let texts = client.read(command.args(), input).map(|queries| queries.texts).unwrap_or_default();
        for script in texts.iter().flat_map(|text| shell_commands(text, client.language)) {
            found.extend(InnerCommand::script(value(script), name));
        }
    }
    found
}

/// Returns a text with parts that are not known as a value.
fn value(text: &str) -> WordValue {
    let mut value = WordValue::default();
    for (index, part) in text.split(UNKNOWN).enumerate() {
        if index > 0 {
            value.push(ValuePiece::Unknown(true));
        }
        value.push(ValuePiece::Text(part.to_owned()));
    }
    value
}

#[cfg(test)]
mod tests {
    use crate::unwrap::testing::check;

    #[test]
    fn commands_for_a_shell_are_found_in_queries() {
        check(&[
            ("psql -c '\\! git status'", "", "psql: {git status}"),
            ("psql app", "select 1;\n\\! git status\n", "psql: {git status}"),
            ("psql -f x.sql", "\\! git status", ""),
            ("psql -c 'select 1'", "\\! git status", ""),
            ("mysql app -e 'system git status'", "", "mysql: {git status}"),
            ("sqlite3 app.db '.shell git status'", "", "sqlite3: {git status}"),
            ("sqlite3 app.db", ".tables\n.system git status", "sqlite3: {git status}"),
            ("sqlite3 app.db \"select '.shell git status'\"", "", ""),
        ]);
    }
}
