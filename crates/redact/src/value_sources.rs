//! Where the value of a secret comes from: the assignments and arguments that a variable in the place of a secret leads
//! to, as in `p=X; curl -u me:$p` and `f() { curl -u "me:$1" x; }; f X`, and what `$(echo X)` prints.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use safety::parse::{
    self, CommandNode, CommandNodeKind, ParsedScript, SubstitutedCommands, SyntaxVisitor, UnexpandedCommand, WordPart,
};

use crate::secret_names::is_setting;
use crate::secret_spans::SecretSpans;
use crate::step_count;
use crate::unquoted_word::{UnquotedWord, VariableReference};

/// Functions that are looked at for one place. Others may lie between the start of a function and a place in it.
const MAX_FUNCTIONS: usize = 64;
/// Arguments that are followed.
const MAX_ARGUMENT: usize = 32;

/// Finds the values of the variables that stand in the place of a secret. Values from outside of the script stay.
pub fn find_referenced_secrets(script: &str, read: &ParsedScript, spans: &mut SecretSpans) {
    if spans.references.is_empty() {
        return;
    }
    let mut sources = ValueSources { script, ..ValueSources::default() };
    parse::visit(read, &mut sources);
    sources.printed.sort_unstable_by_key(|word| word.start);
    let (mut seen, mut outside) = (HashSet::new(), Vec::new());
    // Each variable may lead to further ones.
    let mut next = 0;
    while let Some(reference) = spans.references.get(next).cloned() {
        next += 1;
        let function = reference.argument_number().and_then(|_| sources.function_at(reference.place));
        let key = if reference.name.is_empty() { Some(reference.place) } else { function };
        if !seen.insert((reference.name.clone(), key)) {
            continue;
        }
        for value in sources.values_of(&reference, function) {
            step_count::add(1 + value.len());
            let word = UnquotedWord::unquote(script, value);
            if !is_setting(&word.text) {
                spans.add_secret(&word, 0..word.text.len());
            }
        }
        if function.is_none() && !reference.name.is_empty() {
            outside.push(reference);
        }
    }
    spans.references = outside;
}

/// The places of values in a script.
#[derive(Default)]
struct ValueSources<'t> {
    script: &'t str,
    /// The values that variables are given.
    assigned: HashMap<String, Vec<Range<usize>>>,
    /// The arguments of commands by their names.
    called: HashMap<&'t str, Vec<Vec<Range<usize>>>>,
    functions: Vec<(String, Range<usize>)>,
    /// What `echo` and `printf` print, in order.
    printed: Vec<Range<usize>>,
}

impl<'t> ValueSources<'t> {
    /// Returns the innermost function whose body has this place, among those that begin shortly before.
    fn function_at(&self, place: usize) -> Option<usize> {
        let end = self.functions.partition_point(|(_, body)| body.start <= place);
        (end.saturating_sub(MAX_FUNCTIONS)..end).rev().find(|number| {
            step_count::add(1);
            self.functions[*number].1.end > place
        })
    }

    /// Returns the places of all values that a variable may have, or that an argument of a function has.
    fn values_of(&self, reference: &VariableReference, function: Option<usize>) -> Vec<Range<usize>> {
        if reference.name.is_empty() {
            let from = self.printed.partition_point(|word| word.start < reference.place);
            return self.printed[from..].iter().take_while(|word| word.end <= reference.end).cloned().collect();
        }
        let Some(argument) = reference.argument_number() else {
            return self.assigned.get(&reference.name).cloned().unwrap_or_default();
        };
        if argument > MAX_ARGUMENT {
            return Vec::new();
        }
        let called = |name: &str| self.called.get(name).into_iter().flatten();
        let given = function.into_iter().flat_map(|function| called(&self.functions[function].0));
        let given = given.filter_map(|words| words.get(argument - 1).cloned());
        // `set -- X`
        given.chain(called("set").filter_map(|words| words.get(argument).cloned())).collect()
    }

    fn add_assignment(&mut self, name: &str, values: impl IntoIterator<Item = Range<usize>>) {
        self.assigned.entry(name.to_owned()).or_default().extend(values);
    }

    fn add_simple_command(&mut self, command: &UnexpandedCommand) {
        for assignment in &command.assignments {
            let value = &assignment.value;
            match value.parts.as_slice() {
                [WordPart::Array(items)] => {
                    self.add_assignment(&assignment.name, items.iter().map(|item| item.span.clone()))
                }
                _ => self.add_assignment(&assignment.name, [value.span.clone()]),
            }
        }
        let words: Vec<_> = command.words.iter().map(|word| word.span.clone()).collect();
        let [program, arguments @ ..] = words.as_slice() else { return };
        let text = |span: &Range<usize>| self.script.get(span.clone()).unwrap_or_default();
        let program = text(program);
        // `export NAME=X`, `env NAME=X`
        let named = arguments.iter().filter_map(|word| {
            let (name, _) = text(word).split_once('=').filter(|(name, _)| is_name(name))?;
            Some((name, word.start + name.len() + 1..word.end))
        });
        let named: Vec<_> = named.collect();
        named.into_iter().for_each(|(name, value)| self.add_assignment(name, [value]));
        let input = command.redirects.iter().rfind(|redirect| redirect.op == "<<<");
        match (program, arguments) {
            ("read", names) => {
                let input = input.map(|redirect| redirect.target.span.clone());
                names.iter().for_each(|name| self.add_assignment(text(name), input.clone()));
            }
            ("printf", [option, name, _, values @ ..]) if text(option) == "-v" => {
                self.add_assignment(text(name), values.iter().cloned());
            }
            ("echo" | "printf", texts) => {
                let formats = usize::from(program == "printf" && texts.len() > 1);
                let texts = texts.iter().skip(formats).filter(|word| !text(word).starts_with('-'));
                self.printed.extend(texts.cloned());
            }
            _ => {}
        }
        self.called.entry(program).or_default().push(arguments.to_vec());
    }
}

impl SyntaxVisitor for ValueSources<'_> {
    fn add_node(&mut self, node: &CommandNode) {
        match &node.kind {
            CommandNodeKind::Simple(command) => self.add_simple_command(command),
            CommandNodeKind::For { name, words: Some(words), .. } => {
                self.add_assignment(name, words.iter().map(|word| word.span.clone()));
            }
            CommandNodeKind::Function { name, body } => self.functions.push((name.clone(), body.span.clone())),
            _ => {}
        }
    }

    fn may_enter(&mut self, nested: &SubstitutedCommands) -> bool {
        nested.text.is_none()
    }
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}
