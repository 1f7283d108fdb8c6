import * as entry from 'agent-bash';
import { describe, expect, test } from 'vitest';
import { folder, hostResult, way } from '../index.ts';

/** Runs in each of the projects that run the core in one way, so that none of them runs it in another by mistake. */
describe(`the way of this project is ${way}`, () => {
  /** Whether a shell that waited ran a command. */
  async function hadOne(run: () => Promise<unknown>): Promise<boolean> {
    const before = entry.warmShells().used;
    await run();
    return entry.warmShells().used > before;
  }

  test.runIf(way === 'warm')('each command has the shell that waits', async () => {
    for (let n = 0; n < 5; n++) expect(await hadOne(() => entry.bash('true'))).toBe(true);
  });

  test.runIf(way === 'warm')('so does each one of several at once', async () => {
    const before = entry.warmShells().used;
    await Promise.all(Array.from({ length: 5 }, () => entry.bash('sleep .3')));
    expect(entry.warmShells().used).toBe(before + 5);
  });

  test.runIf(way === 'cold')('no command has one, though it waits', async () => {
    expect(await entry.warmUp()).toBe(true);
    expect(await hadOne(() => entry.bash('true'))).toBe(false);
  });

  test.runIf(way === 'session')('each command is run by a session, and the only one of it', async () => {
    const run = entry.BashSession.prototype.run;
    const seen: string[] = [];
    entry.BashSession.prototype.run = function (command, options) {
      seen.push(command);
      return run.call(this, command, options);
    };
    try {
      const cwd = folder();
      await entry.bash('kept=1; mkdir below; cd below', { cwd });
      expect((await entry.bash('echo "${kept-none} ${PWD##*/}"', { cwd })).stdout).toBe(
        `none ${cwd.slice(cwd.lastIndexOf('/') + 1)}\n`,
      );
      expect(seen).toHaveLength(2);
    } finally {
      entry.BashSession.prototype.run = run;
    }
  });

  test('is that of other processes too', async () => {
    const used = await hostResult<number>(
      `import { warmShells } from 'agent-bash';
       await bash('true');
       await bash('true');
       console.log(warmShells().used);`,
    );
    if (way === 'warm') expect(used).toBe(2);
    if (way === 'cold') expect(used).toBe(0);
    expect(used).toBeLessThanOrEqual(2);
  });
});
