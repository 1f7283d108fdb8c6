//! Secrets in a script, by its structure: commands, assignments, heredocs, scripts within scripts.

use std::collections::HashSet;
use std::ops::Range;

use safety::parse::{
    self, AssignmentSyntax, CommandList, CommandNode, CommandNodeKind, ParsedScript, PipelineSyntax, RedirectSyntax,
    SubstitutedCommands, SyntaxVisitor, WordPart,
};

use crate::lenient_words;
use crate::program_secrets::{self, SecretPart as Form};
use crate::secret_names::{holds_secret, may_hold_secret};
use crate::secret_spans::SecretSpans;
use crate::secret_triggers::SecretKinds;
use crate::unquoted_command::{StdinMeaning, UnquotedCommand, find_line_secrets};
use crate::unquoted_word::{UnquotedWord, VariableReference};
use crate::{secret_triggers, step_count, text_secrets, value_sources};

/// Deepest nesting of scripts in words of other scripts.
const MAX_DEPTH: usize = 5;
/// Commands of a pipeline in front of one that reads a secret, at most.
const MAX_FILTERS: usize = 4;
/// Texts between backticks that are searched for in vain, at most.
const MAX_MISSES: usize = 64;

/// Finds the secrets of these kinds in a script.
pub fn find_script_secrets(script: &str, kinds: SecretKinds, spans: &mut SecretSpans) {
    find_nested_secrets(script, kinds, 0, spans);
}

fn find_nested_secrets(script: &str, kinds: SecretKinds, depth: usize, spans: &mut SecretSpans) {
    step_count::add(script.len());
    text_secrets::find_text_secrets(&UnquotedWord::verbatim(script), kinds, spans);
    let read = parse::read(script);
    let mut walk = SecretScriptWalk { script, read: &read, kinds, depth, spans, searched: 0, misses: 0 };
    parse::visit(&read, &mut walk);
    if read.script.fault.is_some() {
        // Bash refuses the rest, which may hold a secret all the same.
        let end = read.script.body.last().and_then(|last| last.pipelines.last());
        let end = end.and_then(|(_, last)| last.commands.last()).map_or(0, |last| last.span.end);
        for command in lenient_words::split_commands(script, end) {
            walk.visit_command(&UnquotedCommand::unquote(script, command.into_iter()));
        }
    }
    value_sources::find_referenced_secrets(script, &read, spans);
}

struct SecretScriptWalk<'t, 's> {
    script: &'t str,
    read: &'t ParsedScript,
    kinds: SecretKinds,
    depth: usize,
    spans: &'s mut SecretSpans,
    /// The end of the last text between backticks.
    searched: usize,
    misses: usize,
}

