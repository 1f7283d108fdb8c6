import {
  type Analysis,
  type CommandRedirect,
  type CommandUnit,
  type Decision,
  type Finding,
  highlight,
  type Verdict,
} from 'agent-bash';
import { unitNesting, unitText } from '../safety/unit-text.ts';
import { cells } from './columns.ts';
import { type Colour, paint, printable } from './console.ts';
import { spot } from './spot.ts';

const COLOURS: Record<Verdict, Colour> = { allow: 'green', warn: 'yellow', ask: 'yellow', deny: 'red' };
/** Characters of a command in the tree. */
const MOST = 160;

/** Returns an analysis for people: the verdict, the commands as a tree, and the findings. */
export function report(analysis: Analysis, decision: Decision | null): string[] {
  const { verdict, complete, readOnly, findings } = analysis;
  const facts = [
    ...(complete ? [] : ['not all of it could be judged']),
    ...(readOnly === 'yes' ? ['it only reads'] : readOnly === 'no' ? ['it changes something'] : []),
  ];
  return [
    [paint(COLOURS[verdict], verdict), ...facts.map((fact) => paint('dim', fact))].join(paint('dim', ' · ')),
    ...titled(tree(analysis)),
    ...findings.flatMap((finding) => titled(found(analysis.command, finding))),
    ...(decision === null ? [] : titled(decided(decision))),
  ];
}

function titled(lines: string[]): string[] {
  return lines.length === 0 ? [] : ['', ...lines];
}

/** A command and the commands that it runs. */
interface Node {
  label: string;
  children: Node[];
}

/** Returns the simple commands, each with those that it runs below it. */
function tree({ commands, cwd }: Analysis): string[] {
  const roots: Node[] = [];
  // The last command on each path. A command that comes through it is placed below.
  const last = new Map<string, Node>();
  for (const unit of commands) {
    const nesting = unitNesting(unit);
    const via = nesting.at(-1);
    const node: Node = { label: `${via === undefined ? '' : `${via}: `}${label(unit, cwd)}`, children: [] };
    const parent = via === undefined ? undefined : last.get(JSON.stringify(nesting.slice(0, -1)));
    (parent?.children ?? roots).push(node);
    last.set(JSON.stringify(unit.via), node);
  }
  return drawn(roots);
}

function drawn(nodes: Node[], lead = ''): string[] {
  return nodes.flatMap(({ label, children }, index) => {
    const last = index === nodes.length - 1;
    return [`${lead}${last ? '└─' : '├─'} ${label}`, ...drawn(children, `${lead}${last ? '   ' : '│  '}`)];
  });
}

function label(unit: CommandUnit, folder: string): string {
  const words = [unitText(unit), ...unit.redirects.map(redirectText)].filter((text) => text !== '').join(' ');
  const shown = [...plain(words)];
  const elsewhere = unit.cwd === folder ? '' : paint('dim', `  in ${unit.cwd ?? 'a directory that is not known'}`);
  return `${shown.slice(0, MOST).join('')}${shown.length > MOST ? '…' : ''}${elsewhere}`;
}

function redirectText({ op, fd, target, path }: CommandRedirect): string {
  return `${fd ?? ''}${op}${op.endsWith('&') || op.startsWith('<<') ? '' : ' '}${path ?? target.text}`;
}

/** Returns one line without control characters. */
function plain(text: string): string {
  return cells(printable(text))
    .map(({ shown }) => shown)
    .join('');
}

function found(command: string, { ruleId, level, confidence, span, via, message, suggestion }: Finding): string[] {
  const reached = via.length > 0 ? `, through ${via.join(' › ')}` : '';
  return [
    `${paint(COLOURS[level], level)} ${ruleId} ${paint('dim', `(${confidence}${reached})`)}`,
    ...spot(command, span, highlight(command)).flatMap(({ line, marks }) => [
      `  ${line}`,
      ...(marks === '' ? [] : [`  ${paint(COLOURS[level], marks)}`]),
    ]),
    `  ${plain(message)}`,
    ...(suggestion === '' ? [] : [`  instead: ${plain(suggestion)}`]),
  ];
}

function decided({ verdict, unmatched, suggestRules }: Decision): string[] {
  return [
    `${paint(COLOURS[verdict], verdict)} by the rules`,
    ...unmatched.map((text) => `  no rule allows: ${plain(text)}`),
    ...suggestRules.map((rule) => `  would allow it: ${plain(rule)}`),
  ];
}
