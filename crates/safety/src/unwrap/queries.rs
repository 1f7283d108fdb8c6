//! Commands that the queries of a client give to a shell: `psql -c '\! script'`, `sqlite3 db '.shell script'`.

use super::inner::InnerCommand;
use crate::command::{Command, Input};
use crate::programs::program::{Fact, Program};
use crate::queries::{UNKNOWN, shell_commands};
use crate::value::{Piece, Value};

/// Returns the commands in a client's queries.
pub(super) fn queries(command: &Command, name: &str, program: &Program, input: &Input) -> Vec<InnerCommand> {
    let clients = program.facts.iter().filter_map(|fact| match fact {
        Fact::Queries(client) => Some(*client),
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
fn value(text: &str) -> Value {
    let mut value = Value::default();
    for (index, part) in text.split(UNKNOWN).enumerate() {
        if index > 0 {
            value.push(Piece::Unknown(true));
        }
        value.push(Piece::Text(part.to_owned()));
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
