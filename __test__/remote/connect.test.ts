import { userInfo } from 'node:os';
import { bash, connect } from 'agent-bash';
import { describe, expect, test } from 'vitest';
import { addressOf, alive, folder, host, mark, place, rejection, sleepers, until } from '../support/index.ts';

describe('a connection', () => {
  test('tells what the target is', async () => {
    const { target, home } = await place({ hostProgram: undefined });
    expect(target).toMatchObject({ id: 'there', kind: 'command', state: 'connected' });
    const { program, ...info } = target.info;
    expect(info).toStrictEqual({
      machine: expect.stringMatching(/\//),
      hostName: expect.any(String),
      platform: 'linux',
      arch: process.arch,
      kernel: expect.stringMatching(/^\d/),
      // No variable tells it there.
      user: userInfo().username,
      uid: process.getuid?.(),
      home,
      cwd: home,
      pid: expect.any(Number),
      bash: expect.stringMatching(/\/bash$/),
      lingers: expect.toSatisfy((lingers) => lingers === null || typeof lingers === 'boolean'),
      rttMs: expect.any(Number),
    });
    expect(program.sha256).toMatch(/^[\da-f]{64}$/);
    expect(program).toMatchObject({ path: expect.stringContaining(program.sha256), version: '0.1.0', sent: true });
  });

  test('finds the program that an earlier one has sent', async () => {
    const home = folder();
    for (const sent of [true, false]) {
      await using target = await connect(addressOf(home));
      expect(target.info.program.sent).toBe(sent);
      expect(target.id).toBe('command:env');
    }
  });

  test('to a program that greets and then is silent ends at its time, and at an abort', async () => {
    const home = folder();
    await (await connect(addressOf(home))).close();
    // The program is there, and greets. Of what follows it gets nothing.
    const mute = '"$@" < <(head -c 60; sleep 1000) | cat';
    const command = addressOf(home).command.with(-2, mute);
    const begun = performance.now();
    const late = await rejection(() => connect({ command, connectTimeoutMs: 1_500 }));
    expect(performance.now() - begun).toBeLessThan(4_000);
    expect(late).toMatchObject({ code: 'ERR_BASH_TARGET', reason: 'timeout' });
    const given = new AbortController();
    const connecting = rejection(() => connect({ command, signal: given.signal }));
    setTimeout(() => given.abort(), 1_500);
    expect(await connecting).toMatchObject({ code: 'ABORT_ERR' });
  });

  test('begins in `cwd`, relative to the home', async () => {
    const home = folder();
    const address = addressOf(home);
    expect(await rejection(() => connect({ ...address, cwd: 'work' }))).toMatchObject({
      code: 'ERR_BASH_CWD_NOT_FOUND',
      message: `Working directory does not exist: ${home}/work`,
      target: 'command:env',
    });
    {
      await using target = await connect(address);
      await target.writeFile('work/file', '');
      await bash('ln -s work link', { target });
    }
    expect(await rejection(() => connect({ ...address, cwd: 'work/file' }))).toMatchObject({
      code: 'ERR_BASH_CWD_NOT_DIRECTORY',
    });
    await using target = await connect({ ...address, cwd: 'link' });
    expect(target.info.cwd).toBe(`${home}/link`);
    expect((await bash('pwd -L; pwd -P', { target })).stdout).toBe(`${home}/link\n${home}/work\n`);
  });

  test('ends its program and its transport when it is closed, and may be closed again', async () => {
    const { target } = await place();
    const { pid } = target.info;
    await Promise.all([target.close(), target.close()]);
    expect(target.state).toBe('closed');
    expect(target.info.pid).toBe(pid);
    await until(() => !alive(pid));
    for (const call of [() => bash('true', { target }), () => target.stat('/'), () => target.uninstall()]) {
      expect(await rejection(call)).toMatchObject({ code: 'ERR_BASH_CLOSED' });
    }
  });

  test('does not keep the process alive', async () => {
    const run = host(`
      import { connect } from 'agent-bash';
      const target = await connect(${JSON.stringify(addressOf(folder()))});
      await bash('true', { target });
      console.log(target.info.pid);
    `);
    expect(await run.ended()).toStrictEqual({ code: 0, signal: null });
    await until(() => !alive(Number(run.stdout())));
  });

  test.each(['SIGTERM', 'SIGKILL'] as const)('ends all there when this process ends by %s', async (signal) => {
    const seconds = mark();
    const run = host(`
      import { connect } from 'agent-bash';
      const target = await connect(${JSON.stringify(addressOf(folder()))});
      bash('setsid sleep ${seconds} & sleep ${seconds}', { target });
      console.log(target.info.pid);
    `);
    const [pid] = await run.says(/\d+/);
    await until(() => sleepers(seconds).length === 2);
    run.process.kill(signal);
    await until(() => sleepers(seconds).length === 0 && !alive(Number(pid)));
  });

  test('`uninstall` removes the program, and closes the target', async () => {
    const { target } = await place();
    const { program, pid } = target.info;
    await target.uninstall();
    expect(target.state).toBe('closed');
    await until(() => !alive(pid));
    await using again = await connect(addressOf(target.info.home));
    expect(await again.stat(program.path)).not.toBeNull();
    expect(again.info.program.sent).toBe(true);
  });
});

describe('what cannot be connected', () => {
  test.each([
    ['nothing', {}, 'exactly one of ssh, docker, podman, kubernetes, command'],
    ['two addresses', { ssh: 'a', docker: 'b' }, 'there are ssh and docker'],
    ['an unknown option', { ssh: 'a', timeout: 1 }, 'connect: unknown option "timeout"'],
    ['an unknown option of the address', { ssh: { host: 'a', users: 'b' } }, 'did you mean "ssh.user"?'],
    ['an empty host', { ssh: '' }, 'ssh.host is empty'],
    ['a host that is an option', { ssh: '-oProxyCommand=touch x' }, 'begins with `-`'],
    ['a user and a host that is an option', { ssh: 'me@-oProxyCommand=x' }, 'begins with `-`'],
    ['a URL with a host that is an option', { ssh: 'ssh://-oProxyCommand=x' }, 'begins with `-`'],
    ['a user that is an option', { ssh: { host: 'a', user: '-l' } }, 'begins with `-`'],
    ['a host with a blank', { ssh: 'a b' }, 'has a blank'],
    ['a container that is an option', { docker: '--privileged' }, 'begins with `-`'],
    ['a container with a control character', { podman: 'a\u0007' }, 'has a blank or a control character'],
    ['a pod that is an option', { kubernetes: { pod: '--kubeconfig=x' } }, 'begins with `-`'],
    ['no pod', { kubernetes: {} }, 'kubernetes.pod'],
    ['a namespace that is an option', { kubernetes: { pod: 'p', namespace: '-n' } }, 'begins with `-`'],
    ['a uid with a blank', { kubernetes: { pod: 'p', uid: 'a b' } }, 'has a blank'],
    ['a context with a newline', { kubernetes: { pod: 'p', context: 'a\nb' } }, 'has a blank'],
    ['no command', { command: [] }, 'names no program'],
    ['quoting of ssh', { ssh: 'a', quoting: 'argv' }, 'only an address by `command`'],
    ['a lease that is too long', { ssh: 'a', detachMs: 86_400_001 }, 'detachMs'],
    ['a silence that is too short', { ssh: 'a', aliveMs: 999 }, 'aliveMs'],
    ['a time that is too short', { ssh: 'a', connectTimeoutMs: 10 }, 'connectTimeoutMs'],
    ['a program that is no absolute path', { ssh: 'a', hostProgram: 'bin/x' }, 'hostProgram'],
    ['an empty name', { ssh: 'a', name: '' }, 'name'],
    ['no signal', { ssh: 'a', signal: 1 }, 'signal'],
  ])('%s', async (_, to, message) => {
    // @ts-expect-error these are wrong
    const error = await rejection(() => connect(to));
    expect(error).toMatchObject({ code: 'ERR_BASH_INVALID_ARG', message: expect.stringContaining(message) });
  });

  test('a target that is no target', async () => {
    // @ts-expect-error an object is no target
    const error = await rejection(() => bash('true', { target: { id: 'x' } }));
    expect(error).toMatchObject({
      code: 'ERR_BASH_INVALID_ARG',
      message: expect.stringMatching(/^target: .* `connect`$/),
    });
  });

  test.each([
    ['a transport that does not exist', { command: ['/nowhere/at-all'] }, 'unreachable', ''],
    ['an ssh that does not exist', { ssh: { host: 'a', program: ['/nowhere/ssh'] } }, 'unreachable', ''],
    ['a transport that ends', { command: ['bash', '-c', 'echo because >&2; exit 1'] }, 'shell', 'because'],
    ['a start file that says why', { command: ['bash', '-c', 'echo because; exit 1'] }, 'shell', 'because'],
    ['a shell that says too much', { command: ['bash', '-c', 'yes | head -c 200000; sleep 60'] }, 'shell', ''],
  ])('%s', async (_, address, reason, said) => {
    const error = await rejection(() => connect({ ...address, name: 'nowhere' }));
    expect(error).toMatchObject({ code: 'ERR_BASH_TARGET', reason, stderr: expect.stringContaining(said) });
    expect(error).toMatchObject({ target: 'nowhere', message: expect.stringMatching(RegExp(`nowhere.*${said}`, 's')) });
  });

  test('a transport that is silent', async () => {
    const error = await rejection(() => connect({ command: ['bash', '-c', 'sleep 60'], connectTimeoutMs: 1_000 }));
    expect(error).toMatchObject({ code: 'ERR_BASH_TARGET', reason: 'timeout' });
  });

  test('one that was given up, before and meanwhile', async () => {
    for (const signal of [AbortSignal.timeout(100), AbortSignal.abort()]) {
      const attempt = () => connect({ command: ['bash', '-c', 'sleep 60'], signal });
      expect(await rejection(attempt)).toMatchObject({ code: 'ABORT_ERR' });
    }
  });

  test('a program that is not there', async () => {
    const to = { ...addressOf(folder()), hostProgram: '/nowhere/agent-bash-host' };
    expect(await rejection(() => connect(to))).toMatchObject({ code: 'ERR_BASH_TARGET', reason: 'hash' });
  });
});
