import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { BashSession, bash, connect, PtySession } from 'agent-bash';
import { expect, vi } from 'vitest';
import { finished, folder, linuxTest, until } from '../../support/index.ts';
import { inHome, Relay } from '../../support/relay.ts';
import { counted, filesOf, inside, sameAs, shown, traces } from './traces.ts';

const CONNECTIONS = 30;
/** After so many, nothing grows any more. */
const SETTLED = 10;
/** Bytes that the memory of this process may grow by after that, roughly. */
const GROWTH = 32 * 1024 * 1024;

vi.setConfig({ testTimeout: 600_000 });

/** Connects, uses all that a target has, is cut once, and closes. */
async function visit(relay: Relay, home: string, port: number): Promise<void> {
  const target = await connect({ command: [...relay.words, ...inHome(home)], name: 'there' });
  const session = new BashSession({ target });
  await session.run('cd /usr; X=1');
  const terminal = new PtySession({ target });
  await terminal.start('read -r line; echo "got $line"');
  const { url, close } = await target.forward(port);
  expect(await (await fetch(url, { headers: { connection: 'close' } })).text()).toBe('from there');
  const ran = bash('for i in 1 2 3; do echo $i; sleep 0.1; done', { target, onOutput() {} });
  const again = new Promise((resolve) => target.on('reconnected', resolve));
  await relay.fail({ kind: 'cut' });
  await again;
  expect(await ran).toMatchObject({ stdout: '1\n2\n3\n', exitCode: 0 });
  expect(await session.run('echo $X')).toMatchObject({ stdout: '1\n', cwd: '/usr' });
  await terminal.write('text\r');
  expect((await terminal.result()).stdout).toContain('got text\n');
  expect(await (await fetch(url, { headers: { connection: 'close' } })).text()).toBe('from there');
  await close();
  await target.close();
  await until(() => inside(home).length === 0, 'nothing is left there').catch((error: Error) => {
    throw new Error(`${error.message}\n${shown(home)}`);
  });
  expect(filesOf(home, /^$/)).toStrictEqual([]);
}

linuxTest(`${CONNECTIONS} connections leave no more than ${SETTLED} do`, async () => {
  const [home, relay] = [folder(), await Relay.start()];
  const server = createServer((_, response) => response.end('from there'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  finished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  for (let n = 0; n < SETTLED; n++) await visit(relay, home, port);
  const [before, memory] = [traces(), process.memoryUsage().rss];
  for (let n = SETTLED; n < CONNECTIONS; n++) await visit(relay, home, port);
  await sameAs(before);
  const grown = process.memoryUsage().rss - memory;
  expect(grown).toBeLessThan(GROWTH);
  console.log(JSON.stringify({ before: counted(before), after: counted(traces()), memory, grown }));
});
