//! The engine's spine: read and follow a command, hold the rules against all that it comes to, say the verdict.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::LazyLock;

use super::analysis::{Analysis, CommandUnit, Finding, ReadOnly, RedirectUnit, Word};
use super::command::{Command, Input, Redirect, Scene, Source};
use super::follow::{Environment, PARTING, Prior, Told, Walker, normal};
use super::level::{Confidence, Verdict};
use super::read_only::read_only;
use super::rules::{Hit, RULES, Rule, fork_bomb, incomplete, opaque_command, opaque_script};
use super::unwrap::Custom;
use super::value::{Piece, Value};

/// A command longer than this is not judged.
const MAX_COMMAND: usize = 1 << 20;
/// The most alternatives that a command's words are tried in.
const MAX_CHOICES: usize = 16;
/// The most findings that are told.
const MAX_FINDINGS: usize = 100;

/// How a host wants commands judged.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Policy {
    /// Rules at other levels; `Allow` is off.
    pub levels: HashMap<String, Verdict>,
    /// Wrappers that it knows of.
    pub wrappers: Custom,
}

/// What a command is to run with.
#[derive(Clone, Copy, Debug, Default)]
pub struct Setting<'a> {
    /// The folder that it starts in, absolute.
    pub cwd: &'a str,
    /// The user's home.
    pub home: &'a str,
    /// Its variables.
    pub environment: Environment<'a>,
    /// Its positional parameters.
    pub args: &'a [String],
    /// What it reads on its standard input, where that is known.
    pub stdin: Option<&'a str>,
    /// What its shell holds before it.
    pub before: Prior<'a>,
}

/// Says what rules find in a command, the strictest first: all that has to be known to let it through or not.
pub fn findings(command: &str, setting: Setting<'_>, policy: &Policy) -> Vec<Finding> {
    let scene = scene(setting);
    let walker = follow(command, setting, policy, &scene);
    Judge::new(command, setting, policy, &scene).findings(command, &walker)
}

/// Says what a command does.
pub fn analyze(command: &str, setting: Setting<'_>, policy: &Policy) -> Analysis {
    let scene = scene(setting);
    let walker = follow(command, setting, policy, &scene);
    let judge = Judge::new(command, setting, policy, &scene);
    let findings = judge.findings(command, &walker);
    let listed: Vec<&Told> = walker.told.iter().filter(|told| told.listed).collect();
    let reads = listed.iter().filter(|told| !told.argv.is_empty() || !told.redirects.is_empty());
    let worst = reads.map(|told| judge.read_only(told)).max().unwrap_or(ReadOnly::Yes);
    Analysis {
        command: command.to_owned(),
        cwd: scene.cwd.clone(),
        verdict: findings.first().map_or(Verdict::Allow, |finding| finding.level),
        complete: walker.complete,
        read_only: if walker.complete { worst } else { worst.max(ReadOnly::Unknown) },
        findings,
        commands: listed.into_iter().map(|told| judge.unit(told)).collect(),
    }
}

/// Reads a command and follows all that it comes to.
fn follow<'a>(command: &str, setting: Setting<'a>, policy: &'a Policy, scene: &'a Scene) -> Walker<'a> {
    let mut walker = Walker::new(setting.environment, scene, &policy.wrappers);
    if command.contains('\0') || command.len() > MAX_COMMAND {
        walker.complete = false;
    } else {
        let args = std::iter::once(Value::of("bash")).chain(setting.args.iter().map(Value::of)).collect();
        let input = setting.stdin.map_or(Input::Inherited, |text| Input::Text(Value::of(text), Source::Pipe));
        walker.hold(setting.before);
        walker.command(command, args, input);
    }
    walker
}

fn scene(setting: Setting<'_>) -> Scene {
    let mut temp = vec!["/tmp".to_owned(), "/var/tmp".to_owned(), "/private/tmp".to_owned(), "/dev/shm".to_owned()];
    let own = setting.environment.get("TMPDIR").filter(|folder| folder.starts_with('/')).map(normal);
    temp.extend(own.filter(|folder| folder.len() > 1 && !temp.contains(folder)));
    Scene { cwd: normal(setting.cwd), home: normal(setting.home), temp }
}

