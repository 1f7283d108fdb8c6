import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { secretFor } from 'agent-bash';
import { describe, expect, test } from 'vitest';
import { lasting } from '../support/ground.ts';
import { AUTHORITY, HOST, runWith, secretHost, VALUE, ways } from './support.ts';

describe('secretFor', () => {
  test.each(['github', 'npm', 'pypi', 'docker', 'openai', 'anthropic'] as const)(
    '%s has a value and hosts',
    (service) => {
      for (const secret of Object.values(secretFor[service](VALUE))) {
        expect(secret.value).toBe(VALUE);
        expect(secret.hosts.length).toBeGreaterThan(0);
      }
    },
  );
});

describe.runIf(process.platform === 'linux')('a file with a secret', () => {
  test.each(ways)('is there in a home that has none, beside what the home has, with %s', async (way, env) => {
    const home = lasting();
    writeFileSync(join(home, 'plain'), 'plain');
    mkdirSync(join(home, 'work'));
    const command = 'cat ~/.netrc ~/.npmrc ~/plain; ls -A ~; touch ~/x; echo x > ~/work/x && ls ~/work';
    const { stdout } = await runWith(
      command,
      {
        write: [join(home, 'work')],
        secrets: { ...secretFor.github(VALUE), ...secretFor.npm(`npm_${VALUE.slice(4)}`) },
      },
      { HOME: home, ...env },
    );
    const expected = [
      'machine github.com login x-access-token password ghp_[A-Za-z0-9]{36}',
      '//registry.npmjs.org/:_authToken=npm_[A-Za-z0-9]{36}',
      // A listener opens files in the place of others, and lists none.
      `plain${way === 'namespaces' ? '.netrc\n.npmrc\n' : ''}plain\nwork\nx\n`,
    ];
    expect(stdout).toMatch(new RegExp(`^${expected.join('\n')}$`));
    expect(stdout).not.toContain(VALUE.slice(4));
    expect([existsSync(join(home, '.netrc')), existsSync(join(home, 'x'))]).toEqual([false, false]);
  });

  test.each(ways)('has the stand-in by each of its names, with %s', async (way, env) => {
    const [home, name] = [lasting(), 'work/.netrc'];
    mkdirSync(join(home, 'work'));
    writeFileSync(join(home, name), `machine a.test password ${VALUE}\n`);
    symlinkSync(join(home, name), join(home, 'link'));
    const command = `cd work; cat .netrc ../link ~/work/../work/.netrc; exec 3<.netrc; cat /proc/self/fd/3
      python3 -c 'import os; f = os.open(".netrc", os.O_PATH); print(open(f"/proc/self/fd/{f}").read())'
      ln .netrc other && cat other; mv .netrc other && cat other; mv ../work ../more; rm -f .netrc; cp .netrc copy; cat copy
      for to in .netrc ../link; do echo x >$to; echo x >>$to; done; cat .netrc`;
    const secrets = { TOKEN: { value: VALUE, hosts: [HOST], file: join(home, name) } };
    const { stdout } = await runWith(
      `cd ~; ${command}`,
      { write: [join(home, 'work')], secrets },
      { HOME: home, ...env },
    );
    expect(stdout.match(/^machine a.test password ghp_[A-Za-z0-9]{36}$/gm)).toHaveLength(
      // cp compares the file that it opened with the one that it looked at, and copies nothing.
      way === 'namespaces' ? 7 : 6,
    );
    expect(stdout).not.toContain(VALUE.slice(4));
    expect(readFileSync(join(home, name), 'utf8')).toBe(`machine a.test password ${VALUE}\n`);
  });

  test.each(ways)('lets git find its password, with %s', async (_, env) => {
    const { port, got } = await secretHost();
    const home = lasting();
    const git = Object.values(secretFor.git(HOST, VALUE))[0];
    if (!git) throw new Error('no secret');
    await runWith(
      `git ls-remote https://${HOST}:${port}/x.git`,
      { secrets: { GIT_NETRC: { ...git, hosts: [`${HOST}:${port}`] } } },
      { HOME: home, SSL_CERT_FILE: AUTHORITY, ...env },
    );
    expect(got.slice(0, 2).map(({ headers }) => headers.authorization)).toEqual([
      undefined,
      `Basic ${Buffer.from(`x-access-token:${VALUE}`).toString('base64')}`,
    ]);
  });
});
