//! Commands of Redis, one per line.

use super::query_loss::{QueryLoss, QueryLossAct};

/// Returns the losses that the commands cause.
pub(super) fn losses(text: &str) -> Vec<QueryLoss> {
    text.lines().filter_map(loss).collect()
}

fn loss(line: &str) -> Option<QueryLoss> {
    let command = line.split_whitespace().next()?.trim_matches(['"', '\'']);
    let kind = match command.to_ascii_uppercase().as_str() {
        "FLUSHALL" => "whole server with all its databases",
        "FLUSHDB" => "database",
        "EVAL" if line.to_ascii_lowercase().contains("flush") => "database",
        _ => return None,
    };
    Some(QueryLoss::new(QueryLossAct::Empties, kind.to_owned(), String::new()))
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_command_is_the_first_word_of_a_line() {
        let found = |text: &str| super::losses(text).iter().map(ToString::to_string).collect::<Vec<_>>().join(" · ");
        assert_eq!(found("FLUSHALL"), "empties a whole server with all its databases");
        assert_eq!(found("SELECT 2\n  flushdb async\n"), "empties a database");
        assert_eq!(found("GET flushall\nSET note FLUSHALL\n\n# FLUSHALL"), "");
    }
}