/// Holds rules against what was found.
struct Judge<'a> {
    scene: &'a Scene,
    policy: &'a Policy,
    environment: Environment<'a>,
    units: Utf16,
}

impl<'a> Judge<'a> {
    fn new(command: &str, setting: Setting<'a>, policy: &'a Policy, scene: &'a Scene) -> Self {
        Self { scene, policy, environment: setting.environment, units: Utf16::new(command) }
    }

    /// What the rules find in all of it.
    fn findings(&self, command: &str, walker: &Walker<'_>) -> Vec<Finding> {
        let mut findings = Vec::new();
        for told in &walker.told {
            self.told(told, &mut findings);
        }
        if !walker.complete {
            findings.extend(self.incomplete(command));
        }
        // The strictest first; of the same level, as they stand.
        findings.sort_by_key(|finding| std::cmp::Reverse(finding.level));
        findings.truncate(MAX_FINDINGS);
        findings
    }

    fn level(&self, rule: &Rule) -> Verdict {
        self.policy.levels.get(rule.id).copied().unwrap_or(rule.level)
    }

    /// All that the rules find in one command.
    fn told(&self, told: &Told, findings: &mut Vec<Finding>) {
        if told.dead {
            return;
        }
        if told.opaque {
            self.finding(told, &opaque_script::RULE, opaque_script::hit(), told.confidence, findings);
        }
        if told.bomb {
            self.finding(told, &fork_bomb::RULE, fork_bomb::hit(), told.confidence, findings);
        }
        let choices = choices(&told.argv);
        let sure = if choices.len() > 1 { Confidence::Partial } else { Confidence::Exact };
        for argv in &choices {
            for (index, folder) in told.folders.iter().enumerate() {
                let command = Command { argv, ..told.command(folder, self.scene) };
                let sure =
                    told.confidence.max(sure).max(if index > 0 { Confidence::Partial } else { Confidence::Exact });
                self.rules(told, &command, sure, findings);
            }
        }
        let heads = choices.iter().filter_map(|argv| argv.first());
        let written = told.via.is_empty();
        if heads.into_iter().any(|head| is_nameless(head, written)) && !told.opaque && told.listed {
            self.finding(told, &opaque_command::RULE, opaque_command::hit(), told.confidence, findings);
        }
    }

    fn rules(&self, told: &Told, command: &Command<'_>, sure: Confidence, findings: &mut Vec<Finding>) {
        let name = command.name();
        for rule in rules_of(name) {
            if let Some(hit) = (rule.check)(command) {
                self.finding(told, rule, hit, sure, findings);
            }
        }
    }

    fn finding(&self, told: &Told, rule: &Rule, hit: Hit, sure: Confidence, findings: &mut Vec<Finding>) {
        // What nobody calls yet may be called: only what is sure to be wrong counts.
        if told.uncalled && hit.confidence != Confidence::Exact {
            return;
        }
        let sure = if told.uncalled { sure.max(Confidence::Partial) } else { sure };
        let confidence = sure.max(hit.confidence);
        let level = match self.level(rule) {
            Verdict::Allow => return,
            Verdict::Deny if confidence != Confidence::Exact => Verdict::Ask,
            level => level,
        };
        let finding = Finding {
            rule_id: rule.id.to_owned(),
            level,
            confidence,
            span: self.units.span(&told.span),
            argv: texts(&told.argv, &told.sources),
            via: told.via.to_vec(),
            message: hit.message,
            suggestion: hit.suggestion,
        };
        let same = |other: &&mut Finding| {
            other.rule_id == finding.rule_id && other.span == finding.span && other.via == finding.via
        };
        match findings.iter_mut().find(same) {
            Some(other)
                if (other.level, std::cmp::Reverse(other.confidence)) >= (level, std::cmp::Reverse(confidence)) => {}
            Some(other) => *other = finding,
            None => findings.push(finding),
        }
    }

