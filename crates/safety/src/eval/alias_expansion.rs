//! Simple commands whose program is an alias.

use std::rc::Rc;

use super::command_lists::CommandEffects;
use super::evaluation_frame::EvaluationFrame;
use super::evaluator::CommandEvaluator;
use super::simulated_shell::SimulatedShell;
use crate::parse::UnexpandedCommand;

/// The commands that an alias expands to.
struct AliasExpansion {
    /// The name of the alias.
    name: String,
    /// The commands that it may become.
    texts: Vec<String>,
    /// Whether the word surely becomes one of these texts.
    settled: bool,
}

impl CommandEvaluator<'_> {
    /// Evaluates a simple command.
    pub(super) fn evaluate_simple(
        &mut self,
        shell: &mut SimulatedShell,
        simple: &UnexpandedCommand,
        frame: &EvaluationFrame,
    ) -> CommandEffects {
        let Some(aliased) = find_alias_expansion(shell, simple, frame) else {
            return self.evaluate_unaliased(shell, simple, frame);
        };
        let mut inside = frame.nested_via("alias");
        inside.origin.fixed.get_or_insert_with(|| simple.span.clone());
        // As in bash, an alias is not expanded in its own text.
        Rc::make_mut(&mut inside.aliases).push(aliased.name);
        let Some((last, others)) = aliased.texts.split_last() else { return CommandEffects::default() };
        let before = (!others.is_empty() || !aliased.settled).then(|| self.copy_shell(shell));
        self.evaluate_script(shell, last, inside.clone());
        let Some(before) = before else { return CommandEffects::default() };
        for text in others {
            let mut other = self.copy_shell(&before);
            self.evaluate_script(&mut other, text, inside.clone());
            shell.join(other, self.environment);
        }
        if !aliased.settled {
            let mut other = before;
            self.evaluate_unaliased(&mut other, simple, frame);
            shell.join(other, self.environment);
        }
        CommandEffects::default()
    }
}

fn find_alias_expansion(
    shell: &SimulatedShell,
    simple: &UnexpandedCommand,
    frame: &EvaluationFrame,
) -> Option<AliasExpansion> {
    let program = simple.words.first().filter(|_| shell.aliases.expands && !frame.origin.earlier)?;
    let name = program.bare().filter(|name| !frame.aliases.iter().any(|alias| alias == name))?;
    let alias = shell.aliases.get(name)?;
    let source = &frame.origin.text;
    let before = source.get(simple.span.start..program.span.start)?;
    let text = |text: &String| {
        let mut text = format!("{before}{text}");
        let mut from = program.span.end;
        for word in &simple.words[1..] {
            // If the text of an alias ends in a blank, the next word may be an alias, too.
            let next = word.bare().filter(|_| text.ends_with([' ', '\t'])).and_then(|word| shell.aliases.get(word));
            let Some(next) = next.and_then(|alias| alias.texts.last()) else { break };
            text = format!("{text}{}{next}", source.get(from..word.span.start)?);
            from = word.span.end;
        }
        text.push_str(source.get(from..simple.span.end)?);
        Some(text)
    };
    let texts = alias.texts.iter().map(text).collect::<Option<_>>()?;
    Some(AliasExpansion { name: name.to_owned(), texts, settled: alias.settled })
}
