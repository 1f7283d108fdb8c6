import { chmodSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { BackgroundRegistry, bash } from 'agent-bash';
import { describe, expect, onTestFinished, test } from 'vitest';
import { copyTest, folder, rejection } from '../support/index.ts';
import { Site } from './support.ts';

/** A `sudo` that only runs its command. Changes by a command that calls any `sudo` are not recorded. */
function sudo() {
  const directory = folder();
  writeFileSync(join(directory, 'sudo'), '#!/bin/sh\nexec "$@"\n');
  chmodSync(join(directory, 'sudo'), 0o755);
  return { PATH: `${directory}:${process.env.PATH}` };
}

function filled(): Site {
  const site = new Site();
  for (const name of ['src/a.ts', 'src/.env', 'lib/b.ts', 'c', '.git/HEAD']) site.write(name);
  return site;
}

describe('a command whose changes cannot be recorded', () => {
  copyTest('is undone by a snapshot, byte for byte', async () => {
    const site = filled();
    const before = site.tree();
    const command =
      'sudo rm -rf src .git; sudo mv lib other; echo x > c; mkdir -p new/er; echo y > new/er/f; chmod 600 c';
    const { exitCode, runId, undo, notes, receipt } = await site.run(command, { env: sudo() });
    expect([exitCode, undo?.covers]).toEqual([0, 'part']);
    expect(undo?.notCovered).toEqual([expect.stringContaining(`changes outside of ${site.cwd}`)]);
    expect(notes.join('\n')).toMatch(/only changes in .* can be undone, from a snapshot.*sudo/);
    expect(receipt?.attribution).toBe('window');
    expect(site.tree()).not.toEqual(before);
    const { conflicts, undoId } = await site.undo(runId);
    expect(conflicts).toEqual([]);
    expect(site.tree()).toEqual(before);
    await site.undo(undoId);
    expect(site.read('new/er/f')).toBe('y\n');
    expect((await site.points()).map(({ covers }) => covers).at(-1)).toBe('part');
  });

  copyTest('leaves what a user did afterwards', async () => {
    const site = filled();
    const { runId } = await site.run('sudo rm -r src; echo x > c', { env: sudo() });
    site.write('c', 'mine');
    const { conflicts } = await site.undo(runId);
    expect(conflicts.map(({ path }) => site.short(path))).toEqual(['c']);
    expect([site.read('c'), site.read('src/.env')]).toEqual(['mine', 'src/.env\n']);
  });

  test('is refused with require, and nothing runs', async () => {
    const site = filled();
    const error = await rejection(() => site.run('sudo rm -r src', { env: sudo(), undo: { require: true } }));
    expect(error).toMatchObject({ code: 'ERR_BASH_UNDO', message: expect.stringContaining('sudo') });
    expect(readdirSync(site.path('src'))).toHaveLength(2);
  });

  test('is only watched without undo', async () => {
    const site = filled();
    const { undo, receipt } = await bash('sudo rm -r src', {
      cwd: site.cwd,
      safety: 'off',
      receipt: 'exact',
      env: sudo(),
    });
    expect([undo, receipt?.attribution]).toEqual([null, 'window']);
  });

  copyTest('that becomes a task has its undo at its end', async () => {
    const site = filled();
    const before = site.tree();
    const registry = new BackgroundRegistry({ dir: folder() });
    onTestFinished(() => registry.close());
    const command = 'while [ ! -e go ]; do sleep 0.02; done; sudo rm -rf src go';
    const moved = await site.run(command, { env: sudo(), timeoutMs: 300, onTimeout: 'background', registry });
    site.write('go');
    const ended = await registry.wait(moved.background?.id ?? '', { timeoutMs: 20_000 });
    expect([moved.undo, ended.undo?.covers]).toEqual([null, 'part']);
    await site.undo(moved.runId);
    expect(site.tree()).toEqual(before);
  });
});
