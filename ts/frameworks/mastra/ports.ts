import { connect } from 'node:net';

/** The time in which a forwarder ends the connections to a port that nothing listens on, in ms. */
const SETTLED_MS = 50;

/** Resolves with whether something on this machine's loopback takes connections on a port. */
export function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    const settle = (found: boolean) => {
      resolve(found);
      socket.destroy();
    };
    socket.once('connect', () => setTimeout(settle, SETTLED_MS, true));
    socket.once('data', () => settle(true));
    socket.once('error', () => settle(false));
    socket.once('close', () => settle(false));
  });
}
