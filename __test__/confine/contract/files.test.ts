import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type BashOptions, bash, type ConfineOptions } from 'agent-bash';
import { describe, expect, test } from 'vitest';
import { folder, hostResult, isRoot, until } from '../../support/index.ts';
import { lasting } from '../support/ground.ts';
import { namespacesTest, withoutNamespaces } from '../support/held.ts';

const run = (cwd: string, command: string, confine: ConfineOptions = {}, options: BashOptions = {}) =>
  bash(command, { cwd, confine, timeoutMs: 20_000, ...options });

const errno = (code: string) => `python3 -c '
import errno, os
try: ${code}
except OSError as e: print(errno.errorcode[e.errno])'`;

describe.runIf(process.platform === 'linux')('files', () => {
  test('`write` adds directories and files to those of the profile', async () => {
    const [cwd, more] = [folder(), folder()];
    writeFileSync(join(more, 'one'), '');
    writeFileSync(join(more, 'two'), '');
    const script = `echo x >${more}/one; echo x >${more}/two; echo x >here`;
    await run(cwd, script, { write: [join(more, 'one')] });
    expect([readFileSync(join(more, 'one'), 'utf8'), readFileSync(join(more, 'two'), 'utf8')]).toEqual(['x\n', '']);
    await run(cwd, script, { profile: 'read-only', write: [more] });
    expect(readFileSync(join(more, 'two'), 'utf8')).toBe('x\n');
  });

  test('`protect` replaces the default list', async () => {
    const cwd = folder();
    const { exitCode } = await run(cwd, 'echo x >.envrc && mkdir .vscode', { protect: [] });
    expect([exitCode, readdirSync(cwd).sort()]).toEqual([0, ['.envrc', '.vscode']]);
  });

  test('`hide` adds to the default list', async () => {
    const home = lasting();
    mkdirSync(join(home, '.ssh'));
    writeFileSync(join(home, '.ssh', 'id'), 'secret');
    const seen = await hostResult<string>(
      `const r = await bash('cat ~/.ssh/id; echo; cat other/key', { cwd: ${JSON.stringify(folder())}, confine: { hide: ['/nonexistent'] } });
       console.log(JSON.stringify(r.stdout));`,
      { env: { HOME: home } },
    );
    expect(seen).not.toContain('secret');
  });

  test('with a list, `read` shows only these, the write roots and the directories of the system', async () => {
    const [cwd, listed, other] = [folder(), folder(), folder()];
    for (const place of [cwd, listed, other]) writeFileSync(join(place, 'file'), place);
    const { stdout } = await run(cwd, `cat file ${listed}/file ${other}/file 2>/dev/null; ls /usr/bin/env`, {
      read: [listed],
    });
    expect(stdout).toBe(`${cwd}${listed}/usr/bin/env\n`);
  });

  test('what does not exist cannot be created, and no stub of ours ever shows on the host', async () => {
    const cwd = folder();
    const running = run(
      cwd,
      'touch ready; until [ -e go ]; do sleep .01; done; touch .envrc .mcp.json; mkdir .claude; ls -A',
    );
    await until(() => existsSync(join(cwd, 'ready')));
    expect(readdirSync(cwd)).toEqual(['ready']);
    writeFileSync(join(cwd, 'go'), '');
    expect((await running).stdout).toBe('go\nready\n');
    expect(readdirSync(cwd).sort()).toEqual(['go', 'ready']);
  });

  test('a repository that the command itself makes is its own until it ends', async () => {
    const cwd = folder();
    const hook = 'echo x >new/.git/hooks/pre-commit && git -C new config a.b c';
    expect((await run(cwd, `git init -q new && ${hook}`)).exitCode).toBe(0);
    expect((await run(cwd, hook)).exitCode).not.toBe(0);
  });

  test('repositories that the host made after the world are protected', async () => {
    const cwd = folder();
    await run(cwd, 'true');
    await bash('git init -q late', { cwd });
    expect((await run(cwd, 'echo x >late/.git/hooks/pre-commit')).exitCode).not.toBe(0);
    expect((await run(cwd, 'echo x >>late/.git/config')).exitCode).not.toBe(0);
    expect((await run(cwd, 'echo x >late/file; git -C late add file')).exitCode).toBe(0);
  });

  test('the .git file of a submodule or worktree is protected as well', async () => {
    const cwd = folder();
    writeFileSync(join(cwd, 'plain'), '');
    await bash(
      'git init -q m; cd m; git -c user.name=a -c user.email=a commit -q --allow-empty -m m; git worktree add -q ../w',
      { cwd },
    );
    const before = readFileSync(join(cwd, 'w', '.git'), 'utf8');
    await run(cwd, 'echo x >w/.git; rm -f w/.git; mv w v; mv plain w/.git');
    expect(readFileSync(join(cwd, 'w', '.git'), 'utf8')).toBe(before);
  });

  test('in a directory without a repository the other names still cannot be created', async () => {
    const cwd = folder();
    await run(cwd, 'mkdir .git; echo x >.npmrc; echo x >.bashrc');
    expect(readdirSync(cwd)).toEqual(['.git']);
  });

  test('renaming or removing a directory above a protected path is denied', async () => {
    const cwd = folder();
    await bash('mkdir -p a/b; git init -q a/b/c', { cwd });
    await run(cwd, 'mv a x; rm -rf a; mv a/b a/x; rmdir a/b/c');
    expect(existsSync(join(cwd, 'a/b/c/.git/config'))).toBe(true);
  });

  test('denied writes fail with EROFS or EACCES, hidden reads with EACCES or ENOENT', async () => {
    const [cwd, hidden] = [folder(), folder()];
    writeFileSync(join(hidden, 'key'), '');
    await bash('git init -q .', { cwd });
    const denied = [
      'open("/usr/x", "w")',
      'os.mkdir("/usr/x")',
      'open(".envrc", "w")',
      'open(".git/config", "a")',
      'os.rename("a", ".envrc")',
    ];
    const unread = [`open("${hidden}/key")`, `os.listdir("${hidden}")`];
    writeFileSync(join(cwd, 'a'), '');
    const { stdout } = await run(cwd, [...denied, ...unread].map(errno).join('\n'), { hide: [hidden] });
    const codes = stdout.trim().split('\n');
    expect(
      codes.slice(0, denied.length).every((code) => ['EROFS', 'EACCES'].includes(code)),
      stdout,
    ).toBe(true);
    expect(
      codes.slice(denied.length).every((code) => ['EACCES', 'ENOENT'].includes(code)),
      stdout,
    ).toBe(true);
    expect(codes).toHaveLength(denied.length + unread.length);
  });

  // Where a listener holds the files, others are seen, and cannot be opened.
  namespacesTest('devices are those of everyday programs', async () => {
    const { stdout } = await run(
      folder(),
      'for f in /dev/*; do [ -c $f ] && [ ! -L $f ] && echo ${f##*/}; done; ls -d /dev/pts',
    );
    expect(
      stdout
        .trim()
        .split('\n')
        .filter((name) => name !== 'ptmx')
        .sort(),
    ).toEqual(['/dev/pts', 'full', 'null', 'random', 'tty', 'urandom', 'zero'].sort());
  });

  test('tmp is private by default, and its files lie on the host where the result says', async () => {
    const cwd = folder();
    const { confinement, stdout } = await run(
      cwd,
      'echo x >/tmp/of-the-contract; echo y >/var/tmp/z; echo x >$TMPDIR/of-the-contract; echo $TMPDIR',
    );
    expect(stdout).toBe(withoutNamespaces ? `${confinement?.tmp}\n` : '/tmp\n');
    expect(existsSync('/tmp/of-the-contract') || existsSync('/var/tmp/z')).toBe(false);
    expect(readFileSync(join(confinement?.tmp ?? '', 'of-the-contract'), 'utf8')).toBe('x\n');
  });

  test("with a shared tmp, files there are the host's", async () => {
    const [cwd, other] = [folder(), folder()];
    const { confinement } = await run(cwd, `echo x >${other}/x`, { tmp: 'shared' });
    expect([confinement?.tmp, existsSync(join(other, 'x'))]).toEqual([null, true]);
  });

  test.each(['overlay', 'shared', 'none'] as const)('caches: %s', async (caches) => {
    const home = lasting();
    const file = join(home, '.cache', 'of-a-tool');
    mkdirSync(join(home, '.cache'));
    writeFileSync(file, 'old');
    const seen = await hostResult<string[]>(
      `const confine = { caches: '${caches}' }, cwd = ${JSON.stringify(folder())};
       const cache = ${withoutNamespaces && caches === 'overlay'} ? '$XDG_CACHE_HOME' : '~/.cache';
       const one = await bash('cat ~/.cache/of-a-tool; echo new >' + cache + '/of-a-tool && echo made >' + cache + '/fresh && echo " written"', { cwd, confine });
       const two = await bash('cat ' + cache + '/fresh', { cwd, confine });
       console.log(JSON.stringify([one.stdout, two.stdout]));`,
      { env: { HOME: home } },
    );
    expect(seen).toEqual(caches === 'none' ? ['old', ''] : ['old written\n', 'made\n']);
    expect(readFileSync(file, 'utf8')).toBe(caches === 'shared' ? 'new\n' : 'old');
    expect(existsSync(join(home, '.cache', 'fresh'))).toBe(caches === 'shared');
  });

  test('a file that a result names for its whole output can be read by its own world and by no other', async () => {
    const [cwd, other] = [folder(), folder()];
    const { truncation } = await run(cwd, 'seq 100000');
    const path = truncation.stdout?.path ?? '';
    expect((await run(cwd, `tail -1 ${path}`)).stdout).toBe('100000\n');
    expect((await run(other, `tail -1 ${path}`)).stdout).toBe('');
  });

  test('our own state directory is hidden, and with it the private /tmp of another world', async () => {
    const [cwd, other] = [folder(), folder()];
    const { confinement } = await run(cwd, 'echo secret >$TMPDIR/key');
    expect(existsSync(join(confinement?.tmp ?? '', 'key'))).toBe(true);
    const { stdout } = await run(other, `cat ${confinement?.tmp}/key; ls ${confinement?.tmp} ${confinement?.tmp}/..`);
    expect(stdout).not.toMatch(/secret|key/);
  });

  test('a lease, for which programs outside would wait, is refused', async () => {
    const cwd = folder();
    writeFileSync(join(cwd, 'file'), '');
    const lease = 'import fcntl; fcntl.fcntl(os.open("file", os.O_RDONLY), fcntl.F_SETLEASE, fcntl.F_WRLCK)';
    expect((await run(cwd, errno(lease))).stdout).toBe('EACCES\n');
  });

  test.runIf(isRoot)('a file of mode 000 stays as it is for root', async () => {
    const cwd = folder();
    writeFileSync(join(cwd, 'closed'), 'x', { mode: 0 });
    // Without capabilities root is its owner, and no more.
    expect((await run(cwd, 'chmod 600 closed && cat closed')).stdout).toBe('x');
  });
});
