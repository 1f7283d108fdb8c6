//! Judges one statement.

use super::condition::is_always_true;
use super::dialect::SqlDialect;
use super::token::{SqlToken, SqlTokenKind, name};
use crate::queries::query_loss::{QueryLoss, QueryLossAct};

/// Deepest nesting of statements that is followed.
const MAX_DEPTH: usize = 16;

/// First words of statements that may destroy.
const DESTROYERS: &str = "DROP TRUNCATE DELETE UPDATE ALTER EXECUTE EXEC WITH";
/// First words of kinds of objects that have two words.
const LONG_KINDS: &str = "MATERIALIZED FOREIGN EXTERNAL TEMPORARY TEMP ACCESS TEXT OWNED VIRTUAL";
/// Words between `DELETE` or `UPDATE` and the name of the table.
const MODIFIERS: &str =
    "FROM ONLY LOW_PRIORITY QUICK IGNORE OR ROLLBACK ABORT REPLACE FAIL TABLE IF EXISTS CONCURRENTLY";
/// Words that end a condition.
const AFTER_CONDITION: &str = "ORDER LIMIT RETURNING OPTION GROUP SETTINGS";
/// Properties of a column that are dropped without its data.
const PROPERTIES: &str = "NOT DEFAULT IDENTITY EXPRESSION STORED MASKED SPARSE PERSISTED ROWGUIDCOL";

/// A range of tokens whose parentheses are matched.
#[derive(Clone, Copy)]
pub(super) struct SqlStatement<'s, 'a> {
    tokens: &'s [SqlToken<'a>],
    /// For each `(` the index of its `)`, or the number of tokens.
    closes: &'s [usize],
    from: usize,
    to: usize,
    dialect: SqlDialect,
    depth: usize,
    scan: NestedLossScan,
}

/// Finds the losses of a text within a statement, at this depth.
type NestedLossScan = fn(&str, SqlDialect, usize) -> Vec<QueryLoss>;

/// Returns for each `(` the index of its `)`. If there is none, the number of tokens.
pub(super) fn closes(tokens: &[SqlToken<'_>]) -> Vec<usize> {
    let mut closes = vec![tokens.len(); tokens.len()];
    let mut open = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        if token.is_sign("(") {
            open.push(at);
        } else if token.is_sign(")")
            && let Some(start) = open.pop()
        {
            closes[start] = at;
        }
    }
    closes
}