impl<'t> SecretScriptWalk<'t, '_> {
    fn unquoted_command(&self, node: &CommandNode) -> UnquotedCommand<'t> {
        let spans = match &node.kind {
            CommandNodeKind::Simple(simple) => simple.words.iter().map(|word| word.span.clone()).collect(),
            _ => Vec::new(),
        };
        UnquotedCommand::unquote(self.script, spans.into_iter())
    }

    /// Finds the secrets in the words of a command, and in the scripts among them.
    fn visit_command(&mut self, words: &UnquotedCommand<'_>) {
        words.find_secrets(self.spans);
        let is_alias = words.program_name() == Some("alias");
        for script in words.script_words() {
            for reference in self.visit_inner_script(&words.words[script], is_alias) {
                // `bash -c 'curl -u "me:$1" x' _ X`
                let argument = reference.argument_number().and_then(|argument| words.words.get(script + 1 + argument));
                argument.into_iter().for_each(|value| self.spans.add_secret(value, 0..value.text.len()));
            }
        }
        if words.program_name() == Some("printf") {
            find_format_secrets(words, self.spans);
        }
        for word in words.words.iter().filter(|word| word.is_argument()) {
            text_secrets::find_text_secrets(word, self.kinds, self.spans);
        }
    }

    /// Finds the secrets of a script in a word. Returns the variables in place of secrets that the word leaves to it.
    fn visit_inner_script(&mut self, word: &UnquotedWord<'_>, is_alias: bool) -> Vec<VariableReference> {
        // `alias c='curl -u me:X'`
        let name = word.text.find('=').filter(|sign| is_alias && !word.text[..*sign].contains(char::is_whitespace));
        let from = name.map_or(0, |sign| sign + 1);
        let kinds = secret_triggers::possible_kinds(&word.text);
        if self.depth >= MAX_DEPTH || kinds == SecretKinds::NONE {
            return Vec::new();
        }
        let mut found = SecretSpans::default();
        find_nested_secrets(&word.text[from..], kinds, self.depth + 1, &mut found);
        for secret in found.iter() {
            // `bash -c "mysql -p'$PASSWORD'"`
            self.spans.add_secret(word, from + secret.start..from + secret.end);
        }
        let expanded = word.references(0..word.text.len());
        let expanded: HashSet<_> = expanded.into_iter().map(|reference| reference.name).collect();
        let is_expanded = |reference: &VariableReference| expanded.contains(&reference.name);
        let place = word.span_in_script(0..word.text.len()).start;
        let (inner, outer): (Vec<_>, Vec<_>) = found
            .references
            .into_iter()
            .partition(|reference| reference.argument_number().is_some() && !is_expanded(reference));
        self.spans.references.extend(outer.into_iter().map(|reference| VariableReference {
            place,
            end: place,
            ..reference
        }));
        inner
    }

    /// Finds the secrets of a script that is a part of this one.
    fn visit_part(&mut self, span: Range<usize>) {
        let text = self.script.get(span.clone()).unwrap_or_default();
        let kinds = secret_triggers::possible_kinds(text);
        if self.depth < MAX_DEPTH && kinds != SecretKinds::NONE {
            let mut found = SecretSpans::default();
            find_nested_secrets(text, kinds, self.depth + 1, &mut found);
            found.iter().for_each(|secret| self.spans.add(span.start + secret.start..span.start + secret.end));
            let outer = found.references.into_iter();
            let outer = outer.map(|VariableReference { name, place, end }| VariableReference {
                name,
                place: span.start + place,
                end: span.start + end,
            });
            self.spans.references.extend(outer);
        }
    }

    fn visit_assignment(&mut self, assignment: &AssignmentSyntax) {
        let value = &assignment.value;
        let array = match value.parts.as_slice() {
            [WordPart::Array(items)] => Some(items.iter().map(|item| item.span.clone()).collect()),
            _ => None,
        };
        let is_array = array.is_some();
        let items =
            UnquotedCommand::unquote(self.script, array.unwrap_or_else(|| vec![value.span.clone()]).into_iter());
        for item in &items.words {
            if holds_secret(&assignment.name, &item.text) {
                self.spans.add_secret(item, 0..item.text.len());
            } else if item.is_argument() {
                text_secrets::find_text_secrets(item, self.kinds, self.spans);
            }
        }
        if is_array {
            // `args=(--token X)`
            items.find_secrets(self.spans);
        }
    }

    /// Finds the secrets of the text that a command reads by its own redirects.
    fn visit_inputs(&mut self, words: &UnquotedCommand<'_>, redirects: &[RedirectSyntax], reads: StdinMeaning) {
        for redirect in redirects {
            let body = redirect.heredoc.and_then(|number| self.read.heredocs.get(number)).map(|body| body.span.clone());
            match (redirect.op, body, reads) {
                ("<<<", ..) => self.visit_here_string(words, redirect.target.span.clone(), reads),
                (_, Some(body), StdinMeaning::Secret(part)) => {
                    find_input_secret(
                        &UnquotedWord::verbatim_part(self.script, trimmed(self.script, body)),
                        part,
                        self.spans,
                    );
                }
                (_, Some(body), StdinMeaning::Script) => self.visit_part(body),
                (_, Some(body), StdinMeaning::Lines(_)) => {
                    self.find_line_secrets(words, reads, &UnquotedWord::verbatim_part(self.script, body))
                }
                (_, Some(body), StdinMeaning::Other)
                    if self.script.get(body.clone()).is_some_and(|it| it.starts_with("#!")) =>
                {
                    self.visit_part(body);
                }
                // `docker login --password-stdin < <(echo X)`
                ("<", None, StdinMeaning::Secret(part)) => {
                    for nested in &redirect.target.parts {
                        if let WordPart::Process(nested) = nested {
                            self.visit_printing_list(&nested.list, part);
                        }
                    }
                }
                _ => {}
            }
        }
    }

    fn visit_here_string(&mut self, words: &UnquotedCommand<'_>, span: Range<usize>, reads: StdinMeaning) {
        let word = UnquotedWord::unquote(self.script, span);
        match reads {
            StdinMeaning::Secret(part) => find_input_secret(&word, part, self.spans),
            StdinMeaning::Script => drop(self.visit_inner_script(&word, false)),
            StdinMeaning::Lines(_) => self.find_line_secrets(words, reads, &word),
            StdinMeaning::Other => {}
        }
        text_secrets::find_text_secrets(&word, self.kinds, self.spans);
    }

    /// Finds the secrets in lines that a program reads like its arguments.
    fn find_line_secrets(&mut self, words: &UnquotedCommand<'_>, reads: StdinMeaning, text: &UnquotedWord<'_>) {
        if let StdinMeaning::Lines(at) = reads {
            find_line_secrets(words.basename_at(at), text, self.spans);
        }
    }

    /// Finds the words that are written for a command that reads a secret.
    fn visit_printed(&mut self, node: &CommandNode, part: Form) {
        match &node.kind {
            CommandNodeKind::Group(list) | CommandNodeKind::Subshell(list) => self.visit_printing_list(list, part),
            CommandNodeKind::Simple(simple) => {
                let words = self.unquoted_command(node);
                match words.program_name() {
                    Some("cat") => self.visit_inputs(&words, &simple.redirects, StdinMeaning::Secret(part)),
                    Some(program @ ("echo" | "printf")) => {
                        // `printf '%s:%s' user X`: the parts are words of their own.
                        let is_split = program == "printf" && words.words.len() > 3;
                        let part = if is_split { Form::Whole } else { part };
                        let formats = usize::from(program == "printf" && words.words.len() > 2);
                        let texts = words.words.iter().skip(1 + formats).filter(|word| !word.text.starts_with('-'));
                        texts.for_each(|word| find_input_secret(word, part, self.spans));
                    }
                    _ => {}
                }
            }
            _ => {}
        }
    }

    /// Finds the secrets of the scripts that `cat`, `echo` and `printf` write for a shell.
    fn visit_printed_script(&mut self, node: &CommandNode) {
        let words = self.unquoted_command(node);
        match &node.kind {
            CommandNodeKind::Simple(simple) if words.program_name() == Some("cat") => {
                self.visit_inputs(&words, &simple.redirects, StdinMeaning::Script);
            }
            _ => self.visit_echoed_script(&words),
        }
    }

    /// Finds the secrets in the lines that `echo` and `printf` write for a program.
    fn visit_printed_lines(&mut self, node: &CommandNode, reader: &UnquotedCommand<'_>) {
        let words = self.unquoted_command(node);
        if matches!(words.program_name(), Some("echo" | "printf")) {
            words.words.iter().skip(1).for_each(|word| self.find_line_secrets(reader, reader.stdin_meaning(), word));
        }
    }

    fn visit_echoed_script(&mut self, words: &UnquotedCommand<'_>) {
        if matches!(words.program_name(), Some("echo" | "printf")) {
            words.words.iter().skip(1).for_each(|word| drop(self.visit_inner_script(word, false)));
        }
    }

    fn visit_printing_list(&mut self, list: &CommandList, part: Form) {
        for (_, pipeline) in list.iter().flat_map(|entry| &entry.pipelines) {
            pipeline.commands.last().into_iter().for_each(|last| self.visit_printed(last, part));
        }
    }
}

