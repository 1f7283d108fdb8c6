import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { BashSession, bash } from 'agent-bash';
import { describe, expect, test } from 'vitest';
import { mark, place, rejection, sleepers, state, until } from '../support/index.ts';

describe('a cut', () => {
  test('loses nothing of a command that runs on', async () => {
    const { target, home, cut, down } = await place();
    let text = '';
    const onOutput = (chunk: { text: string }) => {
      text += chunk.text;
    };
    const command = 'echo one; touch began; until [ -e go ]; do sleep 0.01; done; echo two; exit 7';
    const ran = bash(command, { target, onOutput });
    await until(() => existsSync(join(home, 'began')) && text === 'one\n');
    down(true);
    cut();
    await state(target, 'disconnected');
    writeFileSync(join(home, 'go'), '');
    down(false);
    const result = await ran;
    expect(result).toMatchObject({ status: 'exited', exitCode: 7, stdout: 'one\ntwo\n', target: 'there' });
    expect(result.notes.join('\n')).toContain('cut');
    expect(text).toBe('one\ntwo\n');
    expect(target.state).toBe('connected');
  });

  test('lets calls wait, and each runs once', async () => {
    const { target, home, cut, down } = await place();
    down(true);
    cut();
    await state(target, 'disconnected');
    const abort = new AbortController();
    const waiting = [1, 2, 3].map((n) => bash(`echo ${n} >> log`, { target }));
    const never = bash('echo never >> log', { target, signal: abort.signal });
    abort.abort();
    expect(await never).toMatchObject({ status: 'aborted', pid: 0, target: 'there' });
    down(false);
    for (const result of await Promise.all(waiting)) expect(result).toMatchObject({ exitCode: 0 });
    expect(readFileSync(join(home, 'log'), 'utf8').split('\n').toSorted()).toStrictEqual(['', '1', '2', '3']);
  });

  test('ends all there with the lease, and the target heals', async () => {
    const { target, cut, down } = await place({ detachMs: 300 });
    const seconds = mark();
    const ran = bash(`echo out; sleep ${seconds}`, { target, onOutput: () => {} });
    await until(() => sleepers(seconds).length === 1);
    const { pid } = target.info;
    down(true);
    cut();
    const result = await ran;
    expect(result).toMatchObject({ status: 'lost', exitCode: null, signal: null, target: 'there' });
    expect(result.notes).toContainEqual(expect.stringMatching(/^the command is lost: /));
    expect(target.state).toBe('lost');
    await until(() => sleepers(seconds).length === 0);
    expect(await rejection(() => bash('true', { target }))).toMatchObject({ code: 'ERR_BASH_TARGET', target: 'there' });
    down(false);
    expect(await bash('echo again', { target })).toMatchObject({ stdout: 'again\n', status: 'exited' });
    expect(target.state).toBe('connected');
    expect(target.info.pid).not.toBe(pid);
  });

  test('whose program is gone loses what ran', async () => {
    const { target } = await place();
    const seconds = mark();
    const ran = bash(`sleep ${seconds}`, { target });
    await until(() => sleepers(seconds).length === 1);
    process.kill(target.info.pid, 'SIGKILL');
    expect(await ran).toMatchObject({ status: 'lost', exitCode: null });
    await until(() => sleepers(seconds).length === 0);
    expect(await bash('echo again', { target })).toMatchObject({ stdout: 'again\n' });
  });

  test('makes a command lost when the target is closed', async () => {
    const { target } = await place();
    const seconds = mark();
    const ran = bash(`sleep ${seconds}`, { target });
    await until(() => sleepers(seconds).length === 1);
    await target.close();
    expect(['lost', 'aborted']).toContain((await ran).status);
    await until(() => sleepers(seconds).length === 0);
  });

  test('leaves a session as it was', async () => {
    const { target, home, cut } = await place();
    await using session = new BashSession({ target });
    await session.run('cd /usr; X=1');
    cut();
    expect(await session.run('echo $X')).toMatchObject({ stdout: '1\n', cwd: '/usr' });
    expect(home).toBe(target.info.home);
  });
});
