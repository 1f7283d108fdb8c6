import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type BashOptions, bash, warmUp } from 'agent-bash';
import { describe, expect, test } from 'vitest';
import { folder } from '../../../support/index.ts';

/** Commands of several kinds at once, each of which has to get a shell of its own kind. */
describe('a waiting shell only ever runs a command of its own kind', () => {
  const look = 'pwd; echo "$PWD $OWN"; umask; echo error >&2; exit "$CODE"';

  function kinds(): { options: BashOptions; expected: object }[] {
    const base = folder();
    return Array.from({ length: 6 }, (_, index) => {
      const cwd = join(base, String(index));
      mkdirSync(cwd);
      const merge = index % 2 === 0;
      const lines = `${cwd}\n${cwd} own ${index}\n0022\n`;
      return {
        options: { cwd, env: { OWN: `own ${index}`, CODE: String(index) }, merge },
        expected: merge
          ? { stdout: `${lines}error\n`, stderr: '', exitCode: index }
          : { stdout: lines, stderr: 'error\n', exitCode: index },
      };
    });
  }

  test.each([
    ['after a call of warmUp for each', async (options: BashOptions) => void (await warmUp(options))],
    ['with those that come by themselves', async () => undefined],
  ])('%s', async (_, before) => {
    process.umask(0o022);
    await Promise.all(
      kinds().map(async ({ options, expected }) => {
        for (let n = 0; n < 60; n++) {
          await before(options);
          expect(await bash(look, options)).toMatchObject(expected);
        }
      }),
    );
  });
});
