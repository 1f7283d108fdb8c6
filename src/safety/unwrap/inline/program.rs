//! Looks through a program for what it runs.

use std::collections::HashMap;

use super::calls::{Call, Runs};
use super::expression::Tokens;
use super::item::{Arg, Item, flattened};
use super::lexer::Lexer;
use super::syntax::Syntax;
use super::token::{Token, Use};
use crate::safety::command::Command;
use crate::safety::unwrap::flat::Flat;
use crate::safety::unwrap::inner::Inner;
use crate::safety::unwrap::words::joined;
use crate::safety::value::{Piece, Value};

/// How much work a program is worth.
const FUEL: usize = 2_000_000;
/// How deep code inside of strings is followed.
const NESTED: usize = 4;

/// A programming language.
#[derive(Debug)]
pub(super) struct Language {
    /// Its signs.
    pub(super) syntax: &'static Syntax,
    /// Its calls.
    pub(super) calls: &'static [Call],
    /// A program that runs code given with an option, and that option.
    pub(super) runs: (&'static str, &'static str),
}

/// A program while it is looked through.
pub(super) struct Program<'a> {
    pub(super) language: &'static Language,
    pub(super) flat: &'a Flat,
    pub(super) home: &'a str,
    pub(super) folder: Value,
    pub(super) variables: HashMap<String, Item>,
    pub(super) fuel: usize,
    via: &'a str,
    /// The folder that it has changed to.
    cwd: Option<Value>,
    found: Vec<Inner>,
}

/// What a program runs.
pub(super) fn program(
    command: &Command,
    language: &'static Language,
    text: &Value,
    via: &str,
    variables: Vec<(String, Value)>,
) -> Vec<Inner> {
    let flat = Flat::of(text);
    let mut program = Program {
        language,
        flat: &flat,
        home: &command.scene.home,
        folder: command.cwd.clone(),
        variables: variables.into_iter().map(|(name, value)| (name, Item::Text(value))).collect(),
        fuel: FUEL,
        via,
        cwd: None,
        found: Vec::new(),
    };
    program.scan(&flat.text, 0);
    if program.fuel == 0 {
        program.found.push(Inner::Opaque { via: via.to_owned() });
    }
    program.found
}

