import { existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type BashOptions, bash } from 'agent-bash';
import { describe, expect, onTestFinished, test } from 'vitest';
import { remove } from '../../support/folder.ts';
import { folder, hostResult, isRoot } from '../../support/index.ts';
import { lasting } from '../support/ground.ts';
import { withoutNamespaces } from '../support/held.ts';

function below(directory: string): string {
  const path = mkdtempSync(join(directory, 'agent-bash-test-'));
  onTestFinished(() => remove(path));
  return path;
}

const SCRIPT =
  'pwd; echo x >made && cat made; f=$(mktemp) && echo y >$f && cat $f; echo z >/dev/shm/of-a-test && cat /dev/shm/of-a-test';

describe.runIf(process.platform === 'linux')('odd places', () => {
  const places = ['/dev/shm', '/tmp', '/var/tmp', ...(isRoot ? ['/run'] : [])];
  test.each(places)('a workspace below %s', async (place) => {
    const cwd = below(place);
    const { stdout, confinement } = await bash(SCRIPT, { cwd, confine: 'workspace' });
    expect([stdout, confinement?.denied]).toEqual([`${cwd}\nx\ny\nz\n`, []]);
    expect(readFileSync(join(cwd, 'made'), 'utf8')).toBe('x\n');
    expect(existsSync('/dev/shm/of-a-test')).toBe(false);
  });

  test.each(places)('a TMPDIR below %s', async (place) => {
    const env = { TMPDIR: below(place) };
    const call = (confine: BashOptions['confine']) =>
      bash('echo $TMPDIR; echo x >$(mktemp)', { cwd: folder(), env, confine });
    const own = await call('workspace');
    expect([own.stdout, own.exitCode]).toEqual([`${withoutNamespaces ? own.confinement?.tmp : '/tmp'}\n`, 0]);
    const shared = await call({ tmp: 'shared' });
    expect(shared.stdout).toBe(`${env.TMPDIR}\n`);
    // Only the three directories are shared. A denial names the others.
    const denied = shared.confinement?.denied ?? [];
    expect(denied.map(({ grant }) => grant)).toEqual(place === '/run' ? [{ write: [env.TMPDIR] }] : []);
    expect(shared.exitCode === 0).toBe(denied.length === 0);
  });

  test('the home as a workspace', async () => {
    const home = lasting();
    const seen = await hostResult<[string, string, number]>(
      `const confine = 'workspace', cwd = ${JSON.stringify(home)};
       const one = await bash('pwd; echo x >file && cat ~/file; mkdir .config && echo made', { cwd, confine });
       const two = await bash('echo x >.bashrc; mkdir .ssh .config/fish', { cwd, confine });
       console.log(JSON.stringify([one.stdout, two.stdout, two.exitCode]));`,
      { env: { HOME: home } },
    );
    expect([seen[0], existsSync(join(home, '.bashrc')), seen[2]]).toEqual([`${home}\nx\n`, false, 1]);
  });

  test('elsewhere .config is a directory like any other', async () => {
    const cwd = folder();
    const { exitCode } = await bash('mkdir -p .config/fish && echo x >.config/fish/x', { cwd, confine: 'workspace' });
    expect(exitCode).toBe(0);
  });

  test.each(['/', '/dev', '/proc', '/sys'])('%s is no workspace', async (cwd) => {
    const refused = bash('true', { cwd, confine: 'workspace' });
    await expect(refused).rejects.toMatchObject({
      code: 'ERR_BASH_INVALID_ARG',
      message: expect.stringContaining(`"${cwd}"`),
    });
    expect((await bash('pwd', { cwd, confine: { profile: 'read-only' } })).stdout).toBe(`${cwd}\n`);
  });
});
