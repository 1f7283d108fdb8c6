import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type BashResult, bash, type Committed, type DraftInfo, drafts, PtySession } from 'agent-bash';
import { describe, expect, test } from 'vitest';
import { type Ended, PROGRAM, Program, type Run } from '../../../cli/support.ts';
import { draftTest, type Project, project } from '../../../draft/support.ts';
import { finished, HANG, kill, mark, sleepers, until } from '../../../support/index.ts';

/** A project, and the program as it is called in it. */
interface Scene extends Project {
  start(...args: string[]): Run;
  draft(...args: string[]): Promise<Ended>;
  /** Runs the program in a terminal. */
  terminal(words: string): Promise<PtySession>;
  /** The drafts that there are, by their names. */
  left(): Promise<Record<string, DraftInfo>>;
  read(path: string): string;
}

function scene(): Scene {
  const given = project();
  const { root } = given;
  const env = { XDG_STATE_HOME: process.env.XDG_STATE_HOME };
  const program = new Program(env);
  const start = (...args: string[]) => program.start(['draft', ...args], undefined, root);
  const terminal = async (words: string) => {
    const opened = new PtySession({ env: { ...env, NO_COLOR: '1' }, cwd: root, cols: 200, confine: 'off' });
    finished(() => opened.kill());
    await opened.start(`${process.execPath} ${PROGRAM} draft ${words}`);
    return opened;
  };
  const left = async () => Object.fromEntries((await drafts({ root })).map((info) => [info.name ?? '', info]));
  const read = (path: string) => readFileSync(join(root, path), 'utf8');
  return { ...given, start, draft: (...args) => start(...args).ended, terminal, left, read };
}

/** Returns the lines of a table behind a heading, as their cells. */
const rowsOf = (text: string) =>
  text
    .slice(text.indexOf('#  RESULT'))
    .split('\n')
    .slice(1)
    .filter((line) => line !== '')
    .map((line) => line.split(/ {2,}/));

