//! The effects of calls: scripts, commands, removals.

use super::calls::{Call, Runs};
use super::item::{Arg, Item, flattened};
use super::program::Program;
use super::token::Token;
use super::tokens::Tokens;
use crate::unwrap::inner::InnerCommand;
use crate::unwrap::words::joined;
use crate::value::{Piece, Value};

impl Program<'_> {
    /// awk's `"cmd" | getline`, `print | "cmd"`, `print > "file"`
    pub(super) fn pipe(&mut self, tokens: &Tokens, sign: &str, at: usize) {
        let start = (at.saturating_sub(64)..at)
            .rev()
            .find(|before| matches!(tokens.get(*before), Some(Token::Sign(";" | "{" | "}" | "(") | Token::Line)))
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
                let shell = script.text().and_then(Value::known).and_then(|text| text.split_whitespace().next());
                if shell.is_some_and(|shell| {
                    matches!(shell.rsplit('/').next(), Some("sh" | "bash" | "zsh" | "dash" | "ksh"))
                }) {
                    match self.expression(tokens, start + 1, at, 0) {
                        Item::Text(text) => self.script(&Item::Text(text)),
                        _ => self.found.push(InnerCommand::Opaque { via: self.via.to_owned() }),
                    }
                }
                self.script(&script);
            }
            (_, Item::Text(file)) if !matches!(file.known(), Some("/dev/stderr" | "/dev/stdout" | "")) => {
                self.argv(vec![Value::of("tee"), file], None);
            }
            _ => {}
        }
    }

    /// Adds the commands of a call that runs something.
    pub(super) fn call(&mut self, call: &Call, args: &[Arg]) {
        let given: Vec<&Item> = args.iter().filter(|arg| arg.name.is_none()).map(|arg| &arg.item).collect();
        let option = |name: &str| named(args, &given, name);
        let set = |name: &str| option(name).is_some_and(|item| item != Item::Flag(false));
        let cwd = option("cwd").or_else(|| option("chdir")).and_then(|item| item.text().cloned());
        // `subprocess.run(args=[…])`, `Deno.run({ cmd: […] })`
        let by_name = ["args", "cmd", "command", "path", "x"].iter().find_map(|name| option(name));
        let Some(first) = given.iter().find(|item| !matches!(item, Item::Map(_))).copied().or(by_name.as_ref()) else {
            return;
        };
        match call.runs {
            Runs::Script => match first.words() {
                Some(words) => self.argv(words, cwd),
                None => self.script(first),
            },
            Runs::ScriptOrWords => self.script_or_words(first, &given, cwd),
            Runs::Process => self.process(first, set("shell"), cwd),
            Runs::Exec(skip) | Runs::ExecList(skip) => {
                let Some(program) = given.get(skip).and_then(|item| item.text()) else { return };
                let rest = given.get(skip + 1..).unwrap_or_default();
                let words = match (call.runs, rest.first()) {
                    (Runs::ExecList(_), Some(Item::List(items))) => flattened(items.get(1..).unwrap_or_default()),
                    (Runs::Exec(_), Some(_)) => rest[1..].iter().filter_map(|item| item.text().cloned()).collect(),
                    _ => Vec::new(),
                };
                self.argv(std::iter::once(program.clone()).chain(words).collect(), cwd);
            }
            Runs::Program => self.program_call(first, &given, option("args"), set("shell"), cwd),
            Runs::Delete if given.is_empty() => self.delete(&[first], cwd),
            Runs::Delete => self.delete(&given, cwd),
            Runs::DeleteRecursive if set("recursive") || set("recurse") => self.delete(&[first], cwd),
            Runs::DeleteRecursive => {}
            Runs::Open => self.open(&given),
            Runs::Code => {
                if let Some(code) = given.last().and_then(|item| item.text()).filter(|code| code.known().is_some()) {
                    let (program, option) = self.grammar.runs;
                    self.argv(vec![Value::of(program), Value::of(option), code.clone()], None);
                }
            }
            Runs::Rm => {
                let items: Vec<Item> = given.iter().map(|item| (*item).clone()).collect();
                self.argv(std::iter::once(Value::of("rm")).chain(flattened(&items)).collect(), None);
            }
            Runs::Chdir => self.cwd = first.text().cloned(),
        }
    }

    /// Reads Perl's `system("script")` and `system("program", words)`.
    fn script_or_words(&mut self, first: &Item, given: &[&Item], cwd: Option<Value>) {
        let words: Vec<Item> =
            given.iter().filter(|item| !matches!(item, Item::Map(_))).map(|item| (*item).clone()).collect();
        if let [Item::Text(_)] = words.as_slice() {
            return self.script(first);
        }
        let all = Item::List(flattened(&words).into_iter().map(Item::Text).collect());
        if (first.text().is_some() || first.words().is_some())
            && let Some(words) = all.words()
        {
            self.argv(words, cwd);
        }
    }

    /// Reads Python's `subprocess.run`: a list of words, or with `shell=True` a script.
    fn process(&mut self, first: &Item, shell: bool, cwd: Option<Value>) {
        match (first, shell) {
            (Item::Text(_), true) => self.script(first),
            (Item::Text(text), false) => match text.known() {
                Some(known) => {
                    let words = crate::unwrap::items::words(known);
                    self.argv(words.into_iter().map(Value::of).collect(), cwd);
                }
                None => self.script(first),
            },
            (Item::List(items), true) => self.script(items.first().unwrap_or(&Item::Unknown)),
            (list, _) => {
                if let Some(words) = list.words() {
                    self.argv(words, cwd);
                }
            }
        }
    }

    /// Reads a program and its words, given separately.
    fn program_call(&mut self, first: &Item, given: &[&Item], named: Option<Item>, shell: bool, cwd: Option<Value>) {
        if let Some(words) = first.words() {
            self.argv(words, cwd);
            return;
        }
        let Item::Text(program) = first else { return };
        let list = named
            .or_else(|| given.iter().skip(1).find(|item| matches!(item, Item::List(_))).map(|item| (*item).clone()));
        let rest = match &list {
            Some(Item::List(items)) => flattened(items),
            // `execa('rm', 'x')`
            _ => given.get(1).and_then(|item| item.text()).map(|text| vec![text.clone()]).unwrap_or_default(),
        };
        let words: Vec<Value> = std::iter::once(program.clone()).chain(rest).collect();
        let spaced = program.known().is_some_and(|text| text.contains(char::is_whitespace));
        if shell || (spaced && words.len() == 1) {
            self.script(&Item::Text(joined(&words)));
        } else {
            self.argv(words, cwd);
        }
    }

    /// Adds a removal of directories.
    fn delete(&mut self, given: &[&Item], cwd: Option<Value>) {
        let mut paths = Vec::new();
        for item in given {
            match item {
                Item::Text(path) => paths.push(path.clone()),
                Item::List(items) => paths.extend(items.iter().filter_map(|item| item.text().cloned())),
                _ => {}
            }
        }
        if paths.is_empty() {
            return;
        }
        // Each possible text of a path becomes a path.
        let each = paths.into_iter().flat_map(|path| match path.pieces() {
            [Piece::OneOf(texts)] => texts.iter().take(256).map(Value::of).collect(),
            _ => vec![path],
        });
        let argv = ["rm", "-rf", "--"].into_iter().map(Value::of).chain(each).collect();
        self.argv(argv, cwd);
    }

    /// `open(F, "cmd |")`, `open(F, "-|", "cmd", words)`
    fn open(&mut self, given: &[&Item]) {
        let texts: Vec<&Value> = given.iter().filter_map(|item| item.text()).collect();
        if let Some(mode) = texts.iter().position(|text| matches!(text.known(), Some("-|" | "|-"))) {
            match &texts[mode + 1..] {
                [] => {}
                [script] => self.script(&Item::Text((*script).clone())),
                words => self.argv(words.iter().map(|word| (*word).clone()).collect(), None),
            }
            return;
        }
        for text in texts {
            if text.prefix().trim_start().starts_with('|') {
                let skipped = text.prefix().len() - text.prefix().trim_start().len() + 1;
                self.script(&Item::Text(text.after(skipped)));
            } else if let Some(script) = text.known().and_then(|known| known.trim_end().strip_suffix('|')) {
                self.script(&Item::of(script.trim_end()));
            }
        }
    }

    pub(super) fn script(&mut self, item: &Item) {
        let Item::Text(text) = item else { return };
        self.found.extend(InnerCommand::script(text.clone(), self.via));
    }

    fn argv(&mut self, argv: Vec<Value>, folder: Option<Value>) {
        let mut inner = InnerCommand::argv(argv, self.via);
        if let InnerCommand::Argv { cwd, .. } = &mut inner {
            *cwd = folder.or_else(|| self.cwd.clone());
        }
        self.found.push(inner);
    }
}

/// Returns an argument by its name, or an entry of an object among the arguments.
fn named(args: &[Arg], given: &[&Item], name: &str) -> Option<Item> {
    let inside = |item: &Item| match item {
        Item::Map(entries) => entries.iter().find(|(key, _)| key == name).map(|(_, value)| value.clone()),
        _ => None,
    };
    let own = args.iter().find(|arg| arg.name.as_deref() == Some(name)).map(|arg| arg.item.clone());
    own.or_else(|| given.iter().find_map(|item| inside(item)))
}
