import { existsSync, mkdirSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BackgroundTask, BashResult, UndoPoint } from 'agent-bash';
import { describe, expect, test } from 'vitest';
import { alive, folder, processOf, until } from '../support/index.ts';
import { type SshHost, sshHost, sshTest } from '../support/ssh.ts';
import { type Ended, Program } from './support.ts';

const parentOf = (pid: number) => processOf(pid)?.ppid ?? 0;

/** The program, and a host that it reaches. */
class There {
  readonly host: SshHost = sshHost();
  readonly program = new Program();
  readonly flags = ['--on', this.host.host, '--ssh-config', this.host.config];

  run(command: string, ...args: string[]): Promise<Ended> {
    return this.program.run(command, ...this.flags, ...args);
  }

  json<T>(command: string, ...args: string[]): Promise<T> {
    return this.program.json<T>(command, ...this.flags, ...args);
  }

  /** Returns the host program above the shell of a command. Its helpers are the same file. */
  hostOf(shell: number): number {
    for (let pid = parentOf(shell); ; pid = parentOf(pid)) {
      if (!readlinkSync(`/proc/${parentOf(pid)}/exe`).startsWith(this.host.home)) return pid;
    }
  }

  /** Starts a task, which is ended with the test. */
  async task(command: string): Promise<BackgroundTask> {
    return this.json<BackgroundTask>('run', '-b', command);
  }
}

describe('agent-bash run --on', () => {
  sshTest('runs the command there, with live output and its exit code', async () => {
    const there = new There();
    const ended = await there.run('run', 'echo "$HOME"; pwd; echo failed >&2; exit 3');
    expect(ended).toMatchObject({ code: 3, stderr: 'failed\n' });
    // Without another directory, sshd starts a login in that of the account; ours starts in the home.
    expect(ended.stdout).toBe(`${there.host.home}\n${there.host.home}\n`);
  });

  sshTest('passes input on, and the directory is one there', async () => {
    const there = new There();
    mkdirSync(join(there.host.home, 'project'));
    const run = there.program.start(['run', ...there.flags, '--stdin', '--cwd', 'project', 'pwd; cat'], 'pipe');
    run.child.stdin?.end('from here');
    expect(await run.ended).toMatchObject({ code: 0, stdout: `${there.host.home}/project\nfrom here`, stderr: '' });
  });

  sshTest('gives the whole result with --json, with the name of the target', async () => {
    const there = new There();
    const result = await there.json<BashResult>('run', 'echo out');
    expect(result).toMatchObject({ stdout: 'out\n', status: 'exited', target: `ssh:${there.host.host}` });
  });

  sshTest('leaves nothing running there, and only its program', async () => {
    const there = new There();
    const run = there.program.start(['run', ...there.flags, 'echo $$; exec sleep 1']);
    const shell = Number(await run.says(/^\d+$/m));
    const host = there.hostOf(shell);
    expect(await run.ended).toMatchObject({ code: 0 });
    await until(() => !alive(host) && !alive(shell), 'both are gone');
    // The directory of sockets is empty.
    expect(readdirSync(there.host.home)).toEqual(['.cache', `agent-bash-${process.getuid?.()}`]);
  });

  sshTest('Ctrl-C ends the command there', async () => {
    const there = new There();
    const run = there.program.start(['run', ...there.flags, 'echo $$; exec sleep 60']);
    const [pid] = await run.says(/^\d+$/m);
    run.child.kill('SIGINT');
    expect(await run.ended).toMatchObject({ code: 130, signal: null });
    expect(alive(Number(pid))).toBe(false);
  });

  sshTest('Ctrl-C ends the attempt to connect', async () => {
    const place = folder();
    const config = join(place, 'config');
    writeFileSync(config, `Host slow\n  ProxyCommand sh -c 'touch ${place}/begun; exec sleep 61'\n`);
    const run = new Program().start(['run', '--on', 'slow', '--ssh-config', config, 'echo never']);
    await until(() => existsSync(join(place, 'begun')), 'ssh has begun');
    run.child.kill('SIGTERM');
    expect(await run.ended).toMatchObject({ code: 143, stdout: '', stderr: '' });
  });

  sshTest('exits with 255 if the command is lost', async () => {
    const there = new There();
    const run = there.program.start(['run', ...there.flags, 'echo $$; exec sleep 60']);
    const [pid] = await run.says(/^\d+$/m);
    process.kill(there.hostOf(Number(pid)), 'SIGKILL');
    const { code, stderr } = await run.ended;
    expect(code).toBe(255);
    expect(stderr).toMatch(/^agent-bash: the command is lost: /m);
  });

  sshTest('confines there: relative paths begin in its directory', async () => {
    const there = new There();
    mkdirSync(join(there.host.home, 'open'));
    const ended = await there.run('run', '--confine=read-only', '--write', 'open', 'echo x > open/in; echo x > out');
    expect([existsSync(join(there.host.home, 'open/in')), existsSync(join(there.host.home, 'out'))]).toEqual([
      true,
      false,
    ]);
    expect(ended.stderr).toContain(`confined: write ${there.host.home}/out denied`);
  });

  test.each([
    [['--on', 'pod:web'], 'A pod is pod:NAMESPACE/POD or pod:NAMESPACE/POD/CONTAINER.'],
    [['--on', 'pod:a/b/c/d'], 'A pod is pod:NAMESPACE/POD'],
    [['--on', 'pod:/web'], 'kubernetes.namespace is empty'],
    [['--on', 'docker:'], 'docker.container is empty'],
    [['--on', 'podman:--privileged'], 'podman.container begins with `-`'],
    [['--on=-oProxyCommand=touch x'], 'ssh.host begins with `-`'],
    [['--on', 'user@-x'], 'ssh.host'],
    [['--on', 'ssh://-x'], 'ssh.host'],
    [['--on', 'two words'], 'ssh.host has a blank'],
    [['--on', ''], 'ssh.host is empty'],
    [['--linger', '5m'], '--linger is about a connection: name the target with --on'],
    [['--ssh-config', 'x'], '--ssh-config is about a connection: name the target with --on'],
    [['--on', 'docker:web', '--ssh-config', 'x'], '--ssh-config is for an ssh destination, and docker:web is none'],
    [['--on', 'build1', '--linger', 'long'], 'It must be a time such as'],
  ])('%j is a wrong argument, and nothing runs', async (flags, message) => {
    const { code, stdout, stderr } = await new Program().run('run', 'echo started', ...flags);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(message);
  });

  test.each([[['ps']], [['logs']], [['kill', '1']], [['undo']], [['mcp']]])(
    'a wrong target is one of %j, too',
    async (command) => {
      const { code, stdout, stderr } = await new Program().run(...command, '--on', 'pod:web');
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
      expect(stderr).toContain('A pod is pod:NAMESPACE/POD');
    },
  );

  sshTest('exits with 125 if the target cannot be reached, and says why', async () => {
    const { config } = sshHost();
    const program = new Program();
    const { code, stdout, stderr } = await program.run(
      'run',
      '--on',
      'elsewhere.invalid',
      '--ssh-config',
      config,
      'echo x',
    );
    expect({ code, stdout }).toEqual({ code: 125, stdout: '' });
    expect(stderr).toMatch(/^agent-bash: ssh:elsewhere.invalid cannot be reached, and nothing was started: /);
    const json = await program.run('run', '--on', 'elsewhere.invalid', '--ssh-config', config, '--json', 'echo x');
    expect([json.code, JSON.parse(json.stdout)]).toMatchObject([
      125,
      { code: 'ERR_BASH_TARGET', reason: 'unreachable' },
    ]);
  });
});

