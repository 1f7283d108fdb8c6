import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/** Ports that no system gives to connections or to servers that ask for any. */
const [FIRST, LAST] = [20_000, 32_000];

/** A port of 127.0.0.1 that nothing listens on, and that other tests are unlikely to take. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(FIRST, LAST);
    const server = createServer();
    const isFree = await new Promise<boolean>((settle) => {
      server.once('error', () => settle(false)).listen(port, '127.0.0.1', () => settle(true));
    });
    if (!isFree) continue;
    await new Promise((closed) => server.close(closed));
    return port;
  }
}
