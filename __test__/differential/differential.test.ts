import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type BashOptions, bash } from 'agent-bash';
import { describe, expect, test } from 'vitest';
import { folder, variables } from '../support/index.ts';
import { cases } from './cases.ts';
import { type Outcome, plain } from './plain.ts';

const options: BashOptions = {
  inheritEnv: 'none',
  env: { PATH: process.env.PATH, HOME: '/home/of/nobody', LC_ALL: 'C.UTF-8', TZ: 'UTC' },
  sanitize: false,
  truncate: { keep: 'tail' },
  spill: false,
  // Syntax errors and the like are worth a note of the safety engine; here only what bash does counts.
  safety: 'off',
};

/** The environment that our bash starts with, so that the plain one gets the same. */
async function environment(): Promise<Record<string, string>> {
  const { stdout } = await bash('exec env -0', options);
  const all = variables(stdout);
  // What bash itself sets.
  for (const name of ['PWD', 'OLDPWD', 'SHLVL', '_']) delete all[name];
  return all;
}

describe('the same stdout, stderr and exit code as a plain `bash -c`', () => {
  const all = cases();
  let env: Promise<Record<string, string>> | undefined;

  test('there are a few hundred cases, each with its own name', () => {
    expect(all.length).toBeGreaterThanOrEqual(300);
    expect(new Set(all.map(({ name }) => name)).size).toBe(all.length);
  });

  describe.concurrent('each', () => {
    // At most as many at once as `maxConcurrency` of vitest says.
    test.for(all)('$name', async ({ script }, { expect, onTestFinished }) => {
      const base = folder(onTestFinished);
      // One after the other in a folder of the same name, since scripts can tell where they are.
      const cwd = join(base, 'here');
      mkdirSync(cwd);
      env ??= environment();
      const expected = await plain(script, cwd, await env, base);
      rmSync(cwd, { recursive: true });
      mkdirSync(cwd);
      const { stdout, stderr, exitCode, notes } = await bash(script, { ...options, cwd });
      const outcome: Outcome = { stdout, stderr, exitCode: exitCode ?? -1 };
      expect(outcome).toEqual(expected);
      expect(notes).toEqual([]);
    });
  });
});
