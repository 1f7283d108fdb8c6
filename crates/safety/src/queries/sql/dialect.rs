//! The dialects of the clients and servers that read SQL.

/// A dialect of SQL, as one client reads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SqlDialect {
    /// PostgreSQL by psql, and CockroachDB.
    Postgres,
    /// MySQL and MariaDB.
    MySql,
    /// SQLite.
    Sqlite,
    /// DuckDB.
    DuckDb,
    /// ClickHouse.
    ClickHouse,
    /// SQL Server by sqlcmd. A statement needs no semicolon at its end.
    TransactSql,
    /// BigQuery, Hive, Snowflake and similar warehouses.
    Warehouse,
}

impl SqlDialect {
    /// Returns whether a backslash escapes the next character of a string.
    pub(super) fn escapes(self) -> bool {
        matches!(self, Self::MySql | Self::ClickHouse | Self::Warehouse)
    }

    /// Returns whether `#` begins a comment.
    pub(super) fn hash_comments(self) -> bool {
        matches!(self, Self::MySql | Self::Warehouse)
    }

    /// Returns whether comments nest.
    pub(super) fn nested_comments(self) -> bool {
        matches!(self, Self::Postgres | Self::DuckDb | Self::TransactSql)
    }

    /// Returns whether double quotes hold a string. Elsewhere they hold a name.
    pub(super) fn double_quoted_strings(self) -> bool {
        matches!(self, Self::MySql | Self::Warehouse)
    }

    /// Returns whether `$tag$` begins a string that ends at the next `$tag$`.
    pub(super) fn dollar_quotes(self) -> bool {
        matches!(self, Self::Postgres | Self::DuckDb | Self::ClickHouse | Self::Warehouse)
    }

    /// Returns whether brackets hold a name.
    pub(super) fn bracketed_names(self) -> bool {
        matches!(self, Self::TransactSql | Self::Sqlite)
    }

    /// Returns whether a line of the client itself begins with a dot.
    pub(super) fn dot_commands(self) -> bool {
        matches!(self, Self::Sqlite | Self::DuckDb)
    }

    /// Returns whether a rollback brings back dropped and truncated tables, too.
    pub(super) fn rolls_back_drops(self) -> bool {
        matches!(self, Self::Postgres | Self::Sqlite | Self::DuckDb | Self::TransactSql)
    }

    /// Returns whether the dialect has transactions at all.
    pub(super) fn rolls_back(self) -> bool {
        self != Self::ClickHouse
    }
}
