import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { BackgroundRegistry, BashSession, bash, PtySession, undo, undoPoints, warmUp } from 'agent-bash';
import { describe, expect, test } from 'vitest';
import {
  addressOf,
  alive,
  finished,
  folder,
  host,
  mark,
  place,
  rejection,
  sleepers,
  stateFolder,
  until,
} from '../support/index.ts';

describe('a command on a target', () => {
  test('has a result as here, with the name of the target', async () => {
    const { target, home } = await place();
    const result = await bash('pwd; echo "$1" >&2; cat; exit 3', { target, args: ['b'], stdin: 'c' });
    expect(result).toMatchObject({
      status: 'exited',
      exitCode: 3,
      stdout: `${home}\nc`,
      stderr: 'b\n',
      target: 'there',
    });
    expect(result.runId).toMatch(/^\d+-/);
    expect((await bash('true')).target).toBeNull();
  });

  test('has the environment there, and from here only `env`', async () => {
    process.env.SECRET_OF_TEST = 'here';
    finished(() => {
      delete process.env.SECRET_OF_TEST;
    });
    const { target, home } = await place({ env: { A: 'target', B: 'target', HOME: undefined } });
    const options = { target, env: { B: 'call' }, inheritEnv: 'all' } as const;
    const { stdout } = await bash('echo "$A $B $HOME $SECRET_OF_TEST."', options);
    expect(stdout).toBe('target call  .\n');
    expect((await bash('echo "$HOME"', { target, env: { HOME: home } })).stdout).toBe(`${home}\n`);
  });

  test('starts in the directory of the target, and relative ones begin there', async () => {
    const { target, home } = await place();
    mkdirSync(join(home, 'sub'));
    expect((await bash('pwd', { target, cwd: 'sub' })).stdout).toBe(`${home}/sub\n`);
    expect((await bash('pwd', { target, cwd: '/usr' })).stdout).toBe('/usr\n');
    expect(await rejection(() => bash('pwd', { target, cwd: 'none' }))).toMatchObject({
      code: 'ERR_BASH_CWD_NOT_FOUND',
      message: `Working directory does not exist: ${home}/none`,
      target: 'there',
    });
  });

  test('is judged here, by the home there', async () => {
    const { target, home } = await place();
    for (const command of ['rm -rf ~', `rm -rf ${home}`, 'rm -rf /']) {
      expect(await rejection(() => bash(command, { target }))).toMatchObject({
        code: 'ERR_BASH_BLOCKED',
        findings: [expect.anything()],
      });
    }
    expect(existsSync(home)).toBe(true);
  });

  test('gives its output as it comes, and its listener holds it back', async () => {
    const { target } = await place();
    let text = '';
    const { stdout } = await bash('for i in 1 2 3; do echo $i; sleep 0.05; done', {
      target,
      onOutput: async (chunk) => {
        text += chunk.text;
        await new Promise((resolve) => setTimeout(resolve, 5));
      },
    });
    expect([text, stdout]).toStrictEqual(['1\n2\n3\n', '1\n2\n3\n']);
  });

  test('has its whole output in a file there', async () => {
    const { target, home } = await place();
    const { truncation } = await bash('seq 100000', { target, spill: { dir: 'out' } });
    const path = truncation.stdout?.path as string;
    expect(path).toMatch(new RegExp(`^${home}/out/`));
    expect(Buffer.from((await target.readFile(path)) ?? []).toString()).toMatch(/^1\n2\n[\s\S]*\n100000\n$/);
  });

  test('ends with all that it started when it is aborted', async () => {
    const { target } = await place();
    const seconds = mark();
    const abort = new AbortController();
    const ran = bash(`setsid sleep ${seconds} & sleep ${seconds}`, { target, signal: abort.signal });
    await until(() => sleepers(seconds).length === 2);
    abort.abort();
    expect(await ran).toMatchObject({ status: 'aborted', exitCode: 130 });
    expect(sleepers(seconds)).toStrictEqual([]);
    expect(await bash('true', { target, signal: AbortSignal.abort() })).toMatchObject({ status: 'aborted', pid: 0 });
  });

  test('has limits there', async () => {
    const { target } = await place();
    expect(await bash('sleep 60', { target, timeoutMs: 200 })).toMatchObject({ status: 'timed-out', exitCode: 124 });
    expect((await bash('ulimit -n', { target, limits: { openFiles: 77 } })).stdout).toBe('77\n');
  });

  test('has its changes told and undone there', async () => {
    const { target, home } = await place();
    mkdirSync(join(home, 'work'));
    writeFileSync(join(home, 'work/file'), 'before');
    const cwd = 'work';
    const {
      receipt,
      undo: coverage,
      runId,
    } = await bash('echo after > file', { target, cwd, receipt: 'exact', undo: 'always' });
    expect(receipt?.modified).toMatchObject([{ path: `${home}/work/file` }]);
    expect(coverage).not.toBeNull();
    expect(await undoPoints({ target, cwd })).toMatchObject([{ runId }]);
    expect(await undoPoints({ target, cwd: '/usr' })).toStrictEqual([]);
    expect(await rejection(() => undo(runId))).toMatchObject({ code: 'ERR_BASH_UNDO' });
    expect(await undo(runId, { target })).toMatchObject({ runId, restored: [`${home}/work/file`] });
    expect(readFileSync(join(home, 'work/file'), 'utf8')).toBe('before');
  });

  test('has no artifacts, and no registry of another place', async () => {
    const { target } = await place();
    const spill = { allocate: () => ({ id: 'a', path: '/tmp/a' }) };
    expect(await rejection(() => bash('true', { target, spill }))).toMatchObject({ code: 'ERR_BASH_UNSUPPORTED' });
    await using here = new BackgroundRegistry();
    await using there = new BackgroundRegistry({ target });
    for (const options of [{ target, registry: here }, { registry: there }]) {
      expect(await rejection(() => bash('true', options))).toMatchObject({
        code: 'ERR_BASH_INVALID_ARG',
        message: expect.stringContaining('give both the same target'),
      });
    }
    expect(await bash('true', { target, registry: there })).toMatchObject({ exitCode: 0 });
  });

  test('starts in a warm shell', async () => {
    const { target } = await place();
    expect(await warmUp({ target })).toBe(true);
    expect(await warmUp({ target, warm: false })).toBe(false);
  });
});

