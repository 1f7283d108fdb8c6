import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { secretFor } from 'agent-bash';
import { describe, expect, test } from 'vitest';
import { lasting } from '../support/ground.ts';
import { AUTHORITY, HOST, runWith, secretHost, VALUE } from './support.ts';

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
  test('is there in a home that has none, beside what the home has', async () => {
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
      { HOME: home },
    );
    const expected = [
      'machine github.com login x-access-token password ghp_[A-Za-z0-9]{36}',
      '//registry.npmjs.org/:_authToken=npm_[A-Za-z0-9]{36}',
      'plain.netrc\n.npmrc\nplain\nwork\nx\n',
    ];
    expect(stdout).toMatch(new RegExp(`^${expected.join('\n')}$`));
    expect(stdout).not.toContain(VALUE.slice(4));
    expect([existsSync(join(home, '.netrc')), existsSync(join(home, 'x'))]).toEqual([false, false]);
  });

  test('lets git find its password', async () => {
    const { port, got } = await secretHost();
    const home = lasting();
    const git = Object.values(secretFor.git(HOST, VALUE))[0];
    if (!git) throw new Error('no secret');
    await runWith(
      `git ls-remote https://${HOST}:${port}/x.git`,
      { secrets: { GIT_NETRC: { ...git, hosts: [`${HOST}:${port}`] } } },
      { HOME: home, SSL_CERT_FILE: AUTHORITY },
    );
    expect(got.slice(0, 2).map(({ headers }) => headers.authorization)).toEqual([
      undefined,
      `Basic ${Buffer.from(`x-access-token:${VALUE}`).toString('base64')}`,
    ]);
  });
});
