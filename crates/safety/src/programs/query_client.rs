//! The ways in which a database client is given queries.

use crate::name_lists::has_word;
use crate::options::{GivenOption, OptionSpec, parse};
use crate::queries::{QueryLanguage, UNKNOWN};
use crate::simple_command_view::CommandStdin;
use crate::word_value::{ValuePiece, WordValue};

/// Most alternative texts of a value that are read.
const MAX_ALTERNATIVES: usize = 8;

/// One way to give a client its queries.
#[derive(Clone, Copy, Debug)]
pub struct QueryClientSpec {
    /// The language of the queries.
    pub language: QueryLanguage,
    /// Subcommands, one of which must be the first word. Empty without subcommands.
    pub sub: &'static str,
    /// The options of the client and the options behind the subcommand.
    pub options: OptionSpec,
    /// Options whose value is a query.
    pub code: &'static str,
    /// The number of operands before the operands that are queries. `None` if no operand is a query.
    pub operands: Option<usize>,
    /// Options whose value names a file with queries.
    pub files: &'static str,
    /// Options with which nothing is changed.
    pub harmless: &'static str,
    /// The place of the name of the database.
    pub database: DatabaseNameSource,
    /// The words before a query, in a suggestion: `-c`.
    pub safe: &'static str,
}

/// The place of the name of a database.
#[derive(Clone, Copy, Debug)]
pub enum DatabaseNameSource {
    /// The value of one of these options, or otherwise the first operand.
    Named(&'static str),
    /// The value of one of these options.
    Option(&'static str),
    /// The first operand, which is a file. Without one, the database is in memory.
    File,
}

/// The queries of one call.
#[derive(Debug)]
pub struct ClientQueries {
    /// The queries: one text for each alternative of their parts.
    pub texts: Vec<String>,
    /// The database that an operand or option names.
    pub database: Option<WordValue>,
}

impl QueryClientSpec {
    /// Reads the queries of a call. `None` if the call runs no known query.
    pub fn read(&self, args: &[WordValue], input: &CommandStdin) -> Option<ClientQueries> {
        let parsed = parse(args, &self.options);
        let mut operands = parsed.operands.iter().filter_map(|at| args.get(*at));
        if !self.sub.is_empty() && !has_word(self.sub, operands.next()?.known()?) {
            return None;
        }
        if parsed.has(self.harmless) || parsed.has("help") {
            return None;
        }
        let operands: Vec<&WordValue> = operands.collect();
        let written = self.operands.and_then(|from| operands.get(from..)).unwrap_or_default();
        let code: Vec<&GivenOption> = parsed.options.iter().filter(|given| has_word(self.code, &given.name)).collect();
        // After the commands of `-cmd`, sqlite3 reads its input.
        let stays = written.is_empty() && code.iter().all(|given| given.name == "cmd");
        let parts: Vec<&WordValue> =
            code.iter().filter_map(|given| given.value.as_ref()).chain(written.iter().copied()).collect();
        let mut texts = rendered(&self.joined(&parts));
        let stdin = |value: &WordValue| matches!(value.known(), Some("-" | "/dev/stdin"));
        let file = parsed.last(self.files).is_some_and(|given| !given.value.as_ref().is_some_and(stdin));
        texts.extend(input.text().filter(|_| stays && !file).map(rendered).unwrap_or_default());
        let database = match self.database {
            DatabaseNameSource::Named(names) => parsed.value(names).or(operands.first().copied()),
            DatabaseNameSource::Option(names) => parsed.value(names),
            DatabaseNameSource::File => operands.first().copied(),
        };
        Some(ClientQueries { texts, database: database.cloned() })
    }

    /// Joins all queries to one text.
    fn joined(&self, parts: &[&WordValue]) -> WordValue {
        let between = match self.language {
            QueryLanguage::Sql(_) => "\n;\n",
            QueryLanguage::Mongo => "\n",
            // Each operand is a word of a single command.
            QueryLanguage::Redis => " ",
        };
        let mut whole = WordValue::default();
        for (index, part) in parts.iter().enumerate() {
            if index > 0 {
                whole.push(ValuePiece::Text(between.to_owned()));
            }
            whole.extend(part);
        }
        whole
    }
}

/// Returns the texts that a value may have, with `UNKNOWN` for unknown parts.
fn rendered(value: &WordValue) -> Vec<String> {
    let choices = value.pieces().iter().map(|piece| match piece {
        ValuePiece::OneOf(texts) => texts.len(),
        ValuePiece::Text(_) | ValuePiece::Glob(_) | ValuePiece::Unknown(_) => 1,
    });
    let count = choices.max().unwrap_or(1).min(MAX_ALTERNATIVES);
    let text = |choice: usize| {
        let part = |piece: &ValuePiece| match piece {
            ValuePiece::Text(text) | ValuePiece::Glob(text) => text.clone(),
            ValuePiece::OneOf(texts) => {
                texts.get(choice.min(texts.len().saturating_sub(1))).cloned().unwrap_or_default()
            }
            ValuePiece::Unknown(_) => UNKNOWN.to_string(),
        };
        value.pieces().iter().map(part).collect()
    };
    (0..count).map(text).collect()
}
