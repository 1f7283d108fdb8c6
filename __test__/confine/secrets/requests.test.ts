import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { childrenOf, folder, hostResult } from '../../support/index.ts';
import { AUTHORITY, HOST, runWith, secretFor, secretHost, VALUE, ways } from './support.ts';

/** A request of Node that prints the answer. */
const fetching = (url: string, options: string) =>
  `node -e 'fetch("${url}", ${options}).then(async (r) => console.log(r.status, r.headers.get("x-echo"), await r.text()))'`;

/** Kilobytes that the processes below one keep out of swap. */
function lockedBelow(pid: number): number {
  const locked = (child: number) =>
    Number(/^VmLck:\s*(\d+)/m.exec(readFileSync(`/proc/${child}/status`, 'utf8'))?.[1] ?? 0);
  return childrenOf(pid).reduce((all, { pid: child }) => all + locked(child) + lockedBelow(child), 0);
}

describe.runIf(process.platform === 'linux')('a secret', () => {
  test.each(ways)('works in a request, and is neither seen before nor in the answer, with %s', async (_, env) => {
    const { port, got } = await secretHost();
    const command = `echo "$TOKEN"; ${fetching(
      `https://${HOST}:${port}/user?page=1`,
      '{ headers: { authorization: "Bearer " + process.env.TOKEN } }',
    )}`;
    const { stdout, stderr, confinement } = await runWith(command, { secrets: { TOKEN: secretFor(port) } }, env);
    const standIn = stdout.split('\n')[0] ?? '';
    expect(standIn, stderr).toMatch(/^ghp_[A-Za-z0-9]{36}$/);
    expect(standIn).not.toBe(VALUE);
    expect(got.map(({ line, headers }) => [line, headers.authorization])).toEqual([
      ['GET /user?page=1', `Bearer ${VALUE}`],
    ]);
    expect(stdout).not.toContain(VALUE);
    expect(stdout).toContain(`200 Bearer ${standIn}`);
    expect(confinement).toMatchObject({
      denied: [],
      secrets: [
        { name: 'TOKEN', host: `${HOST}:${port}`, method: 'GET', path: '/user', count: 1, status: 200, refused: null },
      ],
    });
  });

  test('that goes to another host is refused, over TLS of a secret and in plain text', async () => {
    const { port, got } = await secretHost();
    const other = { value: 'xoxb-1111111111-valuevaluevaluevalue', hosts: [`other.example.test:${port}`] };
    const secrets = { TOKEN: secretFor(port), OTHER: other };
    const command = fetching(
      `https://${HOST}:${port}/`,
      '{ headers: { authorization: "Bearer " + process.env.OTHER } }',
    );
    const { stdout, confinement } = await runWith(command, { secrets });
    expect(stdout).toMatch(/^403 /);
    expect(got).toEqual([]);
    expect(confinement?.denied).toMatchObject([{ kind: 'network', target: `${HOST}:${port} (OTHER)`, grant: null }]);
    expect(confinement?.secrets).toMatchObject([{ name: 'OTHER', refused: expect.stringContaining('not one of its') }]);
    const plain = `node -e 'require("net").connect(${port}, "${HOST}", function () { this.write("GET / HTTP/1.0\\r\\nX: " + process.env.TOKEN + "\\r\\n\\r\\n") }).on("error", (e) => console.log(e.code)).on("close", () => console.log("closed"))'`;
    const leaked = await runWith(plain, { secrets });
    expect(leaked.stdout).toContain('closed');
    expect(leaked.confinement?.denied).toMatchObject([{ kind: 'network', target: `${HOST}:${port} (TOKEN)` }]);
  });

  test('whose name a variable has, or that the whole network would lose, is refused', async () => {
    const { port } = await secretHost();
    const whole = { network: 'full' as const, secrets: { TOKEN: secretFor(port) } };
    await expect(runWith('true', whole)).rejects.toThrow('ERR_BASH_CONFINEMENT');
    for (const confine of [
      { secrets: { PATH: secretFor(port) } },
      { secrets: { TOKEN: secretFor(port, { hosts: ['*'] }) } },
      { secrets: { TOKEN: secretFor(port, { value: 'short' }) } },
    ]) {
      await expect(runWith('true', confine)).rejects.toThrow('ERR_BASH_INVALID_ARG');
    }
  });

  test('has a file in place of a variable', async () => {
    const { port } = await secretHost();
    const { stdout } = await runWith(
      'cat /etc/hostname; echo "[$TOKEN]"; echo x > /etc/hostname; cat "$SSL_CERT_FILE" | tail -1',
      {
        secrets: { TOKEN: secretFor(port, { file: '/etc/hostname', template: 'token=${TOKEN}\n' }) },
      },
    );
    expect(stdout).toMatch(/^token=ghp_[A-Za-z0-9]{36}\n\[\]\n-----END CERTIFICATE-----\n$/);
    expect(stdout).not.toContain(VALUE);
  });

  test('has a host for which only authorities of the system vouch, though programs trust those of their variables', async () => {
    const { port, got } = await secretHost();
    const line = readFileSync(AUTHORITY, 'utf8').split('\n')[1];
    const { stdout } = await runWith(
      `grep -cxF '${line}' "$NODE_EXTRA_CA_CERTS"; ${fetching(`https://${HOST}:${port}/`, '{}')}`,
      { secrets: { TOKEN: secretFor(port) } },
      { SSL_CERT_FILE: '/dev/null', NODE_EXTRA_CA_CERTS: AUTHORITY },
    );
    expect(stdout).toMatch(/^1\n502 /);
    expect(got).toEqual([]);
  });

  test('of a function is asked for once, and again after its time', async () => {
    const { port, got } = await secretHost();
    const command = fetching(`https://${HOST}:${port}/`, '{ headers: { "x-key": process.env.TOKEN } }');
    const results = await hostResult<{ calls: number; codes: number[]; refused: (string | null)[] }>(
      `import { BashSession } from 'agent-bash';
       let calls = 0;
       const value = () => { calls += 1; if (calls === 4) throw new Error('locked'); return '${VALUE}' + calls; };
       const secret = { value, hosts: ['${HOST}:${port}'] };
       const network = { allow: [], hosts: { '${HOST}': '127.0.0.1' } };
       const options = { cwd: ${JSON.stringify(folder())}, safety: 'off', confine: { network, secrets: { TOKEN: secret } } };
       const codes = [];
       const refused = [];
       const session = new BashSession(options);
       for (const run of [() => bash(${JSON.stringify(command)}, options), () => session.run(${JSON.stringify(command)})]) {
         codes.push(Number((await run()).stdout.split(' ')[0]));
       }
       const old = { ...options, confine: { network, secrets: { TOKEN: { ...secret, ttlMs: 0 } } } };
       for (let n = 0; n < 3; n++) {
         const { stdout, confinement } = await bash(${JSON.stringify(command)}, old);
         codes.push(Number(stdout.split(' ')[0]));
         refused.push(confinement.secrets[0].refused);
       }
       await session.close();
       console.log(JSON.stringify({ calls, codes, refused }));`,
      { env: { SSL_CERT_FILE: AUTHORITY } },
    );
    expect(results).toEqual({
      calls: 4,
      // The standard of fetch makes a failure of 407.
      codes: [200, 200, 200, 200, 0],
      refused: [null, null, expect.stringContaining('its function has failed: locked')],
    });
    const keys = [1, 1, 2, 3].map((number) => VALUE + number);
    expect(got.map(({ headers }) => headers['x-key'])).toEqual(keys);
  });

  test.each(ways)('is in memory that is not swapped, with %s', async (_, env) => {
    const locked: number[] = [];
    const { port, got } = await secretHost({
      '/while': () => {
        locked.push(lockedBelow(process.pid));
        return {};
      },
    });
    const command = fetching(`https://${HOST}:${port}/while`, '{ headers: { "x-key": process.env.TOKEN } }');
    expect(lockedBelow(process.pid)).toBe(0);
    await runWith(command, { secrets: { TOKEN: secretFor(port) } }, env);
    expect(got.map(({ headers }) => headers['x-key'])).toEqual([VALUE]);
    expect(locked).toEqual([expect.any(Number)]);
    expect(locked[0]).toBeGreaterThan(0);
  });

  test('is neither in the environment of our processes, nor in a file of ours', async () => {
    const { port } = await secretHost();
    const state = folder();
    const { stdout } = await runWith(
      "cat /proc/*/environ /proc/*/cmdline 2>/dev/null | tr '\\0' '\\n'; env",
      { secrets: { TOKEN: secretFor(port) } },
      { HOME: state, XDG_STATE_HOME: join(state, 'state') },
    );
    expect(stdout).toContain('TOKEN=ghp_');
    expect(stdout).not.toContain(VALUE);
    expect(
      execFileSync('bash', ['-c', `grep -rsl ${VALUE} "$1" ~/.local/state/agent-bash || true`, 'bash', state]),
    ).toEqual(Buffer.from(''));
  });
});