describe('agent-bash draft --try', () => {
  draftTest('runs each command in a draft of its own, shows them one by one, and commits nothing unasked', async () => {
    const { draft, tree, left } = scene();
    const before = tree();
    const commands = ['echo out; cat a; echo mine >>a', 'sleep .5; echo err >&2; cat a; rm a; exit 3', 'cat src/one'];
    const [first = '', second = '', third = ''] = commands;
    const { code, stdout, stderr } = await draft('--try', first, '--try', second, third);
    expect(tree()).toEqual(before);
    const found = await left();
    expect(Object.keys(found).sort()).toEqual([first, second].sort());
    expect(code).toBe(0);
    expect(stdout).toMatch(/\[1\] echo out; .*\nout\na\n\[1\] passed, \d\.\d s, 1 modified\n/);
    expect(stdout).toMatch(/\[3\] cat src\/one\none\n\[3\] passed, \d\.\d s, no changes\n/);
    expect(stdout).toMatch(/\[2\] sleep .*\nerr\na\n\[2\] exit code 3, \d\.\d s, 1 deleted\n# {2}RESULT/);
    const time = expect.stringMatching(/^\d\.\d s$/);
    expect(rowsOf(stdout)).toEqual([
      ['1', 'passed', time, '+0 ~1 -0 >0', found[first]?.id, first],
      ['2', 'exit code 3', time, '+0 ~0 -1 >0', found[second]?.id, second],
      ['3', 'passed', time, '+0 ~0 -0 >0', '-', third],
    ]);
    expect(stderr).toBe(`agent-bash: look: agent-bash draft diff ID
agent-bash: keep: agent-bash draft commit ID
agent-bash: drop: agent-bash draft discard ID
`);
  });

  draftTest.each([
    [['--try', 'echo -; exit 1', '--try=echo --']],
    [['--try', '--', 'echo -; exit 1', 'echo --']],
    [['try', 'echo -; exit 1', 'echo --']],
  ])('takes the commands of %j', async (words) => {
    const { code, stdout } = await scene().draft(...words);
    expect(code).toBe(0);
    expect(rowsOf(stdout).map((row) => row.at(-1))).toEqual(['echo -; exit 1', 'echo --']);
  });

  draftTest('with --commit first commits the first that passes, ends the others and discards them', async () => {
    const { draft, dir, read, root } = scene();
    const slow = 'echo slow >>a; sleep 600';
    const { code, stdout, stderr } = await draft(
      ...['--commit', 'first', '--try', 'echo bad >>a; exit 1', slow, 'sleep .3; echo good >>a'],
    );
    expect({ code, stderr }).toEqual({ code: 0, stderr: 'agent-bash: discarded 2 drafts\n' });
    expect(stdout).toMatch(/\[2\] ended, /);
    expect(stdout).toMatch(/\ncommitted {2}1 path\n {2}a\nto undo this: agent-bash undo \w/);
    expect(read('a')).toBe('a\ngood\n');
    expect(readdirSync(dir)).toEqual([]);
    expect((await bash('git status --short', { cwd: root })).stdout).toBe(' M a\n');
  });

  draftTest('with --keep keeps the others', async () => {
    const { draft, read, left } = scene();
    await draft('--commit', 'first', '--keep', '--try', 'echo bad >>a; exit 1', 'sleep .3; echo good >>a');
    expect(read('a')).toBe('a\ngood\n');
    expect(Object.keys(await left())).toEqual(['echo bad >>a; exit 1']);
  });

  draftTest('exits with 1 if none has passed', async () => {
    const { draft, dir, tree } = scene();
    const before = tree();
    const { code } = await draft('--commit', 'first', '--try', 'rm a; exit 1', 'rm a; kill -9 $$');
    expect(code).toBe(1);
    expect(tree()).toEqual(before);
    expect(readdirSync(dir)).toEqual([]);
  });

  draftTest('counts a command without changes as passed', async () => {
    const { draft, dir } = scene();
    const { code, stderr } = await draft('--commit', 'first', '--try', 'true');
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: 'agent-bash: [1] has changed nothing: there is nothing to commit\n',
    });
    expect(readdirSync(dir)).toEqual([]);
  });

  draftTest('exits with 1 for a conflict, and keeps the drafts', async () => {
    const { start, left, read, edit } = scene();
    const seconds = mark();
    const run = start('--commit', 'first', '--try', `echo mine >>a; sleep ${seconds}; true`, 'rm a; exit 1');
    await run.says(/\[2\] exit code 1/);
    const [pid = 0] = await until(() => sleepers(seconds).length > 0 && sleepers(seconds), 'the change of the first');
    edit('echo theirs >a');
    kill(pid, 'SIGKILL');
    const { code, stdout } = await run.ended;
    expect(code).toBe(1);
    expect(stdout).toContain('\nconflict  a: it was changed; ');
    expect(Object.keys(await left())).toHaveLength(2);
    expect(read('a')).toBe('theirs\n');
  });

  draftTest('commits a draft in which a process was left', async () => {
    const { draft, read } = scene();
    const seconds = mark();
    const { code } = await draft('--commit', 'first', '--try', `sleep ${seconds} >/dev/null & rm -r src; echo >>a`);
    expect(code).toBe(0);
    expect(sleepers(seconds)).toEqual([]);
    expect(read('a')).toBe('a\n\n');
  });

  draftTest('goes on after a refused command, and exits with 125 if nothing ran', async () => {
    const { draft, dir } = scene();
    const some = await draft('--commit', 'first', '--try', 'rm -rf /', 'true');
    expect(some).toMatchObject({ code: 0, stderr: expect.stringContaining('permission denied: ') });
    expect(rowsOf(some.stdout)[0]).toEqual(['1', 'refused', '-', '-', '-', 'rm -rf /']);
    expect((await draft('--try', 'rm -rf /')).code).toBe(125);
    expect(readdirSync(dir)).toEqual([]);
  });

  draftTest('has one document for programs', async () => {
    const { draft, left } = scene();
    const { code, stdout } = await draft('--json', '--try', 'echo out; rm a; false', 'rm -rf /', 'true');
    expect(code).toBe(0);
    const [[, info] = []] = Object.entries(await left());
    expect(JSON.parse(stdout)).toMatchObject({
      tries: [
        {
          passed: false,
          draft: info?.id,
          counts: { deleted: 1 },
          result: { stdout: 'out\n' } satisfies Partial<BashResult>,
        },
        { passed: false, draft: null, result: null, refused: { code: 'ERR_BASH_BLOCKED' } },
        { command: 'true', passed: true, draft: null, refused: null },
      ],
      chosen: null,
      committed: null,
    });
    const chosen = JSON.parse((await draft('--json', '--commit', 'first', '--try', 'rm a')).stdout);
    expect(chosen).toMatchObject({
      tries: [{ draft: null }],
      chosen: 1,
      committed: { conflicts: [] } satisfies Partial<Committed>,
    });
  });

  draftTest('drafts another directory in a store of its own, and names a draft without secrets', async () => {
    const { draft, dir, root } = scene();
    const [other, store] = [project(), `${dir}-2`];
    const flags = ['--root', other.root, '--dir', store, '--network', '192.0.2.1'];
    const { stdout, stderr } = await draft(...flags, '--try', 'pwd; rm a; : --password hunter22');
    expect(stdout).toContain(`\n${other.root}\n`);
    expect(stderr).toContain(`agent-bash: look: agent-bash draft diff ID --dir ${store}\n`);
    const [info, ...more] = await drafts({ dir: store });
    expect([info?.root, more]).toEqual([other.root, []]);
    expect(info?.name).toMatch(/^pwd; rm a; : --password (?!hunter22)/);
    expect(existsSync(join(root, 'a'))).toBe(true);
    expect((await draft('--try', `: ${'\u{1f600}'.repeat(40)}\u00e9; rm a`)).code).toBe(0);
  });

  draftTest('ends all of it at Ctrl-C, and leaves nothing', async () => {
    const { start, dir, tree } = scene();
    const before = tree();
    const seconds = mark();
    const run = start('--keep', '--try', 'rm src/one', `sleep ${seconds}`, `rm a; sleep ${seconds}`);
    await run.says(/\[1\] passed/);
    await until(() => sleepers(seconds).length === 2, 'both commands');
    run.child.kill('SIGINT');
    expect((await run.ended).code).toBe(130);
    expect(readdirSync(dir)).toEqual([]);
    expect(tree()).toEqual(before);
    expect(sleepers(seconds)).toEqual([]);
  });
});

