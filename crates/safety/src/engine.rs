//! The spine of the engine: evaluates a command, checks each simple command against the rules, and returns the verdict.

use std::borrow::Cow;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::LazyLock;

use super::analysis::{AnalyzedWord, CommandAnalysis, CommandUnit, ReadOnly, RedirectUnit, RuleFinding};
use super::confinement_reach::ConfinementReach;
use super::eval::{CommandEvaluation, CommandEvaluator, EnvironmentBlock, SimpleCommand};
use super::path::normal;
use super::read_only::read_only;
use super::reversal::{self, ReversalFacts};
use super::rules::{RULES, RuleHit, RulePrograms, SafetyRule, fork_bomb, incomplete, opaque_command, opaque_script};
use super::simple_command_view::{
    CommandDirectories, CommandStdin, ExpandedRedirect, InitialShellState, SimpleCommandView, StdinTextSource,
};
use super::unwrap::CustomWrappers;
use super::utf16_offsets::Utf16Offsets;
use super::verdict::{AnalysisConfidence, SafetyVerdict};
use super::word_alternatives::{choices, is_choice};
use super::word_value::WordValue;

/// Longest command that is judged, in bytes.
const MAX_COMMAND: usize = 1 << 20;
/// Most findings that are reported.
const MAX_FINDINGS: usize = 100;

/// The host's settings.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SafetyPolicy {
    /// Rules with a changed level. `Allow` turns a rule off.
    pub levels: HashMap<String, SafetyVerdict>,
    /// Wrappers that the host knows of.
    pub wrappers: CustomWrappers,
}

/// The surroundings of a command.
#[derive(Clone, Copy, Debug, Default)]
pub struct AnalysisContext<'a> {
    /// The directory that the command starts in, absolute.
    pub cwd: &'a str,
    /// The user's home.
    pub home: &'a str,
    /// The variables of the environment.
    pub environment: EnvironmentBlock<'a>,
    /// The positional parameters.
    pub args: &'a [String],
    /// The standard input, if it is known.
    pub stdin: Option<&'a str>,
    /// The state of the shell before the command.
    pub shell_state: InitialShellState<'a>,
    /// The reach that a confinement leaves the command. `None`: the command is not confined.
    pub reach: Option<ConfinementReach<'a>>,
}

/// Returns what the rules find in a command, the strictest first. This is enough to decide whether the command runs.
pub fn findings(command: &str, context: AnalysisContext<'_>, policy: &SafetyPolicy) -> Vec<RuleFinding> {
    let directories = directories(context);
    let evaluation = evaluate(command, context, policy, &directories);
    RuleChecker::new(command, context, policy, &directories).findings(command, &evaluation)
}

/// Returns the findings like [`findings`], and the facts about the command that an undo needs.
pub fn assess(command: &str, context: AnalysisContext<'_>, policy: &SafetyPolicy) -> (Vec<RuleFinding>, ReversalFacts) {
    let directories = directories(context);
    let evaluation = evaluate(command, context, policy, &directories);
    let findings = RuleChecker::new(command, context, policy, &directories).findings(command, &evaluation);
    (findings, reversal::collect_reversal_facts(&evaluation, context.environment, &directories))
}

/// Returns the full analysis of a command.
pub fn analyze(command: &str, context: AnalysisContext<'_>, policy: &SafetyPolicy) -> CommandAnalysis {
    let directories = directories(context);
    let evaluation = evaluate(command, context, policy, &directories);
    let judge = RuleChecker::new(command, context, policy, &directories);
    let findings = judge.findings(command, &evaluation);
    let mut listed = evaluation.commands;
    // A guess is listed if a finding is about it.
    listed.retain(|simple| simple.traits.listed || judge.is_found(simple, &findings));
    let commands: Vec<CommandUnit> = listed.into_iter().flat_map(|simple| judge.units(simple)).collect();
    let acting = commands.iter().filter(|unit| !unit.argv.is_empty() || !unit.redirects.is_empty());
    let worst = acting.map(|unit| unit.read_only).max().unwrap_or(ReadOnly::Yes);
    CommandAnalysis {
        command: command.to_owned(),
        cwd: directories.cwd.clone(),
        verdict: findings.first().map_or(SafetyVerdict::Allow, |finding| finding.level),
        complete: evaluation.complete,
        read_only: if evaluation.complete { worst } else { worst.max(ReadOnly::Unknown) },
        findings,
        commands,
    }
}

