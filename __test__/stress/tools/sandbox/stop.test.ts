import { join } from 'node:path';
import { createLocalSandbox } from 'agent-bash/sandbox';
import { describe, expect, test } from 'vitest';
import { isAlive, pidFrom, temporaryFolder, textOf } from '../../../sandbox/support.ts';

async function sandboxInFolder(options: Parameters<typeof createLocalSandbox>[0] = {}) {
  const folder = await temporaryFolder();
  return { folder, sandbox: createLocalSandbox({ cwd: folder, graceMs: 300, ...options }) };
}

describe('detached', () => {
  test('gives a handle at once, and the whole result later', async () => {
    const { folder, sandbox } = await sandboxInFolder();
    const command = await sandbox.runCommand({
      cmd: 'bash',
      args: [
        '-c',
        'echo $$ >pid; printf "out\\n"; echo err >&2; until [ -e go ]; do sleep 0.01; done; printf last; exit 4',
      ],
      detached: true,
    });
    expect(await isAlive(await pidFrom(join(folder, 'pid')))).toBe(true);
    await sandbox.writeFiles([{ path: 'go', content: '' }]);
    const run = await command.wait();
    expect(run.exitCode).toBe(4);
    expect(await run.stdout()).toBe('out\nlast');
    expect(await run.stderr()).toBe('err\n');
    expect(await command.wait()).toBe(run);
  });

  test('kill() ends the whole tree, as an abort does', async () => {
    const { folder, sandbox } = await sandboxInFolder();
    const command = await sandbox.runCommand({
      cmd: 'bash',
      args: ['-c', 'echo up; setsid bash -c "echo \\$\\$ >pid; sleep 1000"; echo not reached'],
      detached: true,
    });
    const pid = await pidFrom(join(folder, 'pid'));
    await command.kill();
    expect(await isAlive(pid)).toBe(false);
    const run = await command.wait();
    expect([run.exitCode, await run.stdout()]).toEqual([130, 'up\n']);
    await command.kill();
  });

  test('kill(signal) sends just that', async () => {
    const { folder, sandbox } = await sandboxInFolder();
    const command = await sandbox.runCommand({
      cmd: 'bash',
      args: [
        '-c',
        'trap "echo got USR1" USR1; trap "echo got INT; exit 9" INT; echo $$ >pid; while :; do sleep 0.05; done',
      ],
      detached: true,
    });
    await pidFrom(join(folder, 'pid'));
    await command.kill('SIGWINCH');
    await command.kill('INT');
    const run = await command.wait();
    expect([run.exitCode, await run.stdout()]).toEqual([9, 'got INT\n']);
    await command.kill('SIGKILL');
  });

  test('a signal that ends it is 128 + n', async () => {
    const { sandbox } = await sandboxInFolder();
    const command = await sandbox.runCommand({ cmd: 'sleep', args: ['1000'], detached: true });
    await command.kill('SIGKILL');
    expect((await command.wait()).exitCode).toBe(137);
  });

  test('an unknown signal is ERR_BASH_INVALID_ARG', async () => {
    const { sandbox } = await sandboxInFolder();
    const command = await sandbox.runCommand({ cmd: 'true', detached: true });
    await expect(command.kill('SIGNONE' as 'SIGINT')).rejects.toMatchObject({ code: 'ERR_BASH_INVALID_ARG' });
    await command.wait();
  });

  test('its signal ends it', async () => {
    const { sandbox } = await sandboxInFolder();
    const controller = new AbortController();
    const command = await sandbox.runCommand({
      cmd: 'sleep',
      args: ['1000'],
      detached: true,
      signal: controller.signal,
    });
    controller.abort();
    expect((await command.wait()).exitCode).toBe(130);
    const never = await sandbox.runCommand({ cmd: 'sleep', args: ['1000'], detached: true, signal: controller.signal });
    expect((await never.wait()).exitCode).toBe(130);
  });

  test('a missing program is 127, a missing directory rejects', async () => {
    const { sandbox } = await sandboxInFolder();
    const command = await sandbox.runCommand({ cmd: 'no-such-program', detached: true });
    expect((await command.wait()).exitCode).toBe(127);
    await expect(sandbox.runCommand({ cmd: 'true', cwd: 'missing', detached: true })).rejects.toMatchObject({
      code: 'ERR_BASH_CWD_NOT_FOUND',
    });
  });

  test('what the sandbox’s listener sees is the program’s output alone', async () => {
    let seen = '';
    const { sandbox } = await sandboxInFolder({
      onOutput: ({ text }) => {
        seen += text;
      },
    });
    await (await sandbox.runCommand({ cmd: 'seq', args: ['3'], detached: true })).wait();
    expect(seen).toBe('1\n2\n3\n');
  });
});

