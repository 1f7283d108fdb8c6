import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BashOptions } from 'agent-bash';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { confined, folder, freePort, hasProgram, testNeeding, until } from '../../support/index.ts';
import { serve, sshServer } from './ssh-server.ts';
import { canWait, inTerminal, waiting, waits } from './support.ts';

const server = canWait && hasProgram('ssh') ? sshServer() : undefined;
const needing = testNeeding('ssh and an SSH server', server !== undefined, 'linux');

/** The loopback of confined commands is their own: they reach the server by an allowed name. */
const HOST = confined ? 'server.test' : '127.0.0.1';
const reaching = (port: number): Pick<BashOptions, 'confine'> =>
  confined ? { confine: { network: { allow: [`${HOST}:${port}`], hosts: { [HOST]: '127.0.0.1' } } } } : {};

const answers = (port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = connect(port, '127.0.0.1', () => resolve(true)).on('error', () => resolve(false));
    socket.on('connect', () => socket.destroy());
  });

describe('what asks behind a connection', () => {
  let stop = () => {};
  let port = 0;

  beforeAll(async () => {
    if (!server) return;
    port = await freePort();
    const keys = mkdtempSync(join(tmpdir(), 'agent-bash-test-'));
    const process = serve(server, keys, port);
    stop = () => {
      process.kill('SIGKILL');
      rmSync(keys, { recursive: true, force: true });
    };
    await until(() => answers(port), 'the server answers');
  });
  afterAll(() => stop());

  const known = '-o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o PreferredAuthentications=password';
  needing.each([
    [
      'the key of a host',
      `ssh -F none -o UserKnownHostsFile=known -p PORT joe@${HOST}`,
      'ssh -F none',
      /Are you sure .*\? $/,
    ],
    ['a password', `ssh -F none ${known} -p PORT joe@${HOST}`, 'ssh -F none', new RegExp(`joe@${HOST}'s password: $`)],
    ['a password, in a pipeline', `ssh -F none ${known} -p PORT joe@${HOST} ls | sort`, 'ssh -F none', /password: $/],
    [
      'a password, for git',
      `GIT_SSH_COMMAND="ssh -F none ${known}" git clone ssh://joe@${HOST}:PORT/x y`,
      'ssh -F none',
      /password: $/,
    ],
  ])('%s', async (_, command, who, line) => {
    const options = { cwd: folder(), timeoutMs: 4000, ...reaching(port) };
    const result = await waiting(inTerminal, command.replace('PORT', `${port}`), options);
    expect(result.status, result.stdout).toBe('timed-out');
    const [note = '', ...others] = waits(result);
    expect(others).toEqual([]);
    const [, name, last = ''] =
      /^waiting for input that nobody gives: (.*) \(pid \d+\) reads its terminal on descriptor \d+; its last line is «(.*)»$/.exec(
        note,
      ) ?? [];
    expect(name, note).toContain(who);
    expect(last).toMatch(line);
  });
});
