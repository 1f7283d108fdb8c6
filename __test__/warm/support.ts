import { readFileSync } from 'node:fs';
import { type BashOptions, type BashResult, bash, warmShells, warmUp } from 'agent-bash';
import { expect } from 'vitest';
import { type Process, processes, processOf, shimsOf, supervisorOf, until } from '../support/index.ts';

/** Room for a command among the arguments of a shell that waits. */
const BLANKS = /^ {1000,}$/;

/** Shells below a host that wait for a command. */
export function waitingShells(host = process.pid): Process[] {
  const supervisor = supervisorOf(host);
  if (supervisor === undefined) return [];
  const shims = new Set(shimsOf(supervisor.pid).map(({ pid }) => pid));
  return processes().filter(
    ({ ppid, argv, state }) => shims.has(ppid) && state !== 'Z' && argv.some((argument) => BLANKS.test(argument)),
  );
}

/**
 * Starts a warm shell for commands with these options, and returns its process. A shell for an earlier command may be
 * starting beside it, and is told from it by the variables of `env`.
 */
export async function warmed(options: BashOptions = {}): Promise<Process> {
  const before = new Set(waitingShells().map(({ pid }) => pid));
  expect(await warmUp(options)).toBe(true);
  const variables = Object.entries(options.env ?? {}).map(([name, value]) => `${name}=${value}`);
  const shells = waitingShells().filter(({ pid }) => variables.every((one) => environmentOf(pid).includes(one)));
  const found = shells.find(({ pid }) => !before.has(pid)) ?? shells[0];
  if (found === undefined) throw new Error('no shell waits');
  return found;
}

function environmentOf(pid: number): string[] {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
  } catch {
    return [];
  }
}

/** Runs a command, and says whether a shell that waited had it. */
export async function runs(command: string, options?: BashOptions): Promise<BashResult & { warm: boolean }> {
  const before = warmShells().used;
  const result = await bash(command, options);
  return { ...result, warm: warmShells().used === before + 1 };
}

/** Runs a command in a shell that has waited; fails when it ran in another one. */
export async function runsWarm(command: string, options: BashOptions = {}): Promise<BashResult> {
  expect(await warmUp(options)).toBe(true);
  const { warm, ...result } = await runs(command, options);
  expect(warm, `a shell that waited runs ${command}`).toBe(true);
  return result;
}

/** Until no process of these is there. */
export async function gone(pids: readonly number[], bound?: number): Promise<void> {
  const left = () => pids.filter((pid) => (processOf(pid)?.state ?? 'Z') !== 'Z');
  await until(() => left().length === 0, `the end of ${left()}`, bound);
}
