//! Secrets in a script, by its structure: commands, assignments, heredocs, scripts within scripts.

use std::ops::Range;

use safety::parse::{self, Assignment, Kind, List, Nested, Node, ParsedScript, Part, Pipeline, Redirection, Visitor};

use crate::command::{Reads, Words, add};
use crate::decoded::Decoded;
use crate::lenient;
use crate::names::{holds_secret, may_hold_secret};
use crate::programs::{self, Part as Form};
use crate::spans::Spans;
use crate::{text, triggers};

/// Deepest nesting of scripts in words of other scripts.
const MAX_DEPTH: usize = 5;
/// Texts between backticks that are searched for in vain, at most.
const MAX_MISSES: usize = 64;

/// Finds the secrets of a script.
pub fn scan(script: &str, spans: &mut Spans) {
    nested(script, 0, spans);
}

fn nested(script: &str, depth: usize, spans: &mut Spans) {
    text::scan(&Decoded::whole(script), spans);
    let read = parse::read(script);
    let mut walk = Walk { script, read: &read, depth, spans, searched: 0, misses: 0 };
    parse::visit(&read, &mut walk);
    if read.script.fault.is_some() {
        // Bash refuses the rest, which may hold a secret all the same.
        let end = read.script.body.last().and_then(|last| last.pipelines.last());
        let end = end.and_then(|(_, last)| last.commands.last()).map_or(0, |last| last.span.end);
        for command in lenient::commands(script, end) {
            walk.command(&Words::of(script, command.into_iter()));
        }
    }
}

struct Walk<'t, 's> {
    script: &'t str,
    read: &'t ParsedScript,
    depth: usize,
    spans: &'s mut Spans,
    /// The end of the last text between backticks.
    searched: usize,
    misses: usize,
}

impl<'t> Walk<'t, '_> {
    fn words(&self, node: &Node) -> Words<'t> {
        let spans = match &node.kind {
            Kind::Simple(simple) => simple.words.iter().map(|word| word.span.clone()).collect(),
            _ => Vec::new(),
        };
        Words::of(self.script, spans.into_iter())
    }

    /// Finds the secrets in the words of a command, and in the scripts among them.
    fn command(&mut self, words: &Words<'_>) {
        words.scan(self.spans);
        for script in words.scripts() {
            self.within(&words.words[script]);
        }
        if words.program() == Some("printf") {
            formatted(words, self.spans);
        }
        for word in words.words.iter().filter(|word| word.is_argument()) {
            text::scan(word, self.spans);
        }
    }

    /// Finds the secrets of a script in a word.
    fn within(&mut self, word: &Decoded<'_>) {
        if self.depth >= MAX_DEPTH || !triggers::may_hold(&word.text) {
            return;
        }
        let mut found = Spans::default();
        nested(&word.text, self.depth + 1, &mut found);
        for secret in found.iter() {
            // `bash -c "mysql -p'$PASSWORD'"`
            add(word, secret.clone(), self.spans);
        }
    }

    /// Finds the secrets of a script that is a part of this one.
    fn part(&mut self, span: Range<usize>) {
        let text = self.script.get(span.clone()).unwrap_or_default();
        if self.depth < MAX_DEPTH && triggers::may_hold(text) {
            let mut found = Spans::default();
            nested(text, self.depth + 1, &mut found);
            found.iter().for_each(|secret| self.spans.add(span.start + secret.start..span.start + secret.end));
        }
    }

    fn assignment(&mut self, assignment: &Assignment) {
        let value = &assignment.value;
        let array = match value.parts.as_slice() {
            [Part::Array(items)] => Some(items.iter().map(|item| item.span.clone()).collect()),
            _ => None,
        };
        let is_array = array.is_some();
        let items = Words::of(self.script, array.unwrap_or_else(|| vec![value.span.clone()]).into_iter());
        for item in &items.words {
            if holds_secret(&assignment.name, &item.text) {
                add(item, 0..item.text.len(), self.spans);
            } else if item.is_argument() {
                text::scan(item, self.spans);
            }
        }
        if is_array {
            // `args=(--token X)`
            items.scan(self.spans);
        }
    }

    /// Finds the secrets of the text that a command reads by its own redirects.
    fn inputs(&mut self, redirects: &[Redirection], reads: Reads) {
        for redirect in redirects {
            let body = redirect.heredoc.and_then(|number| self.read.heredocs.get(number)).map(|body| body.span.clone());
            match (redirect.op, body, reads) {
                ("<<<", ..) => self.here_string(redirect.target.span.clone(), reads),
                (_, Some(body), Reads::Secret(part)) => {
                    input(&Decoded::part(self.script, trimmed(self.script, body)), part, self.spans);
                }
                (_, Some(body), Reads::Script) => self.part(body),
                (_, Some(body), Reads::Other)
                    if self.script.get(body.clone()).is_some_and(|it| it.starts_with("#!")) =>
                {
                    self.part(body);
                }
                // `docker login --password-stdin < <(echo X)`
                ("<", None, Reads::Secret(part)) => {
                    for nested in &redirect.target.parts {
                        if let Part::Process(nested) = nested {
                            self.printed_by(&nested.list, part);
                        }
                    }
                }
                _ => {}
            }
        }
    }

    fn here_string(&mut self, span: Range<usize>, reads: Reads) {
        let word = Decoded::of(self.script, span);
        match reads {
            Reads::Secret(part) => input(&word, part, self.spans),
            Reads::Script => self.within(&word),
            Reads::Other => {}
        }
        text::scan(&word, self.spans);
    }

    /// Finds the words that are written for a command that reads a secret.
    fn printed(&mut self, node: &Node, part: Form) {
        match &node.kind {
            Kind::Group(list) | Kind::Subshell(list) => return self.printed_by(list, part),
            Kind::Simple(simple) => {
                let words = self.words(node);
                match words.program() {
                    Some("cat") => self.inputs(&simple.redirects, Reads::Secret(part)),
                    Some(program @ ("echo" | "printf")) => {
                        let formats = usize::from(program == "printf" && words.words.len() > 2);
                        let texts = words.words.iter().skip(1 + formats).filter(|word| !word.text.starts_with('-'));
                        texts.for_each(|word| input(word, part, self.spans));
                    }
                    _ => {}
                }
            }
            _ => {}
        }
    }

    /// Finds the secrets of the scripts that `echo`, `printf` and `cat` write.
    fn printed_script(&mut self, node: &Node) {
        let words = self.words(node);
        match (&node.kind, words.program()) {
            (Kind::Simple(simple), Some("cat")) => self.inputs(&simple.redirects, Reads::Script),
            (_, Some("echo" | "printf")) => words.words.iter().skip(1).for_each(|word| self.within(word)),
            _ => {}
        }
    }

    fn printed_by(&mut self, list: &List, part: Form) {
        for (_, pipeline) in list.iter().flat_map(|entry| &entry.pipelines) {
            pipeline.commands.last().into_iter().for_each(|last| self.printed(last, part));
        }
    }
}

