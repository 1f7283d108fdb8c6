import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { BackgroundRegistry, BashSession, connect, secretFor as known } from 'agent-bash';
import { describe, expect, test } from 'vitest';
import { AUTHORITY, HOST, secretFor, secretHost, VALUE, ways } from '../confine/secrets/support.ts';
import { Ledger } from '../ledger/support.ts';
import { addressOf, cutLink, finished, folder, packageRoot } from '../support/index.ts';
import { CONNECTING } from '../support/until.ts';

/** A target that trusts the test's authority and confines in one way, a server, and what commands there send. */
async function withSecrets(way: NodeJS.ProcessEnv) {
  const home = folder();
  const cwd = join(home, 'work');
  mkdirSync(cwd);
  const [env, clear, ...rest] = addressOf(home).command as [string, string, ...string[]];
  const variables = Object.entries({ SSL_CERT_FILE: AUTHORITY, ...way }).map(([name, value]) => `${name}=${value}`);
  const command = [env, clear, ...variables, ...rest];
  const hostProgram = join(packageRoot, 'agent-bash-host');
  const target = await connect({ command, name: 'there', hostProgram, connectTimeoutMs: CONNECTING });
  finished(() => target.close());
  const { port, got } = await secretHost();
  const secrets = { TOKEN: secretFor(port, { value: async () => VALUE }), ...known.github(VALUE) };
  const confine = { network: { allow: [], hosts: { [HOST]: '127.0.0.1' } }, secrets };
  const send = `curl -sS -o answer -H "Authorization: Bearer $TOKEN" https://${HOST}:${port}/x`;
  const sent = () => got.map(({ headers }) => headers.authorization);
  const used = {
    name: 'TOKEN',
    host: `${HOST}:${port}`,
    method: 'GET',
    path: '/x',
    count: 1,
    status: 200,
    refused: null,
  };
  return { home, target, cwd, confine, send, sent, used };
}

describe.runIf(process.platform === 'linux')('secrets on a target', () => {
  test.each(ways)('work and cannot be read there, with %s', async (_, way) => {
    const { home, target, cwd, confine, send, sent, used } = await withSecrets(way);
    const safety = 'off';
    const search = `grep -laF ${VALUE.slice(0, 20)}''${VALUE.slice(20)} -r . ~ /proc/[0-9]*/environ /proc/[0-9]*/cmdline`;
    const ledger = new Ledger();
    const run = await ledger.run(`${send} && cat answer ~/.netrc; ${search} 2>/dev/null`, {
      ...{ target, cwd, confine, safety },
    });
    const { name, host, count } = used;
    expect((await ledger.of(run)).secrets).toEqual([{ name, host, count, refused: 0 }]);
    expect(run.stdout).toMatch(
      /^\{.*"authorization":"Bearer ghp_\w{36}".*\}machine github.com login \S+ password ghp_\w+\n$/,
    );
    expect(run.stdout).not.toContain(VALUE);
    expect(run.confinement?.secrets).toEqual([used]);

    const session = new BashSession({ target, cwd, confine });
    const first = await session.run(send, { safety });
    cutLink(home);
    const second = await session.run(send, { safety });
    await session.close();
    expect([first, second].map(({ confinement }) => confinement?.secrets)).toEqual([[used], [used]]);

    const registry = new BackgroundRegistry({ target, confine });
    const ended = await registry.wait(await registry.start(send, { cwd, safety }));
    await registry.close();
    expect(ended.confinement?.secrets).toEqual([used]);
    expect(sent()).toEqual(Array(4).fill(`Bearer ${VALUE}`));
  });
});
