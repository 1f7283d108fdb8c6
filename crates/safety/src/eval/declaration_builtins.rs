//! Builtins that declare variables: `declare`, `export`, `local`, `readonly`, `typeset`.

use super::evaluation_frame::EvaluationFrame;
use super::evaluator::CommandEvaluator;
use super::input_builtins::variable;
use super::program_call::ProgramCall;
use super::simulated_shell::SimulatedShell;
use super::variables::VariableAttributes;
use crate::read_only::variable_hijacks;
use crate::word_value::WordValue;

/// Options of `declare`, `export`, `local`, `readonly` and `typeset`.
struct VariableDeclaration {
    /// Whether the variables are handed to programs, if that changes.
    exported: Option<bool>,
    /// Whether they end with their function.
    local: bool,
    /// The attributes that they get.
    attributes: VariableAttributes,
}

pub(super) fn declare(
    evaluator: &mut CommandEvaluator<'_>,
    shell: &mut SimulatedShell,
    call: &ProgramCall,
    frame: &EvaluationFrame,
) -> Option<Box<SimulatedShell>> {
    let builtin = call.argv.first().and_then(WordValue::known).unwrap_or_default();
    let export = builtin == "export";
    let mut declaration = VariableDeclaration {
        exported: export.then_some(true),
        local: matches!(builtin, "local" | "declare" | "typeset"),
        attributes: VariableAttributes::default(),
    };
    for arg in &call.argv[1..] {
        let text = arg.prefix();
        if let Some(flags) = text.strip_prefix(['-', '+']).filter(|_| !text.contains('=')) {
            if export && flags.contains('n') {
                declaration.exported = Some(false);
            }
            if !export && flags.contains(['f', 'F']) {
                return None;
            }
            let attributes = &mut declaration.attributes;
            attributes.reference |= !export && flags.contains('n');
            attributes.integer |= flags.contains('i');
            attributes.cased |= flags.contains(['u', 'l', 'c']);
            // Where bash refuses the declaration, a subscript stays arithmetic.
            let accepted = text.starts_with('-') && flags.bytes().all(|flag| b"Agrx".contains(&flag));
            let sure = call.redirects.is_empty() && (builtin != "local" || !shell.variables.covered.is_empty());
            attributes.keyed |= flags.contains('A') && accepted && sure && !export;
            if flags.contains('x') {
                declaration.exported = Some(text.starts_with('-'));
            }
            declaration.local &= !flags.contains('g');
            continue;
        }
        declare_variable(evaluator, shell, arg, &declaration, frame);
    }
    None
}

/// One `NAME` or `NAME=value` of a declaration.
fn declare_variable(
    evaluator: &mut CommandEvaluator<'_>,
    shell: &mut SimulatedShell,
    arg: &WordValue,
    declaration: &VariableDeclaration,
    frame: &EvaluationFrame,
) {
    let environment = evaluator.environment;
    let text = arg.prefix();
    let (name, value) = match text.split_once('=') {
        Some((name, _)) => (name, Some(arg.after(name.len() + 1))),
        None => (arg.known().unwrap_or_default(), None),
    };
    let part = name.ends_with('+') || name.contains('[');
    let name = name.trim_end_matches('+').split('[').next().unwrap_or_default().to_owned();
    if name.is_empty() {
        // `export $(cat .env)`
        shell.variables.forgetful = true;
        return;
    }
    if declaration.local {
        shell.variables.begin_local(&name);
    }
    if value.is_none() && declaration.local && !shell.variables.covered.is_empty() {
        shell.variables.unset(&name);
    }
    let mut attributes = shell.variables.attributes(&name).with(declaration.attributes);
    // An array with numbers stays one.
    attributes.keyed &= shell.variables.attributes(&name).keyed || shell.get(&name, environment).is_none();
    if attributes != VariableAttributes::default() {
        shell.set_attributes(&name, attributes, environment);
    }
    if attributes.reference {
        // What is assigned to the name from here on is assigned to its target.
        match value.as_ref().and_then(WordValue::known) {
            Some(target) => {
                let target = variable(target);
                evaluator.make_variable_unknown(shell, target, frame);
                shell.set_attributes(target, attributes, environment);
            }
            None => shell.variables.forgetful = true,
        }
    }
    if arg.known().is_none() && variable_hijacks(&name) {
        evaluator.record_unknown_text(shell, &name, frame);
    }
    if let Some(value) = value {
        evaluator.assign_to(shell, &name, vec![if part { WordValue::unknown_words() } else { value }], frame);
    } else if attributes.reference {
        evaluator.make_variable_unknown(shell, &name, frame);
    }
    if let Some(exported) = declaration.exported {
        shell.export(&name, exported, environment);
    }
}
