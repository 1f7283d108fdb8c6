import { chmodSync, copyFileSync, readFileSync, renameSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type BashOptions, bash, warmUp } from 'agent-bash';
import { describe, expect, onTestFinished } from 'vitest';
import { folder, hasProgram, hostEnv, linuxTest, rejection, testNeeding } from '../../../support/index.ts';
import { runs, runsWarm, warmed } from '../../../warm/support.ts';

const program = async (name = 'bash') => (await bash(`command -v ${name}`)).stdout.trim();

async function copyOfBash(): Promise<string> {
  const path = join(folder(), 'bash');
  copyFileSync(await program(), path);
  return path;
}

function script(path: string, text: string): void {
  writeFileSync(path, text);
  chmodSync(path, 0o755);
}

/** A statement about two commands that must hold whichever shell was warm. */
async function each(one: BashOptions, two: BashOptions, command: string, expected: [string, string]): Promise<void> {
  for (let n = 0; n < 4; n++) {
    await warmUp(n % 2 ? one : two);
    expect((await bash(command, one)).stdout).toBe(expected[0]);
    expect((await bash(command, two)).stdout).toBe(expected[1]);
  }
}

describe('the shell', () => {
  linuxTest('Linux: replaced by another program while one waits: that one runs the command', async () => {
    const shell = await copyOfBash();
    await warmed({ shell });
    const other = `${shell}.new`;
    script(other, `#!${await program()}\necho "another: $2"\n`);
    renameSync(other, shell);
    expect(await bash('echo hi', { shell })).toMatchObject({ exitCode: 0, stdout: 'another: echo hi\n' });
    expect((await bash('echo hi', { shell })).stdout).toBe('another: echo hi\n');
  });

  linuxTest('Linux: a link that leads elsewhere by now', async () => {
    const [one, two] = [await copyOfBash(), await copyOfBash()];
    const shell = join(folder(), 'bash');
    symlinkSync(one, shell);
    await warmed({ shell });
    unlinkSync(shell);
    symlinkSync(two, shell);
    expect((await bash('readlink /proc/$$/exe; :', { shell })).stdout).toBe(`${two}\n`);
  });

  linuxTest('Linux: removed while one waits', async () => {
    const shell = await copyOfBash();
    await warmed({ shell });
    unlinkSync(shell);
    expect((await rejection(() => bash('echo hi', { shell }))).code).toBe('ERR_BASH_SHELL_NOT_FOUND');
  });

  linuxTest('Linux: no longer executable', async () => {
    const shell = await copyOfBash();
    await warmed({ shell });
    chmodSync(shell, 0o644);
    expect((await rejection(() => bash('echo hi', { shell }))).code).toMatch(/^ERR_BASH_(SHELL_NOT_FOUND|SPAWN)$/);
  });

  linuxTest('Linux: `$BASH` and /proc/self/exe are its own', async () => {
    const shell = await copyOfBash();
    const { stdout } = await runsWarm('echo "$BASH"; readlink /proc/$$/exe; :', { shell });
    expect(stdout).toBe((await bash('echo "$BASH"; readlink /proc/$$/exe; :', { shell, warm: false })).stdout);
    expect(stdout).toContain(shell);
  });

  linuxTest('Linux: a script named bash, with an interpreter that has BASH_ENV for itself', async () => {
    const shell = join(folder(), 'bash');
    script(shell, `#!${await program()}\necho "script: $1 $2 $#"\n`);
    for (let n = 0; n < 4; n++) {
      await warmUp({ shell });
      expect(await bash('echo hi', { shell })).toMatchObject({
        exitCode: 0,
        stdout: 'script: -c echo hi 2\n',
        notes: [],
      });
    }
  });

  linuxTest('Linux: a script named bash that passes its arguments on', async () => {
    const shell = join(folder(), 'bash');
    script(shell, `#!${await program()}\nexec ${await program()} "$@"\n`);
    for (let n = 0; n < 4; n++) {
      await warmUp({ shell });
      expect(await bash('echo hi; exit 4', { shell })).toMatchObject({ exitCode: 4, stdout: 'hi\n', notes: [] });
    }
  });

  linuxTest('Linux: a script named bash, of sh, that ends without a look at anything', async () => {
    const shell = join(folder(), 'bash');
    script(shell, '#!/bin/sh\nexit 5\n');
    for (let n = 0; n < 4; n++) {
      await warmUp({ shell });
      expect(await bash('echo hi', { shell })).toMatchObject({ exitCode: 5, stdout: '' });
    }
  });

  testNeeding(
    'dash',
    hasProgram('dash'),
    'linux',
  )('Linux: a dash named bash: the right result, cold', async () => {
    const shell = join(folder(), 'bash');
    copyFileSync(await program('dash'), shell);
    for (let n = 0; n < 4; n++) {
      await warmUp({ shell });
      const { warm, ...result } = await runs('echo hi; echo "$0"; exit 6', { shell });
      expect(result).toMatchObject({ status: 'exited', exitCode: 6, stdout: 'hi\nbash\n', notes: [] });
      expect(warm).toBe(false);
    }
  });

  linuxTest('Linux: a program named bash that waits for ever holds up no command', async () => {
    const shell = join(folder(), 'bash');
    script(shell, '#!/bin/sh\ncase "$2" in *[!\\ ]*) echo "ran $2";; *) sleep 300;; esac\n');
    for (let n = 0; n < 3; n++) expect((await bash('true', { shell })).stdout).toBe('ran true\n');
  });
});

