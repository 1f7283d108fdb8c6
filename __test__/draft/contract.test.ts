import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import {
  BackgroundRegistry,
  BashSession,
  bash,
  type Change,
  drafts,
  openDraft,
  PtySession,
  type Receipt,
  undo,
} from 'agent-bash';
import { describe, expect } from 'vitest';
import { finished, rejection, until } from '../support/index.ts';
import { draftTest, project, treeOf } from './support.ts';

const EVERYTHING = `echo more >>a; rm src/one; mv src/deep moved; mkdir -p new/dir; echo 1 >new/dir/f; ln -sf new link
  chmod 700 src; git add a src moved; git -c user.name=t -c user.email=t@t commit -qm second
  rm -r node_modules; ln a hard; mkfifo pipe`;

describe('nothing outside is touched until the commit', () => {
  draftTest('not a byte, mode, time or inode of the root', async () => {
    const { root, open, tree, edit } = project();
    edit('git status >/dev/null');
    const before = tree();
    const draft = await open();
    expect(await bash(EVERYTHING, { draft })).toMatchObject({ exitCode: 0, stderr: '', draft: draft.id });
    expect(tree()).toEqual(before);
    await draft.changes();
    await draft.diff();
    await draft.commit({ dryRun: true });
    expect(tree()).toEqual(before);
    const { stdout } = await bash('git --no-optional-locks status --short', { cwd: root });
    expect(stdout).toBe('');
    await draft.discard();
    expect(tree()).toEqual(before);
  });

  draftTest('a command reaches nothing else that a workspace would let it change', async () => {
    const { open } = project();
    const draft = await open();
    const beside = join(process.cwd(), 'beside');
    const { exitCode } = await bash(`echo x >${beside} || echo x >.git/config`, { draft });
    expect([exitCode, existsSync(beside)]).toEqual([1, false]);
  });
});

draftTest('commands see the tree at its own path, with ignored files', async () => {
  const { root, open } = project();
  const draft = await open();
  const { stdout } = await bash('pwd; cat node_modules/pkg/index; git status --short; git log --format=%s', { draft });
  expect(stdout).toBe(`${root}\n1\nfirst\n`);
  expect((await bash('pwd', { draft, cwd: join(root, 'src') })).stdout).toBe(`${root}/src\n`);
});

describe('a base that moves is seen', () => {
  draftTest('later commands see what a person has changed where the draft has not', async () => {
    const { open, edit } = project();
    const draft = await open();
    await bash('cat a src/one; ls; echo mine >>a', { draft });
    edit('echo theirs >src/one; echo new >new; rm -r node_modules');
    const { stdout } = await bash('cat a src/one new; ls', { draft });
    expect(stdout).toBe('a\nmine\ntheirs\nnew\na\nlink\nnew\nsrc\n');
    expect((await draft.changes()).conflicts).toEqual([]);
  });

  draftTest('each command sees the names of that moment, whatever earlier ones have looked up', async () => {
    const { root, open } = project();
    const draft = await open();
    const look = async () => (await bash('cat later src/later 2>&1; ls src', { draft })).stdout;
    const missing = await look();
    // By now commands run in shells that were started before the change.
    for (let round = 0; round < 5; round++) {
      writeFileSync(join(root, 'later'), `${round}\n`);
      writeFileSync(join(root, 'src/later'), `${round}\n`);
      expect(await look()).toBe(`${round}\n${round}\ndeep\nlater\none\n`);
      rmSync(join(root, 'later'));
      rmSync(join(root, 'src/later'));
      expect(await look()).toBe(missing);
    }
  });

  draftTest('a path that both have changed stops the commit, or stays in the draft', async () => {
    const { root, open, edit } = project();
    const draft = await open();
    await bash('echo mine >>a; echo mine >src/one', { draft });
    edit('echo theirs >a');
    const conflict = { path: join(root, 'a'), why: 'it was changed' };
    expect((await draft.changes()).conflicts).toEqual([conflict]);
    const stopped = await draft.commit();
    expect(stopped).toMatchObject({ applied: [], skipped: [], conflicts: [conflict], undoId: '' });
    expect(readFileSync(stopped.conflicts[0]?.keptAt ?? '', 'utf8')).toBe('a\nmine\n');
    expect(draft.state).toBe('open');
    const skipped = await draft.commit({ onConflict: 'skip' });
    expect(skipped).toMatchObject({ applied: [join(root, 'src/one')], skipped: [conflict], conflicts: [] });
    expect(readFileSync(join(root, 'a'), 'utf8')).toBe('theirs\n');
    expect((await bash('cat a src/one', { draft })).stdout).toBe('a\nmine\nmine\n');
  });
});

