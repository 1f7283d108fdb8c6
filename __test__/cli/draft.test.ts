import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bash, type Committed, type DraftChanges, type DraftInfo, openDraft, PtySession } from 'agent-bash';
import { describe, expect, test } from 'vitest';
import { draftTest, type Project, project } from '../draft/support.ts';
import { folder, HANG } from '../support/index.ts';
import { type Ended, PROGRAM, Program, type Run } from './support.ts';

/** A project, and the program as it is called in it. */
interface Scene extends Project {
  draft(...args: string[]): Promise<Ended>;
  started(...args: string[]): Run;
  json<T>(...args: string[]): Promise<T>;
  /** Runs a command in a new draft of this process, and returns its id. */
  made(command: string): Promise<string>;
  env: NodeJS.ProcessEnv;
}

function scene(): Scene {
  const given = project();
  const env = { XDG_STATE_HOME: process.env.XDG_STATE_HOME };
  const program = new Program(env);
  const started = (...args: string[]) => program.start(['draft', ...args], undefined, given.root);
  const draft = (...args: string[]) => started(...args).ended;
  const json = async <T>(verb: string, ...args: string[]) =>
    JSON.parse((await draft(verb, '--json', ...args)).stdout) as T;
  const made = async (command: string) => {
    await using draft = await openDraft({ root: given.root });
    await bash(command, { draft });
    return draft.id;
  };
  return { ...given, draft, started, json, made, env };
}