impl<'s, 'a> SqlStatement<'s, 'a> {
    /// Makes a statement of these tokens.
    pub(super) fn new(
        tokens: &'s [SqlToken<'a>],
        closes: &'s [usize],
        dialect: SqlDialect,
        depth: usize,
        scan: NestedLossScan,
    ) -> Self {
        Self { tokens, closes, from: 0, to: tokens.len(), dialect, depth, scan }
    }

    /// Returns the loss that the statement causes.
    pub(super) fn loss(self) -> Option<QueryLoss> {
        if self.depth > MAX_DEPTH {
            return None;
        }
        let head = self.first()?;
        let inner = || self.nested();
        match head.text.to_ascii_uppercase().as_str() {
            _ if head.kind != SqlTokenKind::Word => inner(),
            "DROP" => self.drops(),
            "TRUNCATE" => self.truncates(),
            "DELETE" => self.deletes(),
            "UPDATE" => self.updates(),
            "ALTER" => self.alters(),
            "EXPLAIN" | "ANALYZE" => self.explains(),
            "WITH" => inner().or_else(|| self.main().and_then(Self::loss)),
            "PREPARE" => {
                let query = self.top().find(|at| self.tokens[*at].is("AS")).map(|at| self.part(at + 1, self.to));
                query.and_then(Self::loss).or_else(|| self.texts())
            }
            "DO" | "EXEC" | "EXECUTE" | "CALL" => self.texts(),
            // A table's trigger, a right on the table, and text: nothing runs now.
            "CREATE" | "GRANT" | "REVOKE" | "COMMENT" => None,
            "BEGIN" | "IF" | "ELSE" | "DECLARE" | "FOR" | "WHILE" | "LOOP" | "EXCEPTION" | "THEN" | "END" => {
                self.block()
            }
            _ => inner(),
        }
    }

    fn part(self, from: usize, to: usize) -> Self {
        let to = to.min(self.to);
        Self { from: from.min(to), to, depth: self.depth + 1, ..self }
    }

    fn first(self) -> Option<&'s SqlToken<'a>> {
        self.rest().first()
    }

    fn rest(self) -> &'s [SqlToken<'a>] {
        &self.tokens[self.from..self.to]
    }

    /// Returns the indices of the tokens outside of parentheses.
    fn top(self) -> impl Iterator<Item = usize> {
        let mut at = self.from;
        std::iter::from_fn(move || {
            let now = at;
            let token = self.tokens.get(now).filter(|_| now < self.to)?;
            at = if token.is_sign("(") { self.closes[now].max(now) + 1 } else { now + 1 };
            Some(now)
        })
    }

    /// Returns the index of a keyword outside of parentheses.
    fn find(self, keyword: &str) -> Option<usize> {
        self.top().find(|at| self.tokens[*at].is(keyword))
    }

    /// Returns the first index, from `at` on, whose token is none of these words.
    fn skip(self, mut at: usize, words: &str) -> usize {
        while at < self.to && self.tokens[at].is_any(words) {
            at += 1;
        }
        at
    }

    fn name(self, at: usize) -> String {
        name(self.tokens.get(at..self.to).unwrap_or_default())
    }

    /// `DROP TABLE IF EXISTS x`
    fn drops(self) -> Option<QueryLoss> {
        let kind = self.tokens.get(self.from + 1).filter(|_| self.from + 1 < self.to)?;
        if !matches!(kind.kind, SqlTokenKind::Word) || kind.is_any("PREPARE") {
            return None;
        }
        let mut at = self.from + 2;
        let mut kinds = kind.text.to_ascii_lowercase();
        if kind.is_any(LONG_KINDS) && at < self.to {
            kinds = format!("{kinds} {}", self.tokens[at].text.to_ascii_lowercase());
            at += 1;
        }
        let at = self.skip(at, "IF EXISTS CONCURRENTLY");
        // For `DROP $x` the kind of the object is not known either.
        let kinds = if kind.is_unknown() { String::new() } else { kinds };
        Some(QueryLoss::new(QueryLossAct::Drops, kinds, self.name(at)))
    }

    /// `TRUNCATE TABLE x`
    fn truncates(self) -> Option<QueryLoss> {
        let at = self.skip(self.from + 1, "TABLE DATABASE ONLY IF EXISTS");
        // `TRUNCATE(x, 2)` is a number.
        self.tokens.get(at).filter(|token| at < self.to && !token.is_sign("("))?;
        Some(QueryLoss::new(QueryLossAct::Empties, "table".to_owned(), self.name(at)))
    }

    /// `DELETE FROM x` without a condition
    fn deletes(self) -> Option<QueryLoss> {
        let top = self.top().nth(1).filter(|at| self.tokens[*at].is("TOP"));
        let from = self.find("FROM").map(|at| self.skip(at, MODIFIERS));
        let at = from.unwrap_or_else(|| self.skip(top.map_or(self.from + 1, |at| at + 4), MODIFIERS));
        // `WHEN MATCHED THEN DELETE` of a MERGE.
        self.tokens.get(at).filter(|token| at < self.to && !token.is("WHEN"))?;
        self.unconditional(QueryLossAct::Deletes, at)
    }

    /// `UPDATE x SET y = 1` without a condition
    fn updates(self) -> Option<QueryLoss> {
        let at = self.skip(self.from + 1, MODIFIERS);
        let set = self.find("SET")?;
        (at < set).then(|| self.unconditional(QueryLossAct::Updates, at))?
    }

    /// Returns the loss of all rows of the table whose name begins here, unless a condition limits the statement to
    /// some rows.
    fn unconditional(self, act: QueryLossAct, table: usize) -> Option<QueryLoss> {
        let mut loss = QueryLoss::new(act, "table".to_owned(), self.name(table));
        match self.find("WHERE") {
            Some(at) => {
                let rest = self.part(at + 1, self.to);
                let end = rest.top().find(|at| self.tokens[*at].is_any(AFTER_CONDITION)).unwrap_or(self.to);
                let condition = &self.tokens[at + 1..end];
                return (is_always_true(condition) || condition.is_empty()).then_some(loss);
            }
            None => {
                // The condition may be in a part that is not known.
                let rest = self.part(table + 1, self.to);
                loss.sure = !rest.top().any(|at| self.tokens[at].is_unknown());
            }
        }
        Some(loss)
    }

    /// `ALTER TABLE x DROP y`
    fn alters(self) -> Option<QueryLoss> {
        let kind = &self.tokens.get(self.from + 1)?.text.to_ascii_lowercase();
        let named = self.skip(self.from + 2, "IF EXISTS ONLY");
        for at in self.top().skip(2) {
            let token = &self.tokens[at];
            let next = self.tokens.get(at + 1).filter(|_| at + 1 < self.to);
            if token.is("DROP") && next.is_some_and(|next| next.is_name() && !next.is_any(PROPERTIES)) {
                return Some(self.part_dropped(at, kind, named));
            }
            if token.is("TRUNCATE") && next.is_some_and(|next| next.is_any("PARTITION SUBPARTITION")) {
                let kind = format!("partition {} of the {kind}", self.name(at + 2));
                return Some(QueryLoss::new(QueryLossAct::Empties, kind, self.name(named)));
            }
            if self.dialect == SqlDialect::ClickHouse && token.is_any("DELETE UPDATE") && at > named {
                let act = if token.is("DELETE") { QueryLossAct::Deletes } else { QueryLossAct::Updates };
                let change = Self { from: at, ..self };
                return change.unconditional(act, named);
            }
        }
        None
    }

    /// Returns the loss of `DROP y` within an `ALTER`.
    fn part_dropped(self, drop: usize, kind: &str, named: usize) -> QueryLoss {
        let parts = "COLUMN CONSTRAINT PARTITION INDEX KEY CHECK ATTRIBUTE TABLE USER PROJECTION REGION VALUE SUBPARTITION \
                     PRIMARY FOREIGN STATISTICS DETACHED PART";
        let first = &self.tokens[drop + 1];
        let listed = first.is_any(parts);
        let kinds = if !listed {
            "column".to_owned()
        } else if first.is_any("PRIMARY FOREIGN") {
            format!("{} key", first.text.to_ascii_lowercase())
        } else {
            first.text.to_ascii_lowercase()
        };
        let from = if listed { self.skip(drop + 2, "KEY IF EXISTS PARTITION PART") } else { drop + 1 };
        let part = self.name(from);
        let space = if part.is_empty() { "" } else { " " };
        QueryLoss::new(QueryLossAct::Alters, format!("{kinds}{space}{part} of the {kind}"), self.name(named))
    }

    /// `EXPLAIN ANALYZE DELETE …` and `ANALYZE DELETE …` of MariaDB run the statement.
    fn explains(self) -> Option<QueryLoss> {
        let mut runs = self.first()?.is("ANALYZE");
        let mut from = self.from + 1;
        while let Some(token) = self.tokens.get(from).filter(|_| from < self.to) {
            if token.is_sign("(") {
                let end = self.closes[from].min(self.to);
                let on = |pair: &[SqlToken<'_>]| {
                    let off = pair.get(1).is_some_and(|value| value.is_any("OFF FALSE") || value.text == "0");
                    pair[0].is_any("ANALYZE ANALYSE") && !off
                };
                let options = &self.tokens[from..end];
                runs |= (0..options.len()).any(|at| on(&options[at..]));
                from = end + 1;
            } else if token.is_any("ANALYZE ANALYSE") {
                runs = true;
                from += 1;
            } else if token.is_any("VERBOSE FORMAT JSON TREE TRADITIONAL EXTENDED PARTITIONS DISTSQL")
                || token.is_sign("=")
            {
                from += 1;
            } else {
                break;
            }
        }
        self.part(from, self.to).loss().filter(|_| runs)
    }

    /// Returns the statement behind the queries of a `WITH`.
    fn main(self) -> Option<Self> {
        let mut behind = false;
        let at = self.top().find(|at| {
            let token = &self.tokens[*at];
            let main = behind && token.is_any("SELECT INSERT UPDATE DELETE MERGE VALUES TABLE REPLACE");
            behind |= token.is_sign("(");
            main
        })?;
        Some(self.part(at, self.to))
    }

    /// A change in parentheses: `WITH gone AS (DELETE FROM x RETURNING *) SELECT …`, `COPY (DELETE …) TO …`.
    fn nested(self) -> Option<QueryLoss> {
        let before = "AS MATERIALIZED COPY";
        (self.from..self.to).find_map(|at| {
            let open = self.tokens[at].is_sign("(") && at > self.from && self.tokens[at - 1].is_any(before);
            let changes = open && self.tokens.get(at + 1).is_some_and(|next| next.is_any("DELETE UPDATE"));
            changes.then(|| self.part(at + 1, self.closes[at]).loss())?
        })
    }

    /// Returns the loss of statements within a block of a procedural language.
    fn block(self) -> Option<QueryLoss> {
        let mut before: Option<usize> = None;
        let starts = self.top().filter(|at| {
            let Some(before) = before.replace(*at) else { return false };
            let opens = || self.tokens[before].is_any("BEGIN THEN ELSE LOOP ATOMIC");
            self.tokens[*at].is_any(DESTROYERS) && (self.dialect == SqlDialect::TransactSql || opens())
        });
        let starts: Vec<usize> = starts.chain([self.to]).collect();
        starts.windows(2).find_map(|pair| self.part(pair[0], pair[1]).loss())
    }

    /// Returns the loss of statements in strings that the statement runs: `EXECUTE 'DROP TABLE x'`, `DO $$ BEGIN … END
    /// $$`.
    fn texts(self) -> Option<QueryLoss> {
        let texts = self.rest().iter().filter(|token| token.kind == SqlTokenKind::Text);
        texts.take(64).find_map(|token| {
            let text = token.text.replace("''", "'");
            (self.scan)(&text, self.dialect, self.depth + 1).into_iter().next()
        })
    }
}
