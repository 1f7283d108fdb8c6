//! Aliases: what a command becomes whose head is one.

use std::rc::Rc;

use super::context::Context;
use super::shell::{MAX_CHOICES, Shell};
use super::walk::{After, Walker};
use crate::safety::read::Simple;

/// An alias.
#[derive(Clone, Debug)]
pub struct Alias {
    /// What it may stand for, the latest last.
    pub texts: Vec<String>,
    /// It surely is one. Those that a command itself makes or takes away are or are not until its next line.
    pub settled: bool,
}

impl Shell {
    /// `alias`
    pub fn alias(&mut self, name: &str, text: &str) {
        let aliases = Rc::make_mut(&mut self.aliases);
        let alias = aliases.entry(name.to_owned()).or_insert_with(|| Alias { texts: Vec::new(), settled: false });
        alias.settled = false;
        alias.texts.retain(|other| other != text);
        alias.texts.truncate(MAX_CHOICES - 1);
        alias.texts.push(text.to_owned());
    }

    /// `unalias`; `None` all of them.
    pub fn unalias(&mut self, name: Option<&str>) {
        for (other, alias) in Rc::make_mut(&mut self.aliases) {
            alias.settled &= name.is_some_and(|name| name != other);
        }
    }
}

impl Walker<'_> {
    /// A simple command as it is written.
    pub(super) fn simple(&mut self, shell: &mut Shell, simple: &Simple, context: &Context) -> After {
        let Some(aliased) = aliased(shell, simple, context) else { return self.unaliased(shell, simple, context) };
        let mut inside = context.inside("alias");
        inside.origin.fixed.get_or_insert_with(|| simple.span.clone());
        // As in bash, it is not looked up in its own text again.
        Rc::make_mut(&mut inside.aliases).push(aliased.name);
        let Some((last, others)) = aliased.texts.split_last() else { return After::default() };
        let before = (!others.is_empty() || !aliased.settled).then(|| self.copy(shell));
        self.script(shell, last, inside.clone());
        let Some(before) = before else { return After::default() };
        for text in others {
            let mut other = self.copy(&before);
            self.script(&mut other, text, inside.clone());
            shell.join(other, self.environment);
        }
        if !aliased.settled {
            let mut other = before;
            self.unaliased(&mut other, simple, context);
            shell.join(other, self.environment);
        }
        After::default()
    }
}

/// A command whose head is an alias.
struct Aliased {
    name: String,
    /// What it may become.
    texts: Vec<String>,
    /// It surely becomes that.
    settled: bool,
}

fn aliased(shell: &Shell, simple: &Simple, context: &Context) -> Option<Aliased> {
    let head = simple.words.first().filter(|_| shell.expands && !context.origin.earlier)?;
    let name = head.bare().filter(|name| !context.aliases.iter().any(|alias| alias == name))?;
    let alias = shell.aliases.get(name)?;
    let source = &context.origin.text;
    let before = source.get(simple.span.start..head.span.start)?;
    let text = |text: &String| {
        let mut text = format!("{before}{text}");
        let mut from = head.span.end;
        for word in &simple.words[1..] {
            // With a blank at its end the next word is looked up, too.
            let next = word.bare().filter(|_| text.ends_with([' ', '\t'])).and_then(|word| shell.aliases.get(word));
            let Some(next) = next.and_then(|alias| alias.texts.last()) else { break };
            text = format!("{text}{}{next}", source.get(from..word.span.start)?);
            from = word.span.end;
        }
        text.push_str(source.get(from..simple.span.end)?);
        Some(text)
    };
    let texts = alias.texts.iter().map(text).collect::<Option<_>>()?;
    Some(Aliased { name: name.to_owned(), texts, settled: alias.settled })
}
