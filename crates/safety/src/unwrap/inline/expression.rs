//! Values of expressions, as far as a glance tells.

use super::bracketed_tokens::{InlineTokens, OPERANDS};
use super::harmless_calls::{filled, path};
use super::inline_value::{InlineArgument, InlineValue, length};
use super::program_search::InlineProgramSearch;
use super::token::{InlineStringPart, InlineToken};

/// Deepest nesting of expressions that is followed.
const DEPTH: usize = 12;

/// Words that may precede a value.
const BEFORE: &[&str] =
    &["new", "await", "return", "my", "our", "local", "const", "let", "var", "yield", "move", "async", "do"];

impl InlineProgramSearch<'_> {
    /// Returns the arguments in the brackets that open at a place.
    pub(super) fn arguments(&mut self, tokens: &InlineTokens, open: usize, depth: usize) -> Vec<InlineArgument> {
        let end = tokens.partner[open].min(tokens.list.len());
        self.list(tokens, open + 1, end, depth)
    }

    /// Returns the arguments between two places.
    pub(super) fn list(&mut self, tokens: &InlineTokens, from: usize, to: usize, depth: usize) -> Vec<InlineArgument> {
        let mut args = Vec::new();
        let mut start = from;
        let mut at = from;
        while at <= to && start < to {
            let ends = at == to || tokens.is(at, ",");
            if ends {
                if at > start {
                    args.push(self.argument(tokens, start, at, depth));
                }
                start = at + 1;
            } else if matches!(tokens.get(at), Some(InlineToken::Sign("(" | "[" | "{"))) {
                at = tokens.partner[at].min(to.saturating_sub(1)).max(at);
            }
            at += 1;
        }
        args
    }

    fn argument(&mut self, tokens: &InlineTokens, from: usize, to: usize, depth: usize) -> InlineArgument {
        let from = (from..to).find(|at| tokens.get(*at) != Some(&InlineToken::Line)).unwrap_or(to);
        let named = matches!(tokens.get(from + 1), Some(InlineToken::Sign("=" | ":" | "=>"))) && from + 2 < to;
        // Ruby's `:name => value`
        let symbol = tokens.is(from, ":") && tokens.is(from + 2, "=>");
        let name = match tokens.get(if symbol { from + 1 } else { from }) {
            Some(InlineToken::Word(name)) if named || symbol => Some(name.clone()),
            Some(InlineToken::Text(parts, _)) if named => match parts.as_slice() {
                [InlineStringPart::Text(name)] => Some(name.clone()),
                _ => None,
            },
            _ => None,
        };
        let start = match (&name, symbol) {
            (Some(_), true) => from + 3,
            (Some(_), false) => from + 2,
            (None, _) => from,
        };
        InlineArgument { item: self.expression(tokens, start.min(to), to, depth), name }
    }

    /// Returns the value of the tokens between two places.
    pub(super) fn expression(&mut self, tokens: &InlineTokens, from: usize, to: usize, depth: usize) -> InlineValue {
        let from = (from..to).find(|at| tokens.get(*at) != Some(&InlineToken::Line)).unwrap_or(to);
        if from >= to {
            return InlineValue::Unknown;
        }
        let (mut left, mut at) = self.primary(tokens, from, to, depth);
        let mut turns = 0;
        while at < to && self.fuel > 0 {
            turns += 1;
            if turns > OPERANDS {
                return left.joined(InlineValue::Unknown, "");
            }
            let (right, next) = match tokens.get(at) {
                Some(InlineToken::Line) => {
                    at += 1;
                    continue;
                }
                Some(InlineToken::Sign(sign)) if self.grammar.syntax.joins.contains(sign) => {
                    self.primary(tokens, at + 1, to, depth)
                }
                Some(InlineToken::Text(..) | InlineToken::Word(_)) if self.grammar.syntax.adjacent => {
                    self.primary(tokens, at, to, depth)
                }
                Some(InlineToken::Sign("/")) => {
                    let (right, next) = self.primary(tokens, at + 1, to, depth);
                    left = path([left, right]);
                    at = next.max(at + 1);
                    continue;
                }
                Some(InlineToken::Sign("%")) => {
                    let (right, next) = self.primary(tokens, at + 1, to, depth);
                    left = filled(left, "%", right);
                    at = next.max(at + 1);
                    continue;
                }
                Some(InlineToken::Sign("||" | "&&" | ";")) => break,
                Some(InlineToken::Sign("?")) => return InlineValue::Unknown,
                _ => {
                    left = left.joined(InlineValue::Unknown, "");
                    break;
                }
            };
            if let Some(InlineToken::Word(word)) = tokens.get(at)
                && matches!(word.as_str(), "if" | "unless" | "or" | "and" | "else" | "for" | "do" | "while" | "then")
            {
                break;
            }
            self.fuel = self.fuel.saturating_sub(left.text().map_or(1, length) / 64);
            left = left.joined(right, "");
            at = next.max(at + 1);
        }
        left
    }

    /// Returns one value and its end.
    fn primary(&mut self, tokens: &InlineTokens, at: usize, to: usize, depth: usize) -> (InlineValue, usize) {
        self.fuel = self.fuel.saturating_sub(1);
        if depth > DEPTH || self.fuel == 0 || at >= to {
            return (InlineValue::Unknown, to);
        }
        let close = tokens.partner.get(at).copied().unwrap_or(to).min(to);
        let (item, next) = match tokens.get(at) {
            Some(InlineToken::Text(parts, _)) => (self.text(parts, depth), at + 1),
            Some(InlineToken::List(words)) => {
                (InlineValue::List(words.iter().map(|word| InlineValue::Text(self.flat.value(word))).collect()), at + 1)
            }
            Some(InlineToken::Sign("(")) => {
                let mut args = self.arguments(tokens, at, depth + 1);
                let one = args.len() == 1 && !tokens.is(close.saturating_sub(1), ",");
                let item = if one { args.remove(0).item } else { items(args) };
                (item, close + 1)
            }
            Some(InlineToken::Sign("[")) => (items(self.arguments(tokens, at, depth + 1)), close + 1),
            Some(InlineToken::Sign("{")) => (map(self.arguments(tokens, at, depth + 1)), close + 1),
            Some(InlineToken::Sign("*" | "..." | "**" | "&" | "\\" | "@" | ":" | "$" | "%")) => {
                return self.primary(tokens, at + 1, to, depth + 1);
            }
            Some(InlineToken::Word(word)) if BEFORE.contains(&word.as_str()) => {
                return self.primary(tokens, at + 1, to, depth + 1);
            }
            Some(InlineToken::Word(word)) => self.named(tokens, word, at, to, depth),
            _ => (InlineValue::Unknown, at + 1),
        };
        self.members(tokens, item, next, to, depth)
    }

    /// Returns the value of a string.
    pub(super) fn text(&mut self, parts: &[InlineStringPart], depth: usize) -> InlineValue {
        let mut whole: Option<InlineValue> = None;
        for part in parts {
            let item = match part {
                InlineStringPart::Text(text) => InlineValue::Text(self.flat.value(text)),
                InlineStringPart::Code(code) => self.code(code, depth + 1),
            };
            whole = Some(match whole {
                Some(before) => before.joined(item, ""),
                None => item,
            });
        }
        whole.unwrap_or_else(|| InlineValue::of(""))
    }

    /// Returns the value of code inside of a string.
    fn code(&mut self, code: &str, depth: usize) -> InlineValue {
        self.fuel = self.fuel.saturating_sub(code.len());
        if depth > DEPTH || self.fuel == 0 || code.len() > 1000 {
            return InlineValue::Unknown;
        }
        let tokens = InlineTokens::of(self.tokenize(code).0);
        self.expression(&tokens, 0, tokens.list.len(), depth + 1)
    }

    /// Returns the value of a name with its arguments.
    fn named(&mut self, tokens: &InlineTokens, word: &str, at: usize, to: usize, depth: usize) -> (InlineValue, usize) {
        let mut name = at;
        let mut owner = "";
        while tokens.leads(name + 1) && name + 2 < to && tokens.word(name + 2).is_some() {
            // Methods of a known value are left to `members`.
            if self.variables.contains_key(tokens.word(name).unwrap_or("")) {
                break;
            }
            owner = tokens.word(name).unwrap_or("");
            name += 2;
        }
        let last = tokens.word(name).unwrap_or("");
        if name == at {
            match word {
                "true" | "True" | "TRUE" | "1" => return (InlineValue::Flag(true), at + 1),
                "false" | "False" | "FALSE" | "None" | "null" | "nil" | "undefined" | "0" => {
                    return (InlineValue::Flag(false), at + 1);
                }
                _ => {}
            }
            if let Some(item) = self.variables.get(word) {
                self.fuel = self.fuel.saturating_sub(item.text().map_or(8, length) / 64);
                return (item.clone(), at + 1);
            }
        }
        // `ENV['HOME']`, `$ENV{HOME}`, `process.env.HOME`
        let environment =
            matches!(word, "ENV" | "$ENV" | "ENVIRON" | "$_ENV" | "$_SERVER") || last == "environ" || last == "env";
        if environment && matches!(tokens.get(name + 1), Some(InlineToken::Sign("[" | "{"))) {
            let close = tokens.partner[name + 1].min(to);
            let key = match tokens.get(name + 2) {
                Some(InlineToken::Word(key)) => Some(key.as_str()),
                Some(InlineToken::Text(parts, _)) => match parts.as_slice() {
                    [InlineStringPart::Text(key)] => Some(key.as_str()),
                    _ => None,
                },
                _ => None,
            };
            return (self.variable(key), close + 1);
        }
        if owner == "env" && last == "HOME" {
            return (self.variable(Some("HOME")), name + 1);
        }
        let called = tokens.is(name + 1, "(");
        let (args, next) = if called {
            (self.arguments(tokens, name + 1, depth + 1), tokens.partner[name + 1].min(to) + 1)
        } else {
            (Vec::new(), name + 1)
        };
        (self.value_of(owner, last, args), next)
    }

    /// Returns a value after its methods.
    fn members(
        &mut self,
        tokens: &InlineTokens,
        item: InlineValue,
        from: usize,
        to: usize,
        depth: usize,
    ) -> (InlineValue, usize) {
        let mut item = item;
        let mut at = from;
        while at < to && self.fuel > 0 {
            // Perl and PHP join with a dot.
            let joins = tokens.is(at, ".") && self.grammar.syntax.joins.contains(&".");
            if !joins && tokens.leads(at) && tokens.word(at + 1).is_some() {
                let name = tokens.word(at + 1).unwrap_or("").to_owned();
                let called = tokens.is(at + 2, "(");
                let args = if called { self.arguments(tokens, at + 2, depth + 1) } else { Vec::new() };
                at = if called { tokens.partner[at + 2].min(to) + 1 } else { at + 2 };
                item = self.method(item, &name, args);
            } else if matches!(tokens.get(at), Some(InlineToken::Sign("[" | "("))) && !self.grammar.syntax.adjacent {
                at = tokens.partner[at].min(to) + 1;
                item = InlineValue::Unknown;
            } else if tokens.is(at, "[") {
                // A part of the value.
                at = tokens.partner[at].min(to) + 1;
                item = InlineValue::Unknown;
            } else {
                break;
            }
        }
        (item, at)
    }
}

/// Returns arguments as a list.
fn items(args: Vec<InlineArgument>) -> InlineValue {
    InlineValue::List(args.into_iter().map(|arg| arg.item).collect())
}

/// Returns arguments as named values.
fn map(args: Vec<InlineArgument>) -> InlineValue {
    InlineValue::Map(args.into_iter().filter_map(|arg| Some((arg.name?, arg.item))).collect())
}
