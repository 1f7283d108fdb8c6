//! The meaning of names: values of variables, and aliases of calls.

use super::bracketed_tokens::InlineTokens;
use super::call_specs::{InlineCallEffect, InlineCallSpec};
use super::inline_value::{InlineArgument, InlineValue};
use super::program_search::InlineProgramSearch;
use super::token::InlineToken;

/// Most tokens of a definition that are searched.
const NEAR: usize = 64;
/// Most items that are put into a list one by one.
const MAX_ITEMS: usize = 1000;

impl InlineProgramSearch<'_> {
    /// Reads `name = value`. Returns false if the statement is something else.
    pub(super) fn assign(&mut self, tokens: &InlineTokens, word: &str, at: usize) -> bool {
        if tokens.leads(at.wrapping_sub(1)) || self.in_brackets(tokens, at) {
            return false;
        }
        let end = tokens.line(at + 2);
        match tokens.get(at + 1) {
            Some(InlineToken::Sign("=")) => {
                self.parameters_of(tokens, word, at + 2);
                // `const run = cp.execSync`
                let near = (at + 2..end).take(NEAR);
                let mut calls = near.filter(|at| !tokens.is(at + 1, "(") && !self.grammar.syntax.bare_calls);
                let call = calls.find_map(|at| self.call_named(tokens.word(at)?, tokens.owner(at)));
                if let Some(call) = call {
                    self.aliases.insert(word.to_owned(), call);
                }
                let item = self.expression(tokens, at + 2, end, 0);
                self.variables.insert(word.to_owned(), item);
                true
            }
            Some(InlineToken::Sign("+=" | ".=" | "<<")) => {
                let more = self.expression(tokens, at + 2, end, 0);
                if let Some(item) = self.variables.remove(word) {
                    self.variables.insert(word.to_owned(), item.joined(more, ""));
                }
                true
            }
            _ => false,
        }
    }

    /// `list.append(item)`, `list.push(item)`, Perl's `push @list, item`
    pub(super) fn append_to_list(&mut self, tokens: &InlineTokens, word: &str, at: usize) {
        if !matches!(word, "append" | "push" | "extend") {
            return;
        }
        let (list, items) = if tokens.is(at + 1, "(") && !tokens.owner(at).is_empty() {
            (tokens.owner(at).to_owned(), self.arguments(tokens, at + 1, 0))
        } else if let Some(list) = tokens.word(at + 1).filter(|name| name.starts_with('@')) {
            (list.to_owned(), self.list(tokens, at + 3, tokens.line(at + 3), 0))
        } else {
            return;
        };
        if let Some(InlineValue::List(all)) = self.variables.get_mut(&list)
            && all.len() < MAX_ITEMS
        {
            for arg in items.into_iter().take(MAX_ITEMS) {
                match arg.item {
                    InlineValue::List(more) if word == "extend" => all.extend(more.into_iter().take(MAX_ITEMS)),
                    item => all.push(item),
                }
            }
        }
    }

    /// Reads a renaming: `system as s`, `{ execSync: run }`. Returns whether the tokens are one.
    pub(super) fn bind_call_alias(&mut self, tokens: &InlineTokens, call: InlineCallSpec, at: usize) -> bool {
        let Some(name) = tokens.word(at + 2) else { return false };
        let imported = tokens.word(at + 1) == Some("as");
        let taken = tokens.is(at + 1, ":") && (tokens.is(at + 3, ",") || tokens.is(at + 3, "}"));
        if imported || taken {
            self.aliases.insert(name.to_owned(), call);
        }
        imported || taken
    }

    /// `def name(parameters)`, `function name(parameters)`, `sub name { my (parameters) = @_`
    pub(super) fn bind_parameters(&mut self, tokens: &InlineTokens, at: usize) {
        let Some(name) = tokens.word(at + 1) else { return };
        if tokens.is(at + 2, "(") {
            self.parameters_in(tokens, name, at + 2);
        } else if tokens.is(at + 2, "{") && tokens.word(at + 3) == Some("my") {
            match tokens.word(at + 4) {
                Some(parameter) => self.parameter(parameter, name),
                None => self.parameters_in(tokens, name, at + 4),
            }
        } else if let Some(parameter) = tokens.word(at + 2) {
            self.parameter(parameter, name);
        }
    }

    /// `name = (parameters) => …`, `name = parameter => …`, `name = function (parameters)`
    fn parameters_of(&mut self, tokens: &InlineTokens, name: &str, at: usize) {
        let at = if tokens.word(at) == Some("async") { at + 1 } else { at };
        match tokens.get(at) {
            Some(InlineToken::Sign("(")) if tokens.is(tokens.partner[at] + 1, "=>") => {
                self.parameters_in(tokens, name, at)
            }
            Some(InlineToken::Word(word)) if word == "function" && tokens.is(at + 1, "(") => {
                self.parameters_in(tokens, name, at + 1)
            }
            Some(InlineToken::Word(word)) if tokens.is(at + 1, "=>") || word == "lambda" => {
                let parameter = if word == "lambda" { tokens.word(at + 1) } else { Some(word.as_str()) };
                if let Some(parameter) = parameter {
                    self.parameter(parameter, name);
                }
            }
            _ => {}
        }
    }

    fn parameters_in(&mut self, tokens: &InlineTokens, function: &str, open: usize) {
        let end = tokens.partner.get(open).copied().unwrap_or(open).min(open + NEAR);
        for at in open + 1..end {
            if matches!(tokens.get(at - 1), Some(InlineToken::Sign("(" | ",")))
                && let Some(parameter) = tokens.word(at)
            {
                self.parameter(parameter, function);
            }
        }
    }

    fn parameter(&mut self, parameter: &str, function: &str) {
        self.variables.remove(parameter);
        self.parameters.insert(parameter.to_owned(), function.to_owned());
    }

    /// Notes that a function passes its parameter on to a call. The function's name becomes an alias of the call.
    pub(super) fn passed_on(
        &mut self,
        tokens: &InlineTokens,
        call: InlineCallSpec,
        args: &[InlineArgument],
        at: usize,
    ) {
        let first = if tokens.is(at + 1, "(") { at + 2 } else { at + 1 };
        let Some(parameter) = tokens.word(first) else { return };
        let alone =
            matches!(tokens.get(first + 1), None | Some(InlineToken::Sign("," | ")" | ";" | "}") | InlineToken::Line));
        if !alone || self.variables.contains_key(parameter) {
            return;
        }
        let Some(function) = self.parameters.get(parameter) else { return };
        let shell = args.iter().any(|arg| match &arg.item {
            InlineValue::Map(entries) => {
                entries.iter().any(|(name, item)| name == "shell" && *item != InlineValue::Flag(false))
            }
            item => arg.name.as_deref() == Some("shell") && *item != InlineValue::Flag(false),
        });
        let runs = if shell { InlineCallEffect::Script } else { call.runs };
        self.aliases.insert(function.clone(), InlineCallSpec { runs, ..call });
    }

    /// Reads Python's `[f(name) for name in list]`.
    pub(super) fn comprehension(&mut self, tokens: &InlineTokens, open: usize) {
        let end = tokens.partner[open].min(tokens.list.len());
        if let Some(at) = (open + 1..end).take(NEAR).find(|at| tokens.word(*at) == Some("for")) {
            self.bind_loop_variable(tokens, at);
        }
    }

    /// Returns whether `name =` at this place is a named argument.
    pub(super) fn in_brackets(&self, tokens: &InlineTokens, at: usize) -> bool {
        at > 0
            && matches!(tokens.get(at - 1), Some(InlineToken::Sign("(" | ",")))
            && self.grammar.syntax.sigils != "$@%&"
    }

    /// Reads `for name in list`.
    pub(super) fn bind_loop_variable(&mut self, tokens: &InlineTokens, at: usize) {
        let mut name = at + 1;
        while tokens.is(name, "(")
            || matches!(tokens.word(name), Some("my" | "const" | "let" | "var" | "our" | "await"))
        {
            name += 1;
        }
        let Some(word) = tokens.word(name).map(str::to_owned) else { return };
        let list = if matches!(tokens.word(name + 1), Some("in" | "of")) {
            let end = (name + 2..tokens.list.len()).take(64).find(|at| {
                matches!(tokens.get(*at), Some(InlineToken::Sign(":" | "{") | InlineToken::Line))
                    || tokens.word(*at) == Some("do")
            });
            let end = end.unwrap_or(usize::MAX).min(tokens.line(name + 2));
            self.expression(tokens, name + 2, end, 0)
        } else if tokens.is(name + 1, "(") {
            let args = self.arguments(tokens, name + 1, 0);
            match args.len() {
                1 => args.into_iter().next().map_or(InlineValue::Unknown, |arg| arg.item),
                _ => InlineValue::List(args.into_iter().map(|arg| arg.item).collect()),
            }
        } else {
            return;
        };
        self.variables.insert(word, list.any_of_list());
    }

    /// `[…].forEach(name => …)`, `%w[…].each { |name| … }`
    pub(super) fn bind_each_parameter(&mut self, tokens: &InlineTokens, at: usize) {
        let before = at - 2;
        let list = match tokens.get(before) {
            Some(InlineToken::Sign("]" | ")")) => {
                let open = tokens.partner[before];
                if open >= before {
                    return;
                }
                let args = self.arguments(tokens, open, 0);
                InlineValue::List(args.into_iter().map(|arg| arg.item).collect())
            }
            Some(InlineToken::List(_) | InlineToken::Word(_)) => self.expression(tokens, before, before + 1, 0),
            _ => return,
        };
        let mut name = at + 1;
        while matches!(tokens.get(name), Some(InlineToken::Sign("(" | "{" | "|")))
            || matches!(tokens.word(name), Some("do" | "async" | "function"))
        {
            name += 1;
        }
        if let Some(word) = tokens.word(name) {
            self.variables.insert(word.to_owned(), list.any_of_list());
        }
    }
}
