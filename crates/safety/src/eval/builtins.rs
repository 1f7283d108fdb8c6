//! Builtins that change the shell.

use super::declaration_builtins::declare;
use super::evaluation_frame::EvaluationFrame;
use super::evaluator::CommandEvaluator;
use super::input_builtins::{set_named, variable};
use super::predictable_output;
use super::program_call::ProgramCall;
use super::simulated_shell::SimulatedShell;
use crate::options::{OptionSpec, parse};
use crate::path::resolved;
use crate::simple_command_view::{CommandStdin, ExpandedRedirect};
use crate::word_value::WordValue;

/// Evaluates the call of a builtin. Returns the shell after a failure, if it differs.
type BuiltinEvaluator =
    fn(&mut CommandEvaluator<'_>, &mut SimulatedShell, &ProgramCall, &EvaluationFrame) -> Option<Box<SimulatedShell>>;

/// The builtin of a name, if it changes the shell.
fn builtin_named(name: &str) -> Option<BuiltinEvaluator> {
    Some(match name {
        "." | "source" => source,
        "alias" => alias,
        "break" | "continue" => leave_round,
        "cd" => cd,
        "declare" | "export" | "local" | "readonly" | "typeset" => declare,
        "exec" => exec,
        "exit" => exit,
        "getopts" | "mapfile" | "read" | "readarray" => set_named,
        "popd" => popd,
        "printf" => printf,
        "pushd" => pushd,
        "return" => return_from_function,
        "set" => set,
        "shift" => shift,
        "shopt" => shopt,
        "unalias" => unalias,
        "unset" => unset,
        "wait" => wait,
        _ => return None,
    })
}

impl CommandEvaluator<'_> {
    /// Evaluates what a builtin does to the shell. Returns the shell after a failure, if it differs.
    pub(super) fn evaluate_builtin(
        &mut self,
        shell: &mut SimulatedShell,
        call: &ProgramCall,
        frame: &EvaluationFrame,
    ) -> Option<Box<SimulatedShell>> {
        self.evaluate_builtin_operands(shell, call, frame);
        let builtin = call.argv.first().and_then(WordValue::known).and_then(builtin_named)?;
        builtin(self, shell, call, frame)
    }

    /// The directory that `cd` goes to.
    fn cd_target(&self, shell: &SimulatedShell, args: &[WordValue]) -> WordValue {
        let mut operands = args.iter().filter(|arg| {
            let text = arg.prefix();
            text.len() < 2 || !text.starts_with('-')
        });
        match operands.next() {
            None => match shell.get("HOME", self.environment) {
                Some(values) if values.len() == 1 => values[0].clone(),
                _ => WordValue::of(self.directories.home.as_str()),
            },
            Some(directory) if directory.known() == Some("-") => shell.location.previous.clone(),
            Some(directory) if directory.known() == Some("") => shell.cwd().clone(),
            Some(directory) => resolved(shell.cwd(), directory),
        }
    }
}

fn has_flag(argv: &[WordValue], flag: &str) -> bool {
    argv[1..].iter().any(|arg| arg.known() == Some(flag))
}

fn cd(
    evaluator: &mut CommandEvaluator<'_>,
    shell: &mut SimulatedShell,
    call: &ProgramCall,
    _: &EvaluationFrame,
) -> Option<Box<SimulatedShell>> {
    let argv = &call.argv;
    let before = Box::new(evaluator.copy_shell(shell));
    let directory = evaluator.cd_target(shell, &argv[1..]);
    shell.location.enter(directory);
    Some(before)
}

fn pushd(
    evaluator: &mut CommandEvaluator<'_>,
    shell: &mut SimulatedShell,
    call: &ProgramCall,
    _: &EvaluationFrame,
) -> Option<Box<SimulatedShell>> {
    let argv = &call.argv;
    let directory = evaluator.cd_target(shell, &argv[1..]);
    if has_flag(argv, "-n") {
        shell.location.push(directory);
        return None;
    }
    let before = Box::new(evaluator.copy_shell(shell));
    let left = shell.cwd().clone();
    shell.location.push(left);
    shell.location.enter(directory);
    Some(before)
}

