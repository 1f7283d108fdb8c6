import { spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { BackgroundRegistry, type BackgroundTask } from 'agent-bash';
import { describe, expect } from 'vitest';
import { body, carrying, closings, gapless, logOf, tasksFolder } from '../../../background/support.ts';
import {
  alive,
  fixture,
  folder,
  linuxTest,
  mark,
  packageRoot,
  processOf,
  settles,
  shimsOf,
  sleepers,
  supervisorOf,
  until,
} from '../../../support/index.ts';

/**
 * How often the host is killed: AGENT_BASH_CHAOS_ROUNDS, or 100 in CI, or 20. AGENT_BASH_CHAOS_SEED is the first seed.
 * The name of a test holds its seeds, so that it can be run again.
 */
const rounds = Number(process.env.AGENT_BASH_CHAOS_ROUNDS ?? (process.env.AGENT_BASH_CI === '1' ? 100 : 20));
const first = Number(process.env.AGENT_BASH_CHAOS_SEED ?? randomInt(1, 2 ** 31));

/** Rounds at a time: they wait more than they work. */
const SIDE_BY_SIDE = 4;

interface Announced {
  id: string;
  kind: string;
}

/** Runs a host until some moment, kills it, and returns its reports. */
async function killed(seed: number, env: Record<string, string>) {
  const child = spawn(process.execPath, [fixture('chaos-host.mjs')], {
    cwd: packageRoot,
    env: { ...process.env, NODE_OPTIONS: '', ...env, SEED: `${seed}` },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let text = '';
  let errors = '';
  child.stdout.setEncoding('utf8').on('data', (piece: string) => {
    text += piece;
  });
  child.stderr.setEncoding('utf8').on('data', (piece: string) => {
    errors += piece;
  });
  const closed = once(child, 'close');
  try {
    await until(() => text.includes('"up"'), 'the host is up', 40_000);
    const supervisor = await until(() => supervisorOf(child.pid));
    // The random moment is the point here, so there is no event to await.
    await sleep((seed * 7919) % 900);
    const helpers = [supervisor.pid, ...shimsOf(supervisor.pid).map(({ pid }) => pid)];
    child.kill('SIGKILL');
    helpers.push(...shimsOf(supervisor.pid).map(({ pid }) => pid));
    await settles(closed);
    const lines = text.split('\n').slice(1, -1);
    return { announced: lines.map((line) => JSON.parse(line) as Announced), helpers, errors };
  } finally {
    child.kill('SIGKILL');
  }
}

/** Waits for the end of a task with a directory, and checks every claim about it. */
async function verify(tasks: BackgroundRegistry, task: BackgroundTask): Promise<void> {
  const [, kind = 'unknown', lines, exit] = /^(?:bash -c )?# chaos (\w+) (\d+) (\d+)\n/.exec(task.command) ?? [];
  const { task: last } = await settles(tasks.wait(task.id), 40_000);
  const log = logOf(last);
  const ends = closings(log);
  const code = Number(exit);
  // Survivors go on counting. Their task begins after the command's own exit, with code 2.
  const rest = kind === 'unknown' || (kind === 'left' && last.exitCode !== 2);
  const ofKind = {
    plain: ['exited', code, null],
    moved: ['exited', code, null],
    left: ['exited', rest ? code : 2, null],
    // Only the name of a process that has just exited can be read.
    unknown: [task.command.startsWith('[') && 'exited', expect.any(Number), null],
    limit: ['killed', 124, expect.stringMatching(/^SIG(TERM|KILL)$/)],
    // The host was about to kill it, and may have been killed before.
    killed: last.state === 'killed' ? ['killed', 143, 'SIGTERM'] : ['exited', code, null],
  }[kind];
  expect([last.state, last.exitCode, last.signal], `${kind} ${task.id} ${task.command.slice(0, 60)}`).toEqual(ofKind);
  const line =
    last.state === 'killed'
      ? `killed: ${last.signal}`
      : last.exitCode
        ? `failed: exit code ${last.exitCode}`
        : 'completed';
  expect(ends, task.id).toEqual([`[background process ${line}]`]);
  expect(log.endsWith(`${ends[0]}\n`)).toBe(true);
  if (kind === 'limit') return expect(body(log)).toBe('');
  if (rest) {
    const { o, e } = gapless(body(log), true);
    if (lines) expect([o || Number(lines), e || Number(lines)], task.id).toEqual([Number(lines), Number(lines)]);
  } else if (kind === 'left') {
    gapless(body(log));
  } else if (last.state === 'exited') {
    expect(gapless(body(log)), task.id).toEqual({ o: Number(lines), e: Number(lines) });
  } else {
    // Its last line may be cut.
    const text = body(log);
    gapless(text.slice(0, text.lastIndexOf('\n', text.length - 2) + 1));
  }
}

async function round(seed: number): Promise<void> {
  try {
    await accountedFor(seed);
  } catch (error) {
    throw new Error(`seed ${seed}: ${(error as Error).message}`, { cause: error });
  }
}

async function accountedFor(seed: number): Promise<void> {
  const dir = tasksFolder();
  const temporary = folder();
  const seconds = mark();
  const token = `chaos-${seed}-${Math.random()}`;
  const env = { DIR: dir, SLEEP: seconds, TMPDIR: temporary, CHAOS_TOKEN: token };
  const { announced, helpers, errors } = await killed(seed, env);
  expect(errors).toBe('');

  const tasks = new BackgroundRegistry({ dir, maxTasks: 500 });
  const known = new Set<string>();
  const look = async () => {
    const found = tasks.list().filter(({ id }) => !known.has(id));
    for (const { id } of found) known.add(id);
    await Promise.all(found.map((task) => verify(tasks, task)));
  };
  await look();
  expect(announced.filter(({ id }) => !known.has(id))).toEqual([]);
  await until(() => sleepers(seconds).length === 0, 'no sleeper is left').catch((error: Error) => {
    const parents = sleepers(seconds).map((pid) => processOf(processOf(pid)?.ppid ?? 0));
    throw new Error(`${error.message}: ${JSON.stringify(parents)}`);
  });
  await until(() => carrying(token).length === 0, 'no process with the mark is left');
  await until(() => !helpers.some(alive), 'no helper is left');
  // A start that was overtaken by the host's end may have succeeded since. It is then an ordinary task.
  await look();
  expect(tasks.list().filter(({ state }) => state === 'running')).toEqual([]);
  expect(tasks.notes).toEqual([]);
  const left = readdirSync(temporary, { withFileTypes: true, recursive: true })
    .map((entry) => join(entry.parentPath, entry.name).slice(temporary.length + 1))
    .filter((path) => !/^agent-bash-\d+(\/[a-z]+)?$/.test(path));
  expect(left).toEqual([]);
  await tasks.close();
}

describe(`Linux: a host that is killed with SIGKILL at any moment, ${rounds} times`, () => {
  const groups = Array.from({ length: Math.ceil(rounds / SIDE_BY_SIDE) }, (_, n) => ({
    from: first + n * SIDE_BY_SIDE,
    to: first + Math.min(rounds, (n + 1) * SIDE_BY_SIDE) - 1,
  }));
  linuxTest.each(groups)(
    'every task with `dir` is accounted for, and nothing else is left: seeds $from to $to',
    async ({ from, to }) => {
      const all = Array.from({ length: to - from + 1 }, (_, n) => round(from + n));
      await Promise.allSettled(all);
      await Promise.all(all);
    },
  );
});
