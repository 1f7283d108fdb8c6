import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { BashSession, bash } from 'agent-bash';
import { describe, expect, test } from 'vitest';
import { folder, until, WAIT } from '../../support/index.ts';

const python = (code: string) => `python3 -c '${code}'`;

describe.runIf(process.platform === 'linux')('protected names', () => {
  test('what a world passes to another one cannot be changed there past its own guards', async () => {
    const [first, second, shared] = [folder(), folder(), folder()];
    const confine = { write: [shared] };
    // A socket that was there before the world is not reached.
    await bash('true', { cwd: second, confine });
    writeFileSync(join(first, 'notes'), '');
    const giver = bash(
      python(`
import os, socket
server = socket.socket(socket.AF_UNIX); server.bind("${shared}/socket"); server.listen()
open("${shared}/ready", "w").close()
client, _ = server.accept()
socket.send_fds(client, [b"x"], [os.open(".", os.O_RDONLY)]); client.recv(1)`),
      { cwd: first, confine },
    );
    await until(() => readdirSync(shared).includes('ready'));
    const taker = await bash(
      python(`
import os, socket
client = socket.socket(socket.AF_UNIX); client.connect("${shared}/socket")
_, (at,), _, _ = socket.recv_fds(client, 1, 1)
def attempt(call):
    try: call()
    except OSError: return
    print("PWNED")
attempt(lambda: os.open(".envrc", os.O_CREAT | os.O_WRONLY, dir_fd=at))
attempt(lambda: os.open("fresh", os.O_CREAT | os.O_WRONLY, dir_fd=at))
attempt(lambda: os.open("notes", os.O_WRONLY, dir_fd=at))
attempt(lambda: os.mkdir(".vscode", dir_fd=at))
attempt(lambda: os.symlink("x", ".npmrc", dir_fd=at))
attempt(lambda: os.rename("notes", ".bashrc", src_dir_fd=at, dst_dir_fd=at))
attempt(lambda: os.link("${shared}/ready", ".profile", dst_dir_fd=at))
attempt(lambda: os.rename("${shared}/ready", "fresh", dst_dir_fd=at))
attempt(lambda: os.mknod(".zshrc", dir_fd=at))
attempt(lambda: os.unlink("notes", dir_fd=at))
for way in (f"/proc/self/fd/{at}", f"/dev/fd/{at}"):
    attempt(lambda: os.mkdir(f"{way}/.vscode"))
    attempt(lambda: open(f"{way}/.envrc", "w"))
    attempt(lambda: os.symlink("x", f"{way}/.npmrc"))
    attempt(lambda: os.rename(f"{way}/notes", f"{way}/.bashrc"))
    attempt(lambda: os.link(f"{way}/notes", f"{way}/.zshrc"))
os.fchdir(at)
attempt(lambda: os.mkdir(".idea"))
attempt(lambda: open(".bashrc", "w"))
attempt(lambda: socket.socket(socket.AF_UNIX).bind(".zshenv"))
attempt(lambda: os.open(".", os.O_TMPFILE | os.O_WRONLY))
client.send(b"x")`),
      { cwd: second, confine },
    );
    expect([taker.exitCode, taker.stdout, taker.stderr]).toEqual([0, '', '']);
    expect((await giver).exitCode).toBe(0);
    expect(readdirSync(first)).toEqual(['notes']);
  });

  test('a configuration of git that is protected cannot be changed, and the denial is listed', async () => {
    const cwd = folder();
    await bash('git init -q .; git remote add o x; git config branch.main.remote o', { cwd });
    for (const command of [
      'git config a.b c',
      'git remote add p x',
      'git remote remove o',
      'cp .git/HEAD .git/config',
    ]) {
      const { exitCode, stderr, confinement } = await bash(command, { cwd, confine: 'workspace' });
      expect([exitCode === 0, stderr.includes('Read-only file system')]).toEqual([false, true]);
      const denial = { kind: 'write', target: join(cwd, '.git/config'), program: command.split(' ')[0], grant: null };
      expect(confinement?.denied).toMatchObject([denial]);
    }
    const pinned = await bash('mv .git old', { cwd, confine: 'workspace' });
    expect(pinned.confinement?.denied).toContainEqual(
      expect.objectContaining({ target: join(cwd, '.git'), program: 'mv' }),
    );
  });

  test('a file that the host replaces stays protected while a command runs', async () => {
    const cwd = folder();
    await bash('git init -q .; git config a.b c', { cwd });
    await using session = new BashSession({ cwd, confine: 'workspace' });
    const wait = 'touch ready; until [ -e go ]; do sleep .01; done';
    const tries = 'for n in {1..200}; do echo x >>.git/config; sleep .001; done; rm -f .git/config';
    const running = session.run(`${wait}; ${tries}`, { timeoutMs: 6 * WAIT });
    await until(() => readdirSync(cwd).includes('ready'));
    // Git replaces the file by a new one.
    await bash('git config a.b d', { cwd });
    const before = readFileSync(join(cwd, '.git/config'), 'utf8');
    expect(before).toContain('b = d');
    writeFileSync(join(cwd, 'go'), '');
    const { exitCode, confinement } = await running;
    expect([exitCode, confinement?.deniedTotal]).toEqual([1, 201]);
    expect(readFileSync(join(cwd, '.git/config'), 'utf8')).toBe(before);
  });

  test.each([
    ['.vscode/tasks.json', 'mkdir .vscode'],
    ['.git/hooks/pre-commit', 'mv .git/hooks old; mkdir .git/hooks'],
    ['sub/.git/hooks/pre-commit', 'git init -q sub'],
    ['sub/.git/config', 'git init -q sub'],
    ['bare/hooks/pre-commit', 'git init -q --bare bare'],
  ])('that the host makes while a command runs are not free for it: %s', async (file, made) => {
    const cwd = folder();
    await bash('git init -q .', { cwd });
    const attack = `mkdir -p $(dirname ${file}); rm -f ${file}; echo EVIL >> ${file}; echo EVIL > x; chmod +x x; mv x ${file}; ln -f x ${file}`;
    const running = bash(`touch ready; until [ -e go ]; do sleep .01; done; ${attack}`, { cwd, confine: 'workspace' });
    await until(() => readdirSync(cwd).includes('ready'));
    await bash(made, { cwd });
    // A task has all the time that it needs.
    await new Promise((done) => setTimeout(done, 50));
    writeFileSync(join(cwd, 'go'), '');
    await running;
    expect(existsSync(join(cwd, file)) ? readFileSync(join(cwd, file), 'utf8') : '').not.toContain('EVIL');
  });

  test('and a repository in a directory of before is its command’s own', async () => {
    const cwd = folder();
    await bash('mkdir a b; git init -q host', { cwd });
    const command =
      'git init -q --bare a && git -C a config a.b c && git init -q b && git -C b config a.b c && mkdir -p d && git init -q --bare d && git -C d config a.b c && git clone -q host e && git -C e config a.b c';
    const { exitCode, stderr } = await bash(command, { cwd, confine: 'workspace' });
    expect([exitCode, stderr]).toEqual([0, 'warning: You appear to have cloned an empty repository.\n']);
  });
});
