//! The effects of calls: scripts, commands, removals.

use super::bracketed_tokens::InlineTokens;
use super::call_specs::{InlineCallEffect, InlineCallSpec};
use super::inline_value::{InlineArgument, InlineValue, flattened};
use super::program_search::InlineProgramSearch;
use super::token::InlineToken;
use crate::unwrap::inner_command::InnerCommand;
use crate::unwrap::words::joined;
use crate::word_value::{ValuePiece, WordValue};

impl InlineProgramSearch<'_> {
    /// awk's `"cmd" | getline`, `print | "cmd"`, `print > "file"`
    pub(super) fn pipe(&mut self, tokens: &InlineTokens, sign: &str, at: usize) {
        let start = (at.saturating_sub(64)..at)
            .rev()
            .find(|before| {
                matches!(tokens.get(*before), Some(InlineToken::Sign(";" | "{" | "}" | "(") | InlineToken::Line))
            })
            .map_or(0, |before| before + 1);
        if tokens.word(at + 1) == Some("getline") {
            let script = self.expression(tokens, start, at, 0);
            self.script(&script);
            return;
        }
        if !matches!(tokens.word(start), Some("print" | "printf")) {
            return;
        }
        let target = self.expression(tokens, at + 1, tokens.line(at + 1), 0);
        match (sign, target) {
            ("|" | "|&", script) => {
                // Text printed into a shell is a script.
                let shell = script.text().and_then(WordValue::known).and_then(|text| text.split_whitespace().next());
                if shell.is_some_and(|shell| {
                    matches!(shell.rsplit('/').next(), Some("sh" | "bash" | "zsh" | "dash" | "ksh"))
                }) {
                    match self.expression(tokens, start + 1, at, 0) {
                        InlineValue::Text(text) => self.script(&InlineValue::Text(text)),
                        _ => self.found.push(InnerCommand::Opaque { via: self.via.to_owned() }),
                    }
                }
                self.script(&script);
            }
            (_, InlineValue::Text(file)) if !matches!(file.known(), Some("/dev/stderr" | "/dev/stdout" | "")) => {
                self.argv(vec![WordValue::of("tee"), file], None);
            }
            _ => {}
        }
    }

    /// Adds the commands of a call that runs something.
    pub(super) fn call(&mut self, call: &InlineCallSpec, args: &[InlineArgument]) {
        let given: Vec<&InlineValue> = args.iter().filter(|arg| arg.name.is_none()).map(|arg| &arg.item).collect();
        let option = |name: &str| named(args, &given, name);
        let set = |name: &str| option(name).is_some_and(|item| item != InlineValue::Flag(false));
        let cwd = option("cwd").or_else(|| option("chdir")).and_then(|item| item.text().cloned());
        // `subprocess.run(args=[…])`, `Deno.run({ cmd: […] })`
        let by_name = ["args", "cmd", "command", "path", "x"].iter().find_map(|name| option(name));
        let Some(first) = given.iter().find(|item| !matches!(item, InlineValue::Map(_))).copied().or(by_name.as_ref())
        else {
            return;
        };
        match call.runs {
            InlineCallEffect::Script => match first.words() {
                Some(words) => self.argv(words, cwd),
                None => self.script(first),
            },
            InlineCallEffect::ScriptOrWords => self.script_or_words(first, &given, cwd),
            InlineCallEffect::Process => self.process(first, set("shell"), cwd),
            InlineCallEffect::Exec(skip) | InlineCallEffect::ExecList(skip) => {
                let Some(program) = given.get(skip).and_then(|item| item.text()) else { return };
                let rest = given.get(skip + 1..).unwrap_or_default();
                let words = match (call.runs, rest.first()) {
                    (InlineCallEffect::ExecList(_), Some(InlineValue::List(items))) => {
                        flattened(items.get(1..).unwrap_or_default())
                    }
                    (InlineCallEffect::Exec(_), Some(_)) => {
                        rest[1..].iter().filter_map(|item| item.text().cloned()).collect()
                    }
                    _ => Vec::new(),
                };
                self.argv(std::iter::once(program.clone()).chain(words).collect(), cwd);
            }
            InlineCallEffect::Program => self.program_call(first, &given, option("args"), set("shell"), cwd),
            InlineCallEffect::Delete if given.is_empty() => self.delete(&[first], cwd),
            InlineCallEffect::Delete => self.delete(&given, cwd),
            InlineCallEffect::DeleteRecursive if set("recursive") || set("recurse") => self.delete(&[first], cwd),
            InlineCallEffect::DeleteRecursive => {}
            InlineCallEffect::Open => self.open(&given),
            InlineCallEffect::Code => {
                if let Some(code) = given.last().and_then(|item| item.text()).filter(|code| code.known().is_some()) {
                    let (program, option) = self.grammar.runs;
                    self.argv(vec![WordValue::of(program), WordValue::of(option), code.clone()], None);
                }
            }
            InlineCallEffect::Rm => {
                let items: Vec<InlineValue> = given.iter().map(|item| (*item).clone()).collect();
                self.argv(std::iter::once(WordValue::of("rm")).chain(flattened(&items)).collect(), None);
            }
            InlineCallEffect::Chdir => self.cwd = first.text().cloned(),
        }
    }

    /// Reads Perl's `system("script")` and `system("program", words)`.
    fn script_or_words(&mut self, first: &InlineValue, given: &[&InlineValue], cwd: Option<WordValue>) {
        let words: Vec<InlineValue> =
            given.iter().filter(|item| !matches!(item, InlineValue::Map(_))).map(|item| (*item).clone()).collect();
        if let [InlineValue::Text(_)] = words.as_slice() {
            return self.script(first);
        }
        let all = InlineValue::List(flattened(&words).into_iter().map(InlineValue::Text).collect());
        if (first.text().is_some() || first.words().is_some())
            && let Some(words) = all.words()
        {
            self.argv(words, cwd);
        }
    }

    /// Reads Python's `subprocess.run`: a list of words, or with `shell=True` a script.
    fn process(&mut self, first: &InlineValue, shell: bool, cwd: Option<WordValue>) {
        match (first, shell) {
            (InlineValue::Text(_), true) => self.script(first),
            (InlineValue::Text(text), false) => match text.known() {
                Some(known) => {
                    let words = crate::unwrap::argument_items::words(known);
                    self.argv(words.into_iter().map(WordValue::of).collect(), cwd);
                }
                None => self.script(first),
            },
            (InlineValue::List(items), true) => self.script(items.first().unwrap_or(&InlineValue::Unknown)),
            (list, _) => {
                if let Some(words) = list.words() {
                    self.argv(words, cwd);
                }
            }
        }
    }

    /// Reads a program and its words, given separately.
    fn program_call(
        &mut self,
        first: &InlineValue,
        given: &[&InlineValue],
        named: Option<InlineValue>,
        shell: bool,
        cwd: Option<WordValue>,
    ) {
        if let Some(words) = first.words() {
            self.argv(words, cwd);
            return;
        }
        let InlineValue::Text(program) = first else { return };
        let list = named.or_else(|| {
            given.iter().skip(1).find(|item| matches!(item, InlineValue::List(_))).map(|item| (*item).clone())
        });
        let rest = match &list {
            Some(InlineValue::List(items)) => flattened(items),
            // `execa('rm', 'x')`
            _ => given.get(1).and_then(|item| item.text()).map(|text| vec![text.clone()]).unwrap_or_default(),
        };
        let words: Vec<WordValue> = std::iter::once(program.clone()).chain(rest).collect();
        let spaced = program.known().is_some_and(|text| text.contains(char::is_whitespace));
        if shell || (spaced && words.len() == 1) {
            self.script(&InlineValue::Text(joined(&words)));
        } else {
            self.argv(words, cwd);
        }
    }

    /// Adds a removal of directories.
    fn delete(&mut self, given: &[&InlineValue], cwd: Option<WordValue>) {
        let mut paths = Vec::new();
        for item in given {
            match item {
                InlineValue::Text(path) => paths.push(path.clone()),
                InlineValue::List(items) => paths.extend(items.iter().filter_map(|item| item.text().cloned())),
                _ => {}
            }
        }
        if paths.is_empty() {
            return;
        }
        // Each possible text of a path becomes a path.
        let each = paths.into_iter().flat_map(|path| match path.pieces() {
            [ValuePiece::OneOf(texts)] => texts.iter().take(256).map(WordValue::of).collect(),
            _ => vec![path],
        });
        let argv = ["rm", "-rf", "--"].into_iter().map(WordValue::of).chain(each).collect();
        self.argv(argv, cwd);
    }

    /// `open(F, "cmd |")`, `open(F, "-|", "cmd", words)`
    fn open(&mut self, given: &[&InlineValue]) {
        let texts: Vec<&WordValue> = given.iter().filter_map(|item| item.text()).collect();
        if let Some(mode) = texts.iter().position(|text| matches!(text.known(), Some("-|" | "|-"))) {
            match &texts[mode + 1..] {
                [] => {}
                [script] => self.script(&InlineValue::Text((*script).clone())),
                words => self.argv(words.iter().map(|word| (*word).clone()).collect(), None),
            }
            return;
        }
        for text in texts {
            if text.prefix().trim_start().starts_with('|') {
                let skipped = text.prefix().len() - text.prefix().trim_start().len() + 1;
                self.script(&InlineValue::Text(text.after(skipped)));
            } else if let Some(script) = text.known().and_then(|known| known.trim_end().strip_suffix('|')) {
                self.script(&InlineValue::of(script.trim_end()));
            }
        }
    }

    pub(super) fn script(&mut self, item: &InlineValue) {
        let InlineValue::Text(text) = item else { return };
        self.found.extend(InnerCommand::script(text.clone(), self.via));
    }

    fn argv(&mut self, argv: Vec<WordValue>, folder: Option<WordValue>) {
        let mut inner = InnerCommand::argv(argv, self.via);
        if let InnerCommand::Argv { cwd, .. } = &mut inner {
            *cwd = folder.or_else(|| self.cwd.clone());
        }
        self.found.push(inner);
    }
}

/// Returns an argument by its name, or an entry of an object among the arguments.
fn named(args: &[InlineArgument], given: &[&InlineValue], name: &str) -> Option<InlineValue> {
    let inside = |item: &InlineValue| match item {
        InlineValue::Map(entries) => entries.iter().find(|(key, _)| key == name).map(|(_, value)| value.clone()),
        _ => None,
    };
    let own = args.iter().find(|arg| arg.name.as_deref() == Some(name)).map(|arg| arg.item.clone());
    own.or_else(|| given.iter().find_map(|item| inside(item)))
}
