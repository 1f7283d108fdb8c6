//! Splits a text into statements, and follows its transactions and temporary tables.

use std::collections::HashSet;

use super::dialect::SqlDialect;
use super::lexer::tokens;
use super::statement::{SqlStatement, closes};
use super::token::{SqlToken, SqlTokenKind, name};
use crate::queries::query_loss::{QueryLoss, QueryLossAct};

/// Most losses of one text that are listed.
const MAX_LOSSES: usize = 64;
/// Deepest nesting of texts that is scanned.
const MAX_DEPTH: usize = 4;

/// Returns the losses that the statements of a text cause, in order, without those that are rolled back.
pub fn losses(text: &str, dialect: SqlDialect) -> Vec<QueryLoss> {
    nested_losses(text, dialect, 0)
}

/// Returns the losses of a text within a statement.
fn nested_losses(text: &str, dialect: SqlDialect, depth: usize) -> Vec<QueryLoss> {
    if depth > MAX_DEPTH {
        return Vec::new();
    }
    let tokens = tokens(text, dialect);
    let mut script = SqlScriptJudge { dialect, depth, losses: Vec::new(), began: None, temporary: HashSet::new() };
    for (at, statement) in statements(&tokens, dialect) {
        script.statement(statement);
        // `SELECT 'DROP TABLE ' || name FROM … \gexec` runs the rows that it selects.
        if tokens.get(at).is_some_and(|end| end.kind == SqlTokenKind::Client && end.text.starts_with("\\gexec")) {
            let texts = statement.iter().filter(|token| token.kind == SqlTokenKind::Text);
            let found = texts.take(MAX_LOSSES).flat_map(|text| nested_losses(text.text, dialect, depth + 1));
            script.losses.extend(found);
        }
        if script.losses.len() > MAX_LOSSES {
            break;
        }
    }
    script.losses
}

/// Returns the commands that a text gives to a shell: `\! ls`, `.shell ls`, `\o | less`.
pub fn shell_commands(text: &str, dialect: SqlDialect) -> Vec<&str> {
    let lines = tokens(text, dialect).into_iter().filter(|token| token.kind == SqlTokenKind::Client);
    lines.filter_map(|line| shell_command(line.text)).collect()
}

fn shell_command(line: &str) -> Option<&str> {
    if let Some(command) =
        line.strip_prefix("\\!").or_else(|| line.strip_prefix(":!!")).or_else(|| line.strip_prefix("!!"))
    {
        return Some(command.trim());
    }
    let (word, rest) = line.split_once(char::is_whitespace)?;
    let rest = rest.trim();
    match word.to_ascii_lowercase().as_str() {
        ".shell" | ".system" | ".sh" | ".sys" | "system" | "\\!" => Some(rest.trim_end_matches(';')),
        ".read" | ".once" | ".output" | "\\o" | "\\out" | "\\w" | "\\g" | "\\gx" => {
            rest.trim_matches(['\'', '"']).strip_prefix('|').map(str::trim)
        }
        _ => None,
    }
}

/// Returns whether a text opens a database in a file: `ATTACH 'x.db'`, `.open x.db`.
pub fn opens_file(text: &str, dialect: SqlDialect) -> bool {
    let all = tokens(text, dialect);
    let opens = |line: &SqlToken<'_>| {
        line.kind == SqlTokenKind::Client && line.text.get(..5).is_some_and(|word| word == ".open")
    };
    all.iter().any(opens) || statements(&all, dialect).iter().any(|(_, statement)| statement[0].is("ATTACH"))
}

/// The state of judging a text's statements.
struct SqlScriptJudge {
    dialect: SqlDialect,
    depth: usize,
    losses: Vec<QueryLoss>,
    /// The number of losses when the transaction began.
    began: Option<usize>,
    /// Names of temporary tables, in small letters.
    temporary: HashSet<String>,
}

