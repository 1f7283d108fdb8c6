import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline/promises';
import { bash, safetyRules } from 'agent-bash';
import type { Check } from '../check.ts';
import { hosts } from '../confinement.ts';
import { isGvisor, supervisorFile } from '../core.ts';
import type { Hands } from './apply.ts';
import type { Own } from './causes.ts';
import { type Facts, factsOf, type Trial } from './facts.ts';

/** The parts of a fix that depend on the machine and its user. Tests replace them. */
export interface Machine {
  hands: Hands;
  own: Own;
  facts(): Promise<Facts>;
  /** Tries the parts again, in another process: this one has started its supervisor. */
  retry(): Promise<Check[]>;
  /** Asks a yes or no question. `null` without a terminal. */
  ask: ((question: string) => Promise<boolean>) | null;
}

/** Returns this machine. */
export function thisMachine(version: string): Machine {
  // Loads the addon, beside which the supervisor is.
  safetyRules();
  return {
    hands: { top: '/', runs: true, sudo: process.geteuid?.() !== 0 },
    own: { version, supervisor: supervisorFile() },
    facts: async () => factsOf(await trial()),
    retry,
    ask: process.stdin.isTTY && process.stdout.isTTY ? ask : null,
  };
}

/** Tries what holds the parts of a confinement, and whether it can allow hosts. */
export async function trial(): Promise<Trial> {
  const { confinement } = await bash('true', { confine: { profile: 'read-only', require: [] } });
  const { way = 'none', missing = [] } = confinement ?? {};
  return { way, hosts: (await hosts()).state === 'ok', remedy: missing[0]?.remedy ?? null, gvisor: isGvisor() };
}

async function retry(): Promise<Check[]> {
  const argv = [...process.execArgv, process.argv[1] as string, 'doctor', '--json'];
  const report = await new Promise<string>((done) => {
    // Its exit code says whether commands run, and the report says it, too.
    execFile(process.execPath, argv, (_, stdout) => done(stdout));
  });
  const { checks } = JSON.parse(report) as { checks: Check[] };
  return checks.filter(({ name }) => name.startsWith('confine-'));
}

async function ask(question: string): Promise<boolean> {
  const { stdin: input, stdout: output } = process;
  const terminal = createInterface({ input, output });
  try {
    // The end of the input is no answer, and neither is Ctrl-C.
    const answer = terminal.question(question).catch(() => '');
    const closed = once(terminal, 'close').then(() => '');
    return /^y(es)?$/i.test((await Promise.race([answer, closed])).trim());
  } finally {
    terminal.close();
  }
}
