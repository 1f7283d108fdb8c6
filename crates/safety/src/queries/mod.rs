//! Queries that clients send to databases, and the losses that they cause. Nothing here knows of programs.
//!
//! An unknown part of a text is `UNKNOWN`. The text around it is judged.

mod mongo;
mod query_loss;
mod redis;
pub mod sql;
mod unknown_mark;

pub use query_loss::QueryLoss;
pub use unknown_mark::UNKNOWN;

use self::sql::SqlDialect;

/// A language of queries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueryLanguage {
    /// SQL.
    Sql(SqlDialect),
    /// Scripts of mongosh.
    Mongo,
    /// Commands of Redis.
    Redis,
}

/// Returns the losses that a text causes, in order.
pub fn losses(text: &str, language: QueryLanguage) -> Vec<QueryLoss> {
    match language {
        QueryLanguage::Sql(dialect) => sql::losses(text, dialect),
        QueryLanguage::Mongo => mongo::losses(text),
        QueryLanguage::Redis => redis::losses(text),
    }
}

/// Returns the commands that a text gives to a shell: `\! ls`.
pub fn shell_commands(text: &str, language: QueryLanguage) -> Vec<&str> {
    match language {
        QueryLanguage::Sql(dialect) => sql::shell_commands(text, dialect),
        QueryLanguage::Mongo | QueryLanguage::Redis => Vec::new(),
    }
}
