import type { HighlightToken } from 'agent-bash';
import { visible } from '../../../core/visible.ts';
import type { PageCommand, PageFinding } from '../../wire.ts';
import { h } from './dom.ts';

/** Classes of the parts of a command. */
const CLASSES: Partial<Record<HighlightToken['class'], string>> = {
  program: 'sh-p',
  option: 'sh-o',
  string: 'sh-s',
  variable: 'sh-v',
  keyword: 'sh-k',
  operator: 'sh-x',
  comment: 'sh-c',
  function: 'sh-p',
};

/** Most characters of a command in a list. */
const SHORT = 600;

/** Returns the nodes of a command in colours. The part of each finding is marked with the finding's number. */
export function commandNodes(shown: PageCommand, findings: readonly PageFinding[] = []): Node[] {
  const nodes: Node[] = [];
  let at = 0;
  for (const { from, to, numbers } of marksOf(findings)) {
    nodes.push(...plain(shown, at, from));
    const mark = h('mark', { class: 'risk' });
    // The number is no part of the command.
    mark.append(...plain(shown, from, to), h('sup', { 'aria-hidden': 'true' }, numbers.join(' ')));
    nodes.push(mark);
    at = to;
  }
  nodes.push(...plain(shown, at, shown.command.length));
  return nodes;
}

/** Returns the nodes of a command in colours for one line of a list. A long command is cut in its middle. */
export function shortCommand({ command, tokens }: PageCommand): Node[] {
  if (command.length <= SHORT) return commandNodes({ command, tokens }).map(onOneLine);
  const head = { command: command.slice(0, SHORT / 2), tokens };
  return [...commandNodes(head), document.createTextNode(` … ${visible(command.slice(-SHORT / 2))}`)].map(onOneLine);
}

function onOneLine(node: Node): Node {
  const text = node.textContent ?? '';
  const line = text.replace(/\s+/g, ' ');
  if (line !== text) node.textContent = line;
  return node;
}

/** Returns the marked parts. Overlapping parts become one part, with the numbers of all their findings. */
function marksOf(findings: readonly PageFinding[]): { from: number; to: number; numbers: number[] }[] {
  const marks: { from: number; to: number; numbers: number[] }[] = [];
  for (const [index, { span }] of findings.entries()) {
    const [from, to] = span;
    const last = marks.at(-1);
    if (last && from < last.to) {
      last.to = Math.max(last.to, to);
      last.numbers.push(index + 1);
    } else if (to > from) marks.push({ from, to, numbers: [index + 1] });
  }
  return marks;
}

function plain({ command, tokens }: PageCommand, from: number, to: number): Node[] {
  const nodes: Node[] = [];
  const add = (start: number, end: number, name?: string) => {
    if (end <= start) return;
    const text = visible(command.slice(start, end));
    nodes.push(name ? h('span', { class: name }, text) : document.createTextNode(text));
  };
  let at = from;
  for (const { start, end, class: kind } of tokens) {
    if (end <= at) continue;
    if (start >= to) break;
    add(at, Math.max(at, start));
    add(Math.max(at, start), Math.min(end, to), CLASSES[kind]);
    at = Math.min(end, to);
  }
  add(at, to);
  return nodes;
}