describe('tasks on a target', () => {
  sshTest('run -b, ps, logs and kill are about the registry of the user there', async () => {
    const there = new There();
    const { stdout } = await there.run('run', '-b', 'echo started; exec sleep 60');
    const pid = /^started (\d+)$/m.exec(stdout)?.[1] ?? '';
    expect(stdout).toContain(`\noutput: ${there.host.home}/.state/agent-bash/`);
    expect(stdout).toContain(`\nstop:   agent-bash kill ${pid} ${there.flags.join(' ')}\n`);
    const listed = (await there.run('ps')).stdout;
    expect(listed).toMatch(new RegExp(`^${pid} +running .* ~ +echo started; exec sleep 60$`, 'm'));
    expect(await there.program.json('ps')).toEqual([]);
    await until(async () => (await there.run('logs', pid)).stdout === 'started\n', 'the output is in the log');
    expect((await there.run('kill', pid)).stdout).toMatch(new RegExp(`^${pid} +killed SIGTERM$`, 'm'));
    expect(alive(Number(pid))).toBe(false);
    expect(await there.json('ps', '--running')).toEqual([]);
  });

  sshTest('logs: last lines, the end of a task that is followed, and JSON', async () => {
    const there = new There();
    const { id } = await there.task('seq 1 5000; until [ -e "$HOME/go" ]; do sleep 0.05; done; echo é; printf end');
    await until(async () => (await there.run('logs', id, '-n', '1')).stdout === '5000\n', 'the last line');
    expect((await there.run('logs', id, '-n', '2')).stdout).toBe('4999\n5000\n');
    const following = there.program.start(['logs', ...there.flags, id, '-f', '-n', '1']);
    await following.says(/^5000$/m);
    writeFileSync(join(there.host.home, 'go'), '');
    const { stdout, code } = await following.ended;
    expect([code, stdout.split('\n').slice(0, 3)]).toEqual([0, ['5000', 'é', 'end']]);
    const { task, output } = await there.json<{ task: BackgroundTask; output: string }>('logs', id);
    expect(task).toMatchObject({ state: 'exited', target: `ssh:${there.host.host}` });
    expect(output.split('\n').slice(0, 5002).map(String)).toEqual([
      ...Array.from({ length: 5000 }, (_, index) => `${index + 1}`),
      'é',
      'end',
    ]);
  });

  sshTest('--dir is a directory there, and has to exist', async () => {
    const there = new There();
    const { code, stderr } = await there.run('ps', '--dir', 'tasks');
    expect([code, stderr]).toEqual([1, `agent-bash: there is no directory tasks on ssh:${there.host.host}\n`]);
    const task = await there.json<BackgroundTask>('run', '-b', '--dir', 'tasks', 'true');
    expect(task.logPath).toMatch(`${there.host.home}/tasks/`);
    expect(await there.json('ps', '--dir', 'tasks')).toMatchObject([{ id: task.id }]);
  });

  sshTest('Ctrl-C ends what follows a task, and not the task', async () => {
    const there = new There();
    const { id, pid } = await there.task('echo started; exec sleep 60');
    const following = there.program.start(['logs', ...there.flags, id, '-f']);
    await following.says(/started/);
    following.child.kill('SIGINT');
    expect(await following.ended).toMatchObject({ code: 130, signal: null, stderr: '' });
    expect(alive(pid)).toBe(true);
    await there.run('kill', id);
  });
});