draftTest('a new file in a directory that a person has removed or replaced is a conflict, and stays', async () => {
  for (const by of ['rm -r src', 'rm -r src; echo file >src']) {
    const { root, open, edit } = project();
    const draft = await open();
    await bash('echo new >src/new', { draft });
    // The base is read in the background after a command.
    await draft.changes();
    edit(by);
    const stopped = await draft.commit();
    expect(stopped).toMatchObject({ applied: [], conflicts: [{ path: join(root, 'src/new') }], undoId: '' });
    const skipped = await draft.commit({ onConflict: 'skip' });
    expect(skipped).toMatchObject({ applied: [], skipped: [{ path: join(root, 'src/new') }] });
    const left = Buffer.from((await draft.read('src/new')) ?? []);
    expect([draft.state, left.toString()]).toEqual(['open', 'new\n']);
  }
});

draftTest('a command that starts after a person has changed files of the draft says how many', async () => {
  const { open, edit } = project();
  const draft = await open();
  expect((await bash('echo mine >a; echo mine >src/one; rm src/deep/two', { draft })).notes).toEqual([]);
  // What the draft has touched is noted right after the command.
  await draft.changes();
  edit('echo theirs >a; echo theirs >node_modules/pkg/index');
  const said = await bash('true', { draft });
  expect(said.notes).toEqual(['1 file of the draft was changed outside of it as well, so a commit may have conflicts']);
  expect((await bash('true', { draft })).notes).toEqual([]);
  edit('rm src/one');
  expect((await bash('true', { draft })).notes.join()).toMatch(/^2 files of the draft were changed outside/);
  expect((await draft.changes()).conflicts.length).toBe(2);
});

describe('a commit that merges', () => {
  draftTest('has the changes of both, and is taken back byte for byte', async () => {
    const { root, open, edit, tree } = project();
    edit('seq 9 >lines');
    const draft = await open();
    await bash("sed -i 's/2/two/' lines; echo new >new", { draft });
    // The base is read in the background after a command.
    await draft.changes();
    edit("sed -i 's/8/eight/' lines");
    const before = tree();
    expect((await draft.commit()).conflicts.map(({ path }) => path)).toEqual([join(root, 'lines')]);
    const { applied, conflicts, undoId } = await draft.commit({ onConflict: 'merge' });
    expect([applied.map((path) => basename(path)), conflicts]).toEqual([['lines', 'new'], []]);
    expect(readFileSync(join(root, 'lines'), 'utf8')).toBe('1\ntwo\n3\n4\n5\n6\n7\neight\n9\n');
    await undo(undoId);
    expect(Object.keys(tree())).toEqual(Object.keys(before));
    expect(readFileSync(join(root, 'lines'), 'utf8')).toBe('1\n2\n3\n4\n5\n6\n7\neight\n9\n');
  });

  draftTest('commits nothing if both have changed the same lines, or a file that has none', async () => {
    const { root, open, edit, tree } = project();
    edit("seq 9 >lines; seq 9 >other; printf '\\0' >binary");
    const draft = await open();
    await bash("sed -i 's/5/five/' lines; sed -i 's/1/one/' other; echo more >>binary", { draft });
    await draft.changes();
    edit("sed -i 's/5/cinq/' lines; sed -i 's/9/neuf/' other; echo also >>binary");
    const before = tree();
    const { applied, conflicts } = await draft.commit({ onConflict: 'merge' });
    expect([applied, conflicts.map(({ path }) => path)]).toEqual([[], [join(root, 'binary'), join(root, 'lines')]]);
    expect(tree()).toEqual(before);
  });
});

