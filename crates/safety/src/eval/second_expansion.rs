//! Text that bash expands a second time: arithmetic with the values of its variables, subscripts, names of variables,
//! prompts. Commands in such a text run, also if it came out of a file.

use std::collections::HashSet;

use super::evaluation_frame::{EvaluationFrame, MAX_DEPTH};
use super::evaluator::CommandEvaluator;
use super::input_builtins::READ;
use super::numeric_output::is_numeric;
use super::partial_text::UNKNOWN;
use super::program_call::ProgramCall;
use super::simulated_shell::SimulatedShell;
use crate::options::{OptionSpec, parse};
use crate::parse::{WordPart, WordSyntax, read_expansions};
use crate::read_only::{makes_programs_run, variable_hijacks};
use crate::unwrap::COMPGEN;
use crate::word_value::{ValuePiece, WordValue, weight};

/// Variables that one arithmetic expression may lead to.
const MAX_NAMES: usize = 256;

/// Operators of `[[ … ]]` whose operands are arithmetic.
const COMPARISONS: [&str; 6] = ["-eq", "-ne", "-lt", "-le", "-gt", "-ge"];

impl CommandEvaluator<'_> {
    /// Sets a variable by a builtin, a loop or an expansion. One that decides what programs run may make them run
    /// anything.
    pub(super) fn set_checked_variable(
        &mut self,
        shell: &mut SimulatedShell,
        name: &str,
        values: Vec<WordValue>,
        frame: &EvaluationFrame,
    ) {
        if variable_hijacks(name) {
            self.record_unknown_text(shell, name, frame);
        }
        self.assign_to(shell, name, values, frame);
    }

    /// Sets a variable, and evaluates its value if the variable wants that.
    pub(super) fn assign_to(
        &mut self,
        shell: &mut SimulatedShell,
        name: &str,
        values: Vec<WordValue>,
        frame: &EvaluationFrame,
    ) {
        self.budget.spend(weight(&values) / 32);
        let attributes = shell.variables.attributes(name);
        shell.variables.deciding |= values.iter().any(|value| makes_programs_run(name, value));
        for value in &values {
            if attributes.integer || is_integer(name) {
                self.evaluate_arithmetic(shell, value, frame);
            }
            if attributes.reference {
                self.evaluate_variable_name(shell, value, frame);
            }
            // A reference may be one to PS4.
            if name == "PS4" || attributes.reference {
                self.evaluate_prompt(shell, value, name, frame);
            }
        }
        shell.set(name, values, self.environment);
    }

    /// Makes a variable unknown.
    pub(super) fn make_variable_unknown(&mut self, shell: &mut SimulatedShell, name: &str, frame: &EvaluationFrame) {
        self.set_checked_variable(shell, name, vec![WordValue::unknown_words()], frame);
    }

    /// Evaluates a text as arithmetic. Each variable in it is evaluated as arithmetic in its turn.
    pub(super) fn evaluate_arithmetic(
        &mut self,
        shell: &mut SimulatedShell,
        text: &WordValue,
        frame: &EvaluationFrame,
    ) {
        let mut known = HashSet::new();
        let mut values = vec![text.clone()];
        while let Some(value) = values.pop() {
            if is_numeric(&value) {
                continue;
            }
            for text in self.possible_texts(shell, &value, "arithmetic", frame) {
                // Only subscripts are expanded.
                if text.contains('[') {
                    self.evaluate_protected_commands(shell, &text, "arithmetic", frame);
                }
                for name in variables_in_arithmetic(&text)
                    .filter(|name| !known.contains(*name))
                    .map(str::to_owned)
                    .collect::<Vec<_>>()
                {
                    values.extend(shell.get(&name, self.environment).unwrap_or_default());
                    known.insert(name);
                }
                for name in variables_set_by_arithmetic(&text) {
                    shell.set(name, vec![WordValue::number()], self.environment);
                }
            }
            if known.len() > MAX_NAMES || self.budget.is_spent() {
                self.budget.give_up();
                return;
            }
        }
    }

    /// Evaluates the subscript of a variable.
    pub(super) fn evaluate_subscript(
        &mut self,
        shell: &mut SimulatedShell,
        name: &str,
        subscript: &WordValue,
        frame: &EvaluationFrame,
    ) {
        if !matches!(subscript.known(), Some("@" | "*")) && !shell.variables.attributes(name).keyed {
            self.evaluate_arithmetic(shell, subscript, frame);
        }
    }

    /// Evaluates a word that names a variable, perhaps with a subscript: an operand of `unset`, the value of `x` in
    /// `${!x}`.
    pub(super) fn evaluate_variable_name(
        &mut self,
        shell: &mut SimulatedShell,
        operand: &WordValue,
        frame: &EvaluationFrame,
    ) {
        for text in self.possible_texts(shell, operand, "subscript", frame) {
            let Some((name, subscript)) = text.split_once('[') else { continue };
            self.evaluate_protected_commands(shell, subscript, "subscript", frame);
            let subscript = subscript.strip_suffix(']').unwrap_or(subscript);
            self.evaluate_subscript(shell, name, &WordValue::of(subscript), frame);
        }
    }

    /// Evaluates a text that bash expands as it does a prompt, or words between double quotes.
    pub(super) fn evaluate_prompt(
        &mut self,
        shell: &mut SimulatedShell,
        text: &WordValue,
        via: &str,
        frame: &EvaluationFrame,
    ) {
        for text in self.possible_texts(shell, text, via, frame) {
            self.evaluate_protected_commands(shell, &text, via, frame);
        }
    }

    /// Evaluates `[[ … ]]`.
    pub(super) fn evaluate_test(&mut self, shell: &mut SimulatedShell, words: &[WordSyntax], frame: &EvaluationFrame) {
        let values: Vec<WordValue> = words.iter().map(|word| self.expand_unsplit(shell, word, frame)).collect();
        for (at, word) in words.iter().enumerate() {
            match word.bare() {
                Some("-v" | "-R") => {
                    if let Some(operand) = values.get(at + 1) {
                        self.evaluate_variable_name(shell, operand, frame);
                    }
                }
                Some(sign) if COMPARISONS.contains(&sign) => {
                    for operand in [at.checked_sub(1), Some(at + 1)].into_iter().flatten() {
                        if let Some(operand) = values.get(operand) {
                            self.evaluate_arithmetic(shell, operand, frame);
                        }
                    }
                }
                _ => {}
            }
        }
    }

    /// Evaluates `((…))`.
    pub(super) fn evaluate_arithmetic_command(
        &mut self,
        shell: &mut SimulatedShell,
        parts: &[WordPart],
        frame: &EvaluationFrame,
    ) {
        let text = self.expand_quoted_text(shell, parts, frame);
        self.evaluate_arithmetic(shell, &text, frame);
    }

    /// Evaluates the operands that a builtin expands.
    pub(super) fn evaluate_builtin_operands(
        &mut self,
        shell: &mut SimulatedShell,
        call: &ProgramCall,
        frame: &EvaluationFrame,
    ) {
        let Some((Some(name), args)) = call.argv.split_first().map(|(name, args)| (name.known(), args)) else { return };
        match name {
            "let" => args.iter().for_each(|arg| self.evaluate_arithmetic(shell, arg, frame)),
            "test" | "[" => {
                for pair in args.windows(2).filter(|pair| matches!(pair[0].known(), Some("-v" | "-R"))) {
                    self.evaluate_variable_name(shell, &pair[1], frame);
                }
            }
            "unset" if args.first().is_none_or(|flag| flag.known() != Some("-f")) => {
                args.iter().for_each(|arg| self.evaluate_variable_name(shell, arg, frame));
            }
            "read" => {
                let given = parse(args, &READ);
                given.operands.iter().for_each(|at| self.evaluate_variable_name(shell, &args[*at], frame));
            }
            "printf" => self.evaluate_option_name(shell, args, &OptionSpec::leading("v:", ""), "v", frame),
            "wait" => self.evaluate_option_name(shell, args, &OptionSpec::leading("fnp:", ""), "p", frame),
            "compgen" => {
                if let Some(words) = parse(args, &OptionSpec::leading(COMPGEN, "")).value("W") {
                    self.evaluate_prompt(shell, words, "compgen -W", frame);
                }
            }
            "declare" | "export" | "local" | "readonly" | "typeset" => self.evaluate_declared_words(shell, args, frame),
            _ => {}
        }
    }

    /// Evaluates the name that an option takes.
    fn evaluate_option_name(
        &mut self,
        shell: &mut SimulatedShell,
        args: &[WordValue],
        spec: &OptionSpec,
        option: &str,
        frame: &EvaluationFrame,
    ) {
        if let Some(name) = parse(args, spec).value(option) {
            self.evaluate_variable_name(shell, name, frame);
        }
    }

    /// Evaluates the words of `declare`: a subscript in a name, and `-a 'x=(…)'`.
    fn evaluate_declared_words(&mut self, shell: &mut SimulatedShell, args: &[WordValue], frame: &EvaluationFrame) {
        for arg in args.iter().filter(|arg| !arg.prefix().starts_with(['-', '+'])) {
            let Some((name, _)) = arg.prefix().split_once('=') else {
                self.evaluate_variable_name(shell, arg, frame);
                continue;
            };
            self.evaluate_variable_name(shell, &WordValue::of(name), frame);
            let value = arg.after(name.len() + 1);
            if value.prefix().starts_with('(') {
                self.evaluate_prompt(shell, &value, "declare", frame);
                self.evaluate_arithmetic(shell, &value, frame);
            }
        }
    }

    /// Lists a text that bash may run without its being known.
    pub(super) fn record_unknown_text(&mut self, shell: &SimulatedShell, via: &str, frame: &EvaluationFrame) {
        if frame.uncalled {
            return;
        }
        let span = self.current.span.clone();
        let source = match &frame.origin.fixed {
            Some(_) => via.to_owned(),
            None => frame.origin.text.get(span.clone()).unwrap_or_default().to_owned(),
        };
        let text = ProgramCall {
            argv: vec![WordValue::unknown_words()],
            sources: vec![source.clone()],
            source,
            span,
            ..ProgramCall::default()
        };
        self.record_unseen(shell, text, &frame.nested_via(via));
    }

    /// The texts that a value may be. A value of which a part is not known may be any text.
    fn possible_texts(
        &mut self,
        shell: &SimulatedShell,
        value: &WordValue,
        via: &str,
        frame: &EvaluationFrame,
    ) -> Vec<String> {
        self.budget.spend(1 + value.weight() / 16);
        if is_numeric(value) {
            return Vec::new();
        }
        let mut text = String::new();
        let mut known = true;
        for piece in value.pieces() {
            match piece {
                ValuePiece::Text(part) => text.push_str(part),
                // The subscript of `unset a[1]` looks like a glob.
                ValuePiece::Glob(part) if part.starts_with('[') => text.push_str(part),
                // A name that is found in one text of several is found.
                ValuePiece::OneOf(texts) => text.push_str(&texts.join(" ")),
                ValuePiece::Glob(_) | ValuePiece::Unknown(_) => {
                    known = false;
                    text.push(UNKNOWN);
                }
            }
        }
        known &= !text.contains(UNKNOWN);
        if !known {
            self.record_unknown_text(shell, via, frame);
        }
        vec![text]
    }

    /// Evaluates the commands in a text, whatever quotes and backslashes protect them: each further expansion takes a
    /// level of these away.
    fn evaluate_protected_commands(
        &mut self,
        shell: &mut SimulatedShell,
        text: &str,
        via: &str,
        frame: &EvaluationFrame,
    ) {
        if !text.contains("$(") && !text.contains(['`', '\\']) && !text.contains("${") && !text.contains("$[") {
            return;
        }
        let mut inside = frame.nested_via(via);
        if inside.depth > MAX_DEPTH || self.budget.is_spent() {
            self.budget.give_up();
            return;
        }
        let plain: String = text.chars().filter(|next| *next != '\\').collect();
        let Ok((parts, heredocs)) = read_expansions(&plain) else {
            self.budget.give_up();
            return;
        };
        inside.origin.fixed.get_or_insert_with(|| self.current.span.clone());
        inside.origin.text = plain.into();
        inside.origin.heredocs = heredocs.into();
        self.expand_quoted_text(shell, &parts, &inside);
    }
}