    fn incomplete(&self, command: &str) -> Option<Finding> {
        let level = self.level(&incomplete::RULE);
        let hit = incomplete::hit();
        (level != Verdict::Allow).then(|| Finding {
            rule_id: incomplete::RULE.id.to_owned(),
            // Nothing was found, so nothing can be denied.
            level: level.min(Verdict::Ask),
            confidence: hit.confidence,
            span: self.units.span(&(0..command.len())),
            argv: Vec::new(),
            via: Vec::new(),
            message: hit.message,
            suggestion: hit.suggestion,
        })
    }

    fn read_only(&self, told: &Told) -> ReadOnly {
        let Some(folder) = told.folders.first() else { return ReadOnly::Unknown };
        read_only(&told.command(folder, self.scene), self.environment, told.transparent)
    }

    fn unit(&self, told: &Told) -> CommandUnit {
        let head = told.argv.first();
        let word = |value: &Value, source: &str| match value.known() {
            Some(text) => Word { text: text.to_owned(), known: true },
            None => Word { text: source.to_owned(), known: false },
        };
        CommandUnit {
            name: head.and_then(Value::base_name).filter(|name| !name.is_empty()).map(str::to_owned),
            path: head.map(|head| word(head, told.sources.first().map_or("", String::as_str)).text),
            argv: told.argv.iter().zip(&told.sources).map(|(value, source)| word(value, source)).collect(),
            prefix: told.prefix.clone(),
            assignments: told.assigned.clone(),
            redirects: told.redirects.iter().map(|redirect| unit_of(redirect, &word)).collect(),
            cwd: told.folders.first().and_then(Value::known).map(str::to_owned),
            via: told.via.to_vec(),
            span: self.units.span(&told.span),
            source: told.source.clone(),
            wrapper: told.transparent,
        }
    }
}

fn unit_of(redirect: &Redirect, word: &impl Fn(&Value, &str) -> Word) -> RedirectUnit {
    let is_file = redirect.writes_file() || redirect.op == "<";
    let path = redirect.target.known().filter(|target| is_file && !target.is_empty()).and_then(|target| {
        if target.starts_with('/') {
            Some(normal(target))
        } else {
            redirect.cwd.known().map(|cwd| normal(&format!("{cwd}/{target}")))
        }
    });
    RedirectUnit { op: redirect.op.clone(), fd: redirect.fd, target: word(&redirect.target, &redirect.source), path }
}

/// Whether what runs is not known. `$X -rf /` without an X runs `-rf`: what was meant is not known either. Scripts of a folder of the
/// project (`for t in tests/*.sh; do "$t"; done`) are as good as one that is named.
fn is_nameless(head: &Value, written: bool) -> bool {
    let system = ["/bin", "/sbin", "/usr", "/opt"].iter().any(|folder| head.prefix().starts_with(folder));
    let of_folder = written && head.has_glob() && !head.has_hole() && head.prefix().contains('/') && !system;
    !of_folder && head.base_name().is_none_or(|name| name.is_empty() || name.starts_with('-'))
}

/// The rules that look at programs of this name, in their order.
fn rules_of(name: Option<&str>) -> &'static [&'static Rule] {
    static ALL: LazyLock<Vec<&Rule>> =
        LazyLock::new(|| RULES.iter().copied().filter(|rule| rule.heads.is_empty()).collect());
    static BY_HEAD: LazyLock<HashMap<&str, Vec<&Rule>>> = LazyLock::new(|| {
        let heads = RULES.iter().flat_map(|rule| rule.heads.iter().copied());
        let of = |head: &str| {
            RULES.iter().copied().filter(|rule| rule.heads.is_empty() || rule.heads.contains(&head)).collect()
        };
        heads.map(|head| (head, of(head))).collect()
    });
    name.and_then(|name| BY_HEAD.get(name)).unwrap_or(&ALL)
}

/// Words as people read them.
fn texts(argv: &[Value], sources: &[String]) -> Vec<String> {
    let source = |at: usize| sources.get(at).cloned().unwrap_or_default();
    argv.iter().enumerate().map(|(at, value)| value.known().map_or_else(|| source(at), str::to_owned)).collect()
}

