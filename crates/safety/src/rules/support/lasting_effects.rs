//! Lasting effects: whether a call has an effect, the words for the effect, and the safe form.

use super::quote;
use crate::name_lists::{has_word, words};
use crate::options::{GivenOption, OptionSpec, ParsedArguments, parse};
use crate::programs;
use crate::programs::call::{CallEffect, effects};
use crate::programs::kubernetes::KINDS;
use crate::programs::lasting::{EffectStake, LastingEffect, OperandCondition};
use crate::programs::program::{ProgramEffect, ProgramSpec};
use crate::rules::RuleHit;
use crate::simple_command_view::SimpleCommandView;
use crate::word_value::{ValuePiece, WordValue};

/// Most operands that a message names.
const MAX_NAMED: usize = 3;
/// Longest suggestion that a message repeats, in bytes.
const MAX_QUOTED: usize = 120;
/// Options with which no program does anything that lasts.
const HARMLESS: &str = "help dry-run dryrun";
/// Values that turn an option off.
const OFF: &str = "false none no off 0";

/// Finds a lasting effect of a command that puts `stake` at risk.
pub fn check(command: &SimpleCommandView, stake: EffectStake) -> Option<RuleHit> {
    let program = programs::of(command.name()?);
    let found = effects(program, command.args());
    found.iter().filter(|found| found.is_at_stake(stake)).find_map(|found| LastingCall::new(command, found)?.hit())
}

/// A call with a lasting effect, its words parsed.
struct LastingCall<'a> {
    program: &'static ProgramSpec,
    lasting: &'static LastingEffect,
    /// The words before the subcommand, the called program first.
    before: &'a [WordValue],
    /// The words of the subcommand, with options between them.
    name: &'a [WordValue],
    /// The words behind the subcommand.
    rest: &'a [WordValue],
    /// The options before `rest`.
    leading: ParsedArguments,
    parsed: ParsedArguments,
    /// Whether `-h` has a meaning other than help.
    takes_h: bool,
}

impl<'a> LastingCall<'a> {
    fn new(command: &SimpleCommandView<'a>, found: &CallEffect) -> Option<Self> {
        let ProgramEffect::Lasts(lasting) = found.effect else { return None };
        let program = found.program;
        let own = OptionSpec { permute: true, ..program.options };
        let spec = lasting.spec.unwrap_or(own);
        let (call, rest) = command.argv.split_at(found.end + 1);
        let (before, name) = call.split_at(found.start + 1);
        let leading = parse(&call[1..], &own);
        let takes_h = spec.short.contains("h:");
        Some(Self { program, lasting, before, name, rest, leading, parsed: parse(rest, &spec), takes_h })
    }

    fn hit(&self) -> Option<RuleHit> {
        let with = self.lasting.with;
        let wanted = with.is_empty() || words(with).any(|entry| self.options().any(|given| fits_entry(given, entry)));
        if !wanted || !self.operands_fit() || self.is_harmless() {
            return None;
        }
        let effect = self.fill_template(self.lasting.says, &|values| Some(listed(values))).unwrap_or_default();
        let mut message = format!("this {effect}");
        if self.operands().any(WordValue::has_unknown) {
            message += ". Not all of it is known before it runs";
        }
        let instead = self.safe_form().unwrap_or_default();
        if !instead.is_empty() && instead.len() <= MAX_QUOTED {
            message += ". Try this first: ";
            message += &instead;
        }
        Some(RuleHit::exact(message, instead))
    }

    /// Returns the options of the whole call.
    fn options(&self) -> impl DoubleEndedIterator<Item = &GivenOption> {
        self.leading.options.iter().chain(&self.parsed.options)
    }

