import type { View } from 'agent-bash';
import { visible } from '../core/visible.ts';
import { grouped } from './words.ts';

/**
 * Returns lines about the output that the text for a model leaves out: a summary and, with `expanded`, one line for
 * each place. A text that leaves nothing out needs no line.
 */
export function elided({ tokens, elided: places, path }: View, expanded: boolean): string[] {
  if (places.length === 0) return [];
  const gaps = places.filter(({ why }) => why !== 'long');
  const lines = gaps.reduce((sum, { fromLine, toLine }) => sum + toLine - fromLine + 1, 0);
  const long = places.length - gaps.length;
  const left = [
    ...(lines > 0 ? [counted(lines, 'line')] : []),
    ...(long > 0 ? [`the middle of ${counted(long, 'long line')}`] : []),
  ];
  const whole = path ? `; whole in ${path}` : '';
  const sum = `the model reads ${grouped(tokens.after)} of ${grouped(tokens.before)} tokens, without ${left.join(' and ')}${whole}`;
  return [visible(sum), ...(expanded ? places.map(placeOf) : [])];
}

function placeOf({ stream, fromLine, toLine, why }: View['elided'][number]): string {
  if (why === 'long') return `  ${stream} L${fromLine}: the middle of a long line`;
  return visible(`  ${stream} L${fromLine}${toLine === fromLine ? '' : `-${toLine}`}: ${why}`);
}

function counted(count: number, word: string): string {
  return `${grouped(count)} ${word}${count === 1 ? '' : 's'}`;
}
