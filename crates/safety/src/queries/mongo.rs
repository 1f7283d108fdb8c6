//! Scripts of mongosh: calls that drop a database or a collection, or delete all documents.

use super::query_loss::{QueryLoss, QueryLossAct};
use super::unknown_mark::UNKNOWN;

/// Most losses of one text that are listed.
const MAX_LOSSES: usize = 64;

/// A token of JavaScript, as far as calls need them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MongoToken<'a> {
    Name(&'a str),
    Text(&'a str),
    Sign(char),
}

/// Returns the losses that the calls in a script cause.
pub(super) fn losses(text: &str) -> Vec<QueryLoss> {
    let tokens = tokens(text);
    (0..tokens.len()).filter_map(|at| loss(&tokens, at)).take(MAX_LOSSES).collect()
}

/// Returns the loss by the call whose name is here.
fn loss(tokens: &[MongoToken<'_>], at: usize) -> Option<QueryLoss> {
    let (before, rest) = tokens.split_at(at);
    let database = || QueryLoss::new(QueryLossAct::Drops, "database".to_owned(), database(before));
    match rest {
        // `db.runCommand({ dropDatabase: 1 })`
        [MongoToken::Name("dropDatabase") | MongoToken::Text("dropDatabase"), MongoToken::Sign(':'), ..] => {
            Some(database())
        }
        [MongoToken::Name("drop") | MongoToken::Text("drop"), MongoToken::Sign(':'), MongoToken::Text(name), ..] => {
            let command = |token: &MongoToken<'_>| matches!(token, MongoToken::Name("runCommand" | "adminCommand"));
            let near = &before[before.len().saturating_sub(4)..];
            near.iter()
                .any(command)
                .then(|| QueryLoss::new(QueryLossAct::Drops, "collection".to_owned(), (*name).to_owned()))
        }
        [MongoToken::Name(call), MongoToken::Sign('('), args @ ..] if before.last() == Some(&MongoToken::Sign('.')) => {
            let every = matches!(args, [MongoToken::Sign('{'), MongoToken::Sign('}'), ..]);
            match *call {
                "dropDatabase" => Some(database()),
                "drop" => Some(QueryLoss::new(QueryLossAct::Drops, "collection".to_owned(), collection(before))),
                "deleteMany" | "remove" if every => {
                    Some(QueryLoss::new(QueryLossAct::Deletes, "collection".to_owned(), collection(before)))
                }
                _ => None,
            }
        }
        _ => None,
    }
}

/// Returns the database before `.dropDatabase`, if it is named: `db.getSiblingDB("app")`.
fn database(before: &[MongoToken<'_>]) -> String {
    match before {
        [
            ..,
            MongoToken::Name("getSiblingDB" | "getDB"),
            MongoToken::Sign('('),
            MongoToken::Text(name),
            MongoToken::Sign(')'),
            _,
        ] => (*name).to_owned(),
        _ => String::new(),
    }
}

/// Returns the collection before `.drop`, if it is named: `db.users`, `db["users"]`, `db.getCollection("users")`.
fn collection(before: &[MongoToken<'_>]) -> String {
    match before {
        [.., MongoToken::Sign('.'), MongoToken::Name(name), MongoToken::Sign('.')]
        | [.., MongoToken::Text(name), MongoToken::Sign(')' | ']'), MongoToken::Sign('.')] => (*name).to_owned(),
        _ => String::new(),
    }
}

/// Returns the tokens of a script, in one pass.
fn tokens(text: &str) -> Vec<MongoToken<'_>> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        let letter = |char: char| char.is_alphanumeric() || matches!(char, '_' | '$' | UNKNOWN);
        at += if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if let Some(comment) = rest.strip_prefix("/*") {
            comment.find("*/").map_or(rest.len(), |end| end + 4)
        } else if matches!(first, '\'' | '"' | '`') {
            let end = closing(rest.as_bytes());
            found.push(MongoToken::Text(&rest[1..end.max(1)]));
            (end + 1).min(rest.len())
        } else if letter(first) {
            let end = rest.find(|char| !letter(char)).unwrap_or(rest.len());
            found.push(MongoToken::Name(&rest[..end]));
            end
        } else {
            if !first.is_whitespace() && first != '?' {
                found.push(MongoToken::Sign(first));
            }
            first.len_utf8()
        };
    }
    found
}

/// Returns the index of the quote that closes a string, or the end of the text.
fn closing(bytes: &[u8]) -> usize {
    let mut end = 1;
    while end < bytes.len() && bytes[end] != bytes[0] {
        end += if bytes[end] == b'\\' && bytes.get(end + 1).is_some_and(u8::is_ascii) { 2 } else { 1 };
    }
    end.min(bytes.len())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::losses;

    fn found(text: &str) -> String {
        losses(text).iter().map(ToString::to_string).collect::<Vec<_>>().join(" · ")
    }

    #[test]
    fn calls_that_destroy_are_found() {
        for (text, wanted) in [
            ("db.dropDatabase()", "drops a database"),
            ("db.getSiblingDB('app').dropDatabase()", "drops the database app"),
            ("db.users.drop()", "drops the collection users"),
            ("db[\"users\"].drop( )", "drops the collection users"),
            ("db.getCollection(`users`).drop()", "drops the collection users"),
            ("db.getCollectionNames().forEach(c => db[c].drop())", "drops a collection"),
            ("db.users.deleteMany( { } )", "deletes all documents of the collection users"),
            ("db.users.remove({}, { w: 1 })", "deletes all documents of the collection users"),
            ("db.runCommand({ dropDatabase: 1 })", "drops a database"),
            ("db.runCommand({ drop: 'users' })", "drops the collection users"),
            ("db.\0.drop()", "drops a collection whose name is not known"),
            ("db.users.deleteMany({ a: 1 })", ""),
            ("db.users.deleteOne({})", ""),
            ("db.drops.find({ drop: 'x' })", ""),
            ("print('db.users.drop()') // db.users.drop()", ""),
            ("/* db.users.drop() */ db.users.dropIndex('a')", ""),
            ("'it\\'s db.users.drop()'", ""),
            ("drop()", ""),
        ] {
            assert_eq!(found(text), wanted, "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_scanned(
            text: String,
            pieces in proptest::collection::vec(proptest::sample::select(PIECES), 0..20),
        ) {
            found(&text);
            found(&pieces.concat());
        }

        #[test]
        fn words_in_strings_and_comments_never_count(
            pieces in proptest::collection::vec(proptest::sample::select(PIECES), 0..20),
        ) {
            let plain: String = pieces.concat().chars().filter(|char| !"'\"`\\*/\n".contains(*char)).collect();
            for text in [format!("'{plain}'"), format!("// {plain}"), format!("/* {plain} */")] {
                prop_assert_eq!(found(&text), "");
                prop_assert_eq!(found(&format!("{text}\ndb.a.drop()")), "drops the collection a");
            }
        }
    }

    const PIECES: &[&str] = &[
        "db.",
        "users",
        ".drop(",
        ")",
        "{",
        "}",
        "'",
        "\"",
        "`",
        "\\",
        "//",
        "/*",
        "*/",
        "\n",
        "é",
        "dropDatabase",
        ":",
    ];
}