/// Evaluates a command with everything nested in it.
fn evaluate(
    command: &str,
    context: AnalysisContext<'_>,
    policy: &SafetyPolicy,
    directories: &CommandDirectories,
) -> CommandEvaluation {
    if command.contains('\0') || command.len() > MAX_COMMAND {
        return CommandEvaluation::incomplete();
    }
    let args = std::iter::once(WordValue::of("bash")).chain(context.args.iter().map(WordValue::of)).collect();
    let input = context
        .stdin
        .map_or(CommandStdin::Inherited, |text| CommandStdin::Text(WordValue::of(text), StdinTextSource::Pipe));
    let evaluator = CommandEvaluator::new(context.environment, directories, &policy.wrappers);
    evaluator.evaluate(command, args, input, context.shell_state)
}

fn directories(context: AnalysisContext<'_>) -> CommandDirectories {
    let mut temp = vec!["/tmp".to_owned(), "/var/tmp".to_owned(), "/private/tmp".to_owned(), "/dev/shm".to_owned()];
    let own = context.environment.get("TMPDIR").filter(|directory| directory.starts_with('/')).map(normal);
    temp.extend(own.filter(|directory| directory.len() > 1 && !temp.contains(directory)));
    let writable = context.reach.map(|reach| reach.write.iter().map(|path| normal(path)).collect());
    CommandDirectories { cwd: normal(context.cwd), home: normal(context.home), temp, writable }
}

/// Checks simple commands against the rules.
struct RuleChecker<'a> {
    directories: &'a CommandDirectories,
    policy: &'a SafetyPolicy,
    environment: EnvironmentBlock<'a>,
    reach: Option<ConfinementReach<'a>>,
    units: Utf16Offsets,
}

impl<'a> RuleChecker<'a> {
    fn new(
        command: &str,
        context: AnalysisContext<'a>,
        policy: &'a SafetyPolicy,
        directories: &'a CommandDirectories,
    ) -> Self {
        let AnalysisContext { environment, reach, .. } = context;
        Self { directories, policy, environment, reach, units: Utf16Offsets::new(command) }
    }

    /// Returns the findings of all rules.
    fn findings(&self, command: &str, evaluation: &CommandEvaluation) -> Vec<RuleFinding> {
        let mut findings = Vec::new();
        for simple in &evaluation.commands {
            self.check(simple, &mut findings);
        }
        if !evaluation.complete {
            findings.extend(self.incomplete(command));
        }
        // Sorts the strictest first. Findings of the same level keep their order.
        findings.sort_by_key(|finding| std::cmp::Reverse(finding.level));
        findings.truncate(MAX_FINDINGS);
        findings
    }

    fn level(&self, rule: &SafetyRule) -> SafetyVerdict {
        self.policy.levels.get(rule.id).copied().unwrap_or(rule.level)
    }

    /// Adds the findings of all rules about one command.
    fn check(&self, simple: &SimpleCommand, findings: &mut Vec<RuleFinding>) {
        if simple.traits.dead || simple.traits.unseen {
            return;
        }
        if simple.traits.opaque {
            self.finding(simple, &opaque_script::RULE, opaque_script::hit(), simple.confidence, findings);
        }
        if simple.traits.bomb {
            self.finding(simple, &fork_bomb::RULE, fork_bomb::hit(), simple.confidence, findings);
        }
        let choices = choices(&simple.argv);
        let sure = if choices.len() > 1 { AnalysisConfidence::Partial } else { AnalysisConfidence::Exact };
        for argv in &choices {
            for (index, cwd) in simple.cwds.iter().enumerate() {
                let command = SimpleCommandView { argv, ..simple.view_in(cwd, self.directories) };
                let sure = simple.confidence.max(sure).max(if index > 0 {
                    AnalysisConfidence::Partial
                } else {
                    AnalysisConfidence::Exact
                });
                self.rules(simple, &command, sure, findings);
            }
        }
        let mut programs = choices.iter().filter_map(|argv| argv.first());
        let written = simple.via.is_empty();
        if programs.any(|program| is_nameless(program, written)) && !simple.traits.opaque && simple.traits.listed {
            self.finding(simple, &opaque_command::RULE, opaque_command::hit(), simple.confidence, findings);
        }
    }

