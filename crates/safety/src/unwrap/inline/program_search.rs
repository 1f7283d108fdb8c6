//! Searches a program for the commands that it runs.

use std::collections::HashMap;

use super::bracketed_tokens::InlineTokens;
use super::call_specs::{InlineCallEffect, InlineCallSpec};
use super::inline_value::{InlineArgument, InlineValue};
use super::lexer::InlineLexer;
use super::syntax::InlineSyntax;
use super::token::{InlineStringPart, InlineStringUse, InlineToken};
use crate::simple_command_view::SimpleCommandView;
use crate::unwrap::inner_command::InnerCommand;
use crate::unwrap::placeholder_text::PlaceholderText;
use crate::word_value::WordValue;

/// Most work that is spent on a program.
const FUEL: usize = 2_000_000;
/// Deepest nesting of code inside of strings that is followed.
const NESTED: usize = 4;

/// How a programming language is written, and which of its calls run something.
#[derive(Debug)]
pub(super) struct InlineLanguageSpec {
    /// The signs.
    pub(super) syntax: &'static InlineSyntax,
    /// The calls.
    pub(super) calls: &'static [InlineCallSpec],
    /// A program that runs code given with an option, and that option.
    pub(super) runs: (&'static str, &'static str),
}

/// The state of searching a program.
pub(super) struct InlineProgramSearch<'a> {
    pub(super) grammar: &'static InlineLanguageSpec,
    pub(super) flat: &'a PlaceholderText,
    pub(super) home: &'a str,
    pub(super) folder: WordValue,
    pub(super) variables: HashMap<String, InlineValue>,
    /// Aliases of calls: `from os import system as s`, or functions that pass their argument on.
    pub(super) aliases: HashMap<String, InlineCallSpec>,
    /// The function that a parameter belongs to.
    pub(super) parameters: HashMap<String, String>,
    pub(super) fuel: usize,
    pub(super) via: &'a str,
    /// The directory that the program has changed to.
    pub(super) cwd: Option<WordValue>,
    pub(super) found: Vec<InnerCommand>,
}

/// Returns the commands that a program runs.
pub(super) fn commands_of_program(
    command: &SimpleCommandView,
    grammar: &'static InlineLanguageSpec,
    text: &WordValue,
    via: &str,
    variables: Vec<(String, WordValue)>,
) -> Vec<InnerCommand> {
    let flat = PlaceholderText::of(text);
    let mut program = InlineProgramSearch {
        grammar,
        flat: &flat,
        home: &command.directories.home,
        folder: command.cwd.clone(),
        variables: variables.into_iter().map(|(name, value)| (name, InlineValue::Text(value))).collect(),
        aliases: HashMap::new(),
        parameters: HashMap::new(),
        fuel: FUEL,
        via,
        cwd: None,
        found: Vec::new(),
    };
    program.scan(&flat.text, 0);
    if program.fuel == 0 {
        program.found.push(InnerCommand::Opaque { via: via.to_owned() });
    }
    program.found
}

