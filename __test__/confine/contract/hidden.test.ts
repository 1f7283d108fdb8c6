import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { BashSession, bash } from 'agent-bash';
import { describe, expect, test } from 'vitest';
import { folder, isRoot, packageRoot } from '../../support/index.ts';
import { ways } from '../secrets/support.ts';
import { lasting } from '../support/ground.ts';

/** A home with a hidden path that the change, made while a world lives, leads to a secret. */
const CHANGES: [string, (home: string) => void, (home: string) => void][] = [
  [
    'a link that becomes a file',
    (home) => {
      writeFileSync(join(home, 'dotfiles/netrc'), 'SECRET');
      symlinkSync('dotfiles/netrc', join(home, 'hidden'));
    },
    (home) => {
      writeFileSync(join(home, 'new'), 'SECRET');
      renameSync(join(home, 'new'), join(home, 'hidden'));
    },
  ],
  [
    'a file that becomes a link',
    (home) => writeFileSync(join(home, 'hidden'), 'SECRET'),
    (home) => {
      renameSync(join(home, 'hidden'), join(home, 'dotfiles/netrc'));
      symlinkSync('dotfiles/netrc', join(home, 'hidden'));
    },
  ],
  [
    'a link that leads elsewhere',
    (home) => {
      writeFileSync(join(home, 'dotfiles/netrc'), 'SECRET');
      symlinkSync('dotfiles/netrc', join(home, 'hidden'));
    },
    (home) => {
      writeFileSync(join(home, 'dotfiles/other'), 'SECRET');
      rmSync(join(home, 'hidden'));
      symlinkSync('dotfiles/other', join(home, 'hidden'));
    },
  ],
  [
    'a directory above that becomes a link',
    (home) => mkdirSync(join(home, 'above')),
    (home) => {
      rmSync(join(home, 'above'), { recursive: true });
      writeFileSync(join(home, 'dotfiles/key'), 'SECRET');
      symlinkSync('dotfiles', join(home, 'above'));
    },
  ],
];

describe.runIf(process.platform === 'linux')('a hidden path', () => {
  test.each(CHANGES)('stays hidden in a living world: %s', async (_, before, change) => {
    const home = lasting();
    mkdirSync(join(home, 'dotfiles'));
    before(home);
    const confine = { hide: [join(home, 'hidden'), join(home, 'above/key')] };
    await using session = new BashSession({ cwd: folder(), confine });
    const read = `cat ${home}/hidden ${home}/above/key ${home}/dotfiles/* 2>&1`;
    expect((await session.run(read)).stdout).not.toContain('SECRET');
    change(home);
    expect((await session.run(`cat ${home}/hidden ${home}/above/key 2>&1`)).stdout).not.toContain('SECRET');
  });

  test('in a protected directory leaves it protected', async () => {
    const cwd = lasting();
    mkdirSync(join(cwd, '.idea'));
    writeFileSync(join(cwd, '.idea/key'), 'SECRET');
    const confine = { hide: [join(cwd, '.idea/key')] };
    const { stdout, exitCode } = await bash('cat .idea/key; echo x > .idea/run.xml', { cwd, confine });
    expect([stdout, exitCode === 0, readdirSync(join(cwd, '.idea'))]).toEqual(['', false, ['key']]);
  });

  test('that a command makes a link hides nothing from others', async () => {
    const [home, cwd] = [lasting(), folder()];
    const confine = { write: [home], hide: [join(home, 'hidden')] };
    await bash(`ln -s / ${home}/hidden`, { cwd, confine });
    const { exitCode } = await bash('ls /usr >/dev/null && touch x', { cwd, confine });
    expect(exitCode).toBe(0);
  });

  test.runIf(isRoot)('is hidden by its other names as well', () => {
    const [home, other, cwd] = [lasting(), lasting(), folder()];
    mkdirSync(join(home, '.ssh'));
    writeFileSync(join(home, '.ssh/id'), 'SECRET');
    const code = `
      import { bash } from 'agent-bash';
      const read = 'cat ${other}/.ssh/id 2>&1; ls ${other}/.ssh 2>&1; cat ${other}/plain';
      const { stdout } = await bash(read, { cwd: '${cwd}', confine: 'workspace' });
      console.log(stdout);`;
    writeFileSync(join(home, 'plain'), 'PLAIN');
    const script = `mount --bind ${home} ${other} && exec ${process.execPath} --input-type=module`;
    const env = { ...process.env, HOME: home };
    const { stdout } = spawnSync('unshare', ['-m', 'sh', '-c', script], {
      cwd: packageRoot,
      env,
      input: code,
      encoding: 'utf8',
    });
    expect(stdout).toContain('PLAIN');
    expect(stdout).not.toMatch(/SECRET|^id$/m);
  });

  test.runIf(isRoot).each(ways)('is hidden where a later undo keeps it on another disk, with %s', (_, way) => {
    const [disk, state] = [lasting(), folder()];
    const code = `
      import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
      import { BashSession, bash } from 'agent-bash';
      const cwd = '${disk}/project';
      mkdirSync(cwd);
      writeFileSync(cwd + '/.env', 'SECRET');
      const session = new BashSession({ cwd, confine: { hide: [cwd + '/.env'] } });
      const look = async () => console.log((await session.run('grep -rs SECRET ${disk}; echo end')).stdout);
      await look();
      await bash('rm .env', { cwd, undo: {} });
      console.log(readdirSync('${disk}').join());
      await look();
      await session.close();`;
    const script = `mount -t tmpfs x ${disk} && exec ${process.execPath} --input-type=module`;
    const { stdout } = spawnSync('unshare', ['-m', 'sh', '-c', script], {
      cwd: packageRoot,
      env: { ...process.env, XDG_STATE_HOME: state, ...way },
      input: code,
      encoding: 'utf8',
    });
    expect(stdout).toMatch(/^end\n\n\.agent-bash-undo-0,project\nend\n\n$/);
  });
});
