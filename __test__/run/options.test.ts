import { mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { type BashOptions, BashSession, bash, TRUNCATE } from 'agent-bash';
import { describe, expect, test } from 'vitest';
import { folder, hostResult, rejection, settles, testBut } from '../support/index.ts';

const anyOptions = (options: unknown) => options as BashOptions;

describe('exports', () => {
  test('of the main entry', () => {
    expect(typeof bash).toBe('function');
    expect(TRUNCATE).toEqual({
      tail: { keep: 'tail', maxLines: 2000, maxBytes: 51_200 },
      ends: { keep: 'ends', maxBytes: 131_072, headBytes: 4_096, tailBytes: 4_096 },
      head: { keep: 'head', maxChars: 30_000 },
    });
  });

  testBut(['cold', 'warm', 'session'], 'what is imported is the way itself')(
    'are the same for import and require',
    async () => {
      const same = await hostResult<boolean>(
        `import { createRequire } from 'node:module';
       const required = createRequire(process.cwd() + '/package.json')('agent-bash');
       console.log(required.bash === bash && required.TRUNCATE === TRUNCATE);`,
      );
      expect(same).toBe(true);
    },
  );
});

describe('options that change nothing', () => {
  test.each([
    [{ safety: 'off' }],
    [{ safety: 'default' }],
    [{ safety: { rules: {} } }],
    [{ warm: true }],
    [{ warm: false }],
    [{ snapshot: false }],
    [{ prefix: '' }],
  ])('%j is accepted', async (options) => {
    expect((await bash('echo hi', anyOptions(options))).stdout).toBe('hi\n');
  });
});

describe('wrong types and values: a rejection with ERR_BASH_INVALID_ARG, never a synchronous throw', () => {
  const wrong: [string, unknown[]][] = [
    ['cwd', [7, null, true, {}, [], 'a\0b']],
    [
      'env',
      [
        7,
        'A=B',
        null,
        [],
        [['A', 'B']],
        { A: 7 },
        { A: {} },
        { A: 'a\0b' },
        { 'A=B': 'x' },
        { '': 'x' },
        { 'A\0B': 'x' },
      ],
    ],
    ['inheritEnv', ['some', 7, null, true, {}, [7], ['PATH', null]]],
    ['mode', ['fast', 7, null, true, {}]],
    ['timeoutMs', [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 86_400_001, '1000', null, true, 10n, {}]],
    ['onTimeout', ['stop', 7, null, true]],
    ['graceMs', [-1, 15_001, 0.5, Number.NaN, '5', null, true, {}]],
    ['registry', [7, 'here', null, true, {}, []]],
    ['signal', [7, 'abort', null, {}, true, { aborted: false }]],
    ['stdin', [7, null, true, {}, [1, 2, 3]]],
    ['merge', [1, 'yes', null, {}]],
    ['truncate', [7, 'tail', null, true, [], {}, { keep: 'middle' }, { maxLines: 5 }]],
    ['truncate.maxLines', [0, -1, 1.5, '5', null, Number.NaN].map((maxLines) => ({ keep: 'tail', maxLines }))],
    ['truncate.maxBytes', [0, -1, 1.5, '5', null, Number.NaN].map((maxBytes) => ({ keep: 'head', maxBytes }))],
    ['truncate.maxChars', [0, -1, 1.5, '5', null, Number.NaN].map((maxChars) => ({ keep: 'tail', maxChars }))],
    [
      'truncate',
      [
        { keep: 'ends', maxBytes: 10 },
        { keep: 'ends', maxBytes: 10, headBytes: 5 },
        { keep: 'ends', maxBytes: 10, headBytes: 6, tailBytes: 5 },
        { keep: 'ends', headBytes: 6, tailBytes: 5 },
        { keep: 'ends', maxBytes: 10, headBytes: 0, tailBytes: 5 },
      ],
    ],
    ['sanitize', [7, 'yes', null, [], { ansi: 1 }, { progress: 'fold' }, { progress: true }]],
    [
      'spill',
      [7, '/tmp', null, [], { dir: 7 }, { maxBytes: 0 }, { maxBytes: '1' }, { retentionMs: -1 }, { allocate: 'id' }],
    ],
    ['onOutput', [7, 'print', null, {}, true]],
    ['onSnapshot', [7, 'print', null, {}, true]],
    ['onPrompt', [7, 'print', null, {}, true]],
    ['snapshotIntervalMs', [9, 60_001, 10.5, '250', null, Number.NaN]],
    ['shell', [7, null, true, {}, []]],
    ['args', [7, 'one', null, {}, [7], ['a\0b'], [null]]],
    ['limits', [7, 'much', null, [], true, { memory: 1 }, { cpuSeconds: 1, timeoutMs: 5 }]],
    [
      'limits.cpuSeconds',
      [0, -1, Number.NaN, Number.POSITIVE_INFINITY, '1', null].map((cpuSeconds) => ({ cpuSeconds })),
    ],
    ['limits.memoryBytes', [0, -1, 1.5, Number.NaN, '1', null, 2 ** 60].map((memoryBytes) => ({ memoryBytes }))],
    ['limits.processes', [0, 1.5, '5', null].map((processes) => ({ processes }))],
    ['limits.openFiles', [0, 1.5, '5', null].map((openFiles) => ({ openFiles }))],
    ['limits.fileBytes', [0, 1.5, '5', null].map((fileBytes) => ({ fileBytes }))],
    ['safety', [7, true, 'strict', null]],
    ['warm', [7, 'yes', null, {}]],
    ['prefix', [7, true, null, {}, 'a\0b']],
    ['snapshot', [7, '', null, {}, [], 'a\0b', '/no-such-file']],
  ];
  const cases = wrong.flatMap(([name, values]) => values.map((value) => [name, value] as const));

  test.each(cases.map(([name, value], index) => [index, name, value] as const))(
    '%i: %s: %o',
    async (_, name, value) => {
      const [option = ''] = name.split('.');
      const error = await rejection(() => bash('true', anyOptions({ [option]: value })));
      expect(error.code).toBe('ERR_BASH_INVALID_ARG');
      expect(error.message).toContain(name.split('.').at(-1));
    },
  );

  test.each([[7], [null], [undefined], [true], [{}], [['echo']], [Symbol('x')], [Buffer.from('echo')]])(
    'command: %o',
    async (command) => {
      const error = await rejection(() => bash(command as unknown as string));
      expect(error.code).toBe('ERR_BASH_INVALID_ARG');
      expect(error.message).toContain('command');
    },
  );

  test.each([[7], ['fast'], [null], [true], [() => {}]])('options: %o', async (options) => {
    const error = await rejection(() => bash('true', anyOptions(options)));
    expect(error.code).toBe('ERR_BASH_INVALID_ARG');
  });

  test('an option that throws when it is read', async () => {
    const options = {
      get cwd(): string {
        throw new Error('unreadable');
      },
    };
    await rejection(() => bash('true', options));
  });

  test('a shell that can be none', async () => {
    for (const shell of ['', 'a\0b']) {
      const error = await rejection(() => bash('true', { shell }));
      expect(['ERR_BASH_INVALID_ARG', 'ERR_BASH_SHELL_NOT_FOUND']).toContain(error.code);
    }
  });

  test('no arguments at all', async () => {
    const error = await rejection(() => (bash as () => Promise<unknown>)());
    expect(error.code).toBe('ERR_BASH_INVALID_ARG');
  });

  test('a command with a NUL, anywhere', async () => {
    for (const command of ['\0', 'echo a\0', '\0echo a', `${'x'.repeat(200_000)}\0`]) {
      const error = await rejection(() => bash(command));
      expect(error.code).toBe('ERR_BASH_INVALID_ARG');
    }
  });

  test('a command past 64 MiB', async () => {
    const error = await rejection(() => bash(`true ${'x'.repeat(64 << 20)}`));
    expect(error.code).toBe('ERR_BASH_INVALID_ARG');
  });

  test('values that are given as undefined count as left out', async () => {
    const names = [...new Set(cases.map(([name]) => name.split('.')[0] ?? ''))];
    const options = Object.fromEntries(names.map((name) => [name, undefined]));
    expect((await bash('echo hi', anyOptions(options))).stdout).toBe('hi\n');
  });

  test('values at the edges of the ranges', async () => {
    const options: BashOptions[] = [
      { timeoutMs: 86_400_000 },
      { graceMs: 0 },
      { graceMs: 15_000 },
      { snapshotIntervalMs: 10 },
      { snapshotIntervalMs: 60_000 },
      { truncate: { keep: 'tail' } },
      { truncate: { keep: 'ends', maxBytes: 2, headBytes: 1, tailBytes: 1 } },
      { inheritEnv: [] },
      { env: {} },
      { args: [] },
      { stdin: '' },
      { stdin: new Uint8Array() },
    ];
    for (const one of options) expect((await bash('printf h', one)).exitCode).toBe(0);
  });
});

describe('cwd', () => {
  test('is where the command starts; its PWD too', async () => {
    const cwd = folder();
    expect((await bash('pwd; echo "$PWD"; pwd -P', { cwd })).stdout).toBe(`${cwd}\n`.repeat(3));
  });

  test('the default is that of the process', async () => {
    expect((await bash('pwd -P')).stdout).toBe(`${realpathSync(process.cwd())}\n`);
  });

  test('a relative one is resolved against that', async () => {
    const cwd = folder();
    expect((await bash('pwd -P', { cwd: relative(process.cwd(), cwd) })).stdout).toBe(`${cwd}\n`);
  });

  test('a link to a directory, odd names, a trailing slash', async () => {
    const base = folder();
    mkdirSync(join(base, ' an odd\n$name "é" '));
    symlinkSync(' an odd\n$name "é" ', join(base, 'link'));
    expect((await bash('pwd -P', { cwd: join(base, 'link') })).stdout).toBe(`${join(base, ' an odd\n$name "é" ')}\n`);
    expect((await bash('touch here; ls', { cwd: `${base}/link/` })).stdout).toBe('here\n');
  });

  test('one that may not be entered, or loops, is an error with a code of ours', async () => {
    const base = folder();
    symlinkSync('loop', join(base, 'loop'));
    symlinkSync('nowhere', join(base, 'dangling'));
    writeFileSync(join(base, 'file'), '');
    expect((await rejection(() => bash('true', { cwd: join(base, 'dangling') }))).code).toBe('ERR_BASH_CWD_NOT_FOUND');
    expect((await rejection(() => bash('true', { cwd: join(base, 'loop') }))).code).toMatch(/^ERR_BASH_/);
    expect((await rejection(() => bash('true', { cwd: join(base, 'file') }))).code).toBe('ERR_BASH_CWD_NOT_DIRECTORY');
    expect((await rejection(() => bash('true', { cwd: join(base, 'file/x') }))).code).toMatch(/^ERR_BASH_CWD_NOT_/);
  });
});

describe('args', () => {
  test('are the positional parameters', async () => {
    const args = ['one', 'two words', '', '$x `y` "z"', '-n', '--', 'é\n'];
    const { stdout } = await bash('echo $#; printf "<%s>\\n" "$@"', { args });
    expect(stdout).toBe(`7\n${args.map((arg) => `<${arg}>\n`).join('')}`);
  });

  test('leave `$0` as it is', async () => {
    expect((await bash('echo "$0:$1:$#"', { args: ['x'] })).stdout).toBe('bash:x:1\n');
    expect((await bash('echo "$0:$#"')).stdout).toBe('bash:0\n');
  });

  test('with a long command too', async () => {
    const { stdout } = await bash(`: '${'x'.repeat(140_000)}'\necho "$1:$2:$#"`, { args: ['a', 'b c'] });
    expect(stdout).toBe('a:b c:2\n');
  });
});

describe('errors of the shell read as those of `bash -c`', () => {
  test('the name and the line', async () => {
    const { stderr, exitCode } = await bash('echo a\n\nno-such-program-here');
    expect(stderr).toBe('bash: line 3: no-such-program-here: command not found\n');
    expect(exitCode).toBe(127);
  });

  test('a syntax error', async () => {
    const { stderr, exitCode } = await bash('echo "open');
    expect(stderr).toMatch(/^bash: -c: line \d+: unexpected EOF while looking for matching `"'\n/);
    expect(exitCode).toBe(2);
  });

  test('the options of the shell', async () => {
    expect(
      (await bash('echo $-; shopt -q login_shell; echo $?; echo "[$PS1]"; echo "$BASH_EXECUTION_STRING" | wc -l'))
        .stdout,
    ).toBe('hBc\n1\n[]\n1\n');
  });
});

test('an error has a stack, a name and an own code', async () => {
  const error = await rejection(() => bash('true', { cwd: '/nowhere/at/all' }));
  expect(error).toBeInstanceOf(Error);
  expect(Object.hasOwn(error, 'code')).toBe(true);
  expect(error.message).toBe('Working directory does not exist: /nowhere/at/all');
  await settles(bash('true'));
});

describe('the stack of an error leads to the caller', () => {
  test.each<[string, () => Promise<unknown>]>([
    ['no directory', () => bash('true', { cwd: '/nowhere/at/all' })],
    ['a refusal', () => bash('git push --force')],
    ['a wrong option', () => bash('true', { timeoutMs: -1 })],
    ['a session', () => new BashSession().run('true', { cwd: '/nowhere/at/all' })],
  ])('%s', async (_, call) => {
    async function here() {
      await call();
    }
    const { stack = '', message } = await rejection(here);
    expect(stack.startsWith(`BashError: ${message}\n    at `)).toBe(true);
    expect(stack).toMatch(/\n {4}at .*options\.test\.ts:\d+/);
  });

  test('unless the host wants no stacks', async () => {
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    try {
      const { stack, message } = await rejection(() => bash('git push --force'));
      expect(stack).toBe(`BashError: ${message}`);
    } finally {
      Error.stackTraceLimit = stackTraceLimit;
    }
  });

  test('and it has the fields that are set, and no others', async () => {
    const error = await rejection(() => bash('true', { cwd: '/nowhere/at/all' }));
    expect(Object.keys(error).sort()).toEqual(['code', 'name']);
    const refused = await rejection(() => bash('git push --force'));
    expect(Object.keys(refused).sort()).toEqual(['code', 'findings', 'name']);
  });
});