impl SyntaxVisitor for SecretScriptWalk<'_, '_> {
    fn visit_pipeline(&mut self, pipeline: &PipelineSyntax) {
        for (at, to) in pipeline.commands.iter().enumerate().skip(1) {
            let (from, reader) = (&pipeline.commands[at - 1], self.unquoted_command(to));
            match reader.stdin_meaning() {
                StdinMeaning::Secret(part) => {
                    // `echo X | tee f | docker login --password-stdin`
                    let passed = pipeline.commands[..at].iter().rev().take(MAX_FILTERS);
                    let filters = passed.clone().take_while(|node| is_filter(&self.unquoted_command(node))).count();
                    passed.take(filters + 1).for_each(|node| self.visit_printed(node, part));
                }
                StdinMeaning::Script => self.visit_printed_script(from),
                StdinMeaning::Lines(_) => self.visit_printed_lines(from, &reader),
                StdinMeaning::Other => {}
            }
        }
    }

    fn add_node(&mut self, node: &CommandNode) {
        let words = self.unquoted_command(node);
        let reads = words.stdin_meaning();
        if let CommandNodeKind::Simple(simple) = &node.kind {
            simple.assignments.iter().for_each(|assignment| self.visit_assignment(assignment));
            self.visit_inputs(&words, &simple.redirects, reads);
            let targets = simple.redirects.iter().map(|redirect| redirect.target.bare().unwrap_or_default());
            let targets: Vec<_> = targets.collect();
            if targets.iter().any(|target| names_secret_file(target)) {
                self.visit_printed(node, Form::Word);
            }
            if targets.into_iter().chain(words.words.iter().map(|word| &*word.text)).any(is_script_file) {
                self.visit_echoed_script(&words);
                // `cat > run.sh <<EOF`, `tee run.sh <<EOF`
                self.visit_inputs(&words, &simple.redirects, StdinMeaning::Script);
            }
        }
        self.visit_inputs(&words, &node.redirects, reads);
        self.visit_command(&words);
    }

