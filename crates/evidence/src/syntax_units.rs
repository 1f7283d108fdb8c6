//! The syntax of a command as a flat list of units: every place in which a shell can be.

use std::ops::{Deref, Index, Range};
use std::rc::Rc;

use safety::parse::{
    AndOrList, AndOrOperator, CommandList, CommandNode, CommandNodeKind, HeredocBody, ParsedScript, PipelineSyntax,
    RedirectSyntax, SubstitutedCommands, WordPart, WordSyntax,
};

use crate::aliases::{ExpandedCommand, read_bounded};
use crate::canonical_form::{self, literal_value};

/// The index of a unit.
pub type SyntaxUnitId = usize;

/// The units of a command. The first is the whole command.
pub struct SyntaxUnits {
    all: Vec<SyntaxUnit>,
    /// The number of units of the command itself. Those of the session's functions follow.
    own: usize,
    /// The text of the command.
    expanded: ExpandedCommand,
}

/// One unit.
pub struct SyntaxUnit {
    pub shape: SyntaxUnitShape,
    /// The unit around this one, and the place in it. `None` for the whole command.
    pub parent: Option<(SyntaxUnitId, SyntaxUnitRole)>,
    /// The substitutions in the words and redirects, in the order of the text.
    pub substitutions: Vec<SyntaxUnitId>,
    /// Whether this is a substitution that its command may leave out: in `${x:-$(…)}`, in the pattern of a `case`, in
    /// `[[ a || $(…) ]]`, or in a redirect, which the process of a program expands.
    pub optional: bool,
    /// The command as bash prints it, in a canonical form. Empty if no shell was watched.
    pub key: String,
    /// The source.
    pub source: SyntaxUnitSource,
    /// The place in the command, in bytes. `None` between backquotes.
    pub span: Option<Range<usize>>,
}

/// The source of a unit: a part of the text in which it stands, which all units share.
#[derive(Clone, Debug)]
pub struct SyntaxUnitSource {
    text: Rc<str>,
    place: Range<usize>,
}

impl Deref for SyntaxUnitSource {
    type Target = str;

    fn deref(&self) -> &str {
        self.text.get(self.place.clone()).unwrap_or_default()
    }
}

/// What a unit consists of.
pub enum SyntaxUnitShape {
    List(Vec<SyntaxUnitId>),
    AndOr {
        pipelines: Vec<(AndOrOperator, SyntaxUnitId)>,
        background: bool,
    },
    Pipeline {
        commands: Vec<SyntaxUnitId>,
        negated: bool,
    },
    Simple {
        words: Vec<Option<String>>,
    },
    Group(SyntaxUnitId),
    Subshell(SyntaxUnitId),
    If {
        arms: Vec<(SyntaxUnitId, SyntaxUnitId)>,
        otherwise: SyntaxUnitId,
    },
    Loop {
        condition: SyntaxUnitId,
        body: SyntaxUnitId,
    },
    /// `for`, with the number of its rounds if the words tell.
    For {
        body: SyntaxUnitId,
        rounds: Option<usize>,
    },
    /// `case`, with the arms of which one may run, whether the next arm may run behind one, and whether none may run.
    Case {
        arms: Vec<SyntaxUnitId>,
        falls: bool,
        may_skip: bool,
    },
    Function {
        name: String,
        body: SyntaxUnitId,
    },
    Test,
    Coproc(SyntaxUnitId),
    Substitution(SyntaxUnitId),
}

/// The place of a unit in the unit around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SyntaxUnitRole {
    /// An entry of a list, a pipeline of a list, a command of a pipeline.
    At(usize),
    /// The condition of an arm or a loop.
    Condition(usize),
    /// The body of an arm, a loop, a group, a function, a substitution.
    Body(usize),
    /// `else`
    Otherwise,
    /// A substitution in a word.
    Word(usize),
}

