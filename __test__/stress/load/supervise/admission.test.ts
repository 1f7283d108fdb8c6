import { join } from 'node:path';
import { expect, test } from 'vitest';
import { folder, hostResult, linuxTest, mark, way } from '../../../support/index.ts';

/** The host opens files of its own; see docs/running.md. */
const LEFT_TO_THE_HOST = 48;

linuxTest('tasks count against the descriptors that commands may use', async () => {
  const [most, ran] = await hostResult<[number, number]>(
    `
      import { readdirSync } from 'node:fs';
      import { BackgroundRegistry } from 'agent-bash';
      const registry = new BackgroundRegistry({ maxTasks: 200 });
      for (let n = 0; n < 150; n += 10) await Promise.all(Array.from({ length: 10 }, () => registry.start('sleep ${mark()}')));
      let most = 0;
      const timer = setInterval(() => { most = Math.max(most, readdirSync('/proc/self/fd').length); }, 5);
      const results = await Promise.all(Array.from({ length: 40 }, () => bash('sleep .2; echo hi')));
      clearInterval(timer);
      console.log(JSON.stringify([most, results.filter(({ stdout, status }) => stdout === 'hi\\n' && status === 'exited').length]));
      await registry.close();
    `,
    { before: 'ulimit -n 256' },
  );
  expect(ran).toBe(40);
  expect(256 - most).toBeGreaterThanOrEqual(LEFT_TO_THE_HOST);
});

// If a shell is warmed up for every command, that of the test is not the first. macOS has no warm shells.
test.skipIf(way === 'warm' || process.platform !== 'linux')(
  'a shell that is warmed up waits for the descriptors of a command',
  async () => {
    const done = join(folder(), 'done');
    const waited = await hostResult<boolean>(
      `
      import { existsSync } from 'node:fs';
      import { warmUp } from 'agent-bash';
      const done = ${JSON.stringify(done)};
      let command;
      // Once there is output, the command has its place.
      await new Promise((runs) => {
        command = bash('echo runs; sleep .5; : > ' + done, { onOutput: runs });
      });
      const [, waited] = await Promise.all([command, warmUp().then(() => existsSync(done))]);
      console.log(JSON.stringify(waited));
    `,
      { before: 'ulimit -n 64' },
    );
    expect(waited).toBe(true);
  },
);