/// Whether bash evaluates what is assigned to a variable of its own.
fn is_integer(name: &str) -> bool {
    matches!(name, "RANDOM" | "SECONDS" | "SRANDOM" | "LINENO" | "HISTCMD" | "OPTIND" | "EPOCHSECONDS")
}

/// The names of variables in an arithmetic expression.
fn variables_in_arithmetic(text: &str) -> impl Iterator<Item = &str> {
    text.split(|next: char| !next.is_ascii_alphanumeric() && next != '_' && next != '#' && next != '@')
        .filter(|word| word.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_'))
}

/// The names of variables that an arithmetic expression sets.
fn variables_set_by_arithmetic(text: &str) -> Vec<&str> {
    let bytes = text.as_bytes();
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let sets = |name: &&str| {
        let start = name.as_ptr().addr() - text.as_ptr().addr();
        let before = text[..start].trim_end();
        let mut behind = text[start + name.len()..].trim_start();
        if behind.starts_with('[') {
            behind = behind.split_once(']').map_or("", |(_, behind)| behind).trim_start();
        }
        let operator = behind.trim_start_matches(['+', '-', '*', '/', '%', '&', '|', '^', '<', '>']);
        before.ends_with("++")
            || before.ends_with("--")
            || behind.starts_with("++")
            || behind.starts_with("--")
            || operator.starts_with('=') && !behind.starts_with("==") && !matches!(behind.get(..2), Some("<=" | ">="))
    };
    if !bytes.iter().any(|byte| matches!(byte, b'=' | b'+' | b'-')) || !bytes.iter().any(is_name) {
        return Vec::new();
    }
    variables_in_arithmetic(text).filter(sets).collect()
}

#[cfg(test)]
mod tests {
    use super::{variables_in_arithmetic, variables_set_by_arithmetic};

    #[test]
    fn names_in_arithmetic_are_found() {
        let of = |text| variables_in_arithmetic(text).collect::<Vec<_>>();
        assert_eq!(of("a + 0x1f*b[c]-16#ff ? d1 : 2e"), ["a", "b", "c", "d1"]);
        assert_eq!(of("1 + 2"), [""; 0]);
    }

    #[test]
    fn assignments_in_arithmetic_are_found() {
        assert_eq!(variables_set_by_arithmetic("a = b + (c += 2), d++ + --e, f[1] <<= 2"), ["a", "c", "d", "e", "f"]);
        assert_eq!(variables_set_by_arithmetic("a == b && c <= d || e >= f || g != h"), [""; 0]);
    }
}