impl SyntaxUnits {
    /// Lists the units of a command. `keys`: whether they are compared with what bash printed.
    pub fn of(expanded: ExpandedCommand, read: &ParsedScript, keys: bool) -> Self {
        let text = SpanText { text: expanded.text.as_str().into(), begins: Some(0) };
        let mut builder =
            SyntaxUnitBuilder { all: Vec::new(), optional: false, heredocs: &read.heredocs, keys, expanded };
        builder.list(&read.script.body, None, &text);
        let SyntaxUnitBuilder { mut all, expanded, .. } = builder;
        for unit in &mut all {
            unit.span = unit.span.take().and_then(|span| expanded.written_span(&span));
        }
        Self { own: all.len(), all, expanded }
    }

    /// Adds functions that the shell knows before the command, which have no place in its text.
    pub fn with_functions(self, text: &str) -> Self {
        if text.is_empty() {
            return self;
        }
        let read = read_bounded(text);
        let Self { all, own, expanded } = self;
        let mut builder = SyntaxUnitBuilder { all, optional: false, heredocs: &read.heredocs, keys: true, expanded };
        builder.list(&read.script.body, None, &SpanText { text: text.into(), begins: None });
        Self { all: builder.all, own, expanded: builder.expanded }
    }

    /// Returns whether bash surely reads the command like this: it may have other aliases than the text tells.
    pub fn is_settled(&self) -> bool {
        self.expanded.settled
    }

    /// Returns the unit around a unit.
    pub fn parent(&self, id: SyntaxUnitId) -> Option<(SyntaxUnitId, SyntaxUnitRole)> {
        self[id].parent
    }

    /// Returns the units from this one outwards.
    pub fn outwards_from(&self, id: SyntaxUnitId) -> impl Iterator<Item = SyntaxUnitId> {
        std::iter::successors(Some(id), |id| self.parent(*id).map(|(parent, _)| parent))
    }

    /// Returns whether a unit is another one or lies in it.
    pub fn is_within(&self, id: SyntaxUnitId, outer: SyntaxUnitId) -> bool {
        self.outwards_from(id).any(|around| around == outer)
    }

    /// Returns the indexes of all units.
    pub fn ids(&self) -> Range<SyntaxUnitId> {
        0..self.all.len()
    }

    /// Returns the body of the function with this name that is defined last.
    pub fn function(&self, name: &str) -> Option<SyntaxUnitId> {
        self.functions(name).next()
    }

    /// Returns the bodies of all functions with this name, the last one first. Which one a call runs depends on when.
    pub fn functions(&self, name: &str) -> impl Iterator<Item = SyntaxUnitId> {
        let (own, given) = self.all.split_at(self.own);
        own.iter().rev().chain(given.iter().rev()).filter_map(move |unit| match &unit.shape {
            SyntaxUnitShape::Function { name: defined, body } if defined == name => Some(*body),
            _ => None,
        })
    }

    /// Returns whether a command has a process of its own by its place: an element of a pipeline, or behind `&`.
    pub fn is_apart(&self, id: SyntaxUnitId) -> bool {
        let Some((pipeline, SyntaxUnitRole::At(_))) = self.parent(id) else { return false };
        let SyntaxUnitShape::Pipeline { commands, .. } = &self[pipeline].shape else { return false };
        commands.len() > 1 || self.is_background(pipeline)
    }

    /// Returns whether a pipeline is all that `&` stands behind.
    fn is_background(&self, pipeline: SyntaxUnitId) -> bool {
        self.parent(pipeline).is_some_and(|(list, _)| match &self[list].shape {
            SyntaxUnitShape::AndOr { pipelines, background } => *background && pipelines.len() == 1,
            _ => false,
        })
    }
}

impl Index<SyntaxUnitId> for SyntaxUnits {
    type Output = SyntaxUnit;

    fn index(&self, id: SyntaxUnitId) -> &SyntaxUnit {
        &self.all[id]
    }
}

