import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bash } from 'agent-bash';
import { describe, expect, test } from 'vitest';
import { folder, hostEnv, linuxTest, mark, processes, rejection, sleepers, until } from '../support/index.ts';

describe('`env`: no provider key, token or password, unless asked for by name', () => {
  const secrets = {
    OPENAI_API_KEY: 'value-1-of-a-secret',
    ANTHROPIC_API_KEY: 'value-2-of-a-secret',
    AI_GATEWAY_API_KEY: 'value-3-of-a-secret',
    GITHUB_TOKEN: 'value-4-of-a-secret',
    NPM_TOKEN: 'value-5-of-a-secret',
    AWS_SECRET_ACCESS_KEY: 'value-6-of-a-secret',
    AWS_SESSION_TOKEN: 'value-7-of-a-secret',
    PGPASSWORD: 'value-8-of-a-secret',
    STRIPE_SECRET: 'value-9-of-a-secret',
    GOOGLE_APPLICATION_CREDENTIALS: '/value-10-of-a-secret',
    MY_DB_PASSWORD: 'value-11-of-a-secret',
  };

  test('by default', async () => {
    hostEnv({ ...secrets, PLAIN_THING: 'plain' });
    const { stdout } = await bash('env; cat /proc/self/environ 2>/dev/null; declare -p; export -p');
    expect(stdout).toContain('PLAIN_THING=plain');
    expect(stdout).not.toMatch(/value-\d+-of-a-secret/);
    for (const name of Object.keys(secrets)) expect(stdout).not.toContain(name);
  });

  test('by the shape of a value, whatever the name', async () => {
    hostEnv({
      HARMLESS_1: `ghp_${'a1B2'.repeat(9)}`,
      HARMLESS_2: `sk-ant-api03-${'aB3d'.repeat(20)}`,
      HARMLESS_3: 'plain',
    });
    const { stdout } = await bash('env');
    expect(stdout).toContain('HARMLESS_3=plain');
    expect(stdout).not.toMatch(/HARMLESS_[12]/);
  });

  test('asked for by name', async () => {
    hostEnv(secrets);
    const { stdout } = await bash('echo "$OPENAI_API_KEY:$GITHUB_TOKEN:$NPM_TOKEN"', {
      inheritEnv: ['OPENAI_API_KEY', 'PATH'],
      env: { NPM_TOKEN: 'given' },
    });
    expect(stdout).toBe('value-1-of-a-secret::given\n');
  });
});

linuxTest('Linux: a secret in `env` stands in no argument list while the command runs', async () => {
  const seconds = mark();
  const secret = `hidden-${seconds.slice(4)}-secret`;
  const promise = bash(`echo "$MINE"; bash -c 'sleep ${seconds}; :'`, { env: { MINE: secret }, timeoutMs: 60_000 });
  await until(() => sleepers(seconds).length === 1);
  const withIt = processes().filter(({ argv }) => argv.some((argument) => argument.includes(secret)));
  process.kill(sleepers(seconds)[0] ?? 0, 'SIGTERM');
  const { stdout, notes } = await promise;
  expect(withIt).toEqual([]);
  expect(stdout).toBe(`${secret}\n`);
  expect(notes.join('\n')).not.toContain(secret);
});

test('a secret in `env` is in no error', async () => {
  const env = { MINE: 'hidden-in-errors' };
  for (const options of [{ cwd: '/nowhere/at/all' }, { shell: '/nowhere/bash' }, { timeoutMs: -1 }, { shell: '/' }]) {
    const error = await rejection(() => bash('true', { ...options, env }));
    expect(`${error.stack} ${JSON.stringify(error)}`).not.toContain('hidden-in-errors');
  }
});

