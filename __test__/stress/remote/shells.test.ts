import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bash, connect } from 'agent-bash';
import { describe, expect } from 'vitest';
import { folder, mark, mentioning, rejection, sleepers, state, timed, until } from '../../support/index.ts';
import { makeKeys, writeLines } from '../../support/ssh.ts';
import { cut } from './clients.ts';
import { type Machine, machine, machineTest, SHELLS, type Shell, shells, UID } from './machine.ts';

/** Text of 44 KB as start files print it, which ends within a line. */
const NOISE = Buffer.concat([
  Buffer.from(`Don't "panic"! $HOME \`date\` \\ \x1b[31m!!\x1b[0m agent-bash run /bin/true 0\r\n`.repeat(600)),
  Buffer.from([0xff, 0xfe, 0]),
  Buffer.from('no line end'),
]);

/** Lines by which a start file lets its shell print each command, and what it exports. */
const START: Partial<Record<Shell, string>> = {
  bash: 'export STARTED=yes\ncat ~/noise\nset -xv',
  zsh: 'export STARTED=yes\ncat ~/noise\nset -xv',
  fish: 'set -gx STARTED yes\ncat ~/noise\nset -g fish_trace 1',
  tcsh: 'setenv STARTED yes\ncat ~/noise\nset echo\nset verbose',
};

/** The login shells that read a file of the user when sshd starts them. */
const starting = shells.filter((shell) => 'startFile' in SHELLS[shell]) as (keyof typeof START)[];

/** Writes the start file of the shell of a machine. */
function putStart({ put }: Machine, shell: Shell, text: string): void {
  const { startFile } = SHELLS[shell] as { startFile?: string };
  if (!startFile) throw new Error(`${shell} reads no start file`);
  put(startFile, `${text}\n`);
}

/** The variables that each shell sets for itself, and those of one connection. */
const OWN = /^(?:PWD|OLDPWD|SHLVL|_|VENDOR|OSTYPE|MACHTYPE|HOSTTYPE|GROUP|HOST|SSH_\w+)=/;

describe.each(shells)('the login shell %s', (shell) => {
  machineTest('runs commands, with the program sent first and then found', async () => {
    const { address, home } = await machine(shell);
    for (const sent of [true, false]) {
      await using target = await connect(address);
      expect(target.info).toMatchObject({
        user: shell,
        uid: UID,
        home: `/home/${shell}`,
        hostName: 'box',
        program: { sent, path: `/home/${shell}/.cache/agent-bash-host-${UID}/${target.info.program.sha256}` },
      });
      // The input of a command is its own: nothing reads from the link.
      expect(await bash('pwd; cat; exit 3', { target })).toMatchObject({ exitCode: 3, stdout: `/home/${shell}\n` });
      expect(await bash('cat', { target, stdin: "it's !me" })).toMatchObject({ exitCode: 0, stdout: "it's !me" });
    }
    expect(readdirSync(join(home, `.cache/agent-bash-host-${UID}`))).toHaveLength(1);
  });

  machineTest('gives commands the environment of a login', async () => {
    const { address, config } = await machine(shell);
    await using target = await connect(address);
    const printed = execFileSync('ssh', ['-F', config, 'box', 'env'], { encoding: 'utf8' });
    const expected = printed.split('\n').filter((line) => line && !OWN.test(line));
    expect(expected).toContain(`HOME=/home/${shell}`);
    const { stdout } = await bash('env', { target, inheritEnv: 'all' });
    expect(stdout.split('\n')).toEqual(expect.arrayContaining(expected));
  });

  machineTest('goes on after a cut, with its exit code', async () => {
    const { address, home, config } = await machine(shell);
    await using target = await connect(address);
    const ran = bash('echo one; touch began; until [ -e go ]; do sleep 0.01; done; echo two; exit 7', { target });
    await until(() => existsSync(join(home, 'began')));
    cut('ssh', config);
    await state(target, 'disconnected');
    writeFileSync(join(home, 'go'), '');
    expect(await ran).toMatchObject({ exitCode: 7, stdout: 'one\ntwo\n' });
    expect(target.state).toBe('connected');
  });

  machineTest('works with a `.ssh/rc` that prints', async () => {
    const { address, put } = await machine(shell);
    put('noise', NOISE);
    put('.ssh/rc', 'cat ~/noise ~/noise >&2; cat ~/noise; set -xv; true');
    for (const sent of [true, false]) {
      await using target = await connect(address);
      expect(target.info.program.sent).toBe(sent);
      expect((await bash('echo ok', { target })).stdout).toBe('ok\n');
    }
  });
});