/// The text that spans refer to.
struct SpanText {
    text: Rc<str>,
    /// Where it begins in the command. `None` for a text between backquotes that is not there as it stands.
    begins: Option<usize>,
}

struct SyntaxUnitBuilder<'p> {
    all: Vec<SyntaxUnit>,
    /// Whether substitutions that are found now are optional.
    optional: bool,
    heredocs: &'p [HeredocBody],
    keys: bool,
    expanded: ExpandedCommand,
}

impl SyntaxUnitBuilder<'_> {
    fn add(
        &mut self,
        parent: Option<(SyntaxUnitId, SyntaxUnitRole)>,
        span: Range<usize>,
        text: &SpanText,
    ) -> SyntaxUnitId {
        self.all.push(SyntaxUnit {
            shape: SyntaxUnitShape::Test,
            parent,
            substitutions: Vec::new(),
            optional: self.optional,
            key: String::new(),
            source: SyntaxUnitSource { text: Rc::clone(&text.text), place: span.clone() },
            span: text.begins.map(|begins| begins + span.start..begins + span.end),
        });
        self.all.len() - 1
    }

    fn set_key(&mut self, id: SyntaxUnitId, key: impl FnOnce() -> String) {
        if self.keys {
            self.all[id].key = key();
        }
    }

    fn list(
        &mut self,
        list: &CommandList,
        parent: Option<(SyntaxUnitId, SyntaxUnitRole)>,
        text: &SpanText,
    ) -> SyntaxUnitId {
        let id = self.add(parent, canonical_form::span_of_list(list), text);
        let entries =
            list.iter().enumerate().map(|(at, entry)| self.and_or(entry, (id, SyntaxUnitRole::At(at)), text)).collect();
        self.set_key(id, || canonical_form::of_commands(list, &text.text));
        self.all[id].shape = SyntaxUnitShape::List(entries);
        id
    }

    fn and_or(&mut self, entry: &AndOrList, parent: (SyntaxUnitId, SyntaxUnitRole), text: &SpanText) -> SyntaxUnitId {
        let id = self.add(Some(parent), canonical_form::span_of_and_or(entry), text);
        let pipelines = entry.pipelines.iter().enumerate();
        let pipelines = pipelines
            .map(|(at, (join, each))| (*join, self.pipeline(each, (id, SyntaxUnitRole::At(at)), text)))
            .collect();
        self.set_key(id, || canonical_form::of_and_or(entry, &text.text));
        self.all[id].shape = SyntaxUnitShape::AndOr { pipelines, background: entry.background };
        id
    }

    fn pipeline(
        &mut self,
        pipeline: &PipelineSyntax,
        parent: (SyntaxUnitId, SyntaxUnitRole),
        text: &SpanText,
    ) -> SyntaxUnitId {
        let id = self.add(Some(parent), canonical_form::span_of_pipeline(pipeline), text);
        let commands = pipeline.commands.iter().enumerate();
        let commands = commands.map(|(at, node)| self.node(node, (id, SyntaxUnitRole::At(at)), text)).collect();
        self.all[id].shape = SyntaxUnitShape::Pipeline { commands, negated: pipeline.negated };
        id
    }

    fn node(&mut self, node: &CommandNode, parent: (SyntaxUnitId, SyntaxUnitRole), text: &SpanText) -> SyntaxUnitId {
        let id = self.add(Some(parent), node.span.clone(), text);
        self.set_key(id, || canonical_form::of_node(node, &text.text));
        let shape = match &node.kind {
            CommandNodeKind::Simple(simple) => {
                for assignment in &simple.assignments {
                    self.parts(assignment.index.as_deref().unwrap_or_default(), id, text);
                    self.parts(&assignment.value.parts, id, text);
                }
                self.words(&simple.words, id, text);
                self.redirects(&simple.redirects, id, text);
                SyntaxUnitShape::Simple { words: simple.words.iter().map(|word| literal_value(&word.parts)).collect() }
            }
            CommandNodeKind::Group(list) => {
                SyntaxUnitShape::Group(self.list(list, Some((id, SyntaxUnitRole::Body(0))), text))
            }
            CommandNodeKind::Subshell(list) => {
                SyntaxUnitShape::Subshell(self.list(list, Some((id, SyntaxUnitRole::Body(0))), text))
            }
            CommandNodeKind::If { arms, otherwise } => {
                let mut arm = |(at, (condition, body)): (usize, &(CommandList, CommandList))| {
                    let condition = self.list(condition, Some((id, SyntaxUnitRole::Condition(at))), text);
                    (condition, self.list(body, Some((id, SyntaxUnitRole::Body(at))), text))
                };
                let arms = arms.iter().enumerate().map(&mut arm).collect();
                SyntaxUnitShape::If {
                    arms,
                    otherwise: self.list(otherwise, Some((id, SyntaxUnitRole::Otherwise)), text),
                }
            }
            CommandNodeKind::Loop { condition, expressions, body } => {
                self.words(expressions.as_slice(), id, text);
                let condition = self.list(condition, Some((id, SyntaxUnitRole::Condition(0))), text);
                SyntaxUnitShape::Loop { condition, body: self.list(body, Some((id, SyntaxUnitRole::Body(0))), text) }
            }
            CommandNodeKind::For { name: _, words, body } => {
                self.words(words.as_deref().unwrap_or_default(), id, text);
                let is_select = self.all[id].source.starts_with("select");
                let counts = |words: &&[WordSyntax]| words.iter().all(is_one) && !is_select;
                let rounds = words.as_deref().filter(counts).map(<[WordSyntax]>::len);
                SyntaxUnitShape::For { body: self.list(body, Some((id, SyntaxUnitRole::Body(0))), text), rounds }
            }
            CommandNodeKind::Case { word, arms } => self.case(word, arms, id, text),
            CommandNodeKind::Function { name, body } => SyntaxUnitShape::Function {
                name: name.clone(),
                body: self.node(body, (id, SyntaxUnitRole::Body(0)), text),
            },
            CommandNodeKind::Test(words) => {
                self.optionally(|builder| builder.words(words, id, text));
                SyntaxUnitShape::Test
            }
            CommandNodeKind::Arithmetic(word) => {
                self.optionally(|builder| builder.parts(&word.parts, id, text));
                SyntaxUnitShape::Test
            }
            CommandNodeKind::Coproc(_, body) => {
                SyntaxUnitShape::Coproc(self.node(body, (id, SyntaxUnitRole::Body(0)), text))
            }
        };
        self.redirects(&node.redirects, id, text);
        self.all[id].shape = shape;
        id
    }

    fn case(
        &mut self,
        word: &WordSyntax,
        arms: &[(Vec<WordSyntax>, CommandList)],
        id: SyntaxUnitId,
        text: &SpanText,
    ) -> SyntaxUnitShape {
        self.parts(&word.parts, id, text);
        let mut arm = |(at, (patterns, body)): (usize, &(Vec<WordSyntax>, CommandList))| {
            self.optionally(|builder| builder.words(patterns, id, text));
            self.list(body, Some((id, SyntaxUnitRole::Body(at))), text)
        };
        let bodies: Vec<_> = arms.iter().enumerate().map(&mut arm).collect();
        let falls = self.all[id].source.contains(";&");
        match (!falls).then(|| chosen_arm(word, arms)).flatten() {
            Some(taken) => {
                let arms: Vec<_> = bodies.get(taken).copied().into_iter().collect();
                SyntaxUnitShape::Case { may_skip: arms.is_empty(), arms, falls }
            }
            None => SyntaxUnitShape::Case { arms: bodies, falls, may_skip: true },
        }
    }

    fn redirects(&mut self, redirects: &[RedirectSyntax], id: SyntaxUnitId, text: &SpanText) {
        for redirect in redirects {
            let body = redirect.heredoc.and_then(|number| self.heredocs.get(number));
            self.optionally(|builder| {
                builder.parts(&redirect.target.parts, id, text);
                builder.parts(body.map_or(&[][..], |body| &body.parts), id, text);
            });
        }
    }

    /// Reads a place whose substitutions are optional.
    fn optionally(&mut self, read: impl FnOnce(&mut Self)) {
        let around = std::mem::replace(&mut self.optional, true);
        read(self);
        self.optional = around;
    }

    fn words(&mut self, words: &[WordSyntax], id: SyntaxUnitId, text: &SpanText) {
        for word in words {
            self.parts(&word.parts, id, text);
        }
    }

    fn parts(&mut self, parts: &[WordPart], id: SyntaxUnitId, text: &SpanText) {
        for part in parts {
            match part {
                WordPart::Text(_) | WordPart::Quoted(_) => {}
                WordPart::Double(inner) | WordPart::Arithmetic(inner) => self.parts(inner, id, text),
                WordPart::Pattern(pattern) => self.parts(&pattern.parts, id, text),
                WordPart::Parameter(parameter) => {
                    self.parts(parameter.index.as_deref().unwrap_or_default(), id, text);
                    self.optionally(|builder| builder.parts(&parameter.word, id, text));
                }
                WordPart::Array(words) => self.words(words, id, text),
                WordPart::Command(nested) | WordPart::Process(nested) => self.substitution(nested, id, text),
            }
        }
    }

    fn substitution(&mut self, nested: &SubstitutedCommands, around: SyntaxUnitId, text: &SpanText) {
        let inner = nested.text.clone().map(|inner| {
            let quoted = format!("`{inner}`");
            let mut places = text.text.match_indices(&quoted);
            let first = places.next().filter(|_| places.next().is_none()).zip(text.begins);
            SpanText { text: inner, begins: first.map(|((at, _), begins)| begins + at + 1) }
        });
        let text = inner.as_ref().unwrap_or(text);
        let at = self.all[around].substitutions.len();
        let id = self.add(Some((around, SyntaxUnitRole::Word(at))), canonical_form::span_of_list(&nested.list), text);
        self.all[around].substitutions.push(id);
        let optional = std::mem::take(&mut self.optional);
        let parent = Some((id, SyntaxUnitRole::Body(0)));
        let at = text.begins.map(|begins| begins + canonical_form::span_of_list(&nested.list).start);
        let list = match self.expanded.of_substitution(nested, &text.text, at) {
            Some(expanded) => {
                let read = read_bounded(&expanded.text);
                let text = SpanText { text: expanded.text.into(), begins: None };
                self.list(&read.script.body, parent, &text)
            }
            None => self.list(&nested.list, parent, text),
        };
        self.all[id].shape = SyntaxUnitShape::Substitution(list);
        self.optional = optional;
    }
}

/// Returns the number of the arm of a `case` that runs, or the number of all arms if none does. `None` if the text does
/// not tell.
fn chosen_arm(word: &WordSyntax, arms: &[(Vec<WordSyntax>, CommandList)]) -> Option<usize> {
    let word = literal_value(&word.parts).filter(|word| !word.starts_with('~'))?;
    for (at, (patterns, _)) in arms.iter().enumerate() {
        for pattern in patterns {
            let text = literal_value(&pattern.parts)?;
            let is_any = matches!(pattern.parts.as_slice(), [WordPart::Text(any)] if any == "*");
            if is_any || is_one(pattern) && text == word {
                return Some(at);
            }
            if !is_one(pattern) || text.starts_with('~') {
                return None;
            }
        }
    }
    Some(arms.len())
}

/// Returns whether a word is one word after its expansion.
fn is_one(word: &WordSyntax) -> bool {
    let plain = |part: &WordPart| match part {
        WordPart::Text(text) => !text.contains(['*', '?', '[', '{']),
        WordPart::Quoted(_) => true,
        _ => false,
    };
    word.parts.iter().all(plain)
}