    fn may_enter(&mut self, nested: &SubstitutedCommands) -> bool {
        let Some(text) = &nested.text else { return true };
        // The places of commands between backticks are those of another text, which is usually a part of this one.
        if self.depth >= MAX_DEPTH
            || self.misses >= MAX_MISSES
            || secret_triggers::possible_kinds(text) == SecretKinds::NONE
        {
            return false;
        }
        let rest = self.script.get(self.searched..).unwrap_or_default();
        let Some(at) = memchr::memmem::find(rest.as_bytes(), text.as_bytes()) else {
            self.misses += 1;
            return false;
        };
        let start = self.searched + at;
        self.searched = start + text.len();
        self.visit_part(start..self.searched);
        false
    }
}

/// Returns whether a command prints its input.
fn is_filter(words: &UnquotedCommand<'_>) -> bool {
    matches!(
        words.program_name(),
        Some("base64" | "cat" | "cut" | "head" | "rev" | "sed" | "tail" | "tee" | "tr" | "xxd")
    )
}

/// Finds the secrets in a text that a command reads: all of it, or a part of each line.
fn find_input_secret(word: &UnquotedWord<'_>, part: Form, spans: &mut SecretSpans) {
    if matches!(part, Form::Whole | Form::Word) {
        let secret = program_secrets::secret_in(part, &word.text);
        return secret.into_iter().for_each(|secret| spans.add_secret(word, secret));
    }
    let mut start = 0;
    for line in word.text.split_inclusive('\n') {
        if let Some(secret) = program_secrets::secret_in(part, line.trim_end()) {
            spans.add_secret(word, start + secret.start..start + secret.end);
        }
        start += line.len();
    }
}

/// Finds the words that `printf` puts in the place of a secret: `printf 'password=%s' X`.
fn find_format_secrets(words: &UnquotedCommand<'_>, spans: &mut SecretSpans) {
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
            spans.add_secret(argument, 0..argument.text.len());
        }
    }
}

/// Returns whether a file holds a secret alone, by its name: `token.txt`.
fn names_secret_file(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let (stem, end) = name.rsplit_once('.').unwrap_or((name, ""));
    matches!(end, "" | "txt" | "key" | "pass" | "secret" | "token") && holds_secret(stem, "a1")
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
