import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BashResult, ConfineSsh } from 'agent-bash';
import { describe, expect, onTestFinished, test } from 'vitest';
import { folder, freePort, hostResult, skippedWithout, until } from '../../support/index.ts';
import { lasting } from '../support/ground.ts';
import { withoutNamespaces } from '../support/held.ts';
import { runWith, ways } from './support.ts';

const SSHD = '/usr/sbin/sshd';
const sshTest = existsSync(SSHD) ? test : skippedWithout('sshd, a server of ssh');

const hosts = { 'git.example.test': '127.0.0.1', 'other.example.test': '127.0.0.1' };

function start(program: string, ...args: string[]): void {
  const child = spawn(program, args, { stdio: 'ignore' });
  onTestFinished(() => void child.kill());
}

/** Two servers of ssh, an agent with two keys that both servers know, and a home with `known_hosts`. */
async function ground() {
  const [place, home] = [lasting(), lasting()];
  const at = (name: string) => join(place, name);
  for (const key of ['host', 'host2', 'user', 'user2']) {
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', key, '-f', at(key)]);
  }
  const publicKey = (key: string) => readFileSync(at(`${key}.pub`), 'utf8').trim();
  writeFileSync(at('authorized'), `${publicKey('user')}\n${publicKey('user2')}\n`);
  mkdirSync('/run/sshd', { recursive: true });
  const ports = [];
  for (const key of ['host', 'host2']) {
    const port = await freePort();
    ports.push(port);
    const lines = [`ListenAddress 127.0.0.1:${port}`, `HostKey ${at(key)}`, `AuthorizedKeysFile ${at('authorized')}`];
    writeFileSync(at(`config-${key}`), [...lines, 'StrictModes no', 'UsePAM no', 'PidFile none', ''].join('\n'));
    start(SSHD, '-D', '-f', at(`config-${key}`), '-E', at(`log-${key}`));
    await until(() => existsSync(at(`log-${key}`)) && readFileSync(at(`log-${key}`), 'utf8').includes('listening'));
  }
  const [port = 0, other = 0] = ports;
  start('ssh-agent', '-D', '-a', at('agent'));
  await until(() => existsSync(at('agent')));
  const env = { SSH_AUTH_SOCK: at('agent'), HOME: home };
  execFileSync('ssh-add', ['-q', at('user'), at('user2')], { env: { ...process.env, ...env } });
  mkdirSync(join(home, '.ssh'));
  const known = [
    `[git.example.test]:${port} ${publicKey('host')}`,
    `[other.example.test]:${other} ${publicKey('host2')}`,
  ];
  writeFileSync(join(home, '.ssh/known_hosts'), `${known.join('\n')}\n`);
  const [, print = ''] = execFileSync('ssh-keygen', ['-l', '-f', at('user.pub')], { encoding: 'utf8' }).split(' ');
  return { at, port, other, env, print };
}

describe.runIf(process.platform === 'linux')('the ssh agent', () => {
  sshTest.each(ways)('lets commands log in to a host that is named, and to no other, with %s', async (_, way) => {
    const { at, port, other, env, print } = await ground();
    execFileSync('git', ['init', '-q', '--bare', at('repository')]);
    const ssh: ConfineSsh = { hosts: [`git.example.test:${port}`], keys: [print] };
    const network = { allow: [`other.example.test:${other}`], hosts };
    const me = process.env.USER ?? execFileSync('id', ['-un'], { encoding: 'utf8' }).trim();
    const url = `ssh://${me}@git.example.test:${port}${at('repository')}`;
    const command = `ssh-add -l; git init -q; git -c user.name=a -c user.email=a@b commit -q --allow-empty -m x
      git push -q ${url} HEAD:main && git ls-remote ${url} | cut -f2
      ssh -o StrictHostKeyChecking=no -p ${other} ${me}@other.example.test echo never`;
    const { stdout, stderr, confinement } = await runWith(command, { network, ssh }, { ...env, ...way });
    expect(stdout, stderr).toMatch(/^256 SHA256:\S+ user \(ED25519\)\nrefs\/heads\/main\n$/);
    expect(confinement?.denied.map(({ target }) => target)).toEqual(
      expect.arrayContaining(['ssh agent (a session with a host that confine.ssh.hosts does not have)']),
    );
  });

  const inDraft = withoutNamespaces ? skippedWithout('a user namespace with overlays') : sshTest;
  inDraft('lets commands of a draft log in to a host that is named', async () => {
    const { at, port, env, print } = await ground();
    execFileSync('git', ['init', '-q', '--bare', at('repository')]);
    const me = process.env.USER ?? execFileSync('id', ['-un'], { encoding: 'utf8' }).trim();
    const url = `ssh://${me}@git.example.test:${port}${at('repository')}`;
    const confine = { network: { allow: [], hosts }, ssh: { hosts: [`git.example.test:${port}`], keys: [print] } };
    const command = `git init -q; git -c user.name=a -c user.email=a@b commit -q --allow-empty -m x
      git push -q ${url} HEAD:main && git ls-remote ${url} | cut -f2`;
    const root = lasting();
    const { stdout, stderr } = await hostResult<BashResult>(
      `import { openDraft } from 'agent-bash';
      const draft = await openDraft(${JSON.stringify({ root, confine })});
      const result = await bash(${JSON.stringify(command)}, { draft, safety: 'off', timeoutMs: 60_000 });
      await draft.discard();
      console.log(JSON.stringify(result));`,
      { env },
    );
    expect(stdout, stderr).toBe('refs/heads/main\n');
    expect(readdirSync(root)).toEqual([]);
  });

  sshTest.each(ways)('is not changed, and signs nothing but logins, with %s', async (_, way) => {
    const { at, port, env } = await ground();
    const command = `ssh-add -D; ssh-add -d ${at('user.pub')}; ssh-add ${at('user')}; echo text >file
      ssh-keygen -Y sign -n file -f ${at('user.pub')} file; SSH_AUTH_SOCK=${at('agent')} ssh-add -l
      rm -f "$SSH_AUTH_SOCK"; ssh-add -l | wc -l; ls file*`;
    const ssh = { hosts: [`git.example.test:${port}`] };
    const { stdout, confinement } = await runWith(command, { network: { allow: [], hosts }, ssh }, { ...env, ...way });
    expect(stdout).toBe('2\nfile\n');
    expect(confinement?.denied.map(({ target }) => target)).toEqual(
      expect.arrayContaining([
        at('agent'),
        'ssh agent (a request that changes the agent)',
        'ssh agent (a signature for something else than a login to a host of confine.ssh.hosts)',
      ]),
    );
  });

  test('is refused without an agent, without a key of a host, and with the whole network', async () => {
    const env = { SSH_AUTH_SOCK: folder(), HOME: lasting() };
    const rows: [ConfineSsh, RegExp][] = [
      [{ hosts: ['a.example'] }, /confine\.ssh\.hosts: .*known_hosts/],
      [{ hosts: ['a.example'], agent: '/none' }, /confine\.ssh\.agent: .*no socket/],
      [{ hosts: [] }, /confine\.ssh\.hosts: .*is empty/],
      [{ hosts: ['localhost'] }, /confine\.ssh\.hosts: .*own loopback/],
      [{ hosts: ['a.example'], keys: ['ssh-ed25519'] }, /confine\.ssh\.keys: .*no fingerprint/],
      [{} as ConfineSsh, /confine\.ssh\.hosts is missing/],
    ];
    for (const [ssh, reason] of rows) await expect(runWith('true', { ssh }, env)).rejects.toThrow(reason);
  });
});
