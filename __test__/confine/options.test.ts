import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { BashError, type BashOptions, BashSession, bash, type ConfineOptions, PtySession } from 'agent-bash';
import { describe, expect, test } from 'vitest';
import { folder, rejection } from '../support/index.ts';

const refused = (confine: unknown, cwd = folder()) =>
  rejection(() => bash('echo ran', { cwd, confine } as BashOptions)) as Promise<BashError>;

describe('wrong types and words', () => {
  test.each<[name: string, values: unknown[]]>([
    ['confine', [7, null, true, '', 'strict', [], () => {}, new Date()]],
    ['confine.profile', ['off', 'Workspace', 7, null].map((profile) => ({ profile }))],
    ['confine.write', ['/tmp', 7, null, {}, [7], [null], new Array(1)].map((write) => ({ write }))],
    ['confine.git', ['all', true, null].map((git) => ({ git }))],
    ['confine.protect', ['.git', null, [{}]].map((protect) => ({ protect }))],
    ['confine.hide', ['/tmp', null, [true]].map((hide) => ({ hide }))],
    ['confine.read', ['none', 7, null, {}, [7]].map((read) => ({ read }))],
    ['confine.network', ['some', 7, null, true, []].map((network) => ({ network }))],
    ['confine.network.allow', ['a.org', null, [7]].map((allow) => ({ network: { allow } }))],
    ['confine.network.hosts', [[], null, 'a.org', { a: 7 }].map((hosts) => ({ network: { allow: ['a'], hosts } }))],
    ['confine.expose', [3000, '3000', null, ['3000'], [1.5], [Number.NaN], [2 ** 60]].map((expose) => ({ expose }))],
    ['confine.tmp', ['mine', true, null].map((tmp) => ({ tmp }))],
    ['confine.caches', ['mine', true, null].map((caches) => ({ caches }))],
    ['confine.require', ['files', null, ['disk'], [7]].map((require) => ({ require }))],
  ])('%s', async (name, values) => {
    for (const value of values) {
      const { code, message } = await refused(value);
      expect([code, message.startsWith(`${name}: `) || message.startsWith(`${name}.`)], message).toEqual([
        'ERR_BASH_INVALID_ARG',
        true,
      ]);
    }
  });

  test('names that do not exist, with the nearest one', async () => {
    expect((await refused({ writable: [] })).message).toBe(
      'bash: unknown option "confine.writable": did you mean "confine.write"?',
    );
    expect((await refused({ network: { allowed: [] } })).message).toBe(
      'bash: unknown option "confine.network.allowed": did you mean "confine.network.allow"?',
    );
  });

  test('at the constructor of a session and of a terminal', () => {
    const options = { confine: 'strict' } as unknown as BashOptions;
    expect(() => new BashSession(options)).toThrow(BashError);
    expect(() => new PtySession(options)).toThrow(BashError);
  });
});