    /// Returns the operands behind the subcommand. Options behind `--` belong to a program that this one runs:
    /// `terragrunt run --all apply -- -auto-approve`.
    fn operands(&self) -> impl Iterator<Item = &'a WordValue> {
        let operands = self.parsed.operands.iter().filter_map(|at| self.rest.get(*at));
        operands.filter(|operand| !operand.prefix().starts_with('-') || operand.known() == Some("-"))
    }

    /// Returns the value of the last of these options.
    fn value(&self, names: &str) -> Option<&WordValue> {
        self.options().rev().find(|given| has_word(names, &given.name))?.value.as_ref()
    }

    fn operands_fit(&self) -> bool {
        let fits = |list: &str| {
            let is = |operand: &str, own: &str| match own.strip_suffix('*') {
                Some(start) => operand.starts_with(start),
                None => operand == own,
            };
            self.operands().filter_map(WordValue::known).any(|operand| words(list).any(|own| is(operand, own)))
        };
        match self.lasting.operands {
            OperandCondition::Any => true,
            OperandCondition::Missing => self.operands().next().is_none(),
            OperandCondition::Given => self.operands().next().is_some(),
            OperandCondition::Unknown => {
                let unknown = |piece: &ValuePiece| matches!(piece, ValuePiece::OneOf(_) | ValuePiece::Unknown(_));
                self.operands().any(|operand| operand.has_unknown() && operand.pieces().iter().all(unknown))
            }
            OperandCondition::Unlike(list) => !fits(list),
            OperandCondition::Containing(list) => {
                self.rest.iter().any(|word| words(list).any(|part| shown(word).contains(part)))
            }
        }
    }

    /// Returns whether the call is a dry run, asks for help, or is harmless for another reason.
    fn is_harmless(&self) -> bool {
        let on = |given: &GivenOption| match &given.value {
            Some(value) => value.known().is_some_and(|value| !has_word(OFF, value)),
            None => true,
        };
        let last = |name: &str| self.options().rev().find(|given| given.name == name);
        let harmless = |name: &str| last(name).is_some_and(on);
        !self.takes_h && last("h").is_some()
            || last("no-dry-run").is_none() && words(HARMLESS).any(harmless)
            || words(self.lasting.unless).any(|entry| match entry.contains(['~', '=']) {
                true => self.options().any(|given| fits_entry(given, entry)),
                false => harmless(entry),
            })
    }

    /// Returns the safe form of the call.
    fn safe_form(&self) -> Option<String> {
        let template = self.lasting.instead;
        if template.is_empty() {
            return None;
        }
        if let Some(option) = template.strip_prefix('+') {
            // The last of these options would win.
            let dry =
                |word: &&WordValue| ["--dry-run", "--no-dry-run"].iter().any(|name| word.prefix().starts_with(name));
            let call = quote::line(self.before.iter().chain(self.name).filter(|word| !dry(word)))?;
            let rest = quote::line(self.rest.iter().filter(|word| !dry(word)))?;
            return Some(format!("{call} {option} {rest}").trim_end().to_owned());
        }
        let start = match quote::line(self.before) {
            Some(start) => start,
            None => words(self.program.names).next()?.to_owned(),
        };
        let instead = self.fill_template(template, &|values| quote::line(values.iter().copied()))?;
        Some(format!("{start} {instead}").trim_end().to_owned())
    }

    /// Fills a template with values. `None` if a value is missing.
    fn fill_template(&self, template: &str, write: &dyn Fn(&[&WordValue]) -> Option<String>) -> Option<String> {
        let mut text = String::new();
        let mut rest = template;
        while let Some(at) = rest.find(['[', '{']) {
            text += &rest[..at];
            let close = if rest[at..].starts_with('[') { ']' } else { '}' };
            let end = at + rest[at..].find(close)?;
            let inner = &rest[at + 1..end];
            rest = &rest[end + 1..];
            if close == ']' {
                text += &inner.split('|').find_map(|text| self.fill_template(text, write)).unwrap_or_default();
            } else {
                text += &self.fill_slot(inner, write)?;
            }
        }
        Some(text + rest)
    }

    /// Returns the text for `{…}` in a template.
    fn fill_slot(&self, name: &str, write: &dyn Fn(&[&WordValue]) -> Option<String>) -> Option<String> {
        let operands: Vec<&WordValue> = self.operands().collect();
        match name {
            "" if operands.is_empty() => None,
            "" => write(&operands),
            "resources" => resources(&operands),
            _ => write(&[self.value(name)?]),
        }
    }
}

/// Returns whether an option fits an entry of `with`.
fn fits_entry(given: &GivenOption, entry: &str) -> bool {
    let value = given.value.as_ref().and_then(WordValue::known);
    if let Some((name, part)) = entry.split_once('~') {
        return given.name == name && value.is_some_and(|value| has_part(value, part));
    }
    if let Some((name, wanted)) = entry.split_once('=') {
        // `-X=DELETE` is `-X DELETE` in Go.
        let plain = |value: &str| value.trim_start_matches('=').eq_ignore_ascii_case(wanted);
        return given.name == name && value.is_some_and(plain);
    }
    given.name == entry && !value.is_some_and(|value| has_word(OFF, value))
}

/// Returns whether a value, or a part behind a blank, a bracket, `,`, `:` or `=`, begins with `part`.
fn has_part(value: &str, part: &str) -> bool {
    value.match_indices(part).any(|(at, _)| at == 0 || value[..at].ends_with([' ', ',', ':', '=', '[', '(']))
}

