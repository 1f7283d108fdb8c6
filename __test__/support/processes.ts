import { execFileSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { finished } from './finished.ts';

export interface Process {
  pid: number;
  ppid: number;
  state: string;
  name: string;
  argv: string[];
}

/** One process, or undefined when there is none of that id. */
export function processOf(pid: number): Process | undefined {
  return process.platform === 'linux' ? fromProc(pid) : fromPs().find((one) => one.pid === pid);
}

export function processes(): Process[] {
  if (process.platform !== 'linux') return fromPs();
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => fromProc(Number(name)))
    .filter((one) => one !== undefined);
}

function fromProc(pid: number): Process | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const close = stat.lastIndexOf(')');
    const [state = '', ppid = ''] = stat.slice(close + 2).split(' ');
    const argv = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').slice(0, -1);
    return { pid, ppid: Number(ppid), state, name: stat.slice(stat.indexOf('(') + 1, close), argv };
  } catch {
    return undefined;
  }
}

function fromPs(): Process[] {
  const lines = execFileSync('ps', ['-axww', '-o', 'pid=,ppid=,stat=,args='], { encoding: 'utf8' }).split('\n');
  return lines.flatMap((line) => {
    const [, pid, ppid, state = '', args = ''] = /^\s*(\d+)\s+(\d+)\s+(\S+)\s+(.*)$/.exec(line) ?? [];
    const argv = args.split(' ');
    return pid ? [{ pid: Number(pid), ppid: Number(ppid), state: state.slice(0, 1), name: argv[0] ?? '', argv }] : [];
  });
}

/** Whether a process of that id is there and is not a zombie. */
export function alive(pid: number): boolean {
  const found = processOf(pid);
  return found !== undefined && found.state !== 'Z';
}

export function childrenOf(pid: number): Process[] {
  return processes().filter((one) => one.ppid === pid);
}

/** A number of seconds that no other `sleep` on this machine has; its sleepers are ended with the test. */
export function mark(): string {
  const seconds = `300.${randomInt(1e9, 1e10 - 1)}`;
  finished(() => {
    for (const pid of sleepers(seconds)) kill(pid, 'SIGKILL');
  });
  return seconds;
}

/** The living processes `sleep MARK`. */
export function sleepers(seconds: string): number[] {
  return processes()
    .filter(({ argv, state }) => argv.length === 2 && argv[1] === seconds && state !== 'Z')
    .map(({ pid }) => pid);
}

/** The living processes that have `text` anywhere in their arguments. */
export function mentioning(text: string): Process[] {
  return processes().filter(({ argv, state }) => state !== 'Z' && argv.some((argument) => argument.includes(text)));
}

/** Ends the processes whose `HOME` is this directory, or below it. */
export function endProgramsAt(home: string): void {
  if (process.platform !== 'linux') return;
  for (const { pid } of processes()) if (homeOf(pid).startsWith(home)) kill(pid, 'SIGKILL');
}

/** The `HOME` that a process was started with, or an empty text. */
function homeOf(pid: number): string {
  try {
    return /(?:^|\0)HOME=([^\0]*)/.exec(readFileSync(`/proc/${pid}/environ`, 'utf8'))?.[1] ?? '';
  } catch {
    return '';
  }
}

/** Sends a signal; false when there is no such process any more. */
export function kill(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}

const helper = /agent-bash-s/;

function isHelper({ name, argv, state }: Process): boolean {
  return state !== 'Z' && (helper.test(name) || helper.test(argv[0] ?? ''));
}

/** The supervisor of a host process, when there is one. */
export function supervisorOf(host = process.pid): Process | undefined {
  return childrenOf(host).find(isHelper);
}

/** The shims below a supervisor: those that run a command and those that wait for one. */
export function shimsOf(supervisor: number): Process[] {
  return childrenOf(supervisor).filter(isHelper);
}

/** Zombies below a process and below its supervisor. */
export function zombiesOf(host: number): Process[] {
  const supervisor = supervisorOf(host);
  const parents = new Set([
    host,
    supervisor?.pid,
    ...(supervisor ? shimsOf(supervisor.pid) : []).map(({ pid }) => pid),
  ]);
  return processes().filter(({ ppid, state }) => state === 'Z' && parents.has(ppid));
}