describe('values that cannot be', () => {
  test.each<[options: ConfineOptions, message: string]>([
    [{ write: [''] }, 'confine.write: "" is empty'],
    [{ hide: ['secrets'] }, 'confine.hide: "secrets" is relative; write an absolute path or one that begins with ~/'],
    [{ write: ['/tmp/a\0b'] }, 'confine.write: "/tmp/a\\0b" holds a NUL character, which no path has'],
    [
      { hide: ['~/*.pem'] },
      'confine.hide: "~/*.pem" is a pattern, and a path is taken as it is written; name each path',
    ],
    [
      { protect: ['*.lock'] },
      'confine.protect: "*.lock" is a pattern, and a path is taken as it is written; name each path',
    ],
    [{ write: ['/'] }, 'confine.write: "/" cannot be changed as a whole; name directories of your own below it'],
    [{ protect: ['../x'] }, 'confine.protect: "../x" leads out of its directory; leave out ..'],
    [{ expose: [0] }, 'confine.expose: "0" is not a port from 1 to 65535'],
    [{ expose: [65_536] }, 'confine.expose: "65536" is not a port from 1 to 65535'],
    [
      { expose: [80], network: 'full' },
      "confine.expose: with network 'full' every port is the host's own already; leave expose out",
    ],
    [{ network: { allow: ['*'] } }, 'confine.network.allow: "*" allows every host; use network \'full\''],
    [
      { network: { allow: ['https://a.org'] } },
      'confine.network.allow: "https://a.org" is a URL; write the host alone, as in registry.example.org or ' +
        'registry.example.org:8443',
    ],
    [{ network: { allow: ['a.org:0'] } }, 'confine.network.allow: "a.org:0" has no port from 1 to 65535'],
    [{ network: { allow: ['10.0.0.0/33'] } }, 'confine.network.allow: "10.0.0.0/33" has no prefix from 0 to 32'],
    [
      { network: { allow: ['10.0.0.5/8'] } },
      'confine.network.allow: "10.0.0.5/8" is an address inside a network; write 10.0.0.0/8 for the network, or the ' +
        'address without a prefix',
    ],
    [{ network: {} as never }, "confine.network.allow is missing: list the hosts that may be reached, or use 'none'"],
    [
      { network: { allow: ['a.org'], hosts: { 'b.org': 'c.org' } } },
      'confine.network.hosts: "c.org" is no IP address that can be connected to',
    ],
    [
      { write: Array.from({ length: 257 }, (_, n) => `/${n}`) },
      'confine.write: 257 entries are too many; at most 256 are possible',
    ],
  ])('%j', async (options, message) => {
    const error = await refused(options);
    expect([error.code, error.message]).toEqual(['ERR_BASH_INVALID_ARG', message]);
  });

  test('paths that contradict each other', async () => {
    const cwd = folder();
    mkdirSync(join(cwd, '.git/hooks'), { recursive: true });
    mkdirSync(join(cwd, 'secret/inner'), { recursive: true });
    symlinkSync('/etc', join(cwd, 'link'));
    for (const [options, words] of [
      [{ hide: [cwd] }, `confine.hide: ${JSON.stringify(cwd)} holds the working directory`],
      [{ hide: [join(cwd, 'secret')], write: [join(cwd, 'secret/inner')] }, 'which is hidden'],
      [{ write: [join(cwd, '.git/hooks')] }, 'is protected by the entry ".git/hooks"'],
      [{ write: [join(cwd, 'link')] }, 'is a link to /etc'],
      [{ profile: 'read-only', read: [join(cwd, 'secret')], hide: [join(cwd, 'secret')] }, 'which is hidden'],
    ] satisfies [ConfineOptions, string][]) {
      const error = await refused(options, cwd);
      expect([error.code, error.message]).toEqual(['ERR_BASH_INVALID_ARG', expect.stringContaining(words)]);
    }
  });

  test('a workspace that is the whole system', async () => {
    const { code, message } = await refused('workspace', '/');
    expect([code, message]).toEqual([
      'ERR_BASH_INVALID_ARG',
      'cwd: "/" cannot be the workspace; choose a directory of your own as cwd, or the profile \'read-only\'',
    ]);
  });
});

describe('a missing or wrong directory', () => {
  test('a write root: ERR_BASH_CONFINEMENT, with part, reason and remedy, and nothing was started', async () => {
    const cwd = folder();
    const none = join(cwd, 'none');
    const error = await rejection(() => bash('touch ran', { cwd, confine: { write: [none] } }));
    expect(error).toBeInstanceOf(BashError);
    const why = `the write root ${none} does not exist`;
    const remedy = 'create it before the command starts, or leave it out of confine.write';
    expect(error).toMatchObject({
      code: 'ERR_BASH_CONFINEMENT',
      message: `the command cannot be confined as required, and nothing was started: files: ${why} (${remedy})`,
      missing: [{ part: 'files', why, remedy }],
    });
    expect((await bash('ls', { cwd })).stdout).toBe('');
  });

  test('the directory itself: the error of any command', async () => {
    const cwd = folder();
    writeFileSync(join(cwd, 'file'), '');
    expect((await refused('workspace', join(cwd, 'none'))).code).toBe('ERR_BASH_CWD_NOT_FOUND');
    expect((await refused('workspace', join(cwd, 'file'))).code).toBe('ERR_BASH_CWD_NOT_DIRECTORY');
  });
});

test('an entry for the own loopback is a note', async () => {
  const { notes } = await bash('true', { cwd: folder(), confine: { network: { allow: ['localhost:5432'] } } });
  expect(notes).toEqual([
    "confine.network.allow: localhost:5432 is the commands' own loopback; for a server of this machine allow a name, " +
      'and map it in confine.network.hosts',
  ]);
});

describe('off', () => {
  test.each([[undefined], ['off']] as const)('%s: no confinement', async (confine) => {
    const { stdout, confinement } = await bash('echo hi', { confine });
    expect([stdout, confinement]).toEqual(['hi\n', null]);
  });
});

test('the rc files of a snapshot are not read where commands may change them', async () => {
  const cwd = folder();
  const snapshot = join(cwd, 'rc');
  writeFileSync(snapshot, 'alias greet="echo hello"\n');
  const free = await bash('greet', { cwd, snapshot });
  expect(free.stdout).toBe('hello\n');
  const confined = await bash('greet', { cwd, snapshot, confine: 'workspace' });
  expect(confined.exitCode).toBe(127);
  expect(confined.notes.join('\n')).toContain(
    `without the snapshot of the user's shell: the command is confined, and such commands may change ${snapshot}`,
  );
});
