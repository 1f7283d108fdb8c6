//! The loss that a query causes.

use std::fmt;

use super::unknown_mark::UNKNOWN;

/// The way in which a query destroys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueryLossAct {
    /// `DROP TABLE x`
    Drops,
    /// `TRUNCATE x`
    Empties,
    /// `DELETE FROM x`
    Deletes,
    /// `UPDATE x SET y = 1`
    Updates,
    /// `ALTER TABLE x DROP y`
    Alters,
}

/// The loss that one query causes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueryLoss {
    /// The way in which the query destroys.
    pub act: QueryLossAct,
    /// The kind of the object, in small letters: `table`, `database`, `collection`, `column y of the table`.
    pub kind: String,
    /// The name of the object, with `…` for each part that is not known. Empty if the object has no name.
    pub name: String,
    /// Whether the loss is certain. If not, an unknown part of the query may be a condition.
    pub sure: bool,
}

impl QueryLoss {
    /// Makes a certain loss.
    pub fn new(act: QueryLossAct, kind: String, name: String) -> Self {
        Self { act, kind: kind.replace(UNKNOWN, "…"), name: name.replace(UNKNOWN, "…"), sure: true }
    }

    /// Returns whether only a table that lasts for one connection is lost.
    pub fn is_temporary(&self) -> bool {
        let name = self.name.to_ascii_lowercase();
        self.kind.starts_with("temp")
            || name.starts_with(['#', '@'])
            || ["pg_temp.", "temp.", "tempdb.."].iter().any(|schema| name.starts_with(schema))
    }
}

/// `drops the table users`
impl fmt::Display for QueryLoss {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rows = if self.kind == "collection" { "documents" } else { "rows" };
        match self.act {
            QueryLossAct::Drops | QueryLossAct::Alters => write!(to, "drops ")?,
            QueryLossAct::Empties => write!(to, "empties ")?,
            QueryLossAct::Deletes => write!(to, "deletes all {rows} of ")?,
            QueryLossAct::Updates => write!(to, "changes all {rows} of ")?,
        }
        let kind = if self.kind.is_empty() { "object" } else { &self.kind };
        let article = if kind.starts_with(['a', 'e', 'i', 'o']) { "an" } else { "a" };
        match self.name.as_str() {
            "" => write!(to, "{article} {kind}"),
            "…" => write!(to, "{article} {kind} whose name is not known"),
            name => write!(to, "the {kind} {name}"),
        }
    }
}