describe('the environment', () => {
  linuxTest('Linux: of the host, changed while a shell waits', async () => {
    hostEnv({ WARM_TEST: 'one' });
    await warmed();
    process.env.WARM_TEST = 'two';
    expect((await bash('echo "$WARM_TEST"')).stdout).toBe('two\n');
    await warmed();
    delete process.env.WARM_TEST;
    expect((await bash('echo "${WARM_TEST-none}"')).stdout).toBe('none\n');
  });

  linuxTest('Linux: given and not, in turns', async () => {
    await each({ env: { A: '1' } }, { env: { B: '2' } }, 'echo "$A-$B"', ['1-\n', '-2\n']);
    await each({ env: { A: '' } }, { env: { A: null } }, 'echo "${A-none}"', ['\n', 'none\n']);
    await each({ inheritEnv: 'none', env: { PATH: '/bin:/usr/bin' } }, {}, 'echo "${HOME-none}"', [
      'none\n',
      `${process.env.HOME}\n`,
    ]);
  });

  linuxTest('Linux: is to the byte that of a cold command', async () => {
    for (const options of [{}, { env: { 'a-b': 'c', A: 'x y\n$HOME', B: "'" } }, { inheritEnv: 'all' as const }]) {
      const sorted = (text: string) =>
        text
          .split('\0')
          .filter((line) => !line.startsWith('AGENT_BASH_ID='))
          .sort();
      const warm = await runsWarm('env -0', { ...options, sanitize: false });
      const cold = await bash('env -0', { ...options, sanitize: false, warm: false });
      expect(sorted(warm.stdout)).toEqual(sorted(cold.stdout));
    }
  });

  linuxTest('Linux: AGENT_BASH_ID is each command its own, in the environment of its processes too', async () => {
    const seen = new Set<string>();
    for (let n = 0; n < 20; n++) {
      const { stdout } = await runsWarm(
        'echo "$AGENT_BASH_ID"; cat "/proc/$$/envi""ron" | tr "\\0" "\\n" | grep ^AGENT_BASH_ID=',
      );
      const [one = '', two] = stdout.trim().split('\n');
      expect(two).toBe(`AGENT_BASH_ID=${one}`);
      seen.add(one);
    }
    expect(seen.size).toBe(20);
  });

  linuxTest('Linux: a secret is in no command line of a shell that waits, and a host may change it', async () => {
    const env = { MY_SECRET: 'hush-hush-warm' };
    const { pid } = await warmed({ env });
    expect(readFileSync(`/proc/${pid}/cmdline`, 'utf8')).not.toContain('hush');
    expect((await bash('echo "$MY_SECRET"', { env: { MY_SECRET: 'other' } })).stdout).toBe('other\n');
  });

  linuxTest('Linux: BASH_ENV of the caller is read, once', async () => {
    const file = join(folder(), 'env');
    writeFileSync(file, 'echo "read $BASH_ENV"\n');
    for (let n = 0; n < 3; n++) {
      expect(await warmUp({ env: { BASH_ENV: file } })).toBe(false);
      expect((await bash('echo hi', { env: { BASH_ENV: file } })).stdout).toBe(`read ${file}\nhi\n`);
    }
  });

  linuxTest('Linux: functions and options that come in the environment', async () => {
    const env = { 'BASH_FUNC_hi%%': '() { echo "function $1"; }', SHELLOPTS: 'noglob', BASHOPTS: 'nullglob' };
    const command = 'hi *; shopt nullglob; echo "$-"';
    const cold = await bash(command, { env, warm: false });
    await warmUp({ env });
    expect((await bash(command, { env })).stdout).toBe(cold.stdout);
    expect(cold.stdout).toContain('function *');
  });

  linuxTest.each([
    'exit',
    'printf',
    'unset',
    'builtin',
    ':',
    'trap',
    'set',
    'declare',
    '.',
    'source',
    'read',
    'test',
    '[',
  ])('Linux: a function named %s in the environment', async (name) => {
    const env = { [`BASH_FUNC_${name}%%`]: '() { echo "caught $*" >&2; }' };
    const command = 'echo hi; hash 2>&1; echo "$-|$#|$SHLVL|${BASH_ENV-none}"';
    const cold = await bash(command, { env, warm: false });
    await warmUp({ env });
    expect(await bash(command, { env })).toMatchObject({
      stdout: cold.stdout,
      stderr: cold.stderr,
      exitCode: cold.exitCode,
    });
  });

  linuxTest.each([
    { POSIXLY_CORRECT: '1' },
    { SHELLOPTS: 'posix' },
    { SHELLOPTS: 'nounset' },
    { SHELLOPTS: 'xtrace' },
    { SHELLOPTS: 'errexit' },
    { SHELLOPTS: 'verbose' },
    { SHELLOPTS: 'noexec' },
    { IFS: '/' },
    { BASHOPTS: 'expand_aliases' },
    { PS4: '$(echo x >&2)+' },
    { BASH_XTRACEFD: '1', SHELLOPTS: 'xtrace' },
    { BASH_COMPAT: '3.2' },
    { SHLVL: '7' },
    { SHLVL: 'x' },
    { RANDOM: '1' },
    { SECONDS: '100' },
    { OPTIND: '3' },
    { LC_ALL: 'C' },
    { PS4: '' },
    { _: 'x' },
    { PWD: '/nowhere' },
    { OLDPWD: '/nowhere' },
    { TMOUT: '1' },
    { GLOBIGNORE: '*' },
    { EXECIGNORE: '*' },
    { PATH: '' },
    { BASH_LOADABLES_PATH: '/' },
  ])('Linux: %o in the environment', async (env) => {
    const command =
      'x=$BASH_SUBSHELL; echo "$-|$SHELLOPTS|$BASHOPTS|${BASH_ENV-none}|$SHLVL|$PWD|${OLDPWD-none}|$OPTIND|$LINENO|$_"; echo /b*; type true; false; echo $?';
    const cold = await bash(command, { env, warm: false });
    await warmUp({ env });
    expect(await bash(command, { env })).toMatchObject({
      stdout: cold.stdout,
      stderr: cold.stderr,
      exitCode: cold.exitCode,
    });
  });
});