impl SqlScriptJudge {
    fn statement(&mut self, tokens: &[SqlToken<'_>]) {
        let Some(head) = tokens.first() else { return };
        let second = tokens.get(1);
        let transaction = "TRAN TRANSACTION WORK IMMEDIATE EXCLUSIVE DEFERRED ISOLATION READ";
        let begins = head.is("BEGIN") && second.is_none_or(|next| next.is_any(transaction));
        if begins || head.is("START") && second.is_some_and(|next| next.is("TRANSACTION")) {
            self.began.get_or_insert(self.losses.len());
            return;
        }
        // A rollback to a savepoint is not a full one. sqlcmd names the savepoint directly.
        let part = second.is_some_and(|next| !next.is_any("WORK TRANSACTION TRAN AND"))
            || tokens.get(2).is_some_and(|next| !next.is_any("CHAIN AND"));
        if head.is_any("ROLLBACK ABORT") && !part {
            self.rolled_back();
        } else if head.is("COMMIT") || head.is("END") && second.is_none() {
            self.began = None;
        } else if head.is("CREATE") {
            self.note_temporary_table(tokens);
        } else {
            let closes = closes(tokens);
            let loss = SqlStatement::new(tokens, &closes, self.dialect, self.depth, nested_losses).loss();
            let lasting =
                |loss: &QueryLoss| !loss.is_temporary() && !self.temporary.contains(&loss.name.to_ascii_lowercase());
            self.losses.extend(loss.filter(lasting));
        }
    }

    fn rolled_back(&mut self) {
        let Some(began) = self.began.take().filter(|_| self.dialect.rolls_back()) else { return };
        let drops = self.dialect.rolls_back_drops();
        let mut at = 0;
        self.losses.retain(|loss| {
            at += 1;
            at <= began || !drops && !matches!(loss.act, QueryLossAct::Deletes | QueryLossAct::Updates)
        });
    }

    /// `CREATE TEMP TABLE x`
    fn note_temporary_table(&mut self, tokens: &[SqlToken<'_>]) {
        let words = tokens.iter().take(8);
        if words.clone().any(|word| word.is_any("TEMP TEMPORARY"))
            && let Some(table) = words.clone().position(|word| word.is("TABLE"))
        {
            let rest = &tokens[table + 1..];
            let skipped = rest.iter().take_while(|word| word.is_any("IF NOT EXISTS")).count();
            self.temporary.insert(name(&rest[skipped..]).to_ascii_lowercase());
        }
    }
}

/// Returns the statements of a text, each with the index of the token that ends it.
fn statements<'s, 'a>(tokens: &'s [SqlToken<'a>], dialect: SqlDialect) -> Vec<(usize, &'s [SqlToken<'a>])> {
    let mut all = Vec::new();
    let mut from = 0;
    let mut routine = SqlRoutineTracker::default();
    for (at, token) in tokens.iter().enumerate() {
        let ends = match token.kind {
            SqlTokenKind::End => !routine.goes_on(token, dialect),
            SqlTokenKind::Client => true,
            SqlTokenKind::Word => {
                routine.word(&tokens[from..at], token, tokens.get(at + 1));
                let plain = dialect == SqlDialect::TransactSql && !routine.is_one && routine.depth == 0;
                plain && begins_another(&tokens[from..at], token)
            }
            SqlTokenKind::Sign => {
                routine.sign(token);
                false
            }
            _ => false,
        };
        if ends {
            if from < at {
                all.push((at, &tokens[from..at]));
            }
            from = if token.kind == SqlTokenKind::Word { at } else { at + 1 };
            routine = SqlRoutineTracker::default();
            if token.kind == SqlTokenKind::Word {
                routine.word(&[], token, tokens.get(at + 1));
            }
        }
    }
    if from < tokens.len() {
        all.push((tokens.len(), &tokens[from..]));
    }
    all
}

/// A statement that creates a trigger or a procedure, with the statements of its body.
#[derive(Default)]
struct SqlRoutineTracker {
    /// Whether the statement creates a routine.
    is_one: bool,
    /// The number of open `BEGIN` and `CASE`.
    open: usize,
    /// The number of open parentheses.
    depth: usize,
    /// Whether the previous word was `END`.
    ended: bool,
}

impl SqlRoutineTracker {
    fn word(&mut self, before: &[SqlToken<'_>], word: &SqlToken<'_>, next: Option<&SqlToken<'_>>) {
        let creates = before.len() < 9 && before.first().is_some_and(|head| head.is_any("CREATE ALTER"));
        let others = "TABLE VIEW INDEX DATABASE SCHEMA USER ROLE TYPE SEQUENCE DOMAIN EXTENSION";
        let named = || before.iter().any(|word| word.is_any(others));
        if creates && word.is_any("TRIGGER PROCEDURE PROC FUNCTION EVENT PACKAGE") && !named() {
            self.is_one = true;
        }
        if !self.is_one {
            return;
        }
        let ended = std::mem::take(&mut self.ended);
        if word.is("END") {
            self.ended = true;
            // `END IF` closes no `BEGIN`.
            if !next.is_some_and(|next| next.is_any("IF LOOP WHILE REPEAT FOR")) {
                self.open = self.open.saturating_sub(1);
            }
        } else if word.is_any("BEGIN CASE") && !ended {
            self.open += 1;
        }
    }

    fn sign(&mut self, sign: &SqlToken<'_>) {
        match sign.text {
            "(" => self.depth += 1,
            ")" => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
    }

    /// Returns whether the statement goes on behind this end.
    fn goes_on(&self, end: &SqlToken<'_>, dialect: SqlDialect) -> bool {
        let of_batch = dialect == SqlDialect::TransactSql && self.is_one;
        self.is_one && end.text == ";" && (self.open > 0 || of_batch)
    }
}

/// Returns whether a word begins another statement of Transact-SQL, which needs no semicolon in between.
fn begins_another(before: &[SqlToken<'_>], word: &SqlToken<'_>) -> bool {
    let (Some(head), Some(last)) = (before.first(), before.last()) else { return false };
    if !word.is_any("DROP TRUNCATE DELETE UPDATE ALTER SELECT INSERT EXEC EXECUTE CREATE ROLLBACK COMMIT") {
        return false;
    }
    let continues = last
        .is_any("ON FOR AFTER OF INSTEAD THEN UNION ALL EXCEPT INTERSECT AS NOT GRANT DENY REVOKE ELSE BEGIN")
        || last.is_sign("(")
        || last.is_sign(",")
        || last.is_sign(".")
        || last.is_sign("=");
    let of_head = head.is("ALTER") && word.is_any("DROP ALTER TRUNCATE")
        || head.is_any("GRANT DENY REVOKE IF WHILE ELSE EXPLAIN WITH")
        || head.is("BEGIN") && !before.get(1).is_some_and(|next| next.is_any("TRAN TRANSACTION"))
        || head.is("INSERT") && word.is("SELECT");
    // `SET NOCOUNT ON DELETE …`
    (!continues || head.is("SET") && last.is("ON")) && !of_head
}