impl Program<'_> {
    /// The parts of code, and code inside of its strings.
    pub(super) fn cut(&self, code: &str) -> (Vec<Token>, Vec<String>) {
        let letters: Vec<char> = code.chars().collect();
        let mut lexer = Lexer::new(&letters, self.language.syntax);
        let tokens = lexer.run();
        (tokens, std::mem::take(&mut lexer.nested))
    }

    fn scan(&mut self, code: &str, depth: usize) {
        let (tokens, nested) = self.cut(code);
        let tokens = Tokens::of(tokens);
        for at in 0..tokens.list.len() {
            if self.fuel == 0 {
                return;
            }
            match &tokens.list[at] {
                Token::Text(parts, Use::Run) => {
                    let script = self.text(parts, 0);
                    self.script(&script);
                }
                Token::Text(parts, Use::Template) if at > 0 && tokens.word(at - 1) == Some("$") => {
                    let script = self.text(parts, 0);
                    self.script(&script);
                }
                Token::Word(word) => self.word(&tokens, word, at),
                Token::Sign(sign @ ("|" | "|&" | ">" | ">>")) if self.language.runs.0 == "awk" => {
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

    fn word(&mut self, tokens: &Tokens, word: &str, at: usize) {
        // AppleScript
        if word == "do" && tokens.word(at + 1) == Some("shell") && tokens.word(at + 2) == Some("script") {
            let script = self.expression(tokens, at + 3, tokens.line(at + 3), 0);
            self.script(&script);
        }
        if matches!(word, "for" | "foreach") {
            self.walk(tokens, at);
        }
        if matches!(word, "each" | "forEach" | "map") && at > 1 && tokens.leads(at - 1) {
            self.each(tokens, at);
        }
        if tokens.is(at + 1, "=") && !tokens.leads(at.wrapping_sub(1)) && !self.in_brackets(tokens, at) {
            let item = self.expression(tokens, at + 2, tokens.line(at + 2), 0);
            self.variables.insert(word.to_owned(), item);
            return;
        }
        let defined =
            at > 0 && matches!(tokens.word(at - 1), Some("def" | "function" | "sub" | "fn" | "class" | "import"));
        if defined {
            return;
        }
        let language = self.language;
        let owner = tokens.owner(at);
        let Some(call) = language.calls.iter().find(|call| call.name == word && self.needs(call, owner)) else {
            return;
        };
        let args = if tokens.is(at + 1, "(") {
            self.arguments(tokens, at + 1, 0)
        } else if language.syntax.bare_calls && self.begins_value(tokens, at + 1) {
            let end = tokens.line(at + 1);
            self.list(tokens, at + 1, end, 0)
        } else if call.runs == Runs::Delete && at > 1 && tokens.leads(at - 1) {
            // `Pathname('/').rmtree`
            Vec::new()
        } else {
            return;
        };
        let args = self.with_receiver(tokens, call, args, at);
        self.call(call, &args);
    }

    /// Whether what the call needs is there.
    fn needs(&self, call: &Call, owner: &str) -> bool {
        call.needs.is_empty() || call.needs.iter().any(|needed| owner == *needed || self.flat.text.contains(needed))
    }

    /// `Path('/').rmtree()` has its path before the dot.
    fn with_receiver(&mut self, tokens: &Tokens, call: &Call, args: Vec<Arg>, at: usize) -> Vec<Arg> {
        let receiver = at.checked_sub(2).filter(|before| tokens.leads(at - 1) && tokens.is(*before, ")"));
        if call.runs != Runs::Delete || args.iter().any(|arg| arg.name.is_none()) {
            return args;
        }
        let Some(close) = receiver else { return args };
        let open = tokens.partner[close];
        if open >= close { args } else { self.arguments(tokens, open, 0) }
    }

    /// Whether something that may be an argument stands there.
    fn begins_value(&self, tokens: &Tokens, at: usize) -> bool {
        match tokens.get(at) {
            Some(Token::Text(..) | Token::List(_) | Token::Sign("[" | "*" | "\\")) => true,
            Some(Token::Word(word)) => {
                !matches!(word.as_str(), "if" | "unless" | "do" | "and" | "or" | "end" | "then" | "x")
            }
            _ => false,
        }
    }

    /// Whether `name =` there is a named argument.
    fn in_brackets(&self, tokens: &Tokens, at: usize) -> bool {
        at > 0 && matches!(tokens.get(at - 1), Some(Token::Sign("(" | ","))) && self.language.syntax.sigils != "$@%&"
    }

    /// `for name in list`
    fn walk(&mut self, tokens: &Tokens, at: usize) {
        let mut name = at + 1;
        while tokens.is(name, "(")
            || matches!(tokens.word(name), Some("my" | "const" | "let" | "var" | "our" | "await"))
        {
            name += 1;
        }
        let Some(word) = tokens.word(name).map(str::to_owned) else { return };
        let list = if matches!(tokens.word(name + 1), Some("in" | "of")) {
            let end = (name + 2..tokens.list.len()).take(64).find(|at| {
                matches!(tokens.get(*at), Some(Token::Sign(":" | "{") | Token::Line)) || tokens.word(*at) == Some("do")
            });
            let end = end.unwrap_or(name + 2).min(tokens.line(name + 2));
            self.expression(tokens, name + 2, end, 0)
        } else if tokens.is(name + 1, "(") {
            let args = self.arguments(tokens, name + 1, 0);
            match args.len() {
                1 => args.into_iter().next().map_or(Item::Unknown, |arg| arg.item),
                _ => Item::List(args.into_iter().map(|arg| arg.item).collect()),
            }
        } else {
            return;
        };
        self.variables.insert(word, list.any());
    }

    /// `[…].forEach(name => …)`, `%w[…].each { |name| … }`
    fn each(&mut self, tokens: &Tokens, at: usize) {
        let before = at - 2;
        let list = match tokens.get(before) {
            Some(Token::Sign("]" | ")")) => {
                let open = tokens.partner[before];
                if open >= before {
                    return;
                }
                let args = self.arguments(tokens, open, 0);
                Item::List(args.into_iter().map(|arg| arg.item).collect())
            }
            Some(Token::List(_) | Token::Word(_)) => self.expression(tokens, before, before + 1, 0),
            _ => return,
        };
        let mut name = at + 1;
        while matches!(tokens.get(name), Some(Token::Sign("(" | "{" | "|")))
            || matches!(tokens.word(name), Some("do" | "async" | "function"))
        {
            name += 1;
        }
        if let Some(word) = tokens.word(name) {
            self.variables.insert(word.to_owned(), list.any());
        }
    }

    /// awk's `"cmd" | getline`, `print | "cmd"`, `print > "file"`
    fn pipe(&mut self, tokens: &Tokens, sign: &str, at: usize) {
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
                // What is printed is a script where a shell reads it.
                let shell = script.text().and_then(Value::known).and_then(|text| text.split_whitespace().next());
                if shell.is_some_and(|shell| {
                    matches!(shell.rsplit('/').next(), Some("sh" | "bash" | "zsh" | "dash" | "ksh"))
                }) {
                    match self.expression(tokens, start + 1, at, 0) {
                        Item::Text(text) => self.script(&Item::Text(text)),
                        _ => self.found.push(Inner::Opaque { via: self.via.to_owned() }),
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

    /// A call that runs something.
    fn call(&mut self, call: &Call, args: &[Arg]) {
        let given: Vec<&Item> = args.iter().filter(|arg| arg.name.is_none()).map(|arg| &arg.item).collect();
        let option = |name: &str| {
            let inside = |item: &Item| match item {
                Item::Map(entries) => entries.iter().find(|(key, _)| key == name).map(|(_, value)| value.clone()),
                _ => None,
            };
            let named = args.iter().find(|arg| arg.name.as_deref() == Some(name)).map(|arg| arg.item.clone());
            named.or_else(|| given.iter().find_map(|item| inside(item)))
        };
        let set = |name: &str| option(name).is_some_and(|item| item != Item::Flag(false));
        let cwd = option("cwd").or_else(|| option("chdir")).and_then(|item| item.text().cloned());
        // `subprocess.run(args=[…])`, `Deno.run({ cmd: […] })`
        let named = ["args", "cmd", "command", "path", "x"].iter().find_map(|name| option(name));
        let Some(first) = given.iter().find(|item| !matches!(item, Item::Map(_))).copied().or(named.as_ref()) else {
            return;
        };
        match call.runs {
            Runs::Script => match first.words() {
                Some(words) => self.argv(words, cwd),
                None => self.script(first),
            },
            Runs::ScriptOrWords => {
                let words: Vec<Item> =
                    given.iter().filter(|item| !matches!(item, Item::Map(_))).map(|item| (*item).clone()).collect();
                match words.as_slice() {
                    [Item::Text(_)] => self.script(first),
                    _ => {
                        let all = Item::List(flattened(&words).into_iter().map(Item::Text).collect());
                        if (first.text().is_some() || first.words().is_some())
                            && let Some(words) = all.words()
                        {
                            self.argv(words, cwd);
                        }
                    }
                }
            }
            Runs::Process => match (first, set("shell")) {
                (Item::Text(_), true) => self.script(first),
                (Item::Text(text), false) => {
                    if let Some(known) = text.known() {
                        let words = crate::safety::unwrap::items::words(known);
                        self.argv(words.into_iter().map(Value::of).collect(), cwd);
                    } else {
                        self.script(first);
                    }
                }
                (Item::List(items), true) => {
                    let script = items.first().cloned().unwrap_or(Item::Unknown);
                    self.script(&script);
                }
                (list, _) => {
                    if let Some(words) = list.words() {
                        self.argv(words, cwd);
                    }
                }
            },
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
            Runs::DeleteRecursive => {
                if set("recursive") || set("recurse") {
                    self.delete(&[first], cwd);
                }
            }
            Runs::Open => self.open(&given),
            Runs::Code => {
                if let Some(code) = given.last().and_then(|item| item.text()).filter(|code| code.known().is_some()) {
                    let (program, option) = self.language.runs;
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

    /// A program and its words apart.
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
            // `execa('rm', 'x')`, R's `system2('rm', 'x')`
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

    /// Folders that are removed.
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
        // A text that may be one of several is one path after the other.
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
                self.script(&Item::Text(crate::safety::unwrap::words::after(text, skipped)));
            } else if let Some(script) = text.known().and_then(|known| known.trim_end().strip_suffix('|')) {
                self.script(&Item::of(script.trim_end()));
            }
        }
    }

    fn script(&mut self, item: &Item) {
        let Item::Text(text) = item else { return };
        self.found.extend(Inner::script(text.clone(), self.via));
    }

    fn argv(&mut self, argv: Vec<Value>, folder: Option<Value>) {
        let mut inner = Inner::argv(argv, self.via);
        if let Inner::Argv { cwd, .. } = &mut inner {
            *cwd = folder.or_else(|| self.cwd.clone());
        }
        self.found.push(inner);
    }
}
