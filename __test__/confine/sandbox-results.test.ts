import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { Confinement } from 'agent-bash';
import type { BashToolOptions } from 'agent-bash/ai';
import { createLocalSandbox, createLocalSandboxSession } from 'agent-bash/sandbox';
import { describe, expect, onTestFinished, test } from 'vitest';
import { callTool } from '../ai/fixtures/call.ts';
import { linuxTest } from '../support/index.ts';

/** A workspace, and a command that tries to write beside it. */
function place() {
  // Not in /tmp, which confined commands have for themselves.
  const base = mkdtempSync(join(homedir(), 'agent-bash-test-'));
  onTestFinished(() => rmSync(base, { recursive: true, force: true }));
  const [cwd, other] = [join(base, 'root'), join(base, 'other')];
  for (const path of [cwd, other]) mkdirSync(path);
  const denied = { kind: 'write', target: `${other}/x`, program: 'bash', count: 1, grant: { write: [other] } };
  return { cwd, other, command: `echo x > ${other}/x; echo done`, denied };
}

describe('the results of a confined sandbox have a confinement', () => {
  linuxTest('of a command runner, detached programs too', async () => {
    const { cwd, command, denied } = place();
    const sandbox = createLocalSandbox({ cwd, confine: 'workspace' });
    const expected = { profile: 'workspace', denied: [denied], deniedTotal: 1 };
    expect((await sandbox.runCommand('bash', ['-c', command])).confinement).toMatchObject(expected);
    const running = await sandbox.runCommand({ cmd: 'bash', args: ['-c', command], detached: true });
    expect((await running.wait()).confinement).toMatchObject(expected);
    await sandbox.stop();
  });

  linuxTest('of a session of ai 7, spawned commands too', async () => {
    const { cwd, command, denied } = place();
    await using session = createLocalSandboxSession({ cwd, confine: 'workspace' });
    const expected = { profile: 'workspace', denied: [denied], deniedTotal: 1 };
    expect((await session.run({ command })).confinement).toMatchObject(expected);
    const running = await session.spawn({ command });
    expect(await running.wait()).toMatchObject({ exitCode: 0, confinement: expected });
  });

  test('and no such field without confine', async () => {
    const sandbox = createLocalSandbox();
    expect(Object.keys(await sandbox.runCommand('true'))).toEqual(['exitCode', 'stdout', 'stderr', 'output']);
    await sandbox.stop();
    await using session = createLocalSandboxSession();
    expect(await session.run({ command: 'true' })).toEqual({ exitCode: 0, stdout: '', stderr: '' });
    expect(await (await session.spawn({ command: 'true' })).wait()).toEqual({ exitCode: 0 });
  });
});

describe('a tool in a confined sandbox', () => {
  const ways: Record<string, (cwd: string) => BashToolOptions['sandbox']> = {
    'a command runner': (cwd) => createLocalSandbox({ cwd, confine: 'workspace' }),
    'a session of ai 7': (cwd) => createLocalSandboxSession({ cwd, confine: 'workspace' }),
  };
  for (const [name, make] of Object.entries(ways)) {
    linuxTest(`has the confinement of ${name}, and its model reads the denials`, async () => {
      const { cwd, other, command, denied } = place();
      const onAccess = () => true;
      const { output, text } = await callTool({ sandbox: make(cwd), onAccess, safety: { onAsk: 'allow' } }, command);
      expect((output as { confinement: Confinement }).confinement.denied).toEqual([denied]);
      expect(text).toContain(`[confined: write ${other}/x denied (bash)]`);
      // The host of the tool grants nothing in a sandbox.
      expect(text).toContain('The host grants nothing more');
    });
  }

  test('refuses a model that asks for access there', async () => {
    const { cwd, other } = place();
    let asked = 0;
    const onAccess = () => {
      asked += 1;
      return true;
    };
    const { output } = await callTool(
      { sandbox: createLocalSandbox({ cwd }), onAccess },
      { command: 'touch ran', access: { write: [other], reason: 'r' } },
    );
    expect(output).toMatchObject({ code: 'ERR_BASH_UNSUPPORTED', error: expect.stringContaining('nothing was run') });
    expect([asked, existsSync(join(cwd, 'ran'))]).toEqual([0, false]);
  });

  test.each([
    'all',
    {},
    { profile: 'workspace', held: [], missing: [], denied: [{ target: 1 }], deniedTotal: 1, tmp: null },
    { profile: 'workspace', held: [], missing: [], denied: [], deniedTotal: 0, tmp: () => {} },
  ])('ignores a field of that name that means something else: %j', async (confinement) => {
    const finished = { exitCode: 0, confinement, stdout: async () => 'out\n', stderr: async () => '' };
    const { output } = await callTool({ sandbox: { runCommand: async () => finished } }, 'true');
    expect(output).toMatchObject({ stdout: 'out\n', confinement: null });
  });
});
