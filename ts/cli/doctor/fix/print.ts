import { paint, print, printable } from '../../console.ts';
import { shellLine } from './plan.ts';
import type { Change, Removal, Step } from './types.ts';

/** Prints a plan for people: what is wrong, each change, the way back, and how to use the files. */
export async function printPlan(plan: Step[]): Promise<void> {
  for (const { why, changes, undo, use } of plan) {
    await print(why);
    for (const change of changes) for (const line of linesOf(change)) await print(`  ${line}`);
    if (use.length > 0) await print('  use');
    for (const line of use) await print(`        ${line}`);
    for (const line of undo) await print(`  ${paint('dim', `undo  ${printable(line)}`)}`);
  }
}

function linesOf(change: Change | Removal): string[] {
  switch (change.kind) {
    case 'file': {
      const content = change.content.trimEnd().split('\n');
      return [`write ${named(change)}`, ...content.map((line) => paint('dim', `      ${line}`.trimEnd()))];
    }
    case 'copy':
      return [`copy  ${printable(change.from)} to ${named(change)}`];
    default:
      return [`run   ${printable(shellLine(change))}`];
  }
}

const named = ({ path, mode }: { path: string; mode: number }) => `${printable(path)}, mode ${mode.toString(8)}`;
