import { describe, expect, test } from 'vitest';
import { HOST, runWith, secretFor, secretHost, VALUE } from './support.ts';

/** A request of Node that prints the answer. */
const fetching = (url: string, options: string) =>
  `node -e 'fetch("${url}", ${options}).then(async (r) => console.log(r.status, r.headers.get("x-echo"), await r.text()))'`;

describe.runIf(process.platform === 'linux')('a secret', () => {
  test('works in a request, and is neither seen before nor in the answer', async () => {
    const { port, got } = await secretHost();
    const command = `echo "$TOKEN"; ${fetching(
      `https://${HOST}:${port}/user?page=1`,
      '{ headers: { authorization: "Bearer " + process.env.TOKEN } }',
    )}`;
    const { stdout, stderr, confinement } = await runWith(command, { secrets: { TOKEN: secretFor(port) } });
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
    for (const confine of [
      { network: 'full' as const, secrets: { TOKEN: secretFor(port) } },
      { secrets: { PATH: secretFor(port) } },
      { secrets: { TOKEN: secretFor(port, { hosts: ['*'] }) } },
      { secrets: { TOKEN: secretFor(port, { value: 'short' }) } },
    ]) {
      await expect(runWith('true', confine)).rejects.toThrow(/ERR_BASH_(INVALID_ARG|CONFINEMENT)/);
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
});