    fn rules(
        &self,
        simple: &SimpleCommand,
        command: &SimpleCommandView<'_>,
        sure: AnalysisConfidence,
        findings: &mut Vec<RuleFinding>,
    ) {
        let name = command.name();
        for rule in rules_of(name) {
            if let Some(hit) = (rule.check)(command) {
                // A denied command stays denied.
                let denied =
                    self.level(rule) == SafetyVerdict::Deny && sure.max(hit.confidence) == AnalysisConfidence::Exact;
                if denied || !self.reach.is_some_and(|reach| reach.prevents(rule.id, command)) {
                    self.finding(simple, rule, hit, sure, findings);
                }
            }
        }
    }

    fn finding(
        &self,
        simple: &SimpleCommand,
        rule: &SafetyRule,
        hit: RuleHit,
        sure: AnalysisConfidence,
        findings: &mut Vec<RuleFinding>,
    ) {
        // A function that is not called may be called later. Only exact findings in it count.
        if simple.traits.uncalled && hit.confidence != AnalysisConfidence::Exact {
            return;
        }
        let sure = if simple.traits.uncalled { sure.max(AnalysisConfidence::Partial) } else { sure };
        let confidence = sure.max(hit.confidence);
        let level = match self.level(rule) {
            SafetyVerdict::Allow => return,
            SafetyVerdict::Deny if confidence != AnalysisConfidence::Exact => SafetyVerdict::Ask,
            level => level,
        };
        let finding = RuleFinding {
            rule_id: rule.id.to_owned(),
            level,
            confidence,
            span: self.units.span(&simple.span),
            argv: texts(&simple.argv, &simple.sources),
            via: simple.via.to_vec(),
            message: match hit.asked.filter(|_| level != SafetyVerdict::Deny) {
                Some(asked) => asked.to_owned(),
                None => hit.message,
            },
            suggestion: hit.suggestion,
        };
        let same = |other: &&mut RuleFinding| {
            other.rule_id == finding.rule_id && other.span == finding.span && other.via == finding.via
        };
        match findings.iter_mut().find(same) {
            Some(other)
                if (other.level, std::cmp::Reverse(other.confidence)) >= (level, std::cmp::Reverse(confidence)) => {}
            Some(other) => *other = finding,
            None => findings.push(finding),
        }
    }

    fn incomplete(&self, command: &str) -> Option<RuleFinding> {
        let level = self.level(&incomplete::RULE);
        let hit = incomplete::hit();
        (level != SafetyVerdict::Allow).then(|| RuleFinding {
            rule_id: incomplete::RULE.id.to_owned(),
            // No rule found anything, so nothing can be denied.
            level: level.min(SafetyVerdict::Ask),
            confidence: hit.confidence,
            span: self.units.span(&(0..command.len())),
            argv: Vec::new(),
            via: Vec::new(),
            message: hit.message,
            suggestion: hit.suggestion,
        })
    }

    fn read_only(&self, simple: &SimpleCommand) -> ReadOnly {
        let Some(cwd) = simple.cwds.first() else { return ReadOnly::Unknown };
        let own = read_only(&simple.view_in(cwd, self.directories), self.environment, simple.traits.transparent);
        if simple.traits.decided && !simple.argv.is_empty() { own.max(ReadOnly::Unknown) } else { own }
    }

    /// Returns whether a finding is about a command.
    fn is_found(&self, simple: &SimpleCommand, findings: &[RuleFinding]) -> bool {
        let span = self.units.span(&simple.span);
        let is_it = |finding: &RuleFinding| {
            finding.span == span && finding.via == *simple.via && finding.argv == texts(&simple.argv, &simple.sources)
        };
        findings.iter().any(is_it)
    }

    /// The command with each combination of the words that it may have. Such words do not count as known.
    fn units(&self, simple: SimpleCommand) -> Vec<CommandUnit> {
        if !simple.argv.iter().any(is_choice) {
            return vec![self.unit(simple)];
        }
        let all: Vec<Vec<WordValue>> = choices(&simple.argv).into_iter().map(Cow::into_owned).collect();
        // Whether an empty text is a word, its quotes decide.
        let all = all.into_iter().filter(|argv| argv.len() >= simple.argv.len());
        let unit = |argv| {
            let mut unit = self.unit(SimpleCommand { argv, ..simple.clone() });
            for word in &mut unit.argv {
                word.known &= simple.argv.iter().any(|value| value.known() == Some(&word.text));
            }
            unit.name = unit.name.filter(|_| unit.argv.first().is_some_and(|program| program.known));
            unit
        };
        let units: Vec<CommandUnit> = all.map(unit).collect();
        if units.is_empty() { vec![self.unit(simple)] } else { units }
    }

