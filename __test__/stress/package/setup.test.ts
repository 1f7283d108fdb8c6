import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { root, run } from './packed.ts';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'agent-bash-setup-'));
});

afterEach(() => rm(folder, { recursive: true, force: true }));

test('set-ups that start at once take turns, also when one is killed in its turn', async () => {
  const counter = join(folder, 'counter');
  const inside = join(folder, 'inside');
  await writeFile(counter, '0');
  // Each reads, waits and writes: two at once would lose a count, and find the file of the other.
  const script = `
    import { readFileSync, rmSync, writeFileSync } from 'node:fs';
    import { setTimeout as sleep } from 'node:timers/promises';
    import { exclusively } from ${JSON.stringify(pathToFileURL(join(root, 'scripts', 'lock.mjs')).href)};
    for (let turn = 0; turn < 4; turn++) {
      await exclusively(${JSON.stringify(join(folder, 'turns'))}, async () => {
        writeFileSync(${JSON.stringify(inside)}, '', { flag: 'wx' });
        const count = Number(readFileSync(${JSON.stringify(counter)}, 'utf8'));
        await sleep(2);
        writeFileSync(${JSON.stringify(counter)}, String(count + 1));
        rmSync(${JSON.stringify(inside)});
        if (process.argv[2] === 'die' && turn === 1) process.kill(process.pid, 'SIGKILL');
      });
    }`;
  await writeFile(join(folder, 'turns.mjs'), script);
  const start = (...args: string[]) => run(process.execPath, [join(folder, 'turns.mjs'), ...args], folder);
  const ended = await Promise.all([start(), start('die'), start(), start('die'), start()]);
  expect(ended.map(({ stderr }) => stderr)).toEqual(['', '', '', '', '']);
  expect(await readFile(counter, 'utf8')).toBe(String(3 * 4 + 2 * 2));
});