describe('on a terminal', () => {
  draftTest('a person looks at the changes, and chooses one', async () => {
    const { terminal, dir, read } = scene();
    const asked = await terminal(`--try 'echo first >>a' 'rm src/one' 'echo third >>a; exit 1'`);
    await asked.wait({ pattern: 'Commit 1, 2, 3, ', timeoutMs: HANG });
    await asked.write('9\rd 3\r1\r');
    const { exitCode, stdout } = await asked.result();
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/there is no such draft.*\+third.*committed {2}1 path/s);
    expect(stdout).toContain('discarded 2 drafts');
    expect(read('a')).toBe('a\nfirst\n');
    expect(readdirSync(dir)).toEqual([]);
  });

  draftTest('none is committed for an empty answer, and all are discarded', async () => {
    const { terminal, dir, tree } = scene();
    const before = tree();
    const asked = await terminal(`--try 'echo first >>a; exit 1'`);
    await asked.wait({ pattern: 'Commit 1, ', timeoutMs: HANG });
    await asked.write('\r');
    const { exitCode } = await asked.result();
    expect(exitCode).toBe(1);
    expect(tree()).toEqual(before);
    expect(readdirSync(dir)).toEqual([]);
  });

  draftTest('Ctrl-C at the question leaves nothing', async () => {
    const { terminal, dir, tree } = scene();
    const before = tree();
    const asked = await terminal(`--keep --try 'echo first >>a'`);
    await asked.wait({ pattern: 'Commit 1, ', timeoutMs: HANG });
    await asked.write('\u0003');
    expect((await asked.result()).exitCode).toBe(130);
    expect(tree()).toEqual(before);
    expect(readdirSync(dir)).toEqual([]);
  });

  draftTest('nobody is asked with --commit none, nor without changes', async () => {
    const { terminal, left } = scene();
    expect((await (await terminal(`--commit none --try 'rm a'`)).result()).exitCode).toBe(0);
    expect(Object.keys(await left())).toEqual(['rm a']);
    expect((await (await terminal(`--try 'cat a'`)).result()).exitCode).toBe(0);
  });
});

test.each([
  [['--try'], "missing required argument 'command'"],
  [['--try', ''], '--try takes no empty command'],
  [['--commit', 'last', '--try', 'true'], 'It must be first or none.'],
  [['--name', 'x', '--try', 'true'], "unknown option '--name'"],
])('draft %j is refused with a reason', async (args, reason) => {
  const { code, stdout, stderr } = await new Program().run('draft', ...args);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toContain(reason);
});