describe('`BASH_ENV`, `LD_PRELOAD` in the host’s environment: not inherited', () => {
  const names = ['BASH_ENV', 'ENV', 'LD_PRELOAD', 'LD_LIBRARY_PATH_X', 'GIT_DIR', 'GIT_WORK_TREE', 'GIT_INDEX_FILE'];

  test('by default', async () => {
    const file = join(folder(), 'env.sh');
    writeFileSync(file, 'echo sourced\n');
    hostEnv(Object.fromEntries(names.map((name) => [name, name === 'LD_PRELOAD' ? '' : file])));
    const { stdout } = await bash('env');
    expect(stdout).toContain('LD_LIBRARY_PATH_X=');
    expect(stdout).not.toContain('sourced');
    expect(stdout).not.toMatch(/^(BASH_ENV|ENV|LD_PRELOAD|GIT_DIR|GIT_WORK_TREE|GIT_INDEX_FILE)=/m);
  });

  test("the caller's `env` may set them", async () => {
    const cwd = folder();
    const file = join(cwd, 'env.sh');
    writeFileSync(file, 'echo sourced\n');
    expect((await bash('echo run', { cwd, env: { BASH_ENV: file } })).stdout).toBe('sourced\nrun\n');
    expect((await bash('echo "$GIT_DIR"', { env: { GIT_DIR: '/x' } })).stdout).toBe('/x\n');
    const preload = await bash('env | grep LD_PRELOAD', { env: { LD_PRELOAD: '' } });
    expect(preload.stdout).toBe('LD_PRELOAD=\n');
  });
});

describe('bad input is answered with its code and a sentence, before anything starts', () => {
  const file = '/etc/passwd';
  test.each([
    ['a NUL in the command', ['echo a\0b'], 'ERR_BASH_INVALID_ARG', /NUL/i],
    [
      'a missing cwd',
      ['true', { cwd: '/nowhere/at/all' }],
      'ERR_BASH_CWD_NOT_FOUND',
      /^Working directory does not exist: \/nowhere\/at\/all/,
    ],
    [
      'a cwd that is a file',
      ['true', { cwd: file }],
      'ERR_BASH_CWD_NOT_DIRECTORY',
      /^Working directory is not a directory: \/etc\/passwd/,
    ],
    ['a limit of 0', ['true', { timeoutMs: 0 }], 'ERR_BASH_INVALID_ARG', /timeoutMs/],
    ['a limit over a day', ['true', { timeoutMs: 86_400_001 }], 'ERR_BASH_INVALID_ARG', /timeoutMs/],
    ['a wrong type', ['true', { cwd: 7 }], 'ERR_BASH_INVALID_ARG', /cwd/],
    ['no command', [undefined], 'ERR_BASH_INVALID_ARG', /command/],
  ] as [string, [never, never], string, RegExp][])('%s', async (_, argv, code, message) => {
    const error = await rejection(() => bash(...argv));
    expect(error.code).toBe(code);
    expect(error.message).toMatch(message);
  });

  test('no bash on the PATH, which says how to get one', async () => {
    hostEnv({ PATH: folder() });
    const error = await rejection(() => bash('echo hi'));
    expect(error.code).toBe('ERR_BASH_SHELL_NOT_FOUND');
    expect(error.message).toContain('apk add bash');
  });
});

test('`rm -rf "$PWD"`, then the next command with the same cwd: ERR_BASH_CWD_NOT_FOUND that names it', async () => {
  const cwd = join(folder(), 'gone');
  mkdirSync(cwd);
  expect(await bash('rm -rf "$PWD"; echo on', { cwd, safety: 'off' })).toMatchObject({ exitCode: 0, stdout: 'on\n' });
  const error = await rejection(() => bash('echo hi', { cwd }));
  expect(error.code).toBe('ERR_BASH_CWD_NOT_FOUND');
  expect(error.message).toContain(cwd);
});

test('the directory of the host itself gone: the default cwd is answered as well', async () => {
  const before = process.cwd();
  const gone = folder();
  process.chdir(gone);
  rmSync(gone, { recursive: true });
  try {
    const error = await rejection(() => bash('echo hi'));
    expect(error.code).toBe('ERR_BASH_CWD_NOT_FOUND');
  } finally {
    process.chdir(before);
  }
});