    fn unit(&self, simple: SimpleCommand) -> CommandUnit {
        let read_only = self.read_only(&simple);
        let program = simple.argv.first();
        let name = program.and_then(WordValue::base_name).filter(|name| !name.is_empty()).map(str::to_owned);
        // A word of several texts may be several words.
        let sources = simple.sources.into_iter().chain(std::iter::repeat(String::new()));
        let argv: Vec<AnalyzedWord> =
            simple.argv.into_iter().zip(sources).map(|(value, source)| word(value, source)).collect();
        CommandUnit {
            name,
            path: argv.first().map(|program| program.text.clone()),
            argv,
            prefix: simple.prefix,
            assignments: simple.assigned,
            redirects: simple.redirects.into_iter().map(unit_of).collect(),
            cwd: simple.cwds.first().and_then(WordValue::known).map(str::to_owned),
            via: Rc::unwrap_or_clone(simple.via),
            span: self.units.span(&simple.span),
            source: simple.source,
            wrapper: simple.traits.transparent,
            read_only,
        }
    }
}

/// Returns a word as people read it: its value, or its source.
fn word(value: WordValue, source: String) -> AnalyzedWord {
    match value.into_known() {
        Some(text) => AnalyzedWord { text, known: true },
        None => AnalyzedWord { text: source, known: false },
    }
}

fn unit_of(redirect: ExpandedRedirect) -> RedirectUnit {
    let is_file = redirect.writes_file() || redirect.op == "<";
    let path = redirect.target.known().filter(|target| is_file && !target.is_empty()).and_then(|target| {
        if target.starts_with('/') {
            Some(normal(target))
        } else {
            redirect.cwd.known().map(|cwd| normal(&format!("{cwd}/{target}")))
        }
    });
    RedirectUnit { op: redirect.op, fd: redirect.fd, target: word(redirect.target, redirect.source), path }
}

/// Whether the program is not known. `$X -rf /` without an X runs `-rf`: the program that was meant is not known.
/// Scripts in a directory of the project (`for t in tests/*.sh; do "$t"; done`) count as known.
fn is_nameless(program: &WordValue, written: bool) -> bool {
    let system = ["/bin", "/sbin", "/usr", "/opt"].iter().any(|directory| program.prefix().starts_with(directory));
    let of_directory =
        written && program.has_glob() && !program.has_unknown() && program.prefix().contains('/') && !system;
    !of_directory && program.base_name().is_none_or(|name| name.is_empty() || name.starts_with('-'))
}

/// The rules that check programs of this name, in order.
fn rules_of(name: Option<&str>) -> &'static [&'static SafetyRule] {
    static ALL: LazyLock<Vec<&SafetyRule>> =
        LazyLock::new(|| RULES.iter().copied().filter(|rule| matches!(rule.programs, RulePrograms::All)).collect());
    static BY_PROGRAM: LazyLock<HashMap<&str, Vec<&SafetyRule>>> = LazyLock::new(|| {
        let named: Vec<(&SafetyRule, Vec<&str>)> = RULES.iter().map(|rule| (*rule, rule.programs.names())).collect();
        let of = |program: &str| {
            let checks = |(rule, names): &&(&SafetyRule, Vec<&str>)| {
                matches!(rule.programs, RulePrograms::All) || names.contains(&program)
            };
            named.iter().filter(checks).map(|(rule, _)| *rule).collect()
        };
        let mut by_program = HashMap::new();
        for program in named.iter().flat_map(|(_, names)| names) {
            by_program.entry(*program).or_insert_with(|| of(program));
        }
        by_program
    });
    name.and_then(|name| BY_PROGRAM.get(name)).unwrap_or(&ALL)
}

/// Words as people read them: their values, or their sources.
fn texts(argv: &[WordValue], sources: &[String]) -> Vec<String> {
    let source = |at: usize| sources.get(at).cloned().unwrap_or_default();
    argv.iter().enumerate().map(|(at, value)| value.known().map_or_else(|| source(at), str::to_owned)).collect()
}