describe('agent-bash draft -- COMMAND', () => {
  draftTest('runs it in a new draft as run does, and says how to go on', async () => {
    const { root, draft, json, tree } = scene();
    const before = tree();
    const ended = await draft('--name', 'try it', '--', 'echo out; echo err >&2; echo mine >>a; rm src/one; exit 3');
    expect(ended).toMatchObject({ code: 3, stdout: 'out\n' });
    const [{ id }, ...others] = await json<[DraftInfo]>('list');
    expect(ended.stderr).toBe(`err
agent-bash: draft ${id}: 1 modified, 1 deleted
agent-bash: look: agent-bash draft diff ${id}
agent-bash: keep: agent-bash draft commit ${id}
agent-bash: drop: agent-bash draft discard ${id}
`);
    expect(others).toEqual([]);
    expect(tree()).toEqual(before);
    expect(await draft('--id', id.slice(0, 6), '--', 'cat', 'a')).toMatchObject({ code: 0, stdout: 'a\nmine\n' });
    expect(await json('list')).toMatchObject([{ id, name: 'try it', root, runs: 2 }]);
  });

  draftTest('gives it secrets that are in no list, and gives others to a draft that exists', async () => {
    const { dir, draft, json, env } = scene();
    const value = 'xoxb-1111111111-valuevaluevaluevalue';
    const file = join(folder(), 'token');
    writeFileSync(file, value);
    const secret = `TOKEN@a.example=file:${file}`;
    const seen = ['--', 'echo "[$TOKEN]"; echo x >>new'];
    const first = await draft('--secret', secret, ...seen);
    expect(first.stdout, first.stderr).toMatch(/^\[xoxb-\d{10}-[a-z]{20}\]\n$/);
    const [{ id }] = await json<[DraftInfo]>('list');
    expect((await draft('--id', id, ...seen)).stdout).toBe('[]\n');
    expect((await draft('--id', id, '--secret', secret, ...seen)).stdout).toMatch(/^\[xoxb-/);
    const tried = await draft('--secret', secret, '--commit', 'none', '--try', seen[1] ?? '');
    expect(tried.stdout).toMatch(/^\[xoxb-/m);
    const kept = readdirSync(dir, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    const texts = kept.map(({ parentPath, name }) => readFileSync(join(parentPath, name), 'latin1'));
    const told = [first, tried, await json('list'), env, texts];
    expect(JSON.stringify(told)).not.toContain(value);
  });

  draftTest('says where a port of the draft is reached while it runs', async () => {
    const { draft, started } = scene();
    const code = "require('http').createServer((_, to) => to.end('up')).listen(3000, () => console.log('listens'))";
    const run = started('--expose', '3000', '--', `node -e "${code}"`);
    await run.says(/listens/);
    const [, url = ''] = /^agent-bash: port 3000 of the draft: (http:.*)$/m.exec(run.stderr()) ?? [];
    expect(await (await fetch(url)).text()).toBe('up');
    run.child.kill('SIGINT');
    await run.ended;
    expect(await draft('--expose', '70000', '--', 'true')).toMatchObject({ code: 2 });
  });

  draftTest('takes words behind the dashes as they are, verbs, flags and spaces, too', async () => {
    const { draft } = scene();
    expect(await draft('--', 'diff', 'a', 'src/one')).toMatchObject({ code: 1, stdout: '1c1\n< a\n---\n> one\n' });
    expect(await draft('--', 'printf', '%s|', '--json', 'a  b', "$(x)'")).toMatchObject({
      stdout: "--json|a  b|$(x)'|",
    });
  });

  draftTest('discards a draft without changes, and keeps one that changed .git alone', async () => {
    const { draft, dir, json } = scene();
    const { code, stderr } = await draft('--', 'cat a');
    expect([code, stderr]).toEqual([
      0,
      expect.stringMatching(/^agent-bash: draft \w+ was discarded: nothing was changed\n$/),
    ]);
    expect(await json('run', '--', 'true')).toMatchObject({ exitCode: 0, draft: null });
    expect(readdirSync(dir)).toEqual([]);
    expect((await draft('--', 'git branch other')).stderr).toContain(': git files\n');
    expect(readdirSync(dir)).toHaveLength(1);
  });

  draftTest('drafts another directory, in a store of its own, with hosts', async () => {
    const { draft, root } = scene();
    const [other, dir] = [folder(), folder()];
    const place = ['--dir', dir];
    const ended = await draft('--root', other, '--network', '192.0.2.1', ...place, '--', 'pwd; echo 1 >made');
    expect(ended.stdout).toBe(`${other}\n`);
    expect(ended.stderr).toMatch(new RegExp(`^agent-bash: look: agent-bash draft diff \\w+ --dir ${dir}$`, 'm'));
    expect(JSON.parse((await draft('list', '--json', ...place, '--root', other)).stdout)).toHaveLength(1);
    expect(JSON.parse((await draft('list', '--json', ...place, '--root', root)).stdout)).toEqual([]);
  });

  draftTest('says which flag would allow a host', async () => {
    const { draft } = scene();
    const { stderr } = await draft('--', 'curl -s http://example.org');
    expect(stderr).toContain(
      'network example.org denied (curl); --network example.org would allow it in a new draft\n',
    );
  });

  draftTest('ends with the code of Ctrl-C, and keeps what the command has changed', async () => {
    const { root, env, json } = scene();
    const run = new Program(env).start(['draft', '--', 'echo mine >>a; echo up; sleep 60'], undefined, root);
    await run.says(/up/);
    run.child.kill('SIGINT');
    expect((await run.ended).code).toBe(130);
    expect(await json('list')).toMatchObject([{ counts: { modified: 1 } }]);
  });

  draftTest('leaves no draft of a command that was refused', async () => {
    const { draft, dir } = scene();
    expect(await draft('--', 'rm -rf /')).toMatchObject({ code: 125, stdout: '' });
    expect(readdirSync(dir)).toEqual([]);
  });
});

describe('agent-bash draft list', () => {
  draftTest('has a line for each, the newest first', async () => {
    const { draft, made, root } = scene();
    expect((await draft('list')).stderr).toBe('agent-bash: there are no drafts\n');
    const [first, second] = [await made('echo mine >>a; mv src/one src/1'), await made('rm a; echo 1 >new')];
    const lines = (await draft('list')).stdout.split('\n').map((line) => line.split(/ {2,}/));
    expect(lines.map((line) => line.filter((_, column) => ![2, 5].includes(column)))).toEqual([
      ['ID', 'NAME', 'RUNS', 'CHANGES', 'DIRECTORY'],
      [second, '-', '1', '+1 ~0 -1 >0', root],
      [first, '-', '1', '+0 ~1 -0 >1', root],
      [''],
    ]);
    expect(lines[1]?.[2]).toMatch(/^\d s ago$/);
    expect(lines[1]?.[5]).toMatch(/^\d+ KiB$/);
  });
});

describe('agent-bash draft changes and diff', () => {
  draftTest('list each path and conflict, or those of --path', async () => {
    const { draft, made, edit, json } = scene();
    const id = await made('echo mine >>a; mv src/one src/1; rm src/deep/two; mkdir new');
    edit('echo theirs >a');
    expect((await draft('changes', id)).stdout).toBe(`created   new
modified  a
deleted   src/deep/two
renamed   src/one → src/1
conflict  a: it was changed
`);
    expect((await draft('changes', id, '--path', 'new', '--path', 'src/deep')).stdout).toBe(
      'created   new\ndeleted   src/deep/two\n',
    );
    expect((await draft('changes', id, '--path', 'link')).stderr).toBe('agent-bash: nothing was changed\n');
    const counts = { created: 1, modified: 1, deleted: 1, renamed: 1 };
    expect(await json<DraftChanges>('changes', id)).toMatchObject({ counts, conflicts: [{ why: 'it was changed' }] });
  });

  draftTest('print a patch that git applies, in colours if they are wanted', async () => {
    const { root, draft, made, env } = scene();
    const id = await made('echo mine >>a; echo 1 >new; echo -- x >src/one');
    const { stdout } = await draft('diff', id);
    expect((await draft('diff', id, '--path', 'new')).stdout).not.toContain('mine');
    const painted = (await new Program({ ...env, FORCE_COLOR: '1' }).run('draft', 'diff', id)).stdout;
    const shown = painted.replaceAll('\u001b', '^');
    expect(shown).toMatch(/^\^\[2mdiff --git a\/a b\/a\^\[0m$/m);
    expect(shown).toMatch(/^\^\[36m@@ .*\^\[0m\n a\n\^\[32m\+mine\^\[0m$/m);
    expect(shown).toMatch(/^\^\[31m-one\^\[0m\n\^\[32m\+-- x\^\[0m$/m);
    const applied = await bash('git apply && cat a new src/one', { cwd: root, stdin: stdout });
    expect(applied.stdout).toBe('a\nmine\n1\n-- x\n');
  });

  draftTest('show no control characters to a terminal', async () => {
    const { made, env } = scene();
    const id = await made(`printf '\\e]0;title\\a\\n' >new`);
    const terminal = new PtySession({ env, confine: 'off' });
    await terminal.start(`NO_COLOR=1 ${process.execPath} ${PROGRAM} draft diff ${id}`);
    expect((await terminal.result()).stdout).toContain('+\\u001b]0;title\\u0007\n');
  });
});

describe('agent-bash draft commit', () => {
  draftTest('names what it has applied and how to undo it', async () => {
    const { root, draft, made, dir, env } = scene();
    const id = await made('echo mine >>a; mkdir -p new/deep; seq 20 >new/f; for i in $(seq 11); do echo >f$i; done');
    const dry = await draft('commit', id, '--dry-run');
    expect(dry).toMatchObject({ code: 0, stdout: expect.stringMatching(/^would commit {2}\d+ paths\n {2}a\n/) });
    expect(dry.stdout).not.toContain('undo');
    expect(readFileSync(join(root, 'a'), 'utf8')).toBe('a\n');
    const { code, stdout } = await draft('commit', id);
    expect([code, stdout.split('\n').slice(0, 3)]).toEqual([0, ['committed  13 paths', '  a', '  f1']]);
    expect(stdout).toContain('\n  … 3 more\nto undo this: agent-bash undo ');
    expect(readdirSync(dir)).toEqual([]);
    const undone = await new Program(env).run('undo', stdout.trimEnd().split(' ').pop() ?? '');
    expect([undone.code, readFileSync(join(root, 'a'), 'utf8'), existsSync(join(root, 'new'))]).toEqual([
      0,
      'a\n',
      false,
    ]);
  });

  draftTest('exits with 1 for a conflict, and with skip leaves it in the draft', async () => {
    const { root, draft, made, edit, dir, json } = scene();
    const id = await made('echo mine >>a; echo mine >src/one');
    edit('echo theirs >a');
    const kept = join(dir, id);
    for (const flags of [[], ['--on-conflict', 'stop']]) {
      const { code, stdout } = await draft('commit', id, ...flags);
      expect(code).toBe(1);
      expect(stdout).toMatch(new RegExp(`^conflict {2}a: it was changed; the draft's side is kept at ${kept}/.*/a\n`));
      expect(stdout).toContain(
        `\nnothing was committed; without these: agent-bash draft commit ${id} --on-conflict skip\n`,
      );
    }
    expect(await json<Committed>('commit', id)).toMatchObject({ applied: [], conflicts: [{ path: join(root, 'a') }] });
    expect(readFileSync(join(root, 'src/one'), 'utf8')).toBe('one\n');
    const { code, stdout } = await draft('commit', id, '--on-conflict', 'skip');
    expect(code).toBe(0);
    expect(stdout).toMatch(
      new RegExp(
        `^committed {2}1 path\n {2}src/one\nskipped {2}a: it was changed\nto undo this: .*\nthe rest stays in .* ${id}\n$`,
      ),
    );
    expect(readFileSync(join(root, 'a'), 'utf8')).toBe('theirs\n');
  });

  draftTest('of paths leaves the rest as a draft', async () => {
    const { root, draft, made } = scene();
    const id = await made('echo mine >>a; echo mine >src/one');
    expect((await draft('commit', id, '--path', join(root, 'src'))).stdout).toContain('committed  1 path\n  src/one\n');
    expect((await draft('changes', id)).stdout).toBe('modified  a\n');
    expect((await draft('commit', id, '--path', 'src')).stdout).toBe('nothing to commit\n');
  });
});

draftTest('agent-bash draft discard removes drafts, and goes on after one that is unknown', async () => {
  const { draft, made, dir } = scene();
  const [first, second] = [await made('rm a'), await made('rm a')];
  const { code, stdout, stderr } = await draft('discard', first, 'x', second);
  expect({ code, stdout }).toEqual({ code: 1, stdout: `discarded ${first}\ndiscarded ${second}\n` });
  expect(stderr).toBe('agent-bash: there is no draft "x": `agent-bash draft list` lists the drafts\n');
  expect(readdirSync(dir)).toEqual([]);
});

describe('agent-bash draft shell', () => {
  draftTest('connects the terminal, with its size, to a bash in the draft', async () => {
    const { made, env, root, tree } = scene();
    const id = await made('echo mine >>a');
    const before = tree();
    const terminal = new PtySession({ env, cwd: root, cols: 100, rows: 30, confine: 'off' });
    await terminal.start(`${process.execPath} ${PROGRAM} draft shell ${id}`);
    await terminal.write('stty size; cat a; rm src/one\r');
    await terminal.wait({ pattern: '30 100\\s+a\\s+mine', timeoutMs: HANG });
    terminal.resize(90, 20);
    await terminal.write('sleep 1; stty size\r');
    await terminal.wait({ pattern: '20 90', timeoutMs: HANG });
    await terminal.write('exit 4\r');
    const { exitCode, stdout } = await terminal.result();
    expect(exitCode).toBe(4);
    expect(stdout).toContain(`draft ${id}: 1 modified, 1 deleted`);
    expect(tree()).toEqual(before);
  });

  test('is refused without a terminal', async () => {
    const { code, stderr } = await new Program().run('draft', 'shell', 'x');
    expect([code, stderr]).toEqual([
      2,
      'agent-bash: a shell needs a terminal; without one: agent-bash draft --id ID -- COMMAND\n',
    ]);
  });
});

describe('an id', () => {
  draftTest('may be its beginning if no other has it', async () => {
    const { draft, made } = scene();
    const ids = [await made('rm a'), await made('rm a')];
    const { code, stderr } = await draft('diff', 'd');
    expect(code).toBe(1);
    expect(stderr).toBe(
      `agent-bash: "d" is the beginning of several ids, name one of them: ${ids.reverse().join(', ')}\n`,
    );
    expect((await draft('changes', String(ids[0]).slice(0, -1))).stdout).toBe('deleted   a\n');
  });

  test.each([['changes'], ['diff'], ['commit'], ['discard']])(
    'that is unknown or empty is an error of %s',
    async (verb) => {
      for (const id of ['none', '']) {
        const { code, stdout, stderr } = await new Program().run('draft', verb, id);
        expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
        expect(stderr).toBe(`agent-bash: there is no draft "${id}": \`agent-bash draft list\` lists the drafts\n`);
      }
    },
  );

  test('that is unknown has a reason for programs, and runs nothing', async () => {
    const { code, stdout } = await new Program().run('draft', 'run', '--id', 'none', '--json', '--', 'true');
    expect(code).toBe(125);
    expect(JSON.parse(stdout)).toMatchObject({ code: 'ERR_BASH_DRAFT', reason: 'unknown' });
  });
});

test.each([
  [['--name', 'x'], "unknown option '--name'\n(a command stands behind two dashes: agent-bash draft -- 'npm test')"],
  [['npm test'], "unknown command 'npm test'"],
  [['--name', 'x', '--'], "missing required argument 'command'"],
  [['--id', 'd1', '--name', 'x', '--', 'true'], '--name, --root, --network and --expose are for a new draft'],
  [['changes'], "missing required argument 'id'"],
  [['changes', 'a', 'b'], 'too many arguments'],
  [['commit', 'd1', '--on-conflict', 'theirs'], 'It must be stop, skip or merge.'],
  [['commit', 'd1', '--path', ''], '--path takes no empty path'],
  [['list', '--name', 'x'], "unknown option '--name'"],
])('draft %j is refused with a reason', async (args, reason) => {
  const { code, stdout, stderr } = await new Program().run('draft', ...args);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toContain(reason);
});

draftTest('a path outside of the draft is a wrong argument', async () => {
  const { draft, made } = scene();
  const id = await made('rm a');
  expect(await draft('commit', id, '--path', '../x')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('is not below'),
  });
});

test('the completion knows verbs, their options and ids', async () => {
  const { stdout } = await new Program().run('completion', 'bash');
  const completed = async (...words: string[]) => {
    const line = words.map((word) => `'${word}'`).join(' ');
    const ask = `COMP_WORDS=(agent-bash ${line}); COMP_CWORD=${words.length}; _agent_bash; echo "\${COMPREPLY[@]}"`;
    return (await bash(`agent-bash() { printf 'ID  NAME\n%s\n' "d1$1"; }\n${stdout}\n${ask}`)).stdout.trim();
  };
  expect(await completed('draft', 'di')).toBe('diff discard');
  expect(await completed('draft', '--na')).toBe('--name');
  expect(await completed('draft', '--t')).toBe('--try');
  for (const word of ['try', '--try']) expect(await completed('draft', word, '--k')).toBe('--keep');
  expect(await completed('draft', 'commit', '--on')).toBe('--on-conflict');
  expect(await completed('draft', 'diff', 'd')).toBe('d1draft');
  expect(await completed('logs', 'd')).toBe('d1ps');
});

describe('doctor', () => {
  interface Report {
    checks: { name: string; state: string; found: string; cost: string | null }[];
  }
  const draftsOf = async (state: string) => {
    const { checks } = await new Program({ XDG_STATE_HOME: state }).json<Report>('doctor');
    return checks.find(({ name }) => name === 'drafts');
  };

  draftTest('says that drafts can be had, and leaves nothing', async () => {
    const state = folder();
    expect(await draftsOf(state)).toMatchObject({ state: 'ok', found: `can be had, on the file system of ${state}` });
    expect(readdirSync(state).filter((name) => name.includes('doctor'))).toEqual([]);
  });

  draftTest('says why they cannot, and what would help', async () => {
    const file = join(folder(), 'file');
    writeFileSync(file, '');
    expect(await draftsOf(file)).toMatchObject({
      state: 'missing',
      found: expect.stringContaining('ENOTDIR'),
      cost: expect.stringContaining('; allow user namespaces'),
    });
  });
});
