import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { isRoot } from '../../support/index.ts';
import type { Ground } from './ground.ts';
import { programs, type Raid } from './site.ts';
import type { User } from './users.ts';

/** Commands that run at once. */
const AT_ONCE = 4;

/** A call of `bash()` in the attacker's process. */
export interface Call {
  id: string;
  command: string;
  options: object;
}

/** Makes calls in a process of that user, and returns their results in the order in which they ended. */
export async function run(
  here: Ground,
  user: User,
  raids: Call[],
  wrap: string[] = [],
  atOnce = AT_ONCE,
): Promise<(Raid & { id: string })[]> {
  const source = join(import.meta.dirname, 'raid.mjs');
  const module = readFileSync(source, 'utf8');
  const [program = '', ...argv] = [...wrap, process.execPath, '--input-type=module', '--eval', module];
  const child = spawn(program, argv, {
    cwd: here.package,
    ...(isRoot ? { uid: user.uid, gid: user.gid } : {}),
    env: { PATH: programs(here), HOME: here.home(user), NODE_OPTIONS: '' },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  child.stdin.end(JSON.stringify({ raids, atOnce }));
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
  const results = stdout
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
  const lost = raids.filter(({ id }) => !results.some((result) => result.id === id));
  if (lost.length > 0) throw new Error(`no result of ${lost.map(({ id }) => id).join(', ')}: ${stderr}`);
  return results;
}
