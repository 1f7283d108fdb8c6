import { type Analysis, type CommandUnit, type Decision, decide } from 'agent-bash';
import type { UndoForecast } from '../core/inner.ts';
import { visible } from '../core/visible.ts';
import { unitNesting, unitText } from '../safety/unit-text.ts';
import { joinParts, withSuggestion } from '../tool/parts.ts';

/** Most characters of a command, and most lines of its steps, that a person is shown. */
const MOST_CHARACTERS = 4_000;
const MOST_LINES = 20;

/** The rules behind a decision. */
export interface Rules {
  allow: string[] | undefined;
  ask: string[];
  deny: string[];
}

/** Returns the reasons to ask, each a sentence on one line. */
export function askReasons(analysis: Analysis, decision: Decision, rules: Rules): string[] {
  const asks = matching(analysis, rules.ask, 'ask');
  const why = [
    ...analysis.findings.filter(({ level }) => level === 'ask').map(({ message }) => message),
    ...asks.map((rule) => `the rule «${rule}» asks`),
    ...(decision.unmatched.length > 0 ? [`no rule allows ${decision.unmatched.map(oneLine).join(', ')}`] : []),
    ...(decision.nearest ?? []).map(({ command, rule, why }) => `the rule «${rule}» does not allow ${command}: ${why}`),
    // With an empty list, nothing else speaks against the command.
    ...(analysis.findings.length + asks.length + decision.unmatched.length === 0 ? ['no rule allows it'] : []),
  ];
  return why.map(oneLine);
}

/**
 * Returns the question for a person: the command, its effect, the reasons to ask, how far it can be undone, and
 * alternatives. Plain text.
 */
export function askReason(analysis: Analysis, decision: Decision, why: string[], undo = ''): string {
  const { command, cwd } = analysis;
  const steps = stepsOf(analysis);
  return joinParts([
    `${indented(shortened(command))}\n\nin ${cwd}`,
    steps.length === 1 && steps[0] === command.trim() ? '' : section('It would run:', steps),
    section('Why this asks:', why),
    undo,
    section('Instead:', suggestionsOf(analysis)),
    section('Rules that would allow it:', decision.suggestRules),
  ]);
}

/** Returns how far a command can be undone. The answer only says "can be undone" if the undo covers everything. */
export function undoReason({ left, why }: UndoForecast): string {
  if (why !== null) return `Undo: not possible, because ${oneLine(why)}.`;
  if (left.length === 0) return 'Undo: it can be undone.';
  return section('Undo: its changes of files are kept, but an undo does not take back:', left);
}

/** Returns how much of a command's changes an undo takes back. */
export function undoCover({ left, why }: UndoForecast): 'full' | 'part' | 'none' {
  if (why !== null) return 'none';
  return left.length === 0 ? 'full' : 'part';
}

/** Returns the reason of a refusal for the model: the fault, and the alternative. */
export function denyReason(analysis: Analysis, rules: Rules): string {
  const why = [
    ...analysis.findings.filter(({ level }) => level === 'deny').map(({ message }) => message),
    ...matching(analysis, rules.deny, 'deny').map((rule) => `permission denied: the rule «${rule}» does not allow it`),
  ];
  return withSuggestion(why.join('\n'), suggestionsOf(analysis, 'deny')[0]);
}

/** Returns the rules that match something in the command. */
function matching(analysis: Analysis, rules: string[], verdict: 'ask' | 'deny'): string[] {
  const harmless: Analysis = { ...analysis, verdict: 'allow' };
  return rules.filter((rule) => decide(harmless, { [verdict]: [rule] }).verdict === verdict);
}

function suggestionsOf({ findings }: Analysis, ...levels: string[]): string[] {
  const wanted = findings.filter(({ level }) => levels.length === 0 || levels.includes(level));
  return [...new Set(wanted.map(({ suggestion }) => suggestion).filter((suggestion) => suggestion !== ''))];
}

/** Lists every simple command as it would run and every file that would be written. */
function stepsOf({ commands }: Analysis): string[] {
  const steps = commands.flatMap((unit) => [...(unit.wrapper ? [] : runs(unit)), ...writes(unit)]);
  const shown = steps.slice(0, MOST_LINES);
  return steps.length > MOST_LINES ? [...shown, `… and ${steps.length - MOST_LINES} more`] : shown;
}

function runs(unit: CommandUnit): string[] {
  return unit.argv.length === 0 ? [] : [[...unitNesting(unit), unitText(unit)].join(' › ')];
}

function writes({ redirects }: CommandUnit): string[] {
  return redirects.flatMap(({ op, target, path }) => {
    // A descriptor is known and has no path.
    const file = path ?? (target.known ? '/dev/null' : target.text);
    return /^(?:&?>>?|>\||<>|>&)$/.test(op) && file !== '/dev/null' ? [`write ${file}`] : [];
  });
}

function section(title: string, lines: string[]): string {
  return lines.length === 0 ? '' : `${title}\n${lines.map((line) => `  - ${oneLine(line)}`).join('\n')}`;
}

function indented(text: string): string {
  return visible(text)
    .split('\n')
    .map((line) => `  ${line}`)
    .join('\n');
}

function oneLine(text: string): string {
  return visible(shortened(text, 400)).replace(/\s*\n\s*/g, ' ⏎ ');
}

/** Shortens a long text in the middle: both its start and its end stay visible. */
function shortened(text: string, most = MOST_CHARACTERS): string {
  if (text.length <= most) return text;
  const half = most / 2;
  return `${text.slice(0, half)}\n… ${text.length - most} characters are not shown …\n${text.slice(-half)}`;
}
