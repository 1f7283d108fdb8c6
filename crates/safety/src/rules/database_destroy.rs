//! Queries and tools that destroy the contents of a database.

use super::safety_rule::{RuleHit, RulePrograms, SafetyRule};
use super::support::lasting_effects;
use super::support::operand_paths::{DirectoryLandmarks, OperandPlace};
use super::support::quote::quote;
use crate::name_lists::words;
use crate::programs;
use crate::programs::lasting::EffectStake;
use crate::programs::program::{ProgramFact, ProgramSpec};
use crate::programs::query_client::{ClientQueries, DatabaseNameSource, QueryClientSpec};
use crate::queries::{QueryLanguage, QueryLoss, losses, sql};
use crate::simple_command_view::SimpleCommandView;
use crate::verdict::SafetyVerdict;
use crate::word_value::WordValue;

pub static RULE: SafetyRule = SafetyRule {
    id: "database-destroy",
    level: SafetyVerdict::Ask,
    doc: "Drops or empties a database or a part of it, changes all rows of a table, or takes back all migrations. Queries \
          count that are among the words or on standard input. Files are not read. A database in memory or in a \
          directory for temporary files is free, as is `RAILS_ENV=test`.",
    programs: RulePrograms::With(EffectStake::Database, &[]),
    check,
    matches: &[
        "psql -c 'DROP TABLE users'",
        "psql app -c 'DELETE FROM users WHERE 1=1'",
        "psql \"$DATABASE_URL\" <<< 'truncate users'",
        "echo 'UPDATE users SET admin = true' | psql app",
        "mysql -uroot -psecret app -e 'ALTER TABLE users DROP email'",
        "sqlite3 app.db 'delete from jobs'",
        "mongosh app --eval 'db.users.drop()'",
        "redis-cli -n 1 flushdb",
        "dropdb app",
        "pg_restore --clean -d app latest.dump",
        "npx prisma migrate reset --force",
        "bin/rails db:drop db:create",
        "python manage.py flush --no-input",
        "alembic downgrade base",
        "php artisan migrate:fresh",
        "flyway clean",
    ],
    passes: &[
        "psql app -c 'DELETE FROM users WHERE id = 1'",
        "psql app -c \"SELECT 'DROP TABLE users'\"",
        "psql -f schema.sql app",
        "echo 'DROP TABLE users'",
        "sqlite3 :memory: 'DROP TABLE t'",
        "sqlite3 /tmp/test.db 'DROP TABLE t'",
        "mongosh app --eval 'db.users.find({})'",
        "redis-cli get flushall",
        "dropdb --help",
        "pg_dump --clean app",
        "pg_restore -d app latest.dump",
        "npx prisma migrate deploy",
        "RAILS_ENV=test rails db:reset",
        "python manage.py migrate",
        "alembic upgrade head",
        "php artisan migrate",
    ],
};

/// Longest name of a database that a message shows, in bytes.
const MAX_NAME: usize = 100;

fn check(command: &SimpleCommandView) -> Option<RuleHit> {
    let program = programs::of(command.name()?);
    if is_for_tests(command, program) {
        return None;
    }
    lasting_effects::check(command, EffectStake::Database).or_else(|| {
        let clients = program.facts.iter().filter_map(|fact| match fact {
            ProgramFact::Queries(client) => Some(*client),
            _ => None,
        });
        clients.filter_map(|client| queried(command, client)).next()
    })
}

/// Returns whether a variable or a word chooses the test database.
fn is_for_tests(command: &SimpleCommandView, program: &ProgramSpec) -> bool {
    let lists = program.facts.iter().filter_map(|fact| match fact {
        ProgramFact::TestDatabase(list) => Some(*list),
        _ => None,
    });
    let is = |(name, value): (&str, &str)| {
        let set = command.assignments.iter().any(|(own, given)| own == name && given.known() == Some(value));
        let word =
            |word: &WordValue| word.known().and_then(|text| text.strip_prefix(name)?.strip_prefix('=')) == Some(value);
        let pair = |pair: &[WordValue]| pair[0].known() == Some(name) && pair[1].known() == Some(value);
        set || command.args().iter().any(word) || command.args().windows(2).any(pair)
    };
    lists.flat_map(words).filter_map(|entry| entry.split_once('=')).any(is)
}

/// Finds the losses that the queries of a client cause.
fn queried(command: &SimpleCommandView, client: &QueryClientSpec) -> Option<RuleHit> {
    let queries = client.read(command.args(), command.input)?;
    if matches!(client.database, DatabaseNameSource::File) && is_passing(command, &queries, client) {
        return None;
    }
    let all = queries.texts.iter().map(|text| losses(text, client.language)).find(|all| !all.is_empty())?;
    let first = all.first()?;
    let database = queries.database.as_ref().and_then(shown);
    let database = database.as_deref();
    let mut message = format!("this {first}");
    if let Some(database) = database.filter(|_| first.kind != "database") {
        message += &format!(" of the database {database}");
    }
    match all.len() {
        1 => {}
        2 => message += ". One more statement destroys data, too",
        count => message += &format!(". {} more statements destroy data, too", count - 1),
    }
    if !first.sure {
        message += ". A part that is not known may hold a condition";
    }
    let instead = instead(command, client, database, first).unwrap_or_default();
    if !instead.is_empty() {
        message += ". Try this first: ";
        message += &instead;
    }
    let hit = RuleHit::exact(message, instead);
    Some(if first.sure { hit } else { hit.partial() })
}

