import { realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { type BashToolOptions, createBashTool, createToolApproval } from 'agent-bash/ai';
import { describe, expect, test } from 'vitest';
import { linuxTest } from '../support/index.ts';
import { Site } from './support.ts';

const CAN = 'it can be undone';

/** Returns the text that a person reads when asked about a command. */
async function reasonFor(command: string, options: BashToolOptions, more: object = {}): Promise<string> {
  const approval = createToolApproval({ tool: createBashTool(options), ...more });
  const { verdict, reason } = await approval.judge({ command });
  expect(verdict).toBe('ask');
  return reason;
}

describe('a person who is asked reads', () => {
  linuxTest.each(['git clean -fdx', 'git reset --hard', 'git stash drop'])(
    'that it can be undone, with undo: "risky": %s',
    async (command) => {
      const { cwd } = new Site();
      expect(await reasonFor(command, { cwd, undo: 'risky' })).toContain(`\n\nUndo: ${CAN}.\n\n`);
      expect(await reasonFor(command, { cwd, undo: true })).toContain(CAN);
    },
  );

  linuxTest('never that if an undo would leave something', async () => {
    const { cwd } = new Site();
    const reason = await reasonFor('git clean -fdx && git push origin --delete topic', { cwd, undo: true });
    expect(reason).not.toContain(CAN);
    expect(reason).toMatch(/an undo does not take back:\n {2}- .*push/);
  });

  linuxTest('never that if a file is too large to be kept', async () => {
    const site = new Site();
    site.write('big', 'x'.repeat(100));
    const options = { cwd: site.cwd, undo: { maxFileBytes: 10, when: 'always' } } as const;
    const reason = await reasonFor('git clean -fdx; echo x > big', options);
    expect(reason).not.toContain(CAN);
    expect(reason).toContain(`${site.path('big')}, which has 100 bytes, of which at most 10 are kept`);
  });

  linuxTest('what a snapshot leaves, where changes cannot be seen', async () => {
    const { cwd } = new Site();
    const reason = await reasonFor('sudo git clean -fdx', { cwd, undo: true });
    expect(reason).not.toContain(CAN);
    expect(reason).toContain(`changes outside of ${realpathSync(cwd)}, of which a snapshot is taken`);
  });

  linuxTest('why there is no undo', async () => {
    const { cwd } = new Site();
    const required = { cwd, undo: { require: true } } as const;
    expect(await reasonFor('sudo git clean -fdx', required)).toMatch(/Undo: not possible, because sudo/);
    const home = await reasonFor('git clean -fdx', { cwd: homedir(), undo: true });
    expect(home).toMatch(/Undo: not possible, because no undo point is made for the home directory/);
    const asked = await reasonFor('ls', { cwd, undo: 'risky' }, { ask: ['ls'] });
    expect(asked).toContain('Undo: not possible, because nothing is kept of a command that is not known to delete');
    expect(await reasonFor('ls', { cwd, undo: 'always' }, { ask: ['ls'] })).toContain(CAN);
  });

  test.each([{}, { undo: false }, { undo: 'off' }] as const)('nothing of it with %j', async (options) => {
    expect(await reasonFor('git clean -fdx', { cwd: new Site().cwd, ...options })).not.toMatch(/undo/i);
  });

  test('nothing of it for a command in a sandbox', async () => {
    const sandbox = { runCommand: () => Promise.reject(new Error('not run')) };
    expect(await reasonFor('git clean -fdx', { undo: true, sandbox } as never)).not.toMatch(/Undo:/);
  });
});

test('undo_run is not asked about', async () => {
  const approval = createToolApproval({ tool: createBashTool({ undo: true }) });
  expect((await approval.judge({ undo_run: 'run-1' })).verdict).toBe('allow');
  expect(await approval({ undo_run: 'run-1' }, { toolCallId: 'c' })).toBe('not-applicable');
});