/// The words with each of the texts that they may have.
fn choices(argv: &[Value]) -> Vec<Cow<'_, [Value]>> {
    let open = |value: &Value| value.pieces().iter().any(|piece| matches!(piece, Piece::OneOf(_)));
    if !argv.iter().any(open) {
        return vec![Cow::Borrowed(argv)];
    }
    let mut choices: Vec<Vec<Value>> = vec![Vec::new()];
    for value in argv {
        let alone = matches!(value.pieces(), [Piece::OneOf(_)]);
        let mut values = alternatives(value);
        if choices.len() * values.len() > MAX_CHOICES {
            values = vec![Value::unknown()];
        }
        let Some((last, others)) = values.split_last() else { return Vec::new() };
        // The words before are copied only where ways part: a copy for each word would be quadratic.
        let mut longer = Vec::with_capacity(choices.len() * values.len());
        for mut choice in choices {
            for value in others {
                let mut other = choice.clone();
                append(&mut other, value, alone);
                longer.push(other);
            }
            append(&mut choice, last, alone);
            longer.push(choice);
        }
        choices = longer;
    }
    choices.into_iter().map(Cow::Owned).collect()
}

/// Appends one of the texts that a word may have.
fn append(choice: &mut Vec<Value>, value: &Value, alone: bool) {
    match value.known() {
        Some(text) if text.contains(PARTING) => {
            choice.extend(text.split(PARTING).filter(|part| !part.is_empty()).map(Value::of));
        }
        // A word that comes to nothing is none.
        Some("") if alone => {}
        _ => choice.push(value.clone()),
    }
}

fn alternatives(value: &Value) -> Vec<Value> {
    let mut all = vec![Value::default()];
    for piece in value.pieces() {
        let texts = match piece {
            Piece::OneOf(texts) => texts.clone(),
            piece => {
                for value in &mut all {
                    value.push(piece.clone());
                }
                continue;
            }
        };
        let too_many = all.len() * texts.len() > MAX_CHOICES;
        all = all
            .iter()
            .flat_map(|value| texts.iter().map(move |text| (value, text)))
            .take(if too_many { MAX_CHOICES - 1 } else { MAX_CHOICES })
            .map(|(value, text)| {
                let mut value = value.clone();
                value.push(Piece::Text(text.clone()));
                value
            })
            .collect();
        if too_many {
            // And whatever else it may be.
            all.push(Value::unknown());
        }
    }
    all
}

/// From bytes to UTF-16 units.
struct Utf16(Option<Vec<u32>>);

impl Utf16 {
    fn new(text: &str) -> Self {
        if text.is_ascii() {
            return Self(None);
        }
        let mut units = Vec::with_capacity(text.len() + 1);
        let mut count = 0;
        for next in text.chars() {
            units.extend(std::iter::repeat_n(count, next.len_utf8()));
            count += u32::try_from(next.len_utf16()).unwrap_or(1);
        }
        units.push(count);
        Self(Some(units))
    }

    fn span(&self, span: &std::ops::Range<usize>) -> (usize, usize) {
        let at = |byte: usize| match &self.0 {
            None => byte,
            Some(units) => units.get(byte).or(units.last()).map_or(0, |unit| *unit as usize),
        };
        (at(span.start), at(span.end))
    }
}

#[cfg(test)]
mod tests {
    use crate::safety::Verdict;
    use crate::safety::corpus_tests::judge;

    #[test]
    fn a_word_with_more_texts_than_are_tried_is_not_known() {
        let one_of = |name: &str| {
            format!("if t; then {name}=a; elif u; then {name}=b; elif v; then {name}=c; else {name}=d; fi\n")
        };
        let words = format!("{}{}{}", one_of("x"), one_of("y"), one_of("z"));
        assert_eq!(judge(&format!("{words}\"run-$x$y\"")).verdict, Verdict::Allow);
        assert_eq!(judge(&format!("{words}\"run-$x$y$z\"")).verdict, Verdict::Ask);
    }
}