/// Returns whether the database is in memory or among temporary files.
fn is_passing(command: &SimpleCommandView, queries: &ClientQueries, client: &QueryClientSpec) -> bool {
    let Some(file) = &queries.database else { return !opens_file(queries, client) };
    let text = file.prefix();
    let memory = file.known() == Some("") || text == ":memory:" || text.starts_with("file:") && text.contains("memory");
    if memory {
        return !opens_file(queries, client);
    }
    DirectoryLandmarks::new(command.directories).place_of(file, command.cwd) == OperandPlace::Temp
}

fn opens_file(queries: &ClientQueries, client: &QueryClientSpec) -> bool {
    match client.language {
        QueryLanguage::Sql(dialect) => queries.texts.iter().any(|text| sql::opens_file(text, dialect)),
        QueryLanguage::Mongo | QueryLanguage::Redis => false,
    }
}

/// Returns the name of a database, without the password of its address.
fn shown(database: &WordValue) -> Option<String> {
    let text = database.pattern()?;
    let name = match text.split_once("://") {
        Some((_, rest)) => rest.split('?').next()?.rsplit_once('/')?.1,
        None => &text,
    };
    let plain = name.len() < MAX_NAME && !name.contains(['=', '@', '\n', ' ']);
    (plain && !name.is_empty()).then(|| name.to_owned())
}

/// Returns a query that only reads the same table.
fn instead(
    command: &SimpleCommandView,
    client: &QueryClientSpec,
    database: Option<&str>,
    loss: &QueryLoss,
) -> Option<String> {
    let plain = |name: &str| {
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.'))
    };
    let query = match client.language {
        QueryLanguage::Sql(_) if loss.kind == "table" && plain(&loss.name) => {
            format!("SELECT count(*) FROM {}", loss.name)
        }
        QueryLanguage::Mongo if loss.kind == "collection" && plain(&loss.name) => {
            format!("db.{}.countDocuments()", loss.name)
        }
        QueryLanguage::Redis => "dbsize".to_owned(),
        QueryLanguage::Sql(_) | QueryLanguage::Mongo => return None,
    };
    let operand = matches!(client.database, DatabaseNameSource::Named(_) | DatabaseNameSource::File);
    let database = database.filter(|_| operand).map(quote);
    let words = [Some(quote(command.name()?)), database, Some(client.safe.to_owned()), Some(quote(&query))];
    let words: Vec<String> = words.into_iter().flatten().filter(|word| !word.is_empty()).collect();
    Some(words.join(" "))
}

#[cfg(test)]
mod tests {
    use crate::rules::tests::{check_messages, judge};

    #[test]
    fn a_message_names_the_loss_and_a_query_that_shows_it() {
        check_messages(&[
            (
                "psql app -c 'DELETE FROM users'",
                "this deletes all rows of the table users of the database app. Try this first: ",
                "psql app -c 'SELECT count(*) FROM users'",
            ),
            (
                "psql postgres://u:secret@db/app?a=b -c 'drop table x'",
                "this drops the table x of the database app",
                "psql app -c 'SELECT count(*) FROM x'",
            ),
            ("psql -c 'DROP DATABASE app'", "this drops the database app", ""),
            (
                "psql app -c 'DELETE FROM users '\"$CONDITION $(cat x)\"",
                "this deletes all rows of the table users of the database app. A part",
                "psql app -c 'SELECT count(*) FROM users'",
            ),
            (
                "mysql -e 'truncate a; truncate b; truncate c' app",
                "this empties the table a of the database app. 2 more",
                "mysql app -e 'SELECT count(*) FROM a'",
            ),
            (
                "sqlite3 app.db 'DELETE FROM a'",
                "this deletes all rows of the table a of the database app.db",
                "sqlite3 app.db 'SELECT count(*) FROM a'",
            ),
            (
                "mongosh app --eval 'db.users.drop()'",
                "this drops the collection users of the database app",
                "mongosh app --eval 'db.users.countDocuments()'",
            ),
            ("redis-cli flushall", "this empties a whole server", "redis-cli dbsize"),
            ("dropdb app", "this drops the database app with all that is in it", ""),
        ]);
    }

    #[test]
    fn a_password_in_an_address_is_neither_in_the_message_nor_in_the_suggestion() {
        let findings = judge("psql postgres://u:secret@db/app -c 'drop table x'");
        let [finding] = findings.as_slice() else { panic!("{findings:#?}") };
        let text = format!("{} {}", finding.message, finding.suggestion);
        assert!(text.contains("app") && !text.contains("secret"), "{text}");
    }
}
