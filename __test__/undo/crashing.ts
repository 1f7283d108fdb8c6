import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Undone } from 'agent-bash';
import { expect } from 'vitest';
import { type Host, host, kill, shimsOf, supervisorOf, until, WAIT } from '../support/index.ts';
import { Site } from './support.ts';

/** Numbers below `limit`, the same row of them for each seed. */
export function randomOf(seed: number): (limit: number) => number {
  let state = seed >>> 0;
  return (limit) => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) >>> 0;
    return ((state ^ (state >>> 13)) >>> 0) % limit;
  };
}

const FILES = 12;

/** A tree with files of which each has its own text. */
function filled(): Site {
  const site = new Site();
  for (let at = 0; at < FILES; at++) site.write(`d${at % 3}/e/f${at}`, `text ${at} of before\n`);
  return site;
}

/** A command that changes the tree in many ways, one step after the other. */
function changes(random: (limit: number) => number): string {
  const file = () => `$(ls d*/e/f* d*/f* moved/* 2> /dev/null | sed -n ${1 + random(FILES)}p)`;
  const acts = [
    () => `f=${file()}; [ -n "$f" ] && echo more >> "$f"`,
    () => `f=${file()}; [ -n "$f" ] && sed -i s/before/after/ "$f"`,
    () => `f=${file()}; [ -n "$f" ] && rm "$f"`,
    () => `f=${file()}; [ -n "$f" ] && mkdir -p moved && mv "$f" moved/`,
    () => `mkdir -p new/${random(9)} && echo new > new/${random(9)}/f 2> /dev/null`,
    () => `mv d${random(3)} d${random(3)}/x 2> /dev/null || mv d${random(3)} moved-d${random(9)} 2> /dev/null`,
    () => `rm -rf d${random(3)}`,
    () => `f=${file()}; [ -n "$f" ] && chmod 60${random(8)} "$f"`,
    () => `f=${file()}; [ -n "$f" ] && ln "$f" link${random(99)}`,
  ];
  const steps = Array.from({ length: 60 }, () => acts[random(acts.length)]?.());
  return `touch started; ${steps.join('\n')}\ntrue`;
}

/** The processes that work in the tree of a site. */
function workers(site: Site): number[] {
  const cwd = (pid: string) => {
    try {
      return readlinkSync(`/proc/${pid}/cwd`);
    } catch {
      return '';
    }
  };
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && cwd(name).startsWith(site.cwd))
    .map(Number);
}

/** Undoes the only run of a site, once its processes are gone. */
async function undoOnceEnded(site: Site, runId: string): Promise<Undone> {
  return until(
    async () => {
      try {
        return await site.undo(runId);
      } catch (error) {
        if (/still goes on/.test(`${error}`)) return undefined;
        throw error;
      }
    },
    'the run has ended',
    1.5 * WAIT,
  );
}

/** A host that runs a command which can be undone. */
function running(site: Site, command: string): Host {
  const options = { cwd: site.cwd, safety: 'off', undo: { when: 'always', dir: site.dir } };
  return host(`await bash(${JSON.stringify(command)}, ${JSON.stringify(options)}); console.log('ended');
    setInterval(() => {}, 1000);`);
}

/**
 * Kills the host of a command, or its shim, at a random moment, and undoes the run. All that was there before must be
 * there again, or be kept beside the store and named.
 */
export async function crash(what: 'host' | 'shim', seed: number): Promise<void> {
  const random = randomOf(seed);
  const site = filled();
  const before = site.tree();
  const child = running(site, changes(random));
  await until(() => existsSync(site.path('started')), 'the command has started', 30_000);
  const supervisor = supervisorOf(child.pid)?.pid ?? 0;
  const shims = shimsOf(supervisor).map(({ pid }) => pid);
  // The random moment is the point here, so there is no event to await.
  await sleep(random(400));
  if (what === 'host') child.process.kill('SIGKILL');
  else for (const pid of shims) kill(pid, 'SIGKILL');
  await until(() => workers(site).length === 0, 'the command is gone', 30_000);
  const { runId } = await until(async () => (await site.points())[0], 'the run has ended', 30_000);
  const { conflicts } = await undoOnceEnded(site, runId);
  const after = site.tree();
  const kept = conflicts.flatMap(({ keptAt }) => (keptAt === null ? [] : [keptAt]));
  const texts = kept.map((path) => readText(path));
  for (const [path, what] of Object.entries(before)) {
    if (after[path] === what) continue;
    // The path stays as it is, since it is not known whether the run changed it. Its earlier state is kept.
    const isNamed = conflicts.some(
      (conflict) => site.short(conflict.path) === path || path.startsWith(`${site.short(conflict.path)}/`),
    );
    expect({ seed, path, what, after: after[path], isNamed, texts }).toMatchObject({ isNamed: true });
  }
  if (what === 'host') expect({ seed, conflicts, after }).toEqual({ seed, conflicts: [], after: before });
  const again = await site.undo(runId);
  expect({ seed, ...again }).toMatchObject({ seed, restored: [], removed: [] });
  child.process.kill('SIGKILL');
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

/** Kills an undo at a random moment, and completes it. */
export async function crashUndo(seed: number): Promise<void> {
  const random = randomOf(seed);
  const site = filled();
  const before = site.tree();
  const { runId } = await site.run(changes(random));
  const child = host(`import { undo } from 'agent-bash';
    console.log('ready'); await undo('${runId}', { dir: ${JSON.stringify(site.dir)} }); console.log('done');`);
  await child.says(/ready/);
  // The same here.
  await sleep(random(40));
  child.process.kill('SIGKILL');
  await child.ended();
  const { conflicts } = await site.undo(runId);
  expect({ seed, conflicts, tree: site.tree() }).toEqual({ seed, conflicts: [], tree: before });
}