describe('a commit', () => {
  draftTest('makes the tree what the draft showed, and an undo takes it back', async () => {
    const { root, open, tree, dir } = project();
    const before = tree();
    const draft = await open();
    await bash(EVERYTHING, { draft });
    const shown = await bash('find . -path ./.git -prune -o -printf "%p %y %m %l\\n" | sort; cat a new/dir/f', {
      draft,
    });
    const foreseen = await draft.commit({ dryRun: true });
    const committed = await draft.commit();
    expect(committed).toMatchObject({ applied: foreseen.applied, skipped: [], conflicts: [] });
    expect(committed.applied).toContain(join(root, 'new'));
    expect(committed.applied).not.toContain(join(root, 'new/dir'));
    const now = await bash('find . -path ./.git -prune -o -printf "%p %y %m %l\\n" | sort; cat a new/dir/f', {
      cwd: root,
    });
    expect(now.stdout).toBe(shown.stdout);
    expect(draft.state).toBe('committed');
    expect(readdirSync(dir)).toEqual([]);
    await undo(committed.undoId);
    // Objects of git stay, without anything that leads to them.
    const contents = (tree: Record<string, string>) =>
      Object.entries(tree)
        .filter(([path]) => !path.startsWith('.git/objects'))
        .map(([path, thing]) => [path, thing.split(' ')[0], thing.split(' ').slice(5).join(' ')]);
    expect(contents(tree())).toEqual(contents(before));
  });

  draftTest('has a new name of a file that was there before as a copy', async () => {
    const { root, open } = project();
    const draft = await open();
    await bash('ln a hard; echo 1 >own; ln own other', { draft });
    await draft.commit();
    const numbers = ['a', 'hard', 'own', 'other'].map((name) => statSync(join(root, name)).ino);
    expect([numbers[0] === numbers[1], numbers[2] === numbers[3]]).toEqual([false, true]);
  });

  draftTest('of a part leaves the rest as a draft', async () => {
    const { root, open } = project();
    const draft = await open();
    await bash('echo mine >a; echo mine >src/one; echo new >src/new', { draft });
    const committed = await draft.commit({ paths: ['src'] });
    expect(committed.applied).toEqual([join(root, 'src/new'), join(root, 'src/one')]);
    expect([readFileSync(join(root, 'a'), 'utf8'), draft.state]).toEqual(['a\n', 'open']);
    const { modified, counts } = await draft.changes();
    expect([modified.map(({ path }) => path), counts.created]).toEqual([[join(root, 'a')], 0]);
    const error = await rejection(() => draft.commit({ paths: ['../x'] }));
    expect(error).toMatchObject({ code: 'ERR_BASH_INVALID_ARG', message: expect.stringContaining('is not below') });
  });

  draftTest('gives the next command a view of its own, in which nothing leads to the root', async () => {
    const { root, open } = project();
    const draft = await open();
    await bash('mkdir -p made/deep; echo 1 >made/deep/f; echo mine >a', { draft });
    await bash('true', { draft, cwd: join(root, 'made/deep') });
    await draft.commit({ paths: ['made'] });
    await bash('echo 2 >made/deep/f; echo 2 >made/deep/g', { draft });
    expect(readFileSync(join(root, 'made/deep/f'), 'utf8')).toBe('1\n');
    expect(existsSync(join(root, 'made/deep/g'))).toBe(false);
  });

  draftTest('is busy while a command runs, and so are a fork and the end of the draft', async () => {
    const { open } = project();
    const draft = await open();
    const stop = new AbortController();
    let begun = false;
    const onOutput = () => {
      begun = true;
    };
    const running = bash('echo up; sleep 60', { draft, signal: stop.signal, onOutput });
    await until(() => begun);
    for (const call of [() => draft.commit(), () => draft.fork(), () => draft.discard()]) {
      expect(await rejection(call)).toMatchObject({ code: 'ERR_BASH_DRAFT', reason: 'busy' });
    }
    expect(draft.state).toBe('open');
    stop.abort();
    await running;
    await draft.commit();
  });
});