fn popd(
    _: &mut CommandEvaluator<'_>,
    shell: &mut SimulatedShell,
    call: &ProgramCall,
    _: &EvaluationFrame,
) -> Option<Box<SimulatedShell>> {
    let argv = &call.argv;
    let directory = shell.location.pop();
    if argv.get(1).and_then(WordValue::known) != Some("-n") {
        shell.location.enter(directory);
    }
    None
}

fn alias(
    _: &mut CommandEvaluator<'_>,
    shell: &mut SimulatedShell,
    call: &ProgramCall,
    _: &EvaluationFrame,
) -> Option<Box<SimulatedShell>> {
    let argv = &call.argv;
    for (name, text) in argv[1..].iter().filter_map(|arg| arg.known()?.split_once('=')) {
        shell.aliases.set(name, text);
    }
    None
}

fn unalias(
    _: &mut CommandEvaluator<'_>,
    shell: &mut SimulatedShell,
    call: &ProgramCall,
    _: &EvaluationFrame,
) -> Option<Box<SimulatedShell>> {
    let argv = &call.argv;
    for arg in &argv[1..] {
        shell.aliases.unset(arg.known().filter(|name| *name != "-a"));
    }
    None
}

fn shopt(
    _: &mut CommandEvaluator<'_>,
    shell: &mut SimulatedShell,
    call: &ProgramCall,
    _: &EvaluationFrame,
) -> Option<Box<SimulatedShell>> {
    let argv = &call.argv;
    if has_flag(argv, "lastpipe") {
        shell.options.keeps_last = has_flag(argv, "-s");
    } else if has_flag(argv, "expand_aliases") {
        shell.aliases.expands = has_flag(argv, "-s");
    }
    None
}

fn unset(
    evaluator: &mut CommandEvaluator<'_>,
    shell: &mut SimulatedShell,
    call: &ProgramCall,
    frame: &EvaluationFrame,
) -> Option<Box<SimulatedShell>> {
    let argv = &call.argv;
    let functions = argv.get(1).and_then(WordValue::known) == Some("-f");
    for arg in &argv[1..] {
        match arg.known() {
            Some(name) if functions => shell.functions.unset(name),
            Some(name) if name.contains('[') => {
                evaluator.make_variable_unknown(shell, name.split('[').next().unwrap_or_default(), frame);
            }
            Some("-v" | "-n") => {}
            Some(name) => shell.variables.unset(name),
            None => shell.variables.forgetful = true,
        }
    }
    None
}

/// `printf -v NAME`
fn printf(
    evaluator: &mut CommandEvaluator<'_>,
    shell: &mut SimulatedShell,
    call: &ProgramCall,
    frame: &EvaluationFrame,
) -> Option<Box<SimulatedShell>> {
    if let [name, flag, operand, rest @ ..] = call.argv.as_slice()
        && flag.known() == Some("-v")
    {
        let Some(operand) = operand.known() else {
            shell.variables.forgetful = true;
            return None;
        };
        let mut words = vec![name.clone()];
        words.extend_from_slice(rest);
        let printed =
            predictable_output::of(&words, shell.cwd(), &shell.input, || None).filter(|_| !operand.contains('['));
        evaluator.set_checked_variable(
            shell,
            variable(operand),
            vec![printed.unwrap_or_else(WordValue::unknown_words)],
            frame,
        );
    }
    None
}

/// `wait -p NAME`
fn wait(
    evaluator: &mut CommandEvaluator<'_>,
    shell: &mut SimulatedShell,
    call: &ProgramCall,
    frame: &EvaluationFrame,
) -> Option<Box<SimulatedShell>> {
    let given = parse(&call.argv[1..], &OptionSpec::leading("fnp:", ""));
    match given.value("p").map(WordValue::known) {
        Some(Some(operand)) => {
            evaluator.set_checked_variable(shell, variable(operand), vec![WordValue::number()], frame)
        }
        Some(None) => shell.variables.forgetful = true,
        None => {}
    }
    None
}

