//! The state of a shell before its command, given as the code that restores it. No command of that code is listed.

use std::cell::RefCell;
use std::rc::Rc;

use super::evaluation_frame::{EvaluationFrame, ScriptOrigin};
use super::evaluator::{CommandEvaluator, TrapScript};
use super::functions::ShellFunction;
use super::simulated_shell::SimulatedShell;
use super::variables::EnvironmentBlock;
use crate::parse::CommandNodeKind;
use crate::simple_command_view::{CommandDirectories, InitialShellState};
use crate::unwrap::CustomWrappers;
use crate::word_value::WordValue;

/// Longest code that is evaluated, bytes.
const MAX_CODE: usize = 16 << 20;
/// Longest code whose shell is remembered, bytes.
const MAX_REMEMBERED: usize = 1 << 18;
/// Shells that are remembered per thread.
const MAX_SHELLS: usize = 4;

impl CommandEvaluator<'_> {
    /// The shell that a command starts in. Findings in its traps point to the whole command.
    pub(super) fn restore_shell(&mut self, state: InitialShellState<'_>, command: &str) -> SimulatedShell {
        if state.code.is_empty() && state.overrides.is_empty() {
            return SimulatedShell::new(WordValue::of(self.directories.cwd.as_str()), Vec::new());
        }
        let RestoredShell { mut shell, traps } = RestoredShell::of(state.code, self.environment, self.directories);
        for (name, value) in state.overrides {
            match value {
                Some(value) => {
                    shell.set(name, vec![WordValue::of(value)], self.environment);
                    shell.export(name, true, self.environment);
                }
                None => shell.variables.unset(name),
            }
        }
        self.traps = traps;
        for trap in &mut self.traps {
            trap.frame.origin.fixed = Some(0..command.len());
        }
        shell
    }

    /// The function of a name.
    pub(super) fn function_named(&mut self, shell: &SimulatedShell, name: &str) -> Option<ShellFunction> {
        if let Some(function) = shell.functions.defined.get(name) {
            return Some(function.clone());
        }
        let text = shell.functions.unread.get(name)?;
        if self.functions.has_read(name) {
            return self.functions.earlier_function(name);
        }
        let read = self.parse_script(text);
        let commands = read.script.body.into_iter().flat_map(|entry| entry.pipelines).flat_map(|(_, one)| one.commands);
        let body = commands.into_iter().find_map(|node| match node.kind {
            CommandNodeKind::Function { body, .. } => Some(body),
            _ => None,
        });
        let origin = ScriptOrigin { text: Rc::clone(text), heredocs: read.heredocs.into(), fixed: None, earlier: true };
        let function = body.map(|body| ShellFunction { number: Rc::as_ptr(&body).addr(), body, origin });
        self.functions.remember_earlier(name, function.clone());
        function
    }
}

/// A shell after the code that restores it.
#[derive(Clone)]
struct RestoredShell {
    shell: SimulatedShell,
    traps: Vec<TrapScript>,
}

/// A restored shell with everything that it depends on.
struct CachedRestoredShell {
    code: String,
    environment: String,
    cwd: String,
    home: String,
    restored: RestoredShell,
}

thread_local! {
    /// The latest last. Most commands of a session change nothing, and several sessions may take turns.
    static REMEMBERED: RefCell<Vec<CachedRestoredShell>> = const { RefCell::new(Vec::new()) };
}

impl RestoredShell {
    fn of(code: &str, environment: EnvironmentBlock<'_>, directories: &CommandDirectories) -> Self {
        if code.len() > MAX_REMEMBERED {
            return evaluate(code, environment, directories);
        }
        let same = |remembered: &CachedRestoredShell| {
            remembered.code == code
                && remembered.environment == environment.0
                && remembered.cwd == directories.cwd
                && remembered.home == directories.home
        };
        REMEMBERED.with_borrow_mut(|all| {
            let remembered = match all.iter().position(same) {
                Some(at) => all.remove(at),
                None => {
                    if all.len() == MAX_SHELLS {
                        all.remove(0);
                    }
                    let restored = evaluate(code, environment, directories);
                    let (cwd, home) = (directories.cwd.clone(), directories.home.clone());
                    CachedRestoredShell {
                        code: code.to_owned(),
                        environment: environment.0.to_owned(),
                        cwd,
                        home,
                        restored,
                    }
                }
            };
            let restored = remembered.restored.clone();
            all.push(remembered);
            restored
        })
    }
}

fn evaluate(code: &str, environment: EnvironmentBlock<'_>, directories: &CommandDirectories) -> RestoredShell {
    let custom = CustomWrappers::default();
    let mut evaluator = CommandEvaluator::new(environment, directories, &custom);
    evaluator.restores = true;
    // The code has no loops, so the number of its steps is bounded by its length.
    evaluator.budget.extend(code.len());
    let mut shell = SimulatedShell::new(WordValue::of(directories.cwd.as_str()), vec![WordValue::of("bash")]);
    if code.len() <= MAX_CODE {
        evaluator.evaluate_script(&mut shell, code, EvaluationFrame::of(code));
    } else {
        evaluator.budget.give_up();
    }
    shell.variables.forgetful |= !evaluator.budget.is_complete();
    shell.variables.deciding = false;
    shell.ended = false;
    for function in Rc::make_mut(&mut shell.functions.defined).values_mut() {
        function.origin.fixed = None;
        function.origin.earlier = true;
    }
    shell.aliases.settle_all();
    shell.settle_previous();
    for trap in &mut evaluator.traps {
        trap.frame.via = Rc::new(vec!["trap".to_owned()]);
    }
    RestoredShell { shell, traps: evaluator.traps }
}

/// Takes `eval 'f () { …; }'`, as bash prints functions: the text is kept until a call reads it. Returns whether the
/// command was such an `eval`.
pub(super) fn keep_function(shell: &mut SimulatedShell, argv: &[WordValue]) -> bool {
    let [_, text] = argv else { return false };
    let Some(text) = text.known() else { return false };
    let definition = text.strip_prefix("function ").unwrap_or(text);
    let Some((name, _)) = definition.split_once(" () \n").filter(|(name, _)| !name.contains([' ', '\n'])) else {
        return false;
    };
    Rc::make_mut(&mut shell.functions.unread).insert(name.to_owned(), text.into());
    true
}