describe('what else a kind has', () => {
  linuxTest('Linux: the umask of the host, changed while a shell waits', async () => {
    const before = process.umask();
    onTestFinished(() => void process.umask(before));
    const cwd = folder();
    for (const [umask, mode] of [
      [0o077, '600'],
      [0o022, '644'],
      [0o007, '660'],
    ] as const) {
      await warmed({ cwd });
      process.umask(umask);
      expect((await bash(`umask; >f${mode}; stat -c %a f${mode}`, { cwd })).stdout).toBe(
        `0${umask.toString(8).padStart(3, '0')}\n${mode}\n`,
      );
    }
  });

  linuxTest('Linux: limits', async () => {
    await each({ limits: { openFiles: 32 } }, {}, 'test "$(ulimit -n)" = 32 && echo limited || echo free', [
      'limited\n',
      'free\n',
    ]);
    await each({ limits: { fileBytes: 10240 } }, { limits: { openFiles: 40 } }, 'ulimit -f', ['10\n', 'unlimited\n']);
  });

  linuxTest('Linux: limits are kept in a shell that has waited', async () => {
    const limits = { processes: 5, memoryBytes: 200_000_000, cpuSeconds: 1 };
    const loop = await runsWarm('while :; do :; done', { limits });
    expect(loop).toMatchObject({ status: 'signaled', exitCode: 143 });
    expect(loop.notes.join()).toContain('CPU');
    const many = await runsWarm('for i in 1 2 3 4 5 6 7 8; do sleep 20 & done; wait', { limits });
    expect(many).toMatchObject({ status: 'signaled', exitCode: 137 });
    const big = await runsWarm('x=$(head -c 400000000 /dev/zero | tr "\\0" x); echo ${#x}', {
      limits: { memoryBytes: 200_000_000 },
    });
    expect(big).toMatchObject({ status: 'signaled', exitCode: 137 });
    expect(await runsWarm('echo on', { limits })).toMatchObject({ exitCode: 0, stdout: 'on\n' });
  });

  linuxTest('Linux: merge', async () => {
    const command = 'echo o1; echo e1 >&2; echo o2; echo e2 >&2; test /proc/$$/fd/1 -ef /proc/$$/fd/2 && echo same';
    await each({ merge: true }, {}, command, ['o1\ne1\no2\ne2\nsame\n', 'o1\no2\n']);
  });

  linuxTest('Linux: stdin', async () => {
    await each({ stdin: 'given\n' }, {}, 'cat; readlink /proc/$$/fd/0 | cut -c1-4', ['given\npipe\n', '/dev\n']);
    const big = 'x'.repeat(3_000_000);
    const { stdout } = await runsWarm('wc -c', { stdin: big });
    expect(stdout.trim()).toBe('3000000');
    expect((await runsWarm('read a; read b; echo "$b$a"', { stdin: 'one\ntwo' })).stdout).toBe('twoone\n');
    expect((await runsWarm('cat', { stdin: '' })).stdout).toBe('');
    expect((await runsWarm('true', { stdin: big })).exitCode).toBe(0);
  });
});
