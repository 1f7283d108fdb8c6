import { chmodSync, mkdirSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { IDLE } from '../host/support.ts';
import { finished, until } from '../support/index.ts';
import type { Data, Events, Pages } from './support.ts';

/** Listens in the place of a host and calls `says` for each line that it receives. */
export function fakeHost(pages: Pages, name: string, says: (socket: Socket, line: Data) => void): void {
  mkdirSync(pages.hosts.directory, { recursive: true, mode: 0o700 });
  chmodSync(join(pages.hosts.directory, '..'), 0o700);
  const server = createServer((socket) => {
    socket.setEncoding('utf8').on('error', () => {});
    let rest = '';
    socket.on('data', (text) => {
      const lines = `${rest}${text}`.split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) says(socket, JSON.parse(line));
    });
    sockets.add(socket);
  });
  const sockets = new Set<Socket>();
  server.listen(join(pages.hosts.directory, name));
  finished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
}

export const HELLO = { hello: { protocol: 1, pid: 1, program: 'fake', cwd: '/', startedAt: 1, version: '0' } };
export const RUN = {
  key: 'c1',
  runId: 'r1',
  kind: 'command',
  command: 'of a fake host',
  cwd: '/',
  startedAt: 1,
  state: 'running',
};

/** Returns the answers of a fake host that greets as a host does and sends these messages after `watch`. */
export function greets(...messages: (object | string | Buffer)[]) {
  return (socket: Socket, line: Data) => {
    if (line.hello) socket.write(`${JSON.stringify(HELLO)}\n`);
    if (line.do !== 'watch') return;
    socket.write(`{"re":${line.id},"ok":true}\n`);
    for (const one of messages)
      socket.write(typeof one === 'string' || one instanceof Buffer ? one : `${JSON.stringify(one)}\n`);
  };
}

/** Returns the answers of a fake host that sends changes without end, each with another command of many parts. */
export function floods() {
  let stopped = false;
  finished(() => {
    stopped = true;
  });
  return async (socket: Socket, line: Data) => {
    greets({ state: { runs: [], asks: [] } })(socket, line);
    if (line.do !== 'watch') return;
    for (let at = 0; !stopped && !socket.destroyed; at += 1) {
      const runs = [{ ...RUN, command: `echo ${'x; '.repeat(2_000)} ${at}` }];
      const text = JSON.stringify({ change: { runs, ended: [], asks: [], answered: [] } });
      if (socket.write(`${text}\n`)) await new Promise(setImmediate);
      else await new Promise((resolve) => socket.once('drain', resolve).once('close', resolve));
    }
  };
}

/** Checks that the page works: starts a real host and waits until its commands and their ends are shown. */
export async function isWell(pages: Pages, events: Events): Promise<void> {
  const host = pages.host(`${IDLE} process.on('SIGUSR1', () => bash('echo still; exit 5'));`);
  await events.run((run) => run.host === `${host.pid}`);
  host.process.kill('SIGUSR1');
  await until(() => [...events.view.ended.values()].some(({ exitCode }) => exitCode === 5), 'the end');
}