describe('agent-bash undo --on', () => {
  sshTest('takes back what a run changed there, by its id or as the newest of a directory there', async () => {
    const there = new There();
    const project = join(there.host.home, 'project');
    mkdirSync(project);
    const file = join(project, 'notes');
    writeFileSync(file, 'before');
    const { stderr } = await there.run('run', '--undo', '--cwd', 'project', 'echo after > notes');
    const [, id, words] = /^agent-bash: undo: agent-bash undo (\S+) (.*)$/m.exec(stderr) ?? [];
    expect(words).toBe(there.flags.join(' '));
    // All runs in the home or below.
    expect(await there.json<UndoPoint[]>('undo', '--list')).toMatchObject([{ runId: id }]);
    expect(await there.json<UndoPoint[]>('undo', '--list', '--cwd', '/')).toHaveLength(1);
    expect(await there.json<UndoPoint[]>('undo', '--list', '--cwd', '.cache')).toEqual([]);
    const dry = await there.run('undo', id ?? '', '--dry-run');
    expect(dry.stdout).toBe(`would restore  ${file}\n`);
    const { stdout } = await there.run('undo', '--cwd', project, '--path', 'project/notes');
    expect(stdout).toContain(`restored  ${file}\n`);
    expect(stdout).toMatch(/^to undo this: agent-bash undo \S+ --on box /m);
    expect(readFileSync(file, 'utf8')).toBe('before');
  });
});

describe('agent-bash mcp --on', () => {
  sshTest('serves the tools of a target, whatever the roots of the client are', async () => {
    const there = new There();
    const run = there.program.start(['mcp', ...there.flags], 'pipe');
    const send = (message: object) => run.child.stdin?.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
    const capabilities = { roots: {} };
    const clientInfo = { name: 'test', version: '1' };
    send({ id: 1, method: 'initialize', params: { protocolVersion: '2025-06-18', capabilities, clientInfo } });
    await run.says(/"id":1/);
    send({ method: 'notifications/initialized' });
    send({ id: 2, method: 'tools/call', params: { name: 'bash', arguments: { command: 'pwd' } } });
    await run.says(/"id":2/);
    send({
      id: 3,
      method: 'tools/call',
      params: { name: 'bash', arguments: { command: 'echo bg', mode: 'background' } },
    });
    await run.says(/"id":3/);
    send({ id: 4, method: 'tools/call', params: { name: 'bash_tasks', arguments: {} } });
    await run.says(/"id":4/);
    run.child.stdin?.end();
    const { code, stdout } = await run.ended;
    const answers = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    const of = (id: number) => answers.find((one) => one.id === id)?.result;
    expect(of(2)?.structuredContent).toMatchObject({ stdout: `${there.host.home}\n` });
    expect([code, JSON.stringify(of(4))]).toEqual([0, expect.stringContaining('echo bg')]);
  });
});

describe('agent-bash uninstall', () => {
  sshTest('removes the program and all that is its own', async () => {
    const there = new There();
    await there.run('run', 'true');
    const cache = join(there.host.home, '.cache');
    expect(readdirSync(cache)).not.toEqual([]);
    const { code, stdout } = await there.run('uninstall');
    expect([code, stdout]).toEqual([0, expect.stringMatching(new RegExp(`^removed ${cache}/.* from ssh:box\n$`))]);
    expect(readdirSync(cache)).toEqual([]);
  });

  test('wants a target', async () => {
    const { code, stderr } = await new Program().run('uninstall');
    expect([code, stderr]).toEqual([2, 'agent-bash: uninstall removes what is on a target: name it with --on\n']);
  });
});