describe.each(starting)('a start file of %s', (shell) => {
  machineTest('may print 44 KB and each command, and sets the environment', async () => {
    const box = await machine(shell);
    box.put('noise', NOISE);
    putStart(box, shell, START[shell] as string);
    for (const sent of [true, false]) {
      await using target = await connect(box.address);
      expect(target.info.program.sent).toBe(sent);
      expect((await bash('echo "$STARTED"; cat', { target })).stdout).toBe('yes\n');
    }
  });

  machineTest('may leave a process that holds all streams', async () => {
    const box = await machine(shell);
    const seconds = mark();
    putStart(box, shell, `sleep ${seconds} &`);
    const target = await connect(box.address);
    expect((await bash('echo ok', { target })).stdout).toBe('ok\n');
    const [, time] = await timed(() => target.close());
    expect(time).toBeLessThan(8_000);
    expect(sleepers(seconds)).toHaveLength(1);
    await until(() => mentioning(box.config).length === 0);
  });

  machineTest.each([
    ['prints more than 64 KiB', 'head -c 70000 /dev/zero | tr "\\0" x', 'shell', '65536'],
    ['prints more than 64 KiB in lines', 'yes | head -c 70000', 'shell', '65536'],
    ['ends the shell', 'exec sh -c "echo because >&2; exit 3"', 'shell', 'because'],
    ['ends it as ssh ends', 'exec sh -c "echo because >&2; exit 255"', 'unreachable', 'because'],
  ])('that %s is told', async (_, text, reason, message) => {
    const box = await machine(shell);
    putStart(box, shell, text);
    const error = await rejection(() => connect(box.address));
    expect(error).toMatchObject({ code: 'ERR_BASH_TARGET', reason, message: expect.stringContaining(message) });
    await until(() => mentioning(box.config).length === 0);
  });

  machineTest('that waits for an answer is told', async () => {
    const box = await machine(shell);
    putStart(box, shell, shell === 'tcsh' ? 'echo -n "Name? "\nset x = $<' : 'printf "Name? "\nread x');
    const error = await rejection(() => connect({ ...box.address, connectTimeoutMs: 2_000 }));
    expect(error).toMatchObject({ code: 'ERR_BASH_TARGET', reason: 'timeout' });
    await until(() => mentioning(box.config).length === 0);
    await until(() => !running(box));
  });
});

/** Returns whether the user of a machine has a process. */
function running({ run }: Machine): boolean {
  return run(`pgrep -u ${UID} || true`) !== '';
}

/** Returns the files that the user has in the places where a program can be. */
function filesIn({ run }: Machine): string[] {
  const found = run(`find /home /tmp /var/tmp -uid ${UID} -path '*agent-bash*' -type f`);
  return found.split('\n').filter(Boolean);
}

const HOME = '/home/sh';