impl Visitor for Walk<'_, '_> {
    fn pipeline(&mut self, pipeline: &Pipeline) {
        for pair in pipeline.commands.windows(2) {
            let [from, to] = pair else { continue };
            match self.words(to).reads() {
                Reads::Secret(part) => self.printed(from, part),
                Reads::Script => self.printed_script(from),
                Reads::Other => {}
            }
        }
    }

    fn node(&mut self, node: &Node) {
        let words = self.words(node);
        let reads = words.reads();
        if let Kind::Simple(simple) = &node.kind {
            simple.assignments.iter().for_each(|assignment| self.assignment(assignment));
            self.inputs(&simple.redirects, reads);
            let targets = simple.redirects.iter().map(|redirect| redirect.target.bare().unwrap_or_default());
            if targets.chain(words.words.iter().map(|word| &*word.text)).any(is_script_file) {
                self.printed_script(node);
                // `cat > run.sh <<EOF`, `tee run.sh <<EOF`
                self.inputs(&simple.redirects, Reads::Script);
            }
        }
        self.inputs(&node.redirects, reads);
        self.command(&words);
    }

    fn enters(&mut self, nested: &Nested) -> bool {
        let Some(text) = &nested.text else { return true };
        // The places of commands between backticks are those of another text, which is usually a part of this one.
        if self.depth >= MAX_DEPTH || self.misses >= MAX_MISSES || !triggers::may_hold(text) {
            return false;
        }
        let rest = self.script.get(self.searched..).unwrap_or_default();
        let Some(at) = memchr::memmem::find(rest.as_bytes(), text.as_bytes()) else {
            self.misses += 1;
            return false;
        };
        let start = self.searched + at;
        self.searched = start + text.len();
        self.part(start..self.searched);
        false
    }
}

/// Finds the secrets in a text that a command reads: all of it, or a part of each line.
fn input(word: &Decoded<'_>, part: Form, spans: &mut Spans) {
    if part == Form::Whole {
        return add(word, 0..word.text.len(), spans);
    }
    let mut start = 0;
    for line in word.text.split_inclusive('\n') {
        if let Some(secret) = programs::secret_in(part, line.trim_end()) {
            add(word, start + secret.start..start + secret.end, spans);
        }
        start += line.len();
    }
}

/// Finds the words that `printf` puts in the place of a secret: `printf 'password=%s' X`.
fn formatted(words: &Words<'_>, spans: &mut Spans) {
    let Some(format) = words.words.get(1) else { return };
    let is_part = |next: char| next.is_ascii_alphanumeric() || "_-.".contains(next);
    let pieces = format.text.split('%');
    for (before, argument) in pieces.zip(words.words.iter().skip(2)) {
        let name = before.trim_end_matches([' ', '"', '\'']);
        let Some(name) = name.strip_suffix(['=', ':']) else { continue };
        let name = name.trim_end_matches([' ', '"', '\'']);
        let name = &name[name.rfind(|next| !is_part(next)).map_or(0, |at| name.ceil_char_boundary(at + 1))..];
        // `\n` before it is a newline.
        if may_hold_secret(name) || name.strip_prefix('n').is_some_and(may_hold_secret) {
            add(argument, 0..argument.text.len(), spans);
        }
    }
}

/// Returns whether a file is a script of a shell, by its name.
fn is_script_file(name: &str) -> bool {
    [".sh", ".bash", ".zsh", "shrc", "profile"].iter().any(|end| name.ends_with(end))
}

/// Returns a place without the newline at its end.
fn trimmed(text: &str, span: Range<usize>) -> Range<usize> {
    let length = text.get(span.clone()).unwrap_or_default().trim_end().len();
    span.start..span.start + length
}