fn shift(
    _: &mut CommandEvaluator<'_>,
    shell: &mut SimulatedShell,
    call: &ProgramCall,
    _: &EvaluationFrame,
) -> Option<Box<SimulatedShell>> {
    let argv = &call.argv;
    let count = argv.get(1).map_or(Some(1), |count| count.known().and_then(|count| count.parse().ok()));
    match count {
        Some(count) if count < shell.args.len() => {
            shell.args.drain(1..=count);
        }
        Some(_) => {}
        None => shell.args = vec![WordValue::unknown(), WordValue::unknown_words()],
    }
    None
}

/// A file that is not known may set any variable. A script on standard input is evaluated.
fn source(
    _: &mut CommandEvaluator<'_>,
    shell: &mut SimulatedShell,
    call: &ProgramCall,
    _: &EvaluationFrame,
) -> Option<Box<SimulatedShell>> {
    let argv = &call.argv;
    let input = argv.get(1).and_then(WordValue::known);
    shell.variables.forgetful |= !matches!(input, Some("/dev/stdin" | "/dev/fd/0"));
    None
}

fn return_from_function(
    evaluator: &mut CommandEvaluator<'_>,
    shell: &mut SimulatedShell,
    _: &ProgramCall,
    _: &EvaluationFrame,
) -> Option<Box<SimulatedShell>> {
    evaluator.calls.return_from_function(shell);
    shell.ended = true;
    None
}

fn leave_round(
    evaluator: &mut CommandEvaluator<'_>,
    shell: &mut SimulatedShell,
    _: &ProgramCall,
    _: &EvaluationFrame,
) -> Option<Box<SimulatedShell>> {
    evaluator.calls.leave_round(shell);
    shell.ended = true;
    None
}

fn exit(
    evaluator: &mut CommandEvaluator<'_>,
    shell: &mut SimulatedShell,
    _: &ProgramCall,
    _: &EvaluationFrame,
) -> Option<Box<SimulatedShell>> {
    evaluator.calls.exit();
    shell.ended = true;
    None
}

/// Without a command, `exec` only redirects.
fn exec(
    _: &mut CommandEvaluator<'_>,
    shell: &mut SimulatedShell,
    call: &ProgramCall,
    _: &EvaluationFrame,
) -> Option<Box<SimulatedShell>> {
    let argv = &call.argv;
    shell.ended |= argv.len() > 1;
    if argv.len() == 1 && call.redirects.iter().any(ExpandedRedirect::gives_input) {
        shell.input = CommandStdin::Opaque { program: None, contents: None };
    }
    None
}

fn set(
    _: &mut CommandEvaluator<'_>,
    shell: &mut SimulatedShell,
    call: &ProgramCall,
    _: &EvaluationFrame,
) -> Option<Box<SimulatedShell>> {
    let argv = &call.argv;
    let args = &argv[1..];
    let mut rest = args;
    while let Some((arg, left)) = rest.split_first() {
        let text = arg.known().unwrap_or_default();
        rest = left;
        match text {
            "--" | "-" => {
                shell.args.truncate(1);
                shell.args.extend_from_slice(rest);
                break;
            }
            "-o" | "+o" => {
                match rest.first().and_then(WordValue::known) {
                    Some("errexit") => shell.options.exits = text == "-o",
                    Some("allexport") => shell.options.exports = text == "-o",
                    _ => {}
                }
                rest = rest.get(1..).unwrap_or_default();
            }
            _ if text.starts_with('-') => {
                shell.options.exits |= text.contains('e');
                shell.options.exports |= text.contains('a');
                // `set -euo pipefail`
                if text.ends_with('o') {
                    rest = rest.get(1..).unwrap_or_default();
                }
            }
            _ if text.starts_with('+') => {
                shell.options.exits &= !text.contains('e');
                shell.options.exports &= !text.contains('a');
            }
            _ => {
                shell.args.truncate(1);
                shell.args.extend_from_slice(args);
                break;
            }
        }
    }
    None
}
