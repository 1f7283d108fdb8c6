import { once } from 'node:events';
import { existsSync, symlinkSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { BackgroundRegistry, BashSession, bash, PtySession } from 'agent-bash';
import { describe, expect, onTestFinished } from 'vitest';
import { attributeTest, folder, linuxTest, mark, reaching, until } from '../support/index.ts';
import { GIT, Site } from '../undo/support.ts';

const NOTHING = { created: [], modified: [], deleted: [], renamed: [] };

/** Runs a command with an exact receipt. */
const exact = (site: Site, command: string, more: object = {}) =>
  bash(command, { cwd: site.cwd, safety: 'off', receipt: 'exact', env: GIT, ...more });

/** A command that sets, prints or lists the attributes of a file. */
function attribute(way: 'set' | 'get' | 'list', name: string, value = ''): string {
  const call = {
    set: `os.setxattr('${name}', 'user.x', b'${value}')`,
    get: `print(os.getxattr('${name}', 'user.x'))`,
    // Each file on NFS has its access list.
    list: `print([name for name in os.listxattr('${name}') if not name.startswith('system.nfs4')])`,
  };
  return `python3 -c "import os; ${call[way]}"`;
}

describe('a receipt', () => {
  linuxTest('lists what was created, modified, deleted and renamed, and counts it', async () => {
    const site = new Site();
    for (const name of ['edited', 'gone', 'moved']) site.write(name);
    const { receipt } = await exact(site, 'echo new > made; echo more >> edited; rm gone; mv moved there');
    expect(receipt).toMatchObject({ state: 'known', why: null, attribution: 'command' });
    expect(site.changes(receipt)).toEqual({
      created: ['made'],
      modified: ['edited'],
      deleted: ['gone'],
      renamed: [['moved', 'there']],
    });
    expect(receipt?.counts).toEqual({ created: 1, modified: 1, deleted: 1, renamed: 1 });
    expect(receipt?.created).toEqual([{ path: site.path('made'), bytes: 4, bytesBefore: null, kind: 'file' }]);
    expect(receipt?.modified).toEqual([{ path: site.path('edited'), bytes: 12, bytesBefore: 7, kind: 'file' }]);
    expect(receipt?.deleted).toEqual([{ path: site.path('gone'), bytes: null, bytesBefore: 5, kind: 'file' }]);
  });

  linuxTest('of a command that changes nothing is known and empty', async () => {
    const site = new Site();
    site.write('a');
    const { receipt } = await exact(site, 'cat a; ls -l; grep -r a .');
    expect(receipt).toMatchObject({ state: 'known', why: null, directories: [], git: [] });
    expect(site.changes(receipt)).toEqual(NOTHING);
  });

  linuxTest('is a net effect: created and deleted again is nothing, equal contents are not modified', async () => {
    const site = new Site();
    for (const name of ['same', 'back']) site.write(name);
    const { receipt } = await exact(site, 'touch x; rm x; cp same y; cat y > same; rm y; mv back z; mv z back');
    expect(receipt?.state).toBe('known');
    expect(site.changes(receipt)).toEqual(NOTHING);
  });

  linuxTest('never takes a new file for the old one, with its size, its time and its inode', async () => {
    const site = new Site();
    site.write('a');
    const again = `python3 -c "
import os
s = os.stat('a')
os.unlink('a')
open('a', 'w').write('x' * s.st_size)
os.utime('a', ns=(s.st_atime_ns, s.st_mtime_ns))"`;
    const { receipt } = await exact(site, again);
    expect(receipt?.state).toBe('partial');
    expect(site.changes(receipt)).toEqual({ ...NOTHING, modified: ['a'] });
    const kept = await exact(site, again, { undo: 'always' });
    expect(kept.receipt?.state).toBe('known');
    expect(site.changes(kept.receipt)).toEqual(NOTHING);
  });

  linuxTest('by watching notices a file that is written through a mapping and gets its old time again', async () => {
    const site = new Site();
    site.write('a');
    const watched = (command: string) => bash(command, { cwd: site.cwd, safety: 'off', receipt: 'watch' });
    // The first command finds a tree that is not watched yet.
    await until(async () => (await watched('true')).receipt?.state === 'known');
    const { receipt } = await watched(`python3 -c "
import mmap, os
s = os.stat('a')
with open('a', 'r+b') as f, mmap.mmap(f.fileno(), 0) as m:
    m[0:1] = b'#'
os.utime('a', ns=(s.st_atime_ns, s.st_mtime_ns))"`);
    expect(receipt?.state).toBe('partial');
    expect(site.changes(receipt)).toEqual({ ...NOTHING, modified: ['a'] });
  });

  linuxTest('of a directory that a copy has replaced is known with an undo, which keeps it', async () => {
    const site = new Site();
    for (const name of ['src/a', 'src/b']) site.write(name);
    const replace = 'cp -a src s2; rm -rf src; mv s2 src';
    const { receipt } = await exact(site, replace);
    expect(receipt?.state).toBe('partial');
    const kept = await exact(site, `${replace}; echo more >> src/b`, { undo: 'always' });
    expect(kept.receipt?.state).toBe('known');
    expect(site.changes(kept.receipt)).toEqual({ ...NOTHING, modified: ['src/b'] });
  });

  linuxTest('has the changes of the whole tree, whatever a process does to hide', async () => {
    const site = new Site();
    const command =
      'sh -c "sh -c \'echo 1 > a\'"; env -i /bin/sh -c "echo 2 > b"; setsid sh -c "echo 3 > c"; (cd /; echo 4 > "$OLDPWD/d")';
    const { receipt } = await exact(site, command);
    expect(site.changes(receipt).created).toEqual(['a', 'b', 'c', 'd']);
  });

  linuxTest('has changes outside of the directory, in ignored directories and below .git', async () => {
    const site = new Site();
    const other = folder();
    await site.prepare('git init -q; echo dist > .gitignore; mkdir dist');
    const { receipt } = await exact(
      site,
      `echo x > ${other}/out; echo y > dist/a; git add .gitignore`,
      reaching(other),
    );
    expect(receipt?.created.map(({ path }) => path)).toEqual(
      expect.arrayContaining([join(other, 'out'), site.path('dist/a')]),
    );
    expect(receipt?.git).toMatchObject([{ repository: site.cwd, index: true, stash: false, state: null }]);
  });

  linuxTest('is of this command alone: what another process changes meanwhile is not in it', async () => {
    const site = new Site();
    const theirs = () => {
      for (const name of ['theirs', 'go']) site.write(name);
    };
    const command = 'echo ready; until [ -e go ]; do sleep 0.02; done; echo x > mine';
    const { receipt } = await exact(site, command, { onOutput: theirs });
    expect(site.changes(receipt).created).toEqual(['mine']);
  });

  linuxTest('lists at most 100 of each kind, and counts all', async () => {
    const site = new Site();
    const { receipt } = await exact(site, 'for i in $(seq 250); do echo $i > f$i; done');
    expect(receipt?.created).toHaveLength(100);
    expect(receipt?.counts.created).toBe(250);
    expect(receipt?.state).toBe('known');
  });

  linuxTest('is plain data, whole after structuredClone and JSON', async () => {
    const site = new Site();
    const result = await exact(site, 'echo x > a');
    expect(structuredClone(result)).toEqual(result);
    expect(JSON.parse(JSON.stringify(result))).toEqual(result);
  });
});

describe('paths and kinds', () => {
  linuxTest('paths are absolute and without links', async () => {
    const site = new Site();
    const link = join(folder(), 'link');
    symlinkSync(site.cwd, link);
    const { receipt } = await bash('echo x > a', { cwd: link, receipt: 'exact' });
    expect(receipt?.created.map(({ path }) => path)).toEqual([site.path('a')]);
  });

  linuxTest('invalid UTF-8 shows as U+FFFD', async () => {
    const site = new Site();
    const { receipt } = await exact(site, "echo x > $'a\\xffb'");
    expect(site.changes(receipt).created).toEqual(['a\ufffdb']);
  });

  linuxTest('a directory that was made or removed is listed, and each thing in it', async () => {
    const site = new Site();
    site.write('old/deep/a');
    const { receipt } = await exact(site, 'mkdir -p new/deep; echo x > new/deep/b; rm -r old');
    expect(site.changes(receipt)).toMatchObject({
      created: ['new', 'new/deep', 'new/deep/b'],
      deleted: ['old', 'old/deep', 'old/deep/a'],
    });
    expect(receipt?.created.map(({ kind }) => kind)).toEqual(['directory', 'directory', 'file']);
  });

  linuxTest('a renamed directory is one entry', async () => {
    const site = new Site();
    for (const name of ['old/a', 'old/b', 'old/deep/c']) site.write(name);
    const { receipt } = await exact(site, 'mv old new');
    expect(site.changes(receipt)).toEqual({ ...NOTHING, renamed: [['old', 'new']] });
  });

  linuxTest('a directory is modified by its mode, and not by what is in it', async () => {
    const site = new Site();
    site.write('one/a');
    site.write('two/a');
    const { receipt } = await exact(site, 'touch one/b; chmod 700 two');
    expect(site.changes(receipt)).toEqual({ ...NOTHING, created: ['one/b'], modified: ['two'] });
  });

  linuxTest('a re-permissioned file is modified, with equal sizes', async () => {
    const site = new Site();
    site.write('a', 'four');
    const { receipt } = await exact(site, 'chmod +x a');
    expect(receipt?.modified).toEqual([{ path: site.path('a'), bytes: 4, bytesBefore: 4, kind: 'file' }]);
  });

  linuxTest('a rename over a file is in renamed, and the target in modified with its size before', async () => {
    const site = new Site();
    site.write('new', '12345');
    site.write('target', '1');
    const { receipt } = await exact(site, 'mv new target');
    expect(site.changes(receipt)).toEqual({ ...NOTHING, modified: ['target'], renamed: [['new', 'target']] });
    expect(receipt?.modified[0]).toMatchObject({ bytes: 5, bytesBefore: 1 });
  });

  linuxTest('files that have swapped their places are compared where they are now', async () => {
    const site = new Site();
    for (const [name, text] of [
      ['a', 'same'],
      ['b', 'same'],
      ['c', 'more'],
    ] as const)
      site.write(name, text);
    const swapped = (one: string, other: string) => `mv ${one} t; mv ${other} ${one}; mv t ${other}`;
    const equal = await exact(site, `printf same > a; ${swapped('a', 'b')}`);
    expect([equal.receipt?.state, site.changes(equal.receipt).modified]).toEqual(['known', []]);
    const others = await exact(site, swapped('a', 'c'));
    expect([others.receipt?.state, site.changes(others.receipt).modified]).toEqual(['known', ['a', 'c']]);
  });

  linuxTest('a recorded command leaves no core dump, which no call announces', async () => {
    const site = new Site();
    const { stdout } = await bash('ulimit -Sc; ulimit -Hc', { cwd: site.cwd, receipt: 'exact' });
    expect(stdout).toBe('0\n0\n');
  });

  linuxTest('the other names of a hard-linked file are found, or the receipt is partial', async () => {
    const site = new Site();
    site.write('a');
    await site.prepare('mkdir sub; ln a sub/b');
    const { receipt } = await exact(site, 'echo more >> a');
    const { modified } = site.changes(receipt);
    expect(modified).toContain('a');
    if (receipt?.state === 'known') expect(modified).toContain('sub/b');
    else expect(receipt?.why).toMatch(/name|link/);
  });

  attributeTest()('an attribute is a change of a file and of a directory, and an undo takes it back', async () => {
    const site = new Site();
    site.write('a', 'four');
    site.write('dir/b');
    await site.prepare(attribute('set', 'a', 'old'));
    const { receipt, runId } = await site.run(`${attribute('set', 'a', 'new')}; ${attribute('set', 'dir', 'new')}`);
    expect(site.changes(receipt)).toEqual({ ...NOTHING, modified: ['a', 'dir'] });
    expect(receipt?.modified[0]).toMatchObject({ bytes: 4, bytesBefore: 4, kind: 'file' });
    await site.undo(runId);
    const { stdout } = await bash(`${attribute('get', 'a')}; ${attribute('list', 'dir')}`, { cwd: site.cwd });
    expect(stdout).toBe("b'old'\n[]\n");
  });

  linuxTest('links and pipes have their kind', async () => {
    const site = new Site();
    const { receipt } = await exact(site, 'ln -s nowhere link; mkfifo pipe; mkdir dir; echo x > file');
    expect(receipt?.created.map(({ path, kind }) => [site.short(path), kind])).toEqual([
      ['dir', 'directory'],
      ['file', 'file'],
      ['link', 'link'],
      ['pipe', 'other'],
    ]);
  });
});

describe('git', () => {
  linuxTest('a commit is a new head, on the same branch', async () => {
    const site = new Site();
    await site.prepare('git init -qb main; git commit -q --allow-empty -m one');
    const { receipt } = await exact(site, 'echo x > a; git add a; git commit -qm two');
    expect(receipt?.git).toEqual([
      {
        repository: site.cwd,
        head: [expect.stringMatching(/^[0-9a-f]{40}$/), expect.stringMatching(/^[0-9a-f]{40}$/)],
        branch: ['main', 'main'],
        index: true,
        stash: false,
        state: null,
      },
    ]);
    expect(receipt?.git[0]?.head[0]).not.toBe(receipt?.git[0]?.head[1]);
    expect(site.changes(receipt).created).toEqual(['a']);
  });

  linuxTest('branches have their short names, and a detached HEAD none', async () => {
    const site = new Site();
    await site.prepare('git init -qb main; git commit -q --allow-empty -m one');
    const first = await exact(site, 'git switch -qc feature/x');
    expect(first.receipt?.git[0]).toMatchObject({ branch: ['main', 'feature/x'], index: false });
    const second = await exact(site, 'git switch -q --detach');
    expect(second.receipt?.git[0]).toMatchObject({ branch: ['feature/x', null] });
  });

  linuxTest('an operation that waits for the user is the state after the command', async () => {
    const site = new Site();
    await site.prepare(
      'git init -qb main; echo 1 > a; git add a; git commit -qm one; git switch -qc x; echo 2 > a; git commit -qam two; git switch -q main; echo 3 > a; git commit -qam three',
    );
    const table = [
      ['rebase', 'git rebase -q x || true', 'git rebase --abort'],
      ['cherry-pick', 'git cherry-pick x || true', 'git cherry-pick --abort'],
      ['revert', 'git revert --no-edit HEAD~1 || true', 'git revert --abort'],
      ['bisect', 'git bisect start', 'git bisect reset'],
    ] as const;
    for (const [state, begin, end] of table) {
      const { receipt } = await exact(site, begin);
      expect(receipt?.git, state).toMatchObject([{ repository: site.cwd, state }]);
      const after = await exact(site, end);
      expect(after.receipt?.git, state).toMatchObject([{ state: null }]);
    }
  });

  linuxTest('a stash, and a merge that waits', async () => {
    const site = new Site();
    await site.prepare(
      'git init -qb main; echo 1 > a; git add a; git commit -qm one; git switch -qc x; echo 2 > a; git commit -qam two; git switch -q main; echo 3 > a; git commit -qam three',
    );
    const merge = await exact(site, 'git merge -q x || true');
    expect(merge.receipt?.git[0]).toMatchObject({ state: 'merge' });
    await site.prepare('git merge --abort; echo 4 > a');
    const stash = await exact(site, 'git stash -q');
    expect(stash.receipt?.git[0]).toMatchObject({ stash: true, state: null });
  });
});

describe('ports', () => {
  const serve = `node -e "require('net').createServer().listen(0, '127.0.0.1', function () { console.log(this.address().port) })"`;

  linuxTest('a server that the command leaves running has its port in the receipt', async () => {
    const site = new Site();
    const command = `${serve} > port 2>/dev/null < /dev/null & until [ -s port ]; do sleep 0.02; done; echo $!`;
    const { receipt, survivors } = await exact(site, command);
    onTestFinished(() => {
      for (const { pid } of survivors) process.kill(pid, 'SIGKILL');
    });
    const port = Number(site.read('port'));
    expect(receipt?.ports.opened).toEqual([{ port, address: '127.0.0.1', pid: survivors[0]?.pid ?? null }]);
    expect(receipt).toMatchObject({ state: 'partial', why: expect.stringContaining(`${survivors[0]?.pid}`) });
  });

  linuxTest('a server that a later command ends has its port in that receipt', async () => {
    const site = new Site();
    const { survivors } = await exact(site, `${serve} > port < /dev/null & until [ -s port ]; do sleep 0.02; done`);
    const server = survivors[0]?.pid;
    const { receipt } = await exact(site, `kill ${server}; while kill -0 ${server} 2>&-; do sleep 0.02; done`);
    const port = Number(site.read('port'));
    expect(receipt?.ports.closed).toContainEqual({ port, address: '127.0.0.1', pid: null });
  });

  linuxTest('a port that a living process closes by itself is in none', async () => {
    const site = new Site();
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const run = exact(site, 'echo > begun; until [ -e closed ]; do sleep 0.02; done');
    await until(() => existsSync(join(site.cwd, 'begun')));
    await new Promise((closed) => server.close(closed));
    site.write('closed');
    expect((await run).receipt?.ports.closed.some((one) => one.port === port)).toBe(false);
  });

  linuxTest('a server that has ended with the command has none', async () => {
    const command = `${serve} > port & until [ -s port ]; do sleep 0.02; done; kill $!; wait`;
    const { receipt } = await exact(new Site(), command);
    expect(receipt?.ports.opened).toEqual([]);
  });
});

describe('everywhere that runs commands', () => {
  linuxTest('in a session', async () => {
    const site = new Site();
    await using session = new BashSession({ cwd: site.cwd, receipt: 'exact' });
    await session.run('mkdir sub; cd sub; x=1');
    const { receipt, stdout } = await session.run('echo $x > a; echo $x');
    expect([stdout, site.changes(receipt)]).toEqual(['1\n', { ...NOTHING, created: ['sub/a'] }]);
  });

  linuxTest('in a terminal', async () => {
    const site = new Site();
    const terminal = new PtySession({ cwd: site.cwd, receipt: 'exact' });
    await terminal.start('read -r line; echo $line > a');
    await terminal.write('x\r');
    const { receipt } = await terminal.result();
    expect(site.changes(receipt)).toEqual({ ...NOTHING, created: ['a'] });
  });

  linuxTest('of a task, in the check after its end', async () => {
    const site = new Site();
    await using registry = new BackgroundRegistry();
    const options = { cwd: site.cwd, receipt: 'exact' } as const;
    const task = await registry.start(`echo x > a; echo written; sleep ${mark()}`, options);
    const { matched, ...running } = await registry.wait(task.id, { pattern: 'written' });
    expect({ matched, ...running }).toMatchObject({ matched: true, runId: null, receipt: null, undo: null });
    const { receipt, runId, undo } = await registry.kill(task.id);
    expect([typeof runId, undo]).toEqual(['string', null]);
    expect(site.changes(receipt)).toEqual({ ...NOTHING, created: ['a'] });
  });

  linuxTest('confined, too', async () => {
    const site = new Site();
    site.write('gone');
    const { receipt, confinement } = await exact(site, 'rm gone; echo x > a; echo x > /etc/none-of-it', {
      confine: 'workspace',
    });
    expect(confinement?.denied.length).toBe(1);
    expect(receipt?.state).toBe('known');
    expect(site.changes(receipt)).toEqual({ ...NOTHING, created: ['a'], deleted: ['gone'] });
  });
});

describe('commands without an exact receipt', () => {
  linuxTest('a command that calls sudo is watched instead, with a note', async () => {
    const site = new Site();
    const { receipt, notes } = await exact(site, 'sudo -n true; echo x > a');
    expect(receipt?.attribution).toBe('window');
    expect(notes.join('\n')).toMatch(/sudo/);
  });

  linuxTest('a survivor makes the receipt partial while it lives', async () => {
    const site = new Site();
    const { receipt, survivors } = await exact(site, `echo x > a; sleep ${mark()} > /dev/null 2>&1 &`);
    for (const { pid } of survivors) process.kill(pid, 'SIGKILL');
    expect(survivors).toHaveLength(1);
    expect(receipt).toMatchObject({ state: 'partial', why: expect.stringContaining(`${survivors[0]?.pid}`) });
  });

  linuxTest('a run that was ended at its limit has what it did so far', async () => {
    const site = new Site();
    const { receipt, status } = await exact(site, 'echo x > a; sleep 60', { timeoutMs: 1_000 });
    expect(status).toBe('timed-out');
    expect(site.changes(receipt).created).toEqual(['a']);
  });
});
