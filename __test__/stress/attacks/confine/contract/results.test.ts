import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type BashOptions, bash, type ConfineOptions } from 'agent-bash';
import { describe, expect, test } from 'vitest';
import { lasting } from '../../../../confine/support/ground.ts';
import { folder } from '../../../../support/index.ts';

const run = (cwd: string, command: string, confine: ConfineOptions = {}, options: BashOptions = {}) =>
  bash(command, { cwd, confine, timeoutMs: 20_000, ...options });

const denied = async (command: string, confine: ConfineOptions = {}, cwd = folder()) =>
  (await run(cwd, command, confine)).confinement?.denied;

describe.runIf(process.platform === 'linux')('results', () => {
  test('what held is listed, and nothing is missing on a machine that has all', async () => {
    const { confinement } = await run(folder(), 'true');
    expect(confinement).toMatchObject({ profile: 'workspace', missing: [], denied: [], deniedTotal: 0 });
    expect(confinement?.held).toEqual(['files', 'network', 'processes', 'syscalls']);
  });

  test('a denied write names the file, the program and the smallest grant', async () => {
    const place = join(lasting(), 'place');
    mkdirSync(place);
    writeFileSync(join(place, 'old'), '');
    expect(await denied(`tee ${place}/new </dev/null`)).toEqual([
      { kind: 'write', target: `${place}/new`, program: 'tee', count: 1, grant: { write: [place] } },
    ]);
    expect(await denied(`tee ${place}/old </dev/null`)).toEqual([
      { kind: 'write', target: `${place}/old`, program: 'tee', count: 1, grant: { write: [`${place}/old`] } },
    ]);
  });

  test('protected and hidden paths have no grant', async () => {
    const hidden = lasting();
    writeFileSync(join(hidden, 'key'), '');
    const [write] = (await denied('tee .envrc </dev/null')) ?? [];
    expect(write).toMatchObject({ kind: 'write', target: expect.stringMatching(/\/\.envrc$/), grant: null });
    const [read] = (await denied(`cat ${hidden}/key`, { hide: [hidden] })) ?? [];
    expect(read).toMatchObject({ kind: 'read', target: join(hidden, 'key'), program: 'cat', grant: null });
  });

  test('a refused system call is one', async () => {
    const [call] = (await denied('unshare -U true')) ?? [];
    expect(call).toMatchObject({ kind: 'syscall', target: expect.stringMatching(/unshare|clone/), grant: null });
  });

  test('equal denials are counted together, at most 50 are listed, and all are counted', async () => {
    const { confinement } = await run(
      folder(),
      'for n in {1..60}; do echo x >/usr/$n; done 2>/dev/null; for n in {1..9}; do echo x >/usr/1; done 2>/dev/null',
    );
    expect(confinement?.denied).toHaveLength(50);
    expect(confinement?.deniedTotal).toBe(69);
    expect(confinement?.denied[0]).toMatchObject({ target: '/usr/1', count: 10, program: 'bash' });
  });

  test('a million denials do no harm', async () => {
    const { confinement, status } = await run(
      folder(),
      `python3 -c '
import os
for n in range(100_000):
    try: os.open("/usr/x", os.O_WRONLY | os.O_CREAT)
    except OSError: pass
    try: os.mkdir(f".envrc")
    except OSError: pass'`,
      {},
      { timeoutMs: 60_000 },
    );
    expect([status, confinement?.deniedTotal]).toEqual(['exited', 200_000]);
  });

  test('exit codes, signals and streams are as without', async () => {
    const scripts = [
      'exit 7',
      'kill -TERM $$',
      'kill -SEGV $$',
      'echo out; echo err >&2; exit 1',
      'nosuchprogram',
      'exec false',
      'cat',
    ];
    for (const script of scripts) {
      const options = { cwd: folder(), stdin: 'from the caller' };
      const pick = ({ stdout, stderr, exitCode, status, signal }: Awaited<ReturnType<typeof bash>>) => ({
        stdout,
        stderr,
        exitCode,
        status,
        signal,
      });
      expect(pick(await bash(script, { ...options, confine: 'workspace' })), script).toEqual(
        pick(await bash(script, options)),
      );
    }
  });

  test('no privilege can be gained', async () => {
    const { stdout } = await run(
      folder(),
      'sudo -n true 2>/dev/null && echo gained; su -c true </dev/null 2>/dev/null; grep -c "CapPrm:.0000000000000000" /proc/self/status',
    );
    expect(stdout).toMatch(/1\n$/);
  });

  test('many processes at once end with their command', async () => {
    const cwd = folder();
    const { status } = await run(
      cwd,
      'for n in {1..300}; do (setsid sleep 300 &) ; done; touch done; sleep 300',
      {},
      { timeoutMs: 4_000, graceMs: 200 },
    );
    expect(status).toBe('timed-out');
    expect((await run(cwd, 'pgrep -c sleep')).stdout.trim()).toBe('0');
  });

  test('`ps` shows the processes of the world', async () => {
    const { stdout } = await run(folder(), 'ps axo comm= | sort -u');
    expect(stdout.split('\n')).toContain('ps');
    expect(stdout).not.toMatch(/node|vitest/);
  });
});
