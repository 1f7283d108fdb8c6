import type { LedgerEntry } from 'agent-bash';
import { describe, expect, test } from 'vitest';
import { folder, hostResult, stateFolder } from '../../support/index.ts';
import { AUTHORITY, HOST, secretFor, secretHost, VALUE, ways } from './support.ts';

describe.runIf(process.platform === 'linux')('the ledger', () => {
  test.each(ways)(
    'has what a command, one of a session and a task used secrets for, without the value, with %s',
    async (_, way) => {
      const { port } = await secretHost();
      const secrets = { TOKEN: secretFor(port, { methods: ['GET'] }), UNUSED: { value: VALUE, hosts: [HOST] } };
      const url = `https://${HOST}:${port}/x`;
      const get = `curl -sS -H "Authorization: Bearer $TOKEN" ${url}`;
      const command = `${get}; ${get}; curl -sS -X POST -H "Authorization: Bearer $TOKEN" ${url}; exit 3`;
      const confine = { network: { allow: [], hosts: { [HOST]: '127.0.0.1' } }, secrets };
      const options = { cwd: folder(), confine, safety: 'off', ledger: true, timeoutMs: 60_000 };
      const entries = await hostResult<LedgerEntry[]>(
        `import { BackgroundRegistry, BashSession, readLedger } from 'agent-bash';
      const [command, options] = ${JSON.stringify([command, options])};
      await bash(command, options);
      // Its result does not wait for the end of the shell.
      const session = new BashSession(options);
      await session.run(command.replace('; exit 3', '; (exit 3)'));
      await session.close();
      const registry = new BackgroundRegistry();
      await registry.wait(await registry.start(command, options));
      await registry.close();
      const entries = [];
      for await (const entry of readLedger()) entries.push(entry);
      console.log(JSON.stringify(entries));`,
        { env: { SSL_CERT_FILE: AUTHORITY, XDG_STATE_HOME: stateFolder(), ...way } },
      );
      const used = [{ name: 'TOKEN', host: `${HOST}:${port}`, count: 3, refused: 1 }];
      expect(entries.map(({ exitCode, secrets }) => ({ exitCode, secrets }))).toEqual([
        { exitCode: 3, secrets: used },
        { exitCode: 3, secrets: used },
        { exitCode: 3, secrets: used },
      ]);
      expect(JSON.stringify(entries)).not.toContain(VALUE);
    },
  );
});
