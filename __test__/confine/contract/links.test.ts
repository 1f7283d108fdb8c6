import { chmodSync, linkSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { BashSession, bash, undo } from 'agent-bash';
import { describe, expect, test } from 'vitest';
import { folder } from '../../support/index.ts';
import { lasting } from '../support/ground.ts';

/** A workspace with a file that has another name in a store outside, as package managers link them. */
function linked(content = 'good\n') {
  const base = lasting();
  const [cwd, store] = [join(base, 'work'), join(base, 'store')];
  for (const place of [join(cwd, 'node_modules/x'), store]) mkdirSync(place, { recursive: true });
  const [outside, inside] = [join(store, 'cdef'), join(cwd, 'node_modules/x/index.js')];
  writeFileSync(outside, content, { mode: 0o644 });
  linkSync(outside, inside);
  return { cwd, outside, inside };
}

const python = (code: string) => `python3 -c '${code}'`;
const NAME = 'node_modules/x/index.js';
const OPENED = `import os; f = os.open("${NAME}", os.O_RDONLY);`;

describe.runIf(process.platform === 'linux')('a file with another name outside', () => {
  test.each([
    ['append', `echo evil >> ${NAME}`, 'good\nevil\n'],
    ['truncate', `: > ${NAME}`, ''],
    ['truncate by path', python(`import os; os.truncate("${NAME}", 1)`), 'g'],
    ['rewrite', python(`f = open("${NAME}", "r+"); f.write("evil")`), 'evil\n'],
    ['open read-only and truncate', python(`import os; os.open("${NAME}", os.O_RDONLY | os.O_TRUNC)`), ''],
    [
      'without waiting',
      python(`import os; os.write(os.open("${NAME}", os.O_WRONLY | os.O_NONBLOCK), b"evil")`),
      'evil\n',
    ],
    ['through a link', `ln -s ${NAME} l; echo evil >> l; rm l`, 'good\nevil\n'],
    ['through its descriptor', `exec 3< ${NAME}; echo evil >> /proc/self/fd/3; exec 3>&-`, undefined],
    ['in its directory', `cd node_modules/x; echo evil >> index.js`, 'good\nevil\n'],
    ['by a second name', `ln ${NAME} two; echo evil >> two; cat two; rm two`, undefined],
    ['by a moved name', `mv ${NAME} two; echo evil >> two; cp two ${NAME}; rm two`, 'good\nevil\n'],
    ['in place', `sed -i s/good/evil/ ${NAME}`, 'evil\n'],
    ['mode', `chmod 777 ${NAME}`, 'good\n'],
    [
      'mode below a directory',
      python(`import os; os.chmod("x/index.js", 0o777, dir_fd=os.open("node_modules", 0))`),
      'good\n',
    ],
    ['mode of a descriptor', python(`${OPENED} os.fchmod(f, 0o777)`), 'good\n'],
    ['mode of a descriptor by its link', python(`${OPENED} os.chmod(f"/proc/self/fd/{f}", 0o777)`), 'good\n'],
    ['times', `touch -d @7 ${NAME}`, 'good\n'],
    ['times of a descriptor', python(`${OPENED} os.utime(f, (7, 7))`), 'good\n'],
    ['owner', `chown $(id -u):$(id -g) ${NAME}`, 'good\n'],
    ['owner of a descriptor', python(`${OPENED} os.fchown(f, os.getuid(), os.getgid())`), 'good\n'],
    ['attribute', python(`import os; os.setxattr("${NAME}", "user.a", b"b")`), 'good\n'],
    ['attribute of a descriptor', python(`${OPENED} os.setxattr(f, "user.a", b"b")`), 'good\n'],
  ])('is not changed there: %s', async (_, command, here) => {
    const { cwd, outside, inside } = linked();
    const before = statSync(outside, { bigint: true });
    const result = await bash(command, { cwd, confine: 'workspace' });
    const after = statSync(outside, { bigint: true });
    expect(readFileSync(outside, 'utf8'), JSON.stringify(result)).toBe('good\n');
    expect([after.mode, after.mtimeNs, after.uid]).toEqual([before.mode, before.mtimeNs, before.uid]);
    if (here !== undefined) expect(readFileSync(inside, 'utf8')).toBe(here);
    expect(readdirSync(cwd).filter((name) => name.startsWith('.agent-bash'))).toEqual([]);
    const denied = result.confinement?.denied.map(({ target, grant }) => ({ target, grant })) ?? [];
    if (result.exitCode !== 0) expect(denied).toEqual([{ target: inside, grant: null }]);
  });

  test('by threads that exchange the descriptor, it is not changed either', async () => {
    const { cwd, outside } = linked();
    const code = `
import os, threading
mine = os.open("mine", os.O_RDWR | os.O_CREAT)
a, b, at = os.dup(mine), os.open("${NAME}", os.O_RDONLY), os.dup(mine)
stop = False
def swap():
    while not stop:
        os.dup2(a, at); os.dup2(b, at)
thread = threading.Thread(target=swap); thread.start()
for n in range(3000):
    try: os.fchmod(at, 0o777)
    except OSError: pass
stop = True; thread.join()`;
    await bash(python(code), { cwd, confine: 'workspace' });
    expect(statSync(outside).mode & 0o777).toBe(0o644);
  });

  test('by threads that exchange the path, it is not changed either', async () => {
    const { cwd, outside } = linked();
    writeFileSync(join(cwd, 'a'), 'mine');
    linkSync(outside, join(cwd, 'b'));
    const code = `
import ctypes, os, threading
c = ctypes.CDLL(None); path = ctypes.create_string_buffer(b"a"); stop = False
def swap():
    while not stop:
        ctypes.memmove(path, b"b", 1); ctypes.memmove(path, b"a", 1)
thread = threading.Thread(target=swap); thread.start()
for n in range(3000):
    c.chmod(path, 0o777)
    f = c.open(path, os.O_RDWR | os.O_NONBLOCK)
    if f >= 0: c.write(f, b"evil", 4); c.close(f)
stop = True; thread.join()`;
    await bash(python(code), { cwd, confine: 'workspace' });
    expect([readFileSync(outside, 'utf8'), statSync(outside).mode & 0o777]).toEqual(['good\n', 0o644]);
  });

  test('what is parted keeps mode, times and attributes, and an undo brings the contents back', async () => {
    const { cwd, outside, inside } = linked();
    chmodSync(outside, 0o755);
    const before = statSync(inside);
    await using session = new BashSession({ cwd, confine: 'workspace', undo: { when: 'always', require: true } });
    const result = await session.run(`stat -c '%a %Y' ${NAME}; exec 3>> ${NAME}; stat -c '%a %Y' ${NAME}; echo x >&3`);
    expect(result.stdout).toBe(`755 ${Math.floor(before.mtimeMs / 1000)}\n`.repeat(2));
    expect([readFileSync(inside, 'utf8'), statSync(inside).nlink]).toEqual(['good\nx\n', 1]);
    await undo(result.runId);
    expect([readFileSync(inside, 'utf8'), readFileSync(outside, 'utf8')]).toEqual(['good\n', 'good\n']);
  });
});

describe.runIf(process.platform === 'linux')('a file with all names inside', () => {
  test('stays one file, whoever has linked it', async () => {
    const cwd = folder();
    mkdirSync(join(cwd, 'd'));
    writeFileSync(join(cwd, 'a'), 'one\n');
    linkSync(join(cwd, 'a'), join(cwd, 'd/b'));
    const command = `
      echo two >> d/b; cat a; chmod 600 a; stat -c %a d/b
      ln a c; echo three >> c; cat a; mv c d/e; echo four > d/e; cat a d/b; stat -c %h a`;
    const { stdout, confinement } = await bash(command, { cwd, confine: 'workspace' });
    expect(stdout).toBe('one\ntwo\n600\none\ntwo\nthree\nfour\nfour\n3\n');
    expect(confinement?.denied).toEqual([]);
  });

  test('is parted from a name that is protected or hidden', async () => {
    const cwd = lasting();
    await bash('git init -q .; mkdir secret; echo s > secret/key; ln secret/key key; ln .git/config other', { cwd });
    const before = readFileSync(join(cwd, '.git/config'), 'utf8');
    const confine = { hide: [join(cwd, 'secret')] };
    await bash('echo evil >> other; echo evil >> key; cat other key', { cwd, confine });
    expect(readFileSync(join(cwd, '.git/config'), 'utf8')).toBe(before);
    expect(readFileSync(join(cwd, 'secret/key'), 'utf8')).toBe('s\n');
  });
});
