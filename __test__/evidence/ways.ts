import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  BackgroundRegistry,
  type BashOptions,
  BashSession,
  bash,
  type Evidence,
  PtySession,
  warmShells,
  warmUp,
} from 'agent-bash';
import { finished, folder, isLinux } from '../support/index.ts';

/** The parts of a run that a command could change by being watched. */
export interface Seen {
  exitCode: number | null;
  text: string;
  evidence: Evidence | null;
}

export type Run = (command: string, options?: BashOptions) => Promise<Seen>;

/** Words of commands that start cold, because they could reveal a shell that has waited. See docs/shells.md. */
const STARTS_COLD = /PIPESTATUS|environ/;

/** How often a command asks for a shell that has waited. */
const TRIES = 5;

/** Each way in which a command runs. */
export const WAYS: [name: string, run: Run][] = [
  ['cold', (command, options) => plain(command, { warm: false, ...options })],
  ['warm', warm],
  ['in a session', (command, options) => inSession(command, options)],
  ['in a cold session', (command, options) => inSession(command, { warm: false, ...options })],
  ['in a terminal', inTerminal],
  ['as a task', asTask],
  ['moved to the background', moved],
  ['watched for a receipt', (command, options) => plain(command, { receipt: 'watch', ...options })],
  ...(isLinux ? recorded() : []),
];

function recorded(): [name: string, run: Run][] {
  return [
    ['recorded', (command, options) => plain(command, { receipt: 'exact', ...options })],
    ['recorded in a session', (command, options) => inSession(command, { undo: 'always', ...options })],
    ['confined', (command, options) => plain(command, { confine: 'workspace', ...options })],
    ['confined, cold', (command, options) => plain(command, { confine: 'read-only', warm: false, ...options })],
    ['confined in a session', (command, options) => inSession(command, { confine: 'workspace', ...options })],
    ['confined in a terminal', (command, options) => inTerminal(command, { confine: 'workspace', ...options })],
    ['confined as a task', (command, options) => asTask(command, { confine: 'workspace', ...options })],
  ];
}

async function plain(command: string, options: BashOptions = {}): Promise<Seen> {
  const { exitCode, stdout, stderr, evidence } = await bash(command, { cwd: folder(), ...options });
  return { exitCode, text: stdout + stderr, evidence };
}

/** A command in a shell that has waited. On a busy machine a shell may not be there in time. */
async function warm(command: string, options: BashOptions = {}): Promise<Seen> {
  // A shell waits in the directory of its command.
  const here = { cwd: folder(), ...options };
  for (let n = 0; n < TRIES; n++) {
    await warmUp(here);
    const { used } = warmShells();
    const seen = await plain(command, here);
    if (warmShells().used > used || STARTS_COLD.test(command)) return seen;
  }
  throw new Error('no shell that had waited served');
}

/** The second command of a session, so that its shell restores a state. */
async function inSession(command: string, options: BashOptions = {}): Promise<Seen> {
  const session = new BashSession({ cwd: folder(), ...options });
  finished(() => session.close());
  await session.run('before=1');
  const { exitCode, stdout, stderr, evidence } = await session.run(command);
  return { exitCode, text: stdout + stderr, evidence };
}

async function inTerminal(command: string, options: BashOptions = {}): Promise<Seen> {
  const terminal = new PtySession({ cwd: folder(), ...options });
  finished(() => terminal.kill());
  await terminal.start(command);
  const { exitCode, stdout, evidence } = await terminal.result();
  return { exitCode, text: stdout, evidence };
}

async function asTask(command: string, options: BashOptions = {}): Promise<Seen> {
  const registry = new BackgroundRegistry();
  finished(() => registry.close());
  const task = await registry.start(command, { cwd: folder(), ...options });
  const check = await registry.wait(task);
  return { exitCode: check.task.exitCode, text: check.output, evidence: check.evidence };
}

/** A command that goes to the background before it does anything. */
async function moved(command: string, options: BashOptions = {}): Promise<Seen> {
  const registry = new BackgroundRegistry();
  finished(() => registry.close());
  const go = join(folder(), 'go');
  const slow = `while test ! -e ${go}; do sleep .02; done; ${command}`;
  const limits = { timeoutMs: 100, onTimeout: 'background', registry } as const;
  const { background, evidence } = await bash(slow, { cwd: folder(), ...limits, ...options });
  if (background === null || evidence !== null) throw new Error('it was to move, without evidence so far');
  writeFileSync(go, '');
  const check = await registry.wait(background);
  return { exitCode: check.task.exitCode, text: check.output, evidence: check.evidence };
}
