/** Counts what a path costs: instructions with valgrind's callgrind, system calls with strace. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { addon, here, supervisor } from '../../scripts/platform.mjs';
import { run } from '../../scripts/process.mjs';
import { PATHS } from './paths.mjs';

const HOST = join(import.meta.dirname, 'host.mjs');

/** Our own code. What Node, bash and the C library do in between differs from machine to machine. */
const OURS = [addon(here), supervisor];

/** Programs of commands, which callgrind lets run as they are. */
const FOREIGN = ['bash', 'head', 'rm', 'mkdir', 'yes'];

/** Whether a process lives that was started with a word in its command line, or is a copy of one that was. */
function lives(word) {
  const hasWord = (pid) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes(word);
    } catch {
      return false;
    }
  };
  return readdirSync('/proc').some((name) => /^\d+$/.test(name) && hasWord(name));
}

const sum = (counts) => counts.reduce((all, count) => all + count, 0);

/** The environment of all that is counted, as a developer may have it: a start reads each variable. */
const ENVIRONMENT = {
  PATH: '/usr/local/bin:/usr/bin:/bin',
  LANG: 'C.UTF-8',
  TERM: 'xterm-256color',
  USER: 'ann',
  LOGNAME: 'ann',
  SHELL: '/bin/bash',
  EDITOR: 'vim',
  PAGER: 'less',
  LESS: '-R',
  XDG_SESSION_TYPE: 'tty',
  SSH_AUTH_SOCK: '/run/user/1000/keyring/ssh',
  GIT_AUTHOR_NAME: 'Ann',
};

/** Runs a command below a tool that writes a file for each process into a directory. Resolves to the texts by pid. */
async function traced(command, tool, env = {}) {
  const place = mkdtempSync(join(tmpdir(), 'agent-bash-counted-'));
  try {
    const [program, ...flags] = tool(place);
    // Its ledger and its tasks lie apart from those of this user.
    const all = { ...ENVIRONMENT, HOME: place, XDG_STATE_HOME: join(place, 'state'), ...env };
    const pairs = Object.entries(all).map(([name, value]) => `${name}=${value}`);
    const options = { output: 'keep', limitMs: 300_000 };
    const { stdout } = await run('env', ['-i', ...pairs, program, ...flags, ...command], options);
    // Helpers exit a moment after their host.
    while (lives(place)) await sleep(20);
    const files = readdirSync(place).filter((name) => /\.\d+$/.test(name));
    const texts = new Map(files.map((name) => [name.split('.').at(-1), readFileSync(join(place, name), 'utf8')]));
    return { texts, stdout };
  } finally {
    rmSync(place, { recursive: true });
  }
}

/** The instructions that a process has spent in each file of code, from an output of callgrind. */
export function instructionsOf(text) {
  const names = new Map();
  const counts = {};
  let file = '';
  let isCall = false;
  for (const line of text.split('\n')) {
    const object = /^(c?)ob=\((\d+)\)(?: (.*))?$/.exec(line);
    if (object) {
      const [, isCalled, number, path] = object;
      if (path) names.set(number, path.split('/').at(-1));
      if (!isCalled) file = names.get(number);
    } else if (line.startsWith('calls=')) {
      isCall = true;
    } else if (/^[\d+*-]/.test(line)) {
      // The line after a call has what the called function took, which is counted where it did its work.
      if (!isCall) counts[file] = (counts[file] ?? 0) + Number(line.split(' ')[1] ?? 0);
      isCall = false;
    }
  }
  return counts;
}

export async function instructions(command, { env, files } = {}) {
  const skipped = FOREIGN.map((name) => `*/${name}`).join(',');
  const tool = (place) => [
    'valgrind',
    ...['--tool=callgrind', '--quiet', `--callgrind-out-file=${join(place, 'cost.%p')}`],
    ...['--trace-children=yes', `--trace-children-skip=${skipped}`],
  ];
  const { texts, stdout } = await traced(command, tool, env);
  const counts = [...texts.values()].map(instructionsOf);
  const ours = (count) => sum((files ?? Object.keys(count)).map((file) => count[file] ?? 0));
  return { count: sum(counts.map(ours)), stdout };
}

/** The number of system calls of our helpers, from the outputs of strace by pid. */
export function callsOf(texts) {
  const programOf = (text) => [...text.matchAll(/^execve\("([^"]*)".* = 0$/gm)].at(-1)?.[1].split('/').at(-1);
  const threadsOf = (text) => [...text.matchAll(/CLONE_THREAD.* = (\d+)$/gm)].map(([, pid]) => pid);
  const isHost = (text) => programOf(text) === 'node';
  const host = new Set([...texts].filter(([, text]) => isHost(text)).map(([pid]) => pid));
  for (const pid of host) for (const thread of threadsOf(texts.get(pid) ?? '')) host.add(thread);
  const helpers = [...texts].filter(
    ([pid, text]) => !host.has(pid) && [undefined, supervisor].includes(programOf(text)),
  );
  return sum(helpers.map(([, text]) => text.split('\n').length - 1));
}

async function calls(command, { env }) {
  const tool = (place) => ['strace', '-ff', '-qq', '-o', join(place, 'calls')];
  return { count: callsOf((await traced(command, tool, env)).texts) };
}

/** Resolves to the cost of one unit of a path without processes: what a run with one more takes more. */
export async function costOfWork(program, name) {
  const once = await instructions([program, name, '1']);
  const twice = await instructions([program, name, '2']);
  return { instructions: twice.count - once.count, bytes: Number(once.stdout) };
}

/** Resolves to the cost of one unit of a path of whole commands, in our own code. */
export async function costOfCommands(name) {
  const { counts, unit, env } = PATHS[name];
  const [few, many] = counts;
  const count = { instructions, calls }[unit];
  const cost = async (times) => {
    const command = [process.execPath, HOST, name, `${times}`];
    return (await count(command, { env, files: OURS })).count;
  };
  const less = await cost(few);
  return { [unit]: Math.round(((await cost(many)) - less) / (many - few)) };
}