impl InlineProgramSearch<'_> {
    /// Returns the parts of code, and the code inside of its strings.
    pub(super) fn tokenize(&self, code: &str) -> (Vec<InlineToken>, Vec<String>) {
        let letters: Vec<char> = code.chars().collect();
        let mut lexer = InlineLexer::new(&letters, self.grammar.syntax);
        let tokens = lexer.run();
        (tokens, std::mem::take(&mut lexer.nested))
    }

    fn scan(&mut self, code: &str, depth: usize) {
        let (tokens, nested) = self.tokenize(code);
        let tokens = InlineTokens::of(tokens);
        for at in 0..tokens.list.len() {
            if self.fuel == 0 {
                return;
            }
            match &tokens.list[at] {
                InlineToken::Text(parts, InlineStringUse::Run) => {
                    let script = self.text(parts, 0);
                    self.script(&script);
                }
                InlineToken::Text(parts, InlineStringUse::Template) if at > 0 && tokens.word(at - 1) == Some("$") => {
                    let script = self.text(parts, 0);
                    self.script(&script);
                }
                // `getattr(os, 'system')('…')`, `cp['execSync']('…')`
                InlineToken::Text(parts, InlineStringUse::Text) if tokens.is(at + 2, "(") => {
                    let closed = tokens.is(at + 1, ")") || tokens.is(at + 1, "]");
                    if let ([InlineStringPart::Text(name)], true) = (parts.as_slice(), closed)
                        && let Some(call) = self.call_named(name, "")
                    {
                        let args = self.arguments(&tokens, at + 2, 0);
                        self.call(&call, &args);
                    }
                }
                InlineToken::Word(word) => self.word(&tokens, word, at),
                InlineToken::Sign("(" | "[" | "{") if self.grammar.syntax.python => self.comprehension(&tokens, at),
                InlineToken::Sign(sign @ ("|" | "|&" | ">" | ">>")) if self.grammar.runs.0 == "awk" => {
                    self.pipe(&tokens, sign, at)
                }
                _ => {}
            }
        }
        if depth < NESTED {
            for code in nested {
                self.scan(&code, depth + 1);
            }
        }
    }

    fn word(&mut self, tokens: &InlineTokens, word: &str, at: usize) {
        if matches!(word, "for" | "foreach") {
            self.bind_loop_variable(tokens, at);
        }
        if matches!(word, "each" | "forEach" | "map") && at > 1 && tokens.leads(at - 1) {
            self.bind_each_parameter(tokens, at);
        }
        if matches!(word, "def" | "function" | "sub") {
            self.bind_parameters(tokens, at);
        }
        if self.assign(tokens, word, at) {
            return;
        }
        let defined =
            at > 0 && matches!(tokens.word(at - 1), Some("def" | "function" | "sub" | "fn" | "class" | "import"));
        if defined && tokens.word(at + 1) != Some("as") {
            return;
        }
        self.append_to_list(tokens, word, at);
        let Some(call) = self.call_named(word, tokens.owner(at)) else { return };
        if self.bind_call_alias(tokens, call, at) {
            return;
        }
        // Perl's `exec { program } words`
        let block = self.grammar.syntax.perl && tokens.is(at + 1, "{");
        let start = if block { tokens.partner[at + 1] + 1 } else { at + 1 };
        let args = if tokens.is(at + 1, "(") {
            self.arguments(tokens, at + 1, 0)
        } else if self.grammar.syntax.bare_calls && self.begins_value(tokens, start) {
            self.list(tokens, start, tokens.line(start), 0)
        } else if call.runs == InlineCallEffect::Delete && at > 1 && tokens.leads(at - 1) {
            // `Pathname('/').rmtree`
            Vec::new()
        } else {
            return;
        };
        self.passed_on(tokens, call, &args, at);
        let args = self.with_receiver(tokens, &call, args, at);
        self.call(&call, &args);
    }

    /// Returns the call of this name.
    pub(super) fn call_named(&self, word: &str, owner: &str) -> Option<InlineCallSpec> {
        let own = self.aliases.get(word).filter(|_| owner.is_empty());
        let known = || self.grammar.calls.iter().find(|call| call.name == word && self.needs(call, owner));
        own.or_else(known).copied()
    }

    /// Returns whether the words that the call needs are there.
    fn needs(&self, call: &InlineCallSpec, owner: &str) -> bool {
        call.needs.is_empty() || call.needs.iter().any(|needed| owner == *needed || self.flat.text.contains(needed))
    }

    /// Returns the arguments with the receiver: `Path('/').rmtree()` has its path before the dot.
    fn with_receiver(
        &mut self,
        tokens: &InlineTokens,
        call: &InlineCallSpec,
        args: Vec<InlineArgument>,
        at: usize,
    ) -> Vec<InlineArgument> {
        let receiver = at.checked_sub(2).filter(|before| tokens.leads(at - 1) && tokens.is(*before, ")"));
        if call.runs != InlineCallEffect::Delete || args.iter().any(|arg| arg.name.is_none()) {
            return args;
        }
        let Some(close) = receiver else { return args };
        let open = tokens.partner[close];
        if open >= close { args } else { self.arguments(tokens, open, 0) }
    }

    /// Returns whether the token may begin an argument.
    fn begins_value(&self, tokens: &InlineTokens, at: usize) -> bool {
        match tokens.get(at) {
            Some(InlineToken::Text(..) | InlineToken::List(_) | InlineToken::Sign("[" | "*" | "\\")) => true,
            Some(InlineToken::Word(word)) => {
                !matches!(word.as_str(), "if" | "unless" | "do" | "and" | "or" | "end" | "then" | "x")
            }
            _ => false,
        }
    }
}
