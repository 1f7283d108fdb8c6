import { BackgroundRegistry, BashSession, bash } from 'agent-bash';
import { createBashTool, createToolApproval } from 'agent-bash/ai';
import { describe, expect, test } from 'vitest';
import { callTool, runTool } from '../ai/fixtures/call.ts';
import { rejection } from '../support/index.ts';

const PUSH = 'push --force origin main';

describe('prefix', () => {
  test.each([[true], [false]])('the shell runs it, a blank and the command, warm: %s', async (warm) => {
    expect((await bash('one two', { prefix: 'echo', warm })).stdout).toBe('one two\n');
    expect(
      (await bash('BASH_EXECUTION_STRING', { prefix: 'printenv X; declare -p', warm, env: { X: 'x' } })).stdout,
    ).toBe('x\ndeclare -- BASH_EXECUTION_STRING="printenv X; declare -p BASH_EXECUTION_STRING"\n');
  });

  test('it precedes the first line only', async () => {
    expect((await bash('one\necho two', { prefix: 'echo 1:' })).stdout).toBe('1: one\ntwo\n');
  });

  test('it is part of the judged command', async () => {
    const error = await rejection(() => bash(PUSH, { prefix: 'git' }));
    expect([error.code, error.message]).toEqual(['ERR_BASH_BLOCKED', expect.stringContaining('git push --force')]);
  });

  test('in a session', async () => {
    await using session = new BashSession({ prefix: 'echo' });
    expect((await session.run('one')).stdout).toBe('one\n');
    expect((await session.run('one', { prefix: 'x=1; printf %s' })).stdout).toBe('one');
    expect((await session.run('echo "$x"', { prefix: '' })).stdout).toBe('1\n');
    // With the word trap in it the state is saved in another way, also if the prefix brings the word.
    expect((await session.run('EXIT; x=2', { prefix: "trap 'echo bye'" })).stdout).toBe('bye\n');
    expect((await session.run('echo "$x"', { prefix: '' })).stdout).toBe('2\n');
  });

  test('of a task', async () => {
    const registry = new BackgroundRegistry();
    const { id } = await registry.start('one', { prefix: 'echo' });
    expect((await registry.wait(id)).output).toContain('one\n');
    await registry.close();
  });

  test('of the tool, which judges it too, and so does its approval', async () => {
    expect((await runTool({ prefix: 'echo' }, 'one')).stdout).toBe('one\n');
    const run = async () => {
      throw new Error('nothing is to run');
    };
    expect((await callTool({ prefix: 'git', run }, PUSH)).output).toMatchObject({ code: 'ERR_BASH_BLOCKED' });
    const approval = createToolApproval({ tool: createBashTool({ prefix: 'git' }) });
    expect((await approval.judge({ command: PUSH })).verdict).toBe('deny');
  });
});