describe('a session on a target', () => {
  test('remembers there, in the order of the calls', async () => {
    const { target, home } = await place();
    await using session = new BashSession({ target });
    expect(session.cwd).toBe(home);
    const results = await Promise.all([
      session.run('mkdir s; cd s; X=1'),
      session.run('echo $X; X=2'),
      session.run('echo $X'),
    ]);
    expect(results.map(({ stdout, cwd, target: name }) => [stdout, cwd, name])).toStrictEqual([
      ['', `${home}/s`, 'there'],
      ['1\n', `${home}/s`, 'there'],
      ['2\n', `${home}/s`, 'there'],
    ]);
    expect((await session.run('pwd; echo $Y', { cwd: '..', env: { Y: 'y' } })).stdout).toBe(`${home}\ny\n`);
    await session.reset();
    expect((await session.run('echo "[$X]"; pwd')).stdout).toBe(`[]\n${home}\n`);
    const other = await place();
    expect(await rejection(() => session.run('true', { target: other.target }))).toMatchObject({
      code: 'ERR_BASH_INVALID_ARG',
    });
    await session.close();
    expect(await rejection(() => session.run('true'))).toMatchObject({ code: 'ERR_BASH_CLOSED' });
  });
});

describe('a terminal on a target', () => {
  test('shows a program there', async () => {
    const { target } = await place();
    await using terminal = new PtySession({ target, cols: 100, rows: 30 });
    await terminal.start('stty size; read -r line; echo "got $line"');
    await terminal.wait({ pattern: '30 100' });
    await terminal.write('text\r');
    const result = await terminal.result();
    expect(result).toMatchObject({ exitCode: 0, target: 'there', stdout: expect.stringContaining('got text\n') });
    expect(terminal.screen().lines.slice(0, 3)).toStrictEqual(['30 100', 'text', 'got text']);
  });
});