describe('byte for byte', () => {
  test.each([
    ['a quoted heredoc', 'cat <<\'EOF\'\n$HOME `id` \\n "x" $(y) \\\nEOF', '$HOME `id` \\n "x" $(y) \\\n'],
    ['a heredoc at the very end, without a line end', 'cat <<EOF\nlast\nEOF', 'last\n'],
    ['a trailing comment', 'echo a # and not this', 'a\n'],
    ['a comment as the last line', 'echo a\n# nothing', 'a\n'],
    ['backslashes', "printf '%s|' 'a\\b' \"a\\\\b\" a\\\\b $'a\\tb'", 'a\\b|a\\b|a\\b|a\tb|'],
    ['exclamation marks', 'echo "hi!" \'!!\' !x', 'hi! !! !x\n'],
    ['quotes in quotes', `echo "it's" 'say "x"' $'it\\'s'`, `it's say "x" it's\n`],
    ['dollars and backticks', "echo '$x' \\$x \"\\$x\" '`'", '$x $x $x `\n'],
    ['a leading dash', '-x 2>/dev/null; echo "$?"', '127\n'],
    ['leading and trailing space', '  \t echo a  \n\n', 'a\n'],
    ['an empty command', '', ''],
    ['only a comment', '# nothing', ''],
    ['Unicode', "echo 'é 漢 😀 \u0301'", 'é 漢 😀 \u0301\n'],
    ['a carriage return in the text', "printf '%q\\n' 'a\rb'", "$'a\\rb'\n"],
    ['braces and percent', 'echo {a,b} 100% ~+ | cut -d" " -f1-3', 'a b 100%\n'],
    ['a trailing backslash', 'echo a\\', 'a\\\n'],
    ['a semicolon and an ampersand', 'echo a; echo b & wait', 'a\nb\n'],
    ['tabs in a heredoc', 'cat <<-EOF\n\ta\n\t\tb\n\tEOF\necho c', 'a\nb\nc\n'],
  ])('%s', async (_, command, stdout) => {
    expect((await bash(command, { sanitize: false })).stdout).toBe(stdout);
  });

  test('a long command with each of them', async () => {
    const filler = `: '${'x'.repeat(140_000)}'\n`;
    const { stdout } = await bash(`${filler}cat <<'EOF'\n$x \\ \`y\` !\nEOF\necho end # comment`);
    expect(stdout).toBe('$x \\ `y` !\nend\n');
  });
});

describe('`echo hi >/dev/stdout`, `/dev/stderr`: works', () => {
  test.each([
    ['echo hi >/dev/stdout', 'hi\n', ''],
    ['echo hi >/dev/stderr', '', 'hi\n'],
    ['echo one >/dev/stdout; echo two >>/dev/fd/1; echo three >/proc/self/fd/2', 'one\ntwo\n', 'three\n'],
    ['seq 3 | tee /dev/stderr', '1\n2\n3\n', '1\n2\n3\n'],
    ["bash -c 'echo child >/dev/stdout'; cat </dev/stdin", 'child\n', ''],
  ])('%s', async (command, stdout, stderr) => {
    expect(await bash(command)).toMatchObject({ stdout, stderr, exitCode: 0 });
  });

  linuxTest('Linux: they are pipes, and block', async () => {
    const { stdout } = await bash(
      'readlink /proc/$$/fd/1 /proc/$$/fd/2; grep flags /proc/$$/fdinfo/1 /proc/$$/fdinfo/2',
    );
    expect(stdout).toMatch(/^pipe:.*\npipe:.*\n/);
    for (const [, flags = ''] of stdout.matchAll(/flags:\s+(\d+)/g)) expect(Number.parseInt(flags, 8) & 0o4000).toBe(0);
  });
});