describe('a home', () => {
  machineTest.each([
    ['that is read-only', `mount --bind ${HOME} ${HOME}; mount -o remount,bind,ro ${HOME}`],
    [
      'that is full',
      `mount -t tmpfs -o size=64k,uid=${UID},gid=${UID},mode=700 tmpfs ${HOME}; head -c 65536 /dev/zero > ${HOME}/full || true`,
    ],
    [
      'that has room for a part of the program',
      `mount -t tmpfs -o size=1m,uid=${UID},gid=${UID},mode=700 tmpfs ${HOME}`,
    ],
    ['that starts no programs', `mount -t tmpfs -o noexec,uid=${UID},gid=${UID},mode=700 tmpfs ${HOME}`],
    ['of another user', `chown 1234 ${HOME}; chmod 755 ${HOME}`],
    ['whose cache is a file', `touch ${HOME}/.cache`],
    ['whose cache is another user’s', `mkdir ${HOME}/.cache; chmod 755 ${HOME}/.cache`],
    [
      'whose directory for us is open to all',
      `mkdir -p -m 777 ${HOME}/.cache/agent-bash-host-${UID}; chown -R ${UID} ${HOME}/.cache`,
    ],
    [
      'whose directory for us is a link',
      `mkdir -p ${HOME}/.cache; mkdir -m 700 /tmp/other; chown ${UID} /tmp/other; ln -s /tmp/other ${HOME}/.cache/agent-bash-host-${UID}`,
    ],
  ])('%s is passed by', async (_, setup) => {
    const box = await machine('sh');
    box.run(setup);
    for (const sent of [true, false]) {
      await using target = await connect({ ...box.address, cwd: '/' });
      expect(target.info.program.sent).toBe(sent);
      expect(target.info.program.path).toMatch(new RegExp(`^/var/tmp/agent-bash-host-${UID}/`));
      expect((await bash('echo ok', { target })).stdout).toBe('ok\n');
    }
    // No part of a program stays.
    expect(filesIn(box)).toHaveLength(1);
  });

  machineTest('on a file system of its own has the program', async () => {
    const box = await machine('sh');
    box.run(`mount -t tmpfs -o uid=${UID},gid=${UID},mode=700 tmpfs ${HOME}`);
    await using target = await connect(box.address);
    expect(target.info.program.path).toMatch(new RegExp(`^${HOME}/.cache/`));
  });

  machineTest('that is missing is told, and another directory is used', async () => {
    const box = await machine('sh');
    box.run(`rmdir ${HOME}`);
    expect(await rejection(() => connect(box.address))).toMatchObject({
      code: 'ERR_BASH_CWD_NOT_FOUND',
      message: expect.stringContaining(HOME),
    });
    await using target = await connect({ ...box.address, cwd: '/' });
    expect(target.info.program.path).toMatch(/^\/var\/tmp\//);
    expect((await bash('pwd', { target })).stdout).toBe('/\n');
  });

  machineTest('and all other places that start no programs are told, with a remedy', async () => {
    const box = await machine('sh');
    for (const place of [HOME, '/var/tmp', '/tmp']) {
      box.run(`mount --bind ${place} ${place}; mount -o remount,bind,noexec ${place}`);
    }
    const error = await rejection(() => connect(box.address));
    expect(error).toMatchObject({ code: 'ERR_BASH_TARGET', reason: 'no-place' });
    for (const word of [`${HOME}/.cache`, '/var/tmp', '/tmp', 'noexec', 'hostProgram']) {
      expect(error.message).toContain(word);
    }
    expect(filesIn(box)).toStrictEqual([]);
    await until(() => !running(box));
  });
});

describe('the program', () => {
  machineTest.each([
    ['cut short', (path: string) => writeFileSync(path, readFileSync(path).subarray(0, 1_000_000))],
    [
      'another one of the same length',
      (path: string) => {
        const bytes = readFileSync(path);
        bytes.writeUInt8(bytes.readUInt8(1_000_000) ^ 1, 1_000_000);
        writeFileSync(path, bytes);
      },
    ],
    ['not executable', (path: string) => chmodSync(path, 0o600)],
  ])('that is %s is replaced', async (_, spoil) => {
    const box = await machine('sh');
    const target = await connect(box.address);
    const { path, sha256 } = target.info.program;
    await target.close();
    await until(() => !running(box));
    spoil(join(box.home, path.slice(HOME.length)));
    await using again = await connect(box.address);
    expect(again.info.program).toMatchObject({ path, sha256, sent: true });
    expect(box.run(`sha256sum ${path}`)).toContain(sha256);
    expect(filesIn(box)).toHaveLength(1);
  });

  machineTest('is installed once by five connections at once', async () => {
    const box = await machine('sh');
    const targets = await Promise.all(Array.from({ length: 5 }, () => connect(box.address)));
    const results = await Promise.all(targets.map((target) => bash('echo ok', { target })));
    expect(results.map(({ stdout }) => stdout)).toStrictEqual(Array(5).fill('ok\n'));
    expect(new Set(targets.map(({ info }) => info.program.path)).size).toBe(1);
    expect(readdirSync(join(box.home, `.cache/agent-bash-host-${UID}`))).toHaveLength(1);
    await Promise.all(targets.map((target) => target.close()));
  });
});

describe('ssh', () => {
  /** Writes a config with these changes, beside that of a machine. */
  const changed = ({ keys, config }: Machine, change: (text: string) => string) => {
    const own = join(keys, 'changed');
    writeFileSync(own, change(readFileSync(config, 'utf8')), { mode: 0o600 });
    return own;
  };

  machineTest.each([
    ['a key that the host does not take', 'auth', /^ {2}IdentityFile .*$/m, '  IdentityFile none', 'Permission denied'],
    ['a user that the host does not know', 'auth', /^ {2}User .*$/m, '  User nobody-at-all', 'Permission denied'],
    [
      'a host that is not known',
      'host-key',
      /^ {2}UserKnownHostsFile .*$/m,
      '  UserKnownHostsFile none',
      'known_hosts',
    ],
    ['no sshd', 'unreachable', /^ {2}ProxyCommand .*$/m, '  HostName 127.0.0.1\n  Port 1', 'refused'],
    ['no such name', 'unreachable', /^ {2}ProxyCommand .*$/m, '  HostName nowhere.invalid', 'resolve'],
    ['a dead proxy', 'unreachable', /^ {2}ProxyCommand .*$/m, '  ProxyCommand false', 'losed'],
  ])('tells of %s', async (_, reason, line, by, said) => {
    const box = await machine('sh');
    const config = changed(box, (text) => text.replace(line, by));
    const error = await rejection(() => connect({ ssh: { host: 'box', config } }));
    expect(error).toMatchObject({ code: 'ERR_BASH_TARGET', reason, target: 'ssh:box' });
    expect(error.message).toContain(said);
    await until(() => mentioning(config).length === 0);
  });

  machineTest('tells of a key of the host that has changed', async () => {
    const box = await machine('sh');
    writeLines(join(box.keys, 'known_hosts'), [`box ${makeKeys(folder()).host}`]);
    const error = await rejection(() => connect(box.address));
    expect(error).toMatchObject({ code: 'ERR_BASH_TARGET', reason: 'host-key' });
  });
});