describe('tasks on a target', () => {
  test('run in a registry there', async () => {
    const { target, home } = await place();
    const registry = new BackgroundRegistry({ target, dir: 'tasks' });
    const exits: string[] = [];
    registry.on('exit', ({ id, target: name }) => exits.push(`${id} ${name}`));
    const task = await registry.start('echo one; read -r _ < <(sleep 0.2); echo two');
    expect(task).toMatchObject({ target: 'there', cwd: home, state: 'running' });
    expect(task.logPath).toMatch(new RegExp(`^${home}/tasks/`));
    expect(await registry.wait(task, { pattern: 'two' })).toMatchObject({ matched: true, output: 'one\ntwo\n' });
    const { task: ended } = await registry.wait(task);
    expect(ended).toMatchObject({ state: 'exited', exitCode: 0, target: 'there' });
    await until(() => exits.length > 0);
    expect(exits).toStrictEqual([`${task.id} there`]);
    expect(await registry.refresh()).toStrictEqual([ended]);
    expect(registry.list()).toStrictEqual([ended]);
    await registry.close();
    for (const call of [() => registry.refresh(), () => registry.check(task)]) {
      expect(await rejection(call)).toMatchObject({ code: 'ERR_BASH_CLOSED' });
    }
  });

  test('are of the default registry there, if a command names none', async () => {
    const { target, home } = await place();
    const seconds = mark();
    const result = await bash(`sleep ${seconds}`, { target, mode: 'background' });
    expect(result).toMatchObject({ status: 'backgrounded', target: 'there', background: { target: 'there' } });
    expect(result.background?.logPath).toMatch(new RegExp(`^${home}/\\.local/state/agent-bash/`));
    await using registry = new BackgroundRegistry({ target, dir: '.local/state/agent-bash' });
    const { task } = await registry.kill(result.background?.id ?? '');
    expect(task).toMatchObject({ state: 'killed' });
    expect(sleepers(seconds)).toStrictEqual([]);
  });

  test('end with the target, unless they have a directory', async () => {
    const { target } = await place();
    const [short, long] = [mark(), mark()];
    const temporary = new BackgroundRegistry({ target });
    const kept = new BackgroundRegistry({ target, dir: 'tasks' });
    await Promise.all([temporary.start(`sleep ${short}`), kept.start(`sleep ${long}`)]);
    await until(() => sleepers(short).length === 1 && sleepers(long).length === 1);
    await target.close();
    await until(() => sleepers(short).length === 0);
    const [pid] = sleepers(long);
    expect(alive(pid as number)).toBe(true);
  });

  test('tell why their directory cannot be used', async () => {
    const { target } = await place();
    await target.writeFile('file', '');
    await using registry = new BackgroundRegistry({ target, dir: 'file/tasks' });
    const error = await rejection(() => registry.start('true'));
    expect(error.message).toContain('file/tasks');
  });

  test('here are listed by `refresh`, too', async () => {
    await using registry = new BackgroundRegistry();
    const task = await registry.start('true');
    expect(task.target).toBeNull();
    expect((await registry.refresh()).map(({ id }) => id)).toStrictEqual([task.id]);
  });
});

describe('the ledger', () => {
  test('has the entry of a command here, with the target', async () => {
    const { target, home } = await place();
    const state = stateFolder();
    const run = host(
      `
      import { connect, readLedger } from 'agent-bash';
      const target = await connect(${JSON.stringify({ ...addressOf(home), name: 'there' })});
      const options = { target, ledger: true, actor: { agent: 'a' } };
      const result = await bash('cd /usr; exit 3', options);
      await bash('rm -rf /', options).catch(() => {});
      await bash('true', { ...options, cwd: 'nowhere' }).catch(() => {});
      const entries = [];
      for await (const entry of readLedger()) entries.push(entry);
      console.log(JSON.stringify({ entries, runId: result.runId }));
      await target.close();
    `,
      { env: { XDG_STATE_HOME: state } },
    );
    expect(await run.ended()).toStrictEqual({ code: 0, signal: null });
    const { entries, runId } = JSON.parse(run.stdout());
    expect(entries).toMatchObject([
      { state: 'refused', command: 'rm -rf /', target: 'there' },
      {
        state: 'exited',
        exitCode: 3,
        command: 'cd /usr; exit 3',
        cwd: home,
        target: 'there',
        runId,
        actor: { agent: 'a' },
      },
    ]);
    expect(await target.list('.local/state/agent-bash/ledger')).toBeNull();
  });

  test('has a command whose host was killed as lost', async () => {
    const env = { XDG_STATE_HOME: stateFolder() };
    const command = `sleep ${mark()}`;
    const read = 'for await (const { state, command } of readLedger({ follow })) console.log(state, command);';
    const running = host(
      `
      import { connect, readLedger } from 'agent-bash';
      const target = await connect(${JSON.stringify(addressOf(folder()))});
      void bash('${command}', { target, ledger: true });
      const follow = true;
      ${read}
    `,
      { env },
    );
    await running.says(/running/);
    running.process.kill('SIGKILL');
    await until(() => !alive(running.pid));
    const reader = host(`import { readLedger } from 'agent-bash';\nconst follow = false;\n${read}`, { env });
    await reader.ended();
    expect(reader.stdout()).toBe(`lost ${command}\n`);
  });
});
