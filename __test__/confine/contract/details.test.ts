import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { BackgroundRegistry, bash } from 'agent-bash';
import { describe, expect, onTestFinished, test } from 'vitest';
import { listen } from '../../observe/support.ts';
import { canMount, folder, hostResult, testNeeding } from '../../support/index.ts';
import { lasting } from '../support/ground.ts';
import { namespacesTest, withoutNamespaces } from '../support/held.ts';

const confined = (command: string, cwd = folder()) => bash(command, { cwd, confine: 'workspace', timeoutMs: 20_000 });

/** Takes the place of a shell: a process with mounts of its own, which a script makes. */
const mounting = (script: string) => `exec unshare -Urm bash -c '${script}; exec "$@"' bash "$@"`;
const mounts = withoutNamespaces ? namespacesTest : testNeeding('a user namespace with mounts', canMount('-Urm'));

describe.runIf(process.platform === 'linux')('details', () => {
  test('events of the end of a run have its denials', async () => {
    const { hears } = listen('exit');
    const { confinement, pid } = await confined('echo x >/usr/x');
    expect(confinement?.denied).toMatchObject([{ kind: 'write', target: '/usr/x' }]);
    expect(await hears('exit', (one) => one.pid === pid)).toMatchObject({ confinement });
  });

  test('events of the end of a task have its denials', async () => {
    const { hears } = listen('exit');
    const tasks = new BackgroundRegistry();
    onTestFinished(() => tasks.close());
    const { id } = await tasks.start('echo x >/usr/x', { cwd: folder(), confine: 'workspace' });
    const { confinement } = await tasks.wait(id);
    expect(confinement?.denied).toMatchObject([{ kind: 'write', target: '/usr/x' }]);
    expect(await hears('exit', (one) => one.id === id)).toMatchObject({ confinement });
  });

  test('a look into a process is a denial of its kind, without a grant', async () => {
    const { confinement } = await confined(`exec python3 -c '
import ctypes, os
ctypes.CDLL(None).ptrace(16, os.getppid(), 0, 0)'`);
    const denial = { kind: 'process', target: 'ptrace', program: expect.stringMatching(/^python3/), grant: null };
    expect(confinement?.denied).toMatchObject([denial]);
  });

  namespacesTest('the only link that a program finds is the loopback', async () => {
    const { stdout } = await confined(`node -p 'Object.keys(os.networkInterfaces()).join()'`);
    expect(stdout).toBe('lo\n');
  });

  mounts('`~` is both `$HOME` and the home in the user database', async () => {
    const above = lasting();
    for (const home of ['one', 'two']) {
      mkdirSync(join(above, home, '.ssh'), { recursive: true });
      writeFileSync(join(above, home, '.ssh/id'), `secret of ${home}`);
      writeFileSync(join(above, home, 'open'), `open ${home}`);
    }
    writeFileSync(join(above, 'passwd'), `root:x:0:0:root:${above}/two:/bin/bash\n`);
    const command = `cat ${above}/*/open ${above}/*/.ssh/id`;
    const { exitCode, stdout } = await hostResult<{ exitCode: number; stdout: string }>(
      `const { exitCode, stdout } = await bash(${JSON.stringify(command)}, {
         cwd: ${JSON.stringify(folder())}, confine: 'workspace',
       });
       console.log(JSON.stringify({ exitCode, stdout }));`,
      { env: { HOME: join(above, 'one') }, before: mounting(`mount --bind ${above}/passwd /etc/passwd`) },
    );
    expect([exitCode, stdout]).toEqual([1, 'open oneopen two']);
  });

  mounts('a cache that cannot be overlaid is an empty directory of the world, which a note tells', async () => {
    const home = lasting();
    for (const name of ['.cache', 'other']) mkdirSync(join(home, name));
    writeFileSync(join(home, '.cache/old'), '');
    // There is no overlay on an overlay on an overlay.
    const overlaid = `mount -t overlay x -o lowerdir=${home}/.cache:${home}/other ${home}/.cache`;
    const overlaying = `while ${overlaid} 2>/dev/null; do :; done`;
    const [notes, listed, later] = await hostResult<[string[], string, string]>(
      `const options = { cwd: ${JSON.stringify(folder())}, confine: 'workspace' };
       const one = await bash('ls ~/.cache; echo made >~/.cache/fresh', options);
       const two = await bash('cat ~/.cache/fresh', options);
       console.log(JSON.stringify([one.notes, one.stdout, two.stdout]));`,
      { env: { HOME: home }, before: mounting(overlaying) },
    );
    expect(notes).toContainEqual(expect.stringContaining(`${home}/.cache is empty inside: it cannot be overlaid`));
    expect([listed, later]).toEqual(['', 'made\n']);
    expect(readdirSync(join(home, '.cache'))).toEqual(['old']);
  });
});
