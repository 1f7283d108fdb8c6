//! Notes that the host adds to a run.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;

use super::ledger_line::LedgerLine;
use super::ledger_record::{LedgerRunChanges, LedgerRunNote, LedgerRunSecret, MAX_RECORD};
use confine_policy::SecretUses;

/// Bytes of a record for all but the paths of changes.
const OTHERS: usize = 12 * 1024;

/// Returns the changes of a command, with as many paths as a record can hold.
pub fn run_changes<'p>(
    state: &'static str,
    counts: [u64; 4],
    paths: impl IntoIterator<Item = &'p Path>,
) -> LedgerRunChanges<'static> {
    let mut left = MAX_RECORD - OTHERS;
    let paths = paths.into_iter().map(|path| path.to_string_lossy().into_owned()).take_while(|path| {
        // As JSON, in which one character may be several.
        let length = serde_json::to_string(path).map_or(usize::MAX, |json| json.len() + 1);
        let fits = length <= left;
        left = left.saturating_sub(length);
        fits
    });
    LedgerRunChanges { state: state.into(), counts, paths: paths.map(Cow::Owned).collect() }
}

/// Returns what secrets were used for: their names and hosts without the requests, sorted. A record has room for all of
/// them, since a command lists at most 50 uses.
#[must_use]
pub fn run_secrets(uses: &SecretUses) -> Vec<LedgerRunSecret<'static>> {
    let mut totals = BTreeMap::<_, (u64, u64)>::new();
    for used in &uses.0 {
        let (count, refused) = totals.entry((&used.name, &used.host)).or_default();
        *count += used.count;
        *refused += used.refused.as_ref().map_or(0, |_| used.count);
    }
    let secret = |((name, host), (count, refused)): ((&String, &String), _)| LedgerRunSecret {
        name: Cow::Owned(name.clone()),
        host: Cow::Owned(host.clone()),
        count,
        refused,
    };
    totals.into_iter().map(secret).collect()
}

/// Returns the record of a note.
#[must_use]
pub fn note_line(run: &str, note: &LedgerRunNote<'_>) -> Vec<u8> {
    LedgerLine::of(run).with("note", note).finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use confine_policy::CountedSecretUse;

    #[test]
    fn the_uses_of_a_secret_are_counted_by_host() {
        let used = |host: &str, path: &str, refused: Option<&str>| CountedSecretUse {
            name: "TOKEN".into(),
            host: host.into(),
            method: "GET".into(),
            path: path.into(),
            count: 2,
            status: None,
            refused: refused.map(Into::into),
        };
        let uses = SecretUses(vec![used("b", "/", None), used("a", "/", Some("a method")), used("b", "/x", None)]);
        let secret = |host: &'static str, count, refused| LedgerRunSecret {
            name: "TOKEN".into(),
            host: host.into(),
            count,
            refused,
        };
        assert_eq!(run_secrets(&uses), [secret("a", 2, 2), secret("b", 4, 0)]);
    }

    #[test]
    fn all_uses_of_a_command_fit_into_a_record() {
        let used = |at: usize| CountedSecretUse {
            name: format!("{at:0>128}"),
            host: format!("{}:65535", "x".repeat(253)),
            method: String::new(),
            path: String::new(),
            count: u64::MAX,
            status: None,
            refused: None,
        };
        let secrets = run_secrets(&SecretUses((0..50).map(used).collect()));
        let line = note_line("r", &LedgerRunNote { secrets, ..LedgerRunNote::default() });
        assert!(line.len() <= MAX_RECORD, "{}", line.len());
    }

    #[test]
    fn the_paths_of_many_changes_are_cut_and_their_numbers_are_not() {
        let paths: Vec<_> = (0..100).map(|at| format!("/srv/{}/{at}", "\u{1}".repeat(400))).collect();
        let changes = run_changes("partial", [5000, 0, 0, 0], paths.iter().map(Path::new));
        assert_eq!((&*changes.state, changes.counts), ("partial", [5000, 0, 0, 0]));
        assert!(!changes.paths.is_empty() && changes.paths.len() < 100);
        let line = note_line("r", &LedgerRunNote { changes: Some(changes), ..LedgerRunNote::default() });
        assert!(line.len() <= MAX_RECORD);
    }
}