/// Returns values as people read them: `a, b and c`.
fn listed(values: &[&WordValue]) -> String {
    let more = values.len().saturating_sub(MAX_NAMED);
    let mut names: Vec<String> = values.iter().take(MAX_NAMED).map(|value| shown(value)).collect();
    if more > 0 {
        names.push(format!("{more} more"));
    }
    match names.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} and {last}", others.join(", ")),
        None => String::new(),
    }
}

/// Returns a value as people read it, with `…` for each unknown part.
fn shown(value: &WordValue) -> String {
    let text = |piece: &ValuePiece| match piece {
        ValuePiece::Text(text) | ValuePiece::Glob(text) => text.chars().take(200).collect::<String>(),
        ValuePiece::OneOf(_) | ValuePiece::Unknown(_) => "…".to_owned(),
    };
    value.pieces().iter().map(text).collect()
}

/// Returns resources of a cluster as people read them: `the namespace prod`, `the pods a and b`.
fn resources(operands: &[&WordValue]) -> Option<String> {
    let (first, names) = operands.split_first()?;
    let kind_of = |short: &str| {
        let known = words(KINDS).find_map(|entry| {
            let (names, kind) = entry.split_once('=')?;
            names.split('/').any(|name| name == short).then_some(kind)
        });
        known.map_or_else(|| short.to_owned(), str::to_owned)
    };
    let known = first.known()?;
    if let Some((kind, name)) = known.split_once('/') {
        let others = operands[1..].iter().map(|other| shown(other));
        let first = format!("the {} {name}", kind_of(kind));
        return Some(std::iter::once(first).chain(others).collect::<Vec<_>>().join(", "));
    }
    if known.contains(',') {
        return Some(format!("the {known} {}", listed(names)).trim_end().to_owned());
    }
    Some(match names {
        [] => format!("every {} that fits", kind_of(known)),
        [name] => format!("the {} {}", kind_of(known), shown(name)),
        _ => format!("the {}s {}", kind_of(known), listed(names)),
    })
}

#[cfg(test)]
mod tests {
    use crate::name_lists::words;
    use crate::programs;
    use crate::programs::program::ProgramEffect;
    use crate::rules::tests::check_messages;

    #[test]
    fn a_message_says_what_is_at_stake_and_a_suggestion_is_safe() {
        check_messages(&[
            (
                "kubectl delete ns prod",
                "this deletes the namespace prod of the cluster in the current context",
                "kubectl delete --dry-run=server ns prod",
            ),
            (
                "kubectl --context eu -n shop delete pods a b",
                "this deletes the pods a and b in the namespace shop of the cluster in the context eu",
                "kubectl --context eu -n shop delete --dry-run=server pods a b",
            ),
            (
                "kubectl delete deploy/web svc/web --dry-run=none",
                "this deletes the deployment web, svc/web of the cluster in the current context",
                "kubectl delete --dry-run=server deploy/web svc/web",
            ),
            (
                "kubectl delete -f k8s/",
                "this deletes the resources in k8s/ of the cluster in the current context",
                "kubectl delete --dry-run=server -f k8s/",
            ),
            (
                "terraform -chdir=prod destroy -auto-approve",
                "this destroys all infrastructure that the state of prod describes",
                "terraform -chdir=prod plan -destroy",
            ),
            (
                "docker volume rm $(docker volume ls -q)",
                "this deletes the volume … with the data. Not all of it is known before it runs",
                "docker volume ls",
            ),
            ("docker compose -f a.yml down -v", "this deletes the volumes", "docker compose -f a.yml down"),
            ("aws s3 rm s3://b --recursive", "this deletes s3://b from S3", "aws s3 rm --dryrun s3://b --recursive"),
            ("gh repo delete acme/web --yes", "this deletes the repository acme/web", "gh repo view acme/web"),
            (
                "npm publish a b c d e",
                "this publishes a, b, c and 2 more to the registry",
                "npm publish --dry-run a b c d e",
            ),
            ("gcloud compute instances delete vm", "this deletes vm in", "gcloud compute instances list"),
        ]);
    }

    #[test]
    fn a_text_of_a_lasting_effect_needs_no_value() {
        for program in programs::all() {
            for (effect, _) in program.subcommands {
                let ProgramEffect::Lasts(lasting) = effect else { continue };
                for template in [lasting.says, lasting.instead] {
                    let outside = template.split('[').map(|part| part.split_once(']').map_or("", |(_, text)| text));
                    let first = template.split('[').next();
                    let bare = outside.skip(1).chain(first).any(|text| text.contains('{'));
                    assert!(!bare, "{}: {template}", words(program.names).next().unwrap());
                    assert_eq!(template.matches('[').count(), template.matches(']').count(), "{template}");
                }
            }
        }
    }
}
