//! What a shell holds before its command, given as the code that brings a fresh one to it: followed without a word.

use std::cell::RefCell;
use std::rc::Rc;

use super::context::{Context, Origin};
use super::shell::{Environment, Function, Shell};
use super::walk::Walker;
use crate::safety::command::Scene;
use crate::safety::read::Kind;
use crate::safety::unwrap::Custom;
use crate::safety::value::Value;

/// A longer one is not followed.
const MAX_PRIOR: usize = 16 << 20;
/// The longest that is remembered, and how many are.
const MAX_KEPT: usize = 1 << 18;
const MAX_KNOWN: usize = 4;

/// What a shell holds before its command.
#[derive(Clone, Copy, Debug, Default)]
pub struct Prior<'a> {
    /// The code that brings a fresh shell to it; empty where it is a fresh one.
    pub code: &'a str,
    /// Variables that only this command has; `None` is one that it has not.
    pub given: &'a [(String, Option<String>)],
}

impl Walker<'_> {
    /// The command that is followed next starts with this.
    pub fn hold(&mut self, prior: Prior<'_>) {
        if prior.code.is_empty() && prior.given.is_empty() {
            return;
        }
        let State { mut shell, traps } = State::of(prior.code, self.environment, self.scene);
        for (name, value) in prior.given {
            match value {
                Some(value) => {
                    shell.set(name, vec![Value::of(value)], self.environment);
                    shell.export(name, true, self.environment);
                }
                None => shell.unset(name),
            }
        }
        self.held = Some(shell);
        self.traps = traps;
    }

    /// The function of a name.
    pub(super) fn named(&mut self, shell: &Shell, name: &str) -> Option<Function> {
        if let Some(function) = shell.functions.get(name) {
            return Some(function.clone());
        }
        let text = shell.unread.get(name)?;
        if let Some(recalled) = self.recalled.get(name) {
            return recalled.clone();
        }
        let read = self.read(text);
        let commands = read.script.body.into_iter().flat_map(|entry| entry.pipelines).flat_map(|(_, one)| one.commands);
        let body = commands.into_iter().find_map(|node| match node.kind {
            Kind::Function { body, .. } => Some(body),
            _ => None,
        });
        let origin = Origin { text: Rc::clone(text), heredocs: read.heredocs.into(), fixed: None, earlier: true };
        let function = body.map(|body| Function { number: Rc::as_ptr(&body).addr(), body, origin });
        self.recalled.insert(name.to_owned(), function.clone());
        function
    }
}

/// The shell that code leads to.
#[derive(Clone)]
struct State {
    shell: Shell,
    traps: Vec<(String, Context, Option<Shell>)>,
}

/// One that was followed, and from what.
struct Known {
    code: String,
    environment: String,
    cwd: String,
    home: String,
    state: State,
}

thread_local! {
    /// The latest last. Most commands of a session change nothing, and several sessions may take turns.
    static KNOWN: RefCell<Vec<Known>> = const { RefCell::new(Vec::new()) };
}

impl State {
    fn of(code: &str, environment: Environment<'_>, scene: &Scene) -> Self {
        if code.len() > MAX_KEPT {
            return follow(code, environment, scene);
        }
        let same = |known: &Known| {
            known.code == code
                && known.environment == environment.0
                && known.cwd == scene.cwd
                && known.home == scene.home
        };
        KNOWN.with_borrow_mut(|all| {
            let known = match all.iter().position(same) {
                Some(at) => all.remove(at),
                None => {
                    if all.len() == MAX_KNOWN {
                        all.remove(0);
                    }
                    let state = follow(code, environment, scene);
                    let (cwd, home) = (scene.cwd.clone(), scene.home.clone());
                    Known { code: code.to_owned(), environment: environment.0.to_owned(), cwd, home, state }
                }
            };
            let state = known.state.clone();
            all.push(known);
            state
        })
    }
}

fn follow(code: &str, environment: Environment<'_>, scene: &Scene) -> State {
    let custom = Custom::default();
    let mut walker = Walker::new(environment, scene, &custom);
    walker.prepares = true;
    // It has no loops, so that its length says how long it takes.
    walker.most += code.len();
    let mut shell = Shell::new(Value::of(scene.cwd.as_str()), vec![Value::of("bash")]);
    if code.len() <= MAX_PRIOR {
        walker.script(&mut shell, code, Context::of(code));
    } else {
        walker.complete = false;
    }
    shell.forgetful |= !walker.complete;
    shell.ended = false;
    for function in Rc::make_mut(&mut shell.functions).values_mut() {
        function.origin.fixed = None;
        function.origin.earlier = true;
    }
    for alias in Rc::make_mut(&mut shell.aliases).values_mut() {
        alias.settled = true;
    }
    shell.settle_before();
    for (_, context, _) in &mut walker.traps {
        *context = Context { via: Rc::new(vec!["trap".to_owned()]), ..context.clone() };
    }
    State { shell, traps: walker.traps }
}

/// `eval 'f () { …; }'`, as bash writes functions down: kept as it is until it is called. Whether it was that.
pub(super) fn hold_function(shell: &mut Shell, argv: &[Value]) -> bool {
    let [_, text] = argv else { return false };
    let Some(text) = text.known() else { return false };
    let head = text.strip_prefix("function ").unwrap_or(text);
    let Some((name, _)) = head.split_once(" () \n").filter(|(name, _)| !name.contains([' ', '\n'])) else {
        return false;
    };
    Rc::make_mut(&mut shell.unread).insert(name.to_owned(), text.into());
    true
}