describe('a draft', () => {
  draftTest('is listed, and another object of it sees the same', async () => {
    const { root, open } = project();
    const draft = await open({ name: 'try it' });
    await bash('echo mine >>a; mkdir new', { draft });
    const [info, ...others] = await drafts({ root });
    expect(others).toEqual([]);
    expect(info).toMatchObject({
      id: draft.id,
      name: 'try it',
      root,
      createdAt: draft.createdAt,
      counts: { created: 1, modified: 1, deleted: 0, renamed: 0 },
      state: 'open',
      runs: 1,
      actor: null,
      hosts: [process.pid],
    });
    expect((info?.usedAt ?? 0) >= draft.createdAt && (info?.bytes ?? 0) > 0).toBe(true);
    const other = await open({ id: draft.id });
    expect((await bash('cat a', { draft: other })).stdout).toBe('a\nmine\n');
    await draft.close();
    expect((await bash('cat a', { draft: other })).stdout).toBe('a\nmine\n');
  });

  draftTest('is read at both sides, and shows its changes as a patch for git', async () => {
    const { root, open } = project();
    const draft = await open();
    await bash('echo more >>a; mv src/deep moved; rm src/one', { draft });
    const [mine, base, gone] = [
      await draft.read('a'),
      await draft.read('a', { side: 'base' }),
      await draft.read('src/one'),
    ];
    const texts = [mine, base].map((bytes) => Buffer.from(bytes ?? []).toString());
    expect([...texts, gone]).toEqual(['a\nmore\n', 'a\n', null]);
    expect(await draft.read(join(root, 'moved/two'))).toEqual(new Uint8Array(Buffer.from('two\n')));
    expect(await draft.read('src/deep/two')).toBe(null);
    const patch = await draft.diff();
    const clone = join(root, '../clone');
    await bash(`git clone -q ${root} ${clone} && cd ${clone} && git apply`, { stdin: patch });
    expect(readFileSync(join(clone, 'a'), 'utf8') + readFileSync(join(clone, 'moved/two'), 'utf8')).toBe(
      'a\nmore\ntwo\n',
    );
    expect(await draft.diff({ paths: ['src'] })).not.toContain('+more');
  });

  draftTest('begins with the changes of the one that was forked, and neither sees the other', async () => {
    const { open } = project();
    const draft = await open();
    await bash('echo mine >a; rm -r src', { draft });
    const fork = await draft.fork({ name: 'bolder' });
    finished(() => fork.close());
    await bash('echo fork >a', { draft: fork });
    await bash('echo first >b', { draft });
    expect((await bash('cat a; ls', { draft: fork })).stdout).toBe('fork\na\nlink\nnode_modules\n');
    expect((await bash('cat a; ls', { draft })).stdout).toBe('mine\na\nb\nlink\nnode_modules\n');
    expect(fork.name).toBe('bolder');
  });

  draftTest('that is over is unknown to every use', async () => {
    const { open, dir } = project();
    const draft = await open();
    await bash('echo x >a', { draft });
    await draft.discard();
    expect([draft.state, readdirSync(dir)]).toEqual(['discarded', []]);
    const uses = [
      () => bash('true', { draft }),
      () => draft.changes(),
      () => draft.diff(),
      () => draft.read('a'),
      () => draft.commit(),
      () => draft.discard(),
      () => draft.fork(),
      () => openDraft({ id: draft.id }),
    ];
    for (const use of uses) {
      expect(await rejection(use)).toMatchObject({ code: 'ERR_BASH_DRAFT', reason: 'unknown' });
    }
  });

  draftTest('holds sessions, terminals and tasks, with a directory that only it has', async () => {
    const { root, open } = project();
    const draft = await open();
    await using session = new BashSession({ draft });
    await session.run('mkdir -p new/dir; cd new/dir; X=1');
    expect(await session.run('pwd; echo $X >x')).toMatchObject({ stdout: `${root}/new/dir\n`, notes: [] });
    await using registry = new BackgroundRegistry({ draft });
    const task = await registry.start('cat new/dir/x');
    expect(task.draft).toBe(draft.id);
    expect((await registry.wait(task)).output).toBe('1\n');
    const terminal = new PtySession({ draft });
    await terminal.start('echo 2 >new/dir/y');
    expect((await terminal.wait()).exitCode).toBe(0);
    expect((await bash('cat x y', { draft, cwd: join(root, 'new/dir') })).stdout).toBe('1\n2\n');
    expect(existsSync(join(root, 'new'))).toBe(false);
  });

  draftTest('ends its commands and tasks when it is closed, and keeps its changes', async () => {
    const { open } = project();
    const draft = await open();
    const registry = new BackgroundRegistry();
    finished(() => registry.close());
    const running = bash('echo x >made; sleep 60', { draft });
    await registry.start('sleep 60', { draft });
    const moved = await bash('sleep 60', { draft, registry, timeoutMs: 100, onTimeout: 'background' });
    expect(moved.background?.draft).toBe(draft.id);
    await until(async () => (await draft.changes()).counts.created > 0);
    await draft.close();
    expect((await running).status).toBe('aborted');
    expect(registry.list().map(({ state }) => state)).toEqual(['killed', 'killed']);
    expect(await rejection(() => bash('true', { draft }))).toMatchObject({ code: 'ERR_BASH_DRAFT', reason: 'unknown' });
    const again = await open({ id: draft.id });
    expect((await bash('cat made', { draft: again })).stdout).toBe('x\n');
  });

  draftTest("is removed with its last process if it is kept for 'process'", async () => {
    const { open, dir } = project();
    const draft = await open({ keep: 'process' });
    await bash('echo x >made', { draft });
    expect(readdirSync(dir)).toEqual([draft.id]);
    await draft.close();
    expect(readdirSync(dir)).toEqual([]);
  });
});

