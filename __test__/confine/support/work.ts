import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { isRoot, testNeeding } from '../../support/index.ts';
import { type Ground, ground } from './ground.ts';
import { run } from './raid.ts';
import { programs, type Raid } from './site.ts';
import { type User, users } from './users.ts';

/** Real work: commands that must do the same with confinement as without. */
export interface Work {
  name: string;
  /** Commands of one world, one after the other, in one directory. */
  steps: string[];
  /** Shell text that the host runs before, in the directory. */
  before?: string;
  /** Options besides the profile. */
  confine?: object;
  env?: (here: Ground) => Record<string, string>;
  as?: 'root' | 'ordinary';
  /** Files below the directory that must be the same as well; their content is compared. */
  files?: string[];
  /** The program that it needs besides the usual ones, and whether this machine has it. */
  needs?: string;
  there?: boolean;
  timeoutMs?: number;
}

/** The outcome that is compared. */
interface Done {
  steps: Pick<Raid, 'stdout' | 'stderr' | 'status' | 'exitCode'>[];
  files: Record<string, string>;
}

/** An author and a date, so that commits have the same names everywhere. */
const GIT = Object.fromEntries(
  ['AUTHOR', 'COMMITTER'].flatMap((who) => [
    [`GIT_${who}_NAME`, 'a'],
    [`GIT_${who}_EMAIL`, 'a@example.org'],
    [`GIT_${who}_DATE`, '2026-01-01T00:00:00Z'],
  ]),
);

/** Each piece of work as each user: first without confinement, then with it, with the same outcome. */
export function works(title: string, rows: Work[]): void {
  describe(title, () => {
    let here: Ground;
    beforeAll(() => {
      here = ground({ attacks: false });
    });
    afterAll(() => here?.remove());
    for (const user of users) {
      for (const row of rows.filter(({ as = user.name }) => user.name.includes(as))) {
        const needed = row.needs ?? 'a node that an ordinary user can run';
        const able = testNeeding(needed, row.there !== false && user.able);
        able(`${row.name}, as ${user.name}`, async () => {
          const open = await done(here, user, row, false);
          expect(
            open.steps.map(({ exitCode }) => exitCode),
            JSON.stringify(open, null, 1),
          ).toEqual(row.steps.map(() => 0));
          expect(await done(here, user, row, true)).toEqual(open);
        });
      }
    }
  });
}

async function done(here: Ground, user: User, row: Work, confined: boolean): Promise<Done> {
  const path = here.place(user, 'work');
  const base = { PATH: programs(here), HOME: here.home(user), LC_ALL: 'C', ...GIT, GIT_CONFIG_NOSYSTEM: '1' };
  const env = { ...base, GIT_CONFIG_GLOBAL: '/dev/null', ...row.env?.(here) };
  const who = isRoot ? { uid: user.uid, gid: user.gid } : {};
  if (row.before) execFileSync('bash', ['-ec', row.before], { cwd: path, env, ...who, stdio: 'pipe' });
  const options = { cwd: path, env, timeoutMs: row.timeoutMs ?? 60_000 };
  const limits = { confine: { profile: 'workspace', ...row.confine } };
  const calls = row.steps.map((command, id) => ({
    id: String(id),
    command: `set -e\n${command}`,
    options: confined ? { ...options, ...limits } : options,
  }));
  const raids = await run(here, user, calls, [], 1);
  const steps = raids.map(({ stdout, stderr, status, exitCode }) => ({
    stdout: stdout.replaceAll(path, 'HERE'),
    // The shell names processes by their ids.
    stderr: stderr
      .replaceAll(path, 'HERE')
      .replace(/ +\d+ Killed/g, ' N Killed')
      .replace(/\d{2,}/g, 'N'),
    status,
    exitCode,
  }));
  return { steps, files: filesOf(path, row.files ?? []) };
}

function filesOf(path: string, names: string[]): Record<string, string> {
  const found: Record<string, string> = {};
  const add = (name: string) => {
    const file = join(path, name);
    const seen = lstatSync(file);
    if (seen.isDirectory()) for (const child of readdirSync(file)) add(join(name, child));
    else if (seen.isSymbolicLink()) found[name] = readlinkSync(file);
    else found[name] = createHash('sha1').update(readFileSync(file)).digest('hex');
  };
  for (const name of names) if (existsSync(join(path, name))) add(name);
  return found;
}
