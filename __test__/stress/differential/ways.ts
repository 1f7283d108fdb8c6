import { type BashOptions, type BashResult, bash } from 'agent-bash';
import { moduleOf, variables, type Way } from '../../support/index.ts';
import type { Outcome } from './plain.ts';

export const ways: readonly Way[] = ['cold', 'warm', 'session'];

export const options: BashOptions = {
  inheritEnv: 'none',
  env: { PATH: process.env.PATH, HOME: '/home/of/nobody', LC_ALL: 'C.UTF-8', TZ: 'UTC' },
  sanitize: false,
  truncate: { keep: 'tail' },
  spill: false,
  // Syntax errors and the like are worth a note of the safety engine; here only what bash does counts.
  safety: 'off',
};

/** Whether the command is watched for its evidence, with taps, which it must not notice. */
export const evidences = ['off', 'status'] as const;
export type WithEvidence = (typeof evidences)[number];

/** The environment that our bash starts with, so that the plain one gets the same. */
export async function environment(): Promise<Record<string, string>> {
  const { stdout } = await bash('exec env -0', options);
  const all = variables(stdout);
  // Variables that bash itself sets, except for PWD, which it inherits. The order of all of them counts.
  for (const name of ['OLDPWD', 'SHLVL', '_']) delete all[name];
  return all;
}

/** Runs a script in one of the ways. */
export async function runIn(way: Way, script: string, more: BashOptions): Promise<BashResult> {
  const { bash: run } = (await import(moduleOf(way))) as typeof import('agent-bash');
  return run(script, { ...options, taps: more.evidence === 'status' ? 'on' : 'off', ...more });
}

export function outcomeOf({ stdout, stderr, exitCode }: BashResult): Outcome {
  return { stdout, stderr, exitCode: exitCode ?? -1 };
}

/** The parts that must be equal. In a session stderr may have more, if a script traces itself or closes its streams. */
export function compared(way: Way, outcome: Outcome): Partial<Outcome> {
  const [stdout, stderr] = [outcome.stdout, outcome.stderr].map(withoutNumbers) as [string, string];
  const { exitCode } = outcome;
  return way === 'session' ? { stdout, exitCode } : { stdout, stderr, exitCode };
}

/**
 * The mark of a command differs each time, and the parent of a plain bash is this very process. No other number stays
 * the same from one plain run to the next.
 */
function withoutNumbers(text: string): string {
  return text.replaceAll(/(PPID|AGENT_BASH_ID)="?[\w-]+/g, '$1');
}

/** Where two outcomes begin to differ, for a person to read. */
export function firstDifference(expected: Partial<Outcome>, found: Partial<Outcome>): string {
  const fields = ['exitCode', 'stdout', 'stderr'] as const;
  return fields
    .filter((field) => expected[field] !== found[field])
    .map((field) => {
      const [wanted, got] = [expected, found].map((one) => String(one[field]).split('\n')) as [string[], string[]];
      const line = wanted.findIndex((text, index) => text !== got[index]);
      const at = line < 0 ? wanted.length : line;
      const part = (lines: string[]) => JSON.stringify(lines.slice(at, at + 3));
      return `${field}, from line ${at + 1}: expected ${part(wanted)}, found ${part(got)}`;
    })
    .join('\n');
}