draftTest('a receipt says what a command has changed in the draft', async () => {
  const { root, open } = project();
  const draft = await open();
  const receiptOf = async (command: string) => {
    const { receipt } = await bash(command, { draft, receipt: 'watch' });
    const { created, modified, deleted, renamed, attribution, state, why } = receipt as Receipt;
    expect([state, why]).toEqual(['known', null]);
    const paths = (changes: Change[]) => changes.map(({ path }) => path.slice(root.length + 1));
    const moved = renamed.map(({ from, to }) => `${from.slice(root.length + 1)} → ${to.slice(root.length + 1)}`);
    return [attribution, paths(created), paths(modified), paths(deleted), moved];
  };
  expect(await receiptOf('true')).toEqual(['window', [], [], [], []]);
  const first = await receiptOf('echo more >>a; mkdir n; echo 1 >n/x; rm src/one; touch link; mv src/deep moved');
  expect(first).toEqual(['window', ['n', 'n/x'], ['a'], ['src/one'], ['src/deep → moved']]);
  // From here on the draft has things of its own.
  const second = await receiptOf('echo again >>a; mv n m; echo 2 >moved/new; chmod 700 src; echo y >src/one');
  expect(second).toEqual(['window', ['moved/new', 'src/one'], ['a', 'src'], [], ['n → m']]);
  expect(await receiptOf('rm -r m moved')).toEqual([
    'window',
    [],
    [],
    ['m', 'm/x', 'moved', 'moved/new', 'moved/two'],
    [],
  ]);
  expect(await receiptOf('cat a; ls -R >/dev/null')).toEqual(['window', [], [], [], []]);
});

draftTest('a receipt has the ports that a command opened in the draft', async () => {
  const { open } = project();
  const draft = await open();
  const serve = `exec python3 -c 'import socket, time
s = socket.create_server(("127.0.0.1", 3000)); open("up", "w"); time.sleep(600)'`;
  const command = `{ ${serve}; } >/dev/null 2>&1 & until [ -e up ]; do sleep .01; done`;
  const { receipt } = await bash(command, { draft, receipt: 'watch' });
  expect(receipt?.ports.opened).toEqual([{ port: 3000, address: '127.0.0.1', pid: expect.any(Number) }]);
  // The server may go on changing files.
  expect([receipt?.state, receipt?.why]).toEqual(['partial', expect.stringContaining('python3')]);
});

draftTest('drafts of one root do not see each other', async () => {
  const { root, open, tree } = project();
  const before = tree();
  const all = await Promise.all(Array.from({ length: 4 }, () => open()));
  await Promise.all(all.map((draft, number) => bash(`echo ${number} >a; sleep 0.2; echo ${number} >>a`, { draft })));
  const said = await Promise.all(all.map((draft) => bash('cat a', { draft })));
  expect(said.map(({ stdout }) => stdout)).toEqual(['0\n0\n', '1\n1\n', '2\n2\n', '3\n3\n']);
  expect(treeOf(root)).toEqual(before);
});

draftTest('names of any bytes are drafted, shown and committed', async () => {
  const { root, open } = project();
  const draft = await open();
  const make = String.raw`printf x >$'new\nline'; printf y >$'bad\xff'; mkdir $'d\xfe'; echo z >$'d\xfe/-rf'; rm a; ln -s x $'a\xff'`;
  await bash(make, { draft });
  const { created, deleted } = await draft.changes();
  const names = ['a\ufffd', 'bad\ufffd', 'd\ufffd', 'd\ufffd/-rf', 'new\nline'].map((name) => join(root, name));
  expect([created.map(({ path }) => path).sort(), deleted.length]).toEqual([names, 1]);
  expect(await draft.diff()).toContain(String.raw`+++ "b/bad\377"`);
  const { undoId } = await draft.commit();
  const shown = await bash(String.raw`cat $'bad\xff' $'new\nline' $'d\xfe/-rf'; readlink $'a\xff'`, { cwd: root });
  expect(shown.stdout).toBe('yxz\nx\n');
  await undo(undoId);
  expect(readdirSync(root).sort()).toEqual(['.git', '.gitignore', 'a', 'link', 'node_modules', 'src']);
});

draftTest('what a commit cannot apply stays in the draft, with the reason', async () => {
  const { root, open } = project();
  const draft = await open();
  await bash('echo mine >src/one; echo mine >a', { draft });
  writeFileSync(join(root, 'src/one'), 'theirs\n');
  const { skipped } = await draft.commit({ onConflict: 'skip' });
  expect(skipped).toEqual([{ path: join(root, 'src/one'), why: 'it was changed' }]);
});