describe('stop', () => {
  test('ends running and detached commands, and their promises settle with the output so far', async () => {
    const { folder, sandbox } = await sandboxInFolder();
    const foreground = sandbox.runCommand('bash', ['-c', 'echo f; echo $$ >f; sleep 1000']);
    const detached = await sandbox.runCommand({
      cmd: 'bash',
      args: ['-c', 'echo d; echo $$ >d; sleep 1000'],
      detached: true,
    });
    const pids = [await pidFrom(join(folder, 'f')), await pidFrom(join(folder, 'd'))];
    await sandbox.stop();
    for (const pid of pids) expect(await isAlive(pid)).toBe(false);
    const runs = [await foreground, await detached.wait()];
    expect(runs.map((run) => run.exitCode)).toEqual([130, 130]);
    expect(await Promise.all(runs.map((run) => run.stdout()))).toEqual(['f\n', 'd\n']);
  });

  test('ends what a command left running, one that ignores SIGTERM and left its session too', async () => {
    const { folder, sandbox } = await sandboxInFolder();
    const stubborn = `trap "" TERM; echo $$ >stubborn; while :; do sleep 0.1; done`;
    await sandbox.writeFiles([{ path: 'stubborn.sh', content: stubborn }]);
    const run = await sandbox.runCommand('bash', [
      '-c',
      'setsid bash stubborn.sh </dev/null >/dev/null 2>&1 & sleep 1000 & echo $! >plain; until [ -s stubborn ]; do sleep 0.01; done; echo started',
    ]);
    expect(await run.stdout()).toBe('started\n');
    const pids = [await pidFrom(join(folder, 'stubborn')), await pidFrom(join(folder, 'plain'))];
    for (const pid of pids) expect(await isAlive(pid)).toBe(true);
    await sandbox.stop();
    for (const pid of pids) expect(await isAlive(pid)).toBe(false);
  });

  test('ends a process that a leftover started after its command had ended (by its environment: Linux)', async () => {
    const { folder, sandbox } = await sandboxInFolder();
    await sandbox.runCommand('bash', [
      '-c',
      '(until [ -e go ]; do sleep 0.01; done; setsid sleep 1000 & echo $! >late) </dev/null >/dev/null 2>&1 &',
    ]);
    await sandbox.writeFiles([{ path: 'go', content: '' }]);
    const pid = await pidFrom(join(folder, 'late'));
    expect(await isAlive(pid)).toBe(true);
    await sandbox.stop();
    if (process.platform === 'linux') expect(await isAlive(pid)).toBe(false);
    else process.kill(pid);
  });

  test('keeps the directory, may be called again, and the sandbox goes on', async () => {
    const { sandbox } = await sandboxInFolder();
    await sandbox.stop();
    await sandbox.runCommand('bash', ['-c', 'echo kept >file']);
    await sandbox.stop();
    await Promise.all([sandbox.stop(), sandbox.stop()]);
    expect(await textOf(await sandbox.readFile({ path: 'file' }))).toBe('kept\n');
    expect(await (await sandbox.runCommand('cat', ['file'])).stdout()).toBe('kept\n');
  });

  test('touches nothing of another sandbox', async () => {
    const one = await sandboxInFolder();
    const other = await sandboxInFolder();
    const command = await other.sandbox.runCommand({
      cmd: 'bash',
      args: ['-c', 'echo $$ >pid; sleep 1000'],
      detached: true,
    });
    const pid = await pidFrom(join(other.folder, 'pid'));
    await one.sandbox.runCommand('true');
    await one.sandbox.stop();
    expect(await isAlive(pid)).toBe(true);
    await other.sandbox.stop();
    expect((await command.wait()).exitCode).toBe(130);
  });
});
