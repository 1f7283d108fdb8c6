import { mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { mastraApproval, mastraSandbox } from 'agent-bash/mastra';
import { describe, expect, it, vi } from 'vitest';
import { alive, finished, folder, isLinux, until } from '../support/index.ts';
import { gone, HELD_PIPE, pidIn, refuses, WITH_CHILD } from './support.ts';

/** The members of Mastra's sandbox that are used, without their types. */
// biome-ignore lint/suspicious/noExplicitAny: the types are Mastra's, which is not installed here
type Made = any;

function sandboxOf(options?: Parameters<typeof mastraSandbox>[0]): Made {
  const sandbox: Made = mastraSandbox({ cwd: folder(), ...options });
  finished(() => sandbox.destroy());
  return sandbox;
}

describe('executeCommand', () => {
  it('returns the end in the form of Mastra, with words as they are', async () => {
    const sandbox = sandboxOf();
    const result = await sandbox.executeCommand('printf', ['%s\n', "it's $HOME"]);
    expect(result).toMatchObject({ success: true, exitCode: 0, stdout: "it's $HOME\n", stderr: '', killed: false });
    expect(await sandbox.executeCommand('kill -9 $$')).toMatchObject({ exitCode: 137, killed: true, success: false });
    expect(await sandbox.executeCommand('sleep 1000', [], { timeout: 100 })).toMatchObject({
      exitCode: 124,
      timedOut: true,
      stderr: '[command timed out after 0.1s]\n',
    });
  });

  it('does not wait for a held pipe, and an abort ends the whole tree', async () => {
    const cwd = folder();
    const sandbox = sandboxOf({ cwd });
    expect((await sandbox.executeCommand(HELD_PIPE)).stdout).toBe('first\nlast\n');
    const left = await pidIn(cwd);
    const abort = new AbortController();
    const other = folder();
    const running = sandbox.executeCommand(WITH_CHILD, [], { abortSignal: abort.signal, cwd: other });
    const child = await pidIn(other);
    abort.abort();
    expect(await running).toMatchObject({ exitCode: 130, killed: true });
    expect(alive(child)).toBe(false);
    expect(alive(left)).toBe(true);
    await sandbox.stop();
    expect(alive(left)).toBe(false);
    expect((await sandbox.executeCommand('echo again')).stdout).toBe('again\n');
  });

  it('keeps the end, and callbacks hear all', async () => {
    const heard: string[] = [];
    const options = { maxRetainedBytes: 5, onStdout: (data: string) => void heard.push(data) };
    const result = await sandboxOf().executeCommand('printf 123456é', [], options);
    expect(result).toMatchObject({ stdout: '456é', stdoutTruncated: true, stdoutDroppedBytes: 3 });
    expect(heard.join('')).toBe('123456é');
    await expect(sandboxOf().executeCommand('true', [], { maxRetainedBytes: -1 })).rejects.toThrow(RangeError);
  });

  it('rejects by the names of Mastra for what did not run', async () => {
    const sandbox = sandboxOf({ approval: { deny: ['git push:*'] } });
    await expect(sandbox.executeCommand('git push')).rejects.toMatchObject({
      name: 'SandboxExecutionError',
      code: 'EXECUTION_FAILED',
      exitCode: 126,
      message: expect.stringContaining('git push:*'),
      cause: expect.objectContaining({ code: 'ERR_BASH_BLOCKED' }),
    });
    await sandbox.destroy();
    await expect(sandbox.executeCommand('true')).rejects.toMatchObject({
      name: 'SandboxNotReadyError',
      code: 'NOT_READY',
    });
    await expect(sandbox.processes.spawn('true')).rejects.toMatchObject({ code: 'NOT_READY' });
  });
});

it('a process is fed, read, listed, and ended as a whole', async () => {
  const cwd = folder();
  const { processes } = sandboxOf({ cwd });
  const cat = await processes.spawn('cat');
  cat.writer.write(Buffer.from('a\r\n'));
  cat.writer.write(Buffer.from([0xc3]));
  cat.writer.end(Buffer.from([0xa9]));
  const read = [];
  for await (const chunk of cat.reader) read.push(chunk);
  expect(Buffer.concat(read).toString()).toBe('a\r\né');
  expect(await cat.wait()).toMatchObject({ exitCode: 0, stdout: 'a\r\né' });
  await expect(cat.sendStdin('more')).rejects.toThrow('has already exited with code 0');
  const server = await processes.spawn(`printf 'ready> '; ${WITH_CHILD}`, { stdinMode: 'ignore' });
  await until(() => server.stdout.startsWith('ready> '), 'the unfinished line');
  await expect(server.sendStdin('x')).rejects.toThrow('standard input');
  expect(await processes.list()).toMatchObject([
    { pid: cat.pid, running: false, exitCode: 0 },
    { pid: server.pid, running: true },
  ]);
  const child = await pidIn(cwd);
  expect(await processes.kill(server.pid)).toBe(true);
  await gone(child);
  expect(await processes.kill(server.pid)).toBe(false);
  expect(server.exitCode).toBe(130);
  expect(await processes.get(cat.pid)).toBe(cat);
  expect(await processes.get(cat.pid)).toBe(undefined);
});

it('kill ends what an exited process has left running, and stop also what a forgotten one has', async () => {
  const cwd = folder();
  const sandbox = sandboxOf({ cwd });
  const { processes } = sandbox;
  const left = async (name: string) => {
    const own = join(cwd, name);
    mkdirSync(own);
    const process = await processes.spawn(HELD_PIPE, { cwd: own });
    expect(await process.wait()).toMatchObject({ exitCode: 0, stdout: 'first\nlast\n' });
    return { process, child: await pidIn(own) };
  };
  const [one, two, three] = [await left('one'), await left('two'), await left('three')];
  expect(await processes.kill(one.process.pid)).toBe(false);
  expect([one, two, three].map(({ child }) => alive(child))).toEqual([false, true, true]);
  expect(await two.process.kill()).toBe(false);
  expect([two, three].map(({ child }) => alive(child))).toEqual([false, true]);
  expect(await processes.get(three.process.pid)).toBe(three.process);
  expect(await processes.list()).toMatchObject([{ pid: two.process.pid }]);
  await sandbox.stop();
  expect(alive(three.child)).toBe(false);
});

it('a reader that comes late, and an input that is closed late, do no harm', async () => {
  const { processes } = sandboxOf();
  const large = await processes.spawn('seq 300000', { stdinMode: 'ignore' });
  const waiting = large.wait();
  large.reader.pause();
  expect(await waiting).toMatchObject({ exitCode: 0, stdoutTruncated: true });
  const brief = await processes.spawn('true');
  const { writer } = brief;
  await brief.wait();
  await new Promise((resolve) => writer.end(resolve));
});

it('a copy of process.env brings no secret, and a secret that is named arrives', async () => {
  vi.stubEnv('MY_API_TOKEN', 'secret');
  finished(() => void vi.unstubAllEnvs());
  const sandbox = sandboxOf({ cwd: folder(), env: { ...process.env, A: '1' } });
  const read = async (env: NodeJS.ProcessEnv) =>
    (await sandbox.executeCommand('echo $A-$B-$MY_API_TOKEN', [], { env })).stdout;
  expect(await read({ ...process.env, B: '2' })).toBe('1-2-\n');
  const { PATH, ...most } = process.env;
  expect(await read(most)).toBe('1--\n');
  expect(await read({ MY_API_TOKEN: process.env.MY_API_TOKEN })).toBe('1--secret\n');
});

it('variables, clones and files', async () => {
  const cwd = folder();
  const sandbox = sandboxOf({ cwd, env: { A: '1', B: '2' } });
  sandbox.setEnv((env: object) => ({ ...env, B: undefined, C: '3' }));
  expect((await sandbox.executeCommand('echo $A-$B-$C', [], { env: { A: '4' } })).stdout).toBe('4--3\n');
  const clone = sandbox.clone({ id: 'other', workingDirectory: join(cwd, 'made'), env: { A: '5' } });
  finished(() => clone.destroy());
  expect(await clone.start()).toEqual({ outcome: 'created' });
  expect((await clone.executeCommand('echo $A-$B; pwd')).stdout).toBe(`5-2\n${join(cwd, 'made')}\n`);
  refuses(() => sandbox.clone({ sandboxId: 'x' }), 'ERR_BASH_UNSUPPORTED', 'sandboxId');
  await sandbox.writeFiles([{ path: 'a/b', content: 'text', mode: 0o640 }]);
  expect(statSync(join(cwd, 'a/b')).mode & 0o777).toBe(0o640);
  await expect(sandbox.writeFiles([{ path: 'c', content: '', mode: 0 }])).rejects.toMatchObject({
    code: 'INVALID_ARGUMENT',
  });
  const aborted = { abortSignal: AbortSignal.abort() };
  await expect(sandbox.writeFiles([{ path: 'c', content: '' }], aborted)).rejects.toMatchObject({ code: 'ABORTED' });
  expect(sandbox.getInfo()).toMatchObject({ status: 'running', provider: 'agent-bash' });
  expect(sandbox.getInstructions()).toContain(cwd);
});

it('options that do not exist are refused, with the nearest name', () => {
  refuses(() => mastraSandbox({ port: [1] } as never), 'ERR_BASH_INVALID_ARG', 'did you mean "ports"');
  refuses(() => mastraSandbox({ mode: 'background' }), 'ERR_BASH_UNSUPPORTED', 'background');
  refuses(() => mastraApproval({ deni: [] } as never), 'ERR_BASH_INVALID_ARG', 'did you mean "deny"');
  refuses(() => mastraApproval({ onAsk: () => true }), 'ERR_BASH_UNSUPPORTED', 'onAsk');
});

it.runIf(isLinux)('ports of a sandbox may be given beside the whole network', async () => {
  const sandbox = sandboxOf({ confine: { network: 'full' }, ports: [4100] });
  expect(await sandbox.executeCommand('echo ran')).toMatchObject({ exitCode: 0, stdout: 'ran\n' });
  refuses(() => mastraSandbox({ confine: 5 as never, ports: [4100] }), 'ERR_BASH_INVALID_ARG', 'confine');
});

it('the approval asks, and the sandbox refuses a denied command', async () => {
  const sandbox = sandboxOf();
  const asks = mastraApproval({ ask: ['git push:*'], deny: ['curl:*'] });
  const of = (command: unknown, workspace?: object) => asks({ args: { command }, workspace });
  expect([of('ls', { sandbox }), of('git push', { sandbox }), of(1)]).toEqual([false, true, true]);
  // Another sandbox cannot refuse it.
  expect(of('curl x', { sandbox: {} })).toBe(true);
  expect(of('curl x', { sandbox })).toBe(false);
  await expect(sandbox.executeCommand('curl x')).rejects.toThrow('curl:*');
  await expect(sandbox.processes.spawn('curl x')).rejects.toThrow('curl:*');
  expect((await sandbox.executeCommand('echo ok')).stdout).toBe('ok\n');
});
