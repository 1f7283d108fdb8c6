/**
 * A transport that fails on demand.
 *
 * `relay.mjs SOCKET WORD…` is the client. It passes its standard streams to the server at the socket, which starts the
 * words as a program. Without arguments it is the server, forked by `relay.ts`. The program is a child of the server,
 * as one in a container is a child of the daemon there: it outlives the client.
 */
import { spawn } from 'node:child_process';
import { closeSync } from 'node:fs';
import { connect, createServer, Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** Passes the standard streams on until the server ends the connection. */
function client(path, words) {
  const [input, output] = [new Socket({ fd: 0, writable: false }), new Socket({ fd: 1, readable: false })];
  // Node leaves this descriptor open.
  output.on('close', () => closeSync(1));
  const server = connect({ path, allowHalfOpen: true });
  server.write(`${JSON.stringify({ words, pid: process.pid })}\n`);
  input.pipe(server);
  server.pipe(output);
  for (const stream of [input, output, server]) stream.on('error', () => process.exit(255));
  server.on('close', () => process.exit(255));
}

/** One direction of a connection. */
class Lane {
  bytes = 0;
  /** Bytes are read and thrown away. */
  dropped = false;
  /** `{ at, spring }`: what happens after this many bytes. */
  trap = null;
  #pieces = 0;

  constructor(connection) {
    this.connection = connection;
  }

  async pass(from, to) {
    try {
      for await (const chunk of from) {
        for (let rest = chunk; rest.length > 0; ) {
          await this.connection.thawed;
          const piece = rest.subarray(0, this.#most());
          rest = rest.subarray(piece.length);
          await this.#pass(piece, to);
        }
      }
    } catch {
      // An error of a stream is its end.
    }
    await this.connection.thawed;
  }

  async #pass(piece, to) {
    // The callback is called in any case, with an error if the stream has ended.
    if (!this.dropped) await new Promise((resolve) => to.write(piece, resolve));
    this.bytes += piece.length;
    this.connection.server.bytes += piece.length;
    if (this.trap && this.bytes >= this.trap.at) {
      const { spring } = this.trap;
      this.trap = null;
      spring();
    }
    if (this.connection.trickles) await sleep(this.#pieces % 4);
  }

  #most() {
    const most = this.connection.trickles ? 1 + ((this.#pieces++ * 37) % 64) : 65_536;
    return this.trap ? Math.min(most, Math.max(1, this.trap.at - this.bytes)) : most;
  }
}

class Connection {
  up = new Lane(this);
  down = new Lane(this);
  /** Settles when bytes may pass. */
  thawed = Promise.resolve();
  #thaw = () => {};
  #trickles = 0;
  /** Bytes that the program had written when the first ones came for it. */
  #before = 0;

  constructor(server, socket, { words, pid }) {
    Object.assign(this, { server, socket, pid });
    this.child = spawn(words[0], words.slice(1), { stdio: ['pipe', 'pipe', 'ignore'], detached: true });
    const { stdin, stdout } = this.child;
    for (const stream of [socket, stdin, stdout, this.child]) stream.on('error', () => {});
    socket.once('data', () => {
      this.#before = this.down.bytes;
    });
    this.over = Promise.all([
      this.up.pass(socket, stdin).then(() => stdin.destroy()),
      this.down.pass(stdout, socket).then(() => socket.end()),
    ]);
    // A client that is gone is seen by the program, unless the network hides it.
    socket.on('close', () => this.thawed.then(() => this.down.dropped || stdout.destroy()));
  }

  get trickles() {
    return performance.now() < this.#trickles;
  }

  /** How far the two sides have got. */
  get phase() {
    if (this.down.bytes === 0) return 'bootstrap';
    if (this.up.bytes === 0) return 'greeting';
    return this.down.bytes === this.#before ? 'answer' : 'link';
  }

  freeze() {
    this.#thaw();
    this.thawed = new Promise((resolve) => {
      this.#thaw = resolve;
    });
  }

  thaw() {
    this.#thaw();
  }

  /** What goes wrong. `ms`: for how long, if it passes. */
  fail(kind, ms) {
    const { socket, child, up, down } = this;
    if (kind === 'freeze') {
      this.freeze();
      setTimeout(() => this.thaw(), ms);
    } else if (kind === 'trickle') {
      this.#trickles = performance.now() + ms;
    } else if (kind === 'cut') {
      for (const stream of [socket, child.stdin, child.stdout]) stream.destroy();
    } else if (kind === 'kill') {
      // As podman does: the program sees the end of its input, and its output is taken.
      up.dropped = down.dropped = true;
      child.stdin.destroy();
      process.kill(this.pid, 'SIGKILL');
    } else if (kind === 'hold') {
      // The program sees nothing.
      this.freeze();
      process.kill(this.pid, 'SIGKILL');
    } else if (kind === 'half-up') {
      up.dropped = true;
      child.stdin.end();
    } else if (kind === 'half-down') {
      down.dropped = true;
      socket.end();
    }
  }
}

class Server {
  bytes = 0;
  /** How many there were. */
  connections = 0;
  isDown = false;
  /** Words before those of each client. */
  before = [];
  /** Faults for the next connections. */
  #next = [];
  #connections = new Set();

  accept(socket) {
    let head = '';
    const onData = (data) => {
      head += data.toString('latin1');
      const end = head.indexOf('\n');
      if (end < 0) return;
      socket.off('data', onData).pause();
      if (this.isDown) return socket.destroy();
      const { words, pid } = JSON.parse(Buffer.from(head.slice(0, end), 'latin1').toString());
      if (head.length > end + 1) socket.unshift(Buffer.from(head.slice(end + 1), 'latin1'));
      this.#add(new Connection(this, socket, { words: [...this.before, ...words], pid }));
    };
    socket.on('error', () => {}).on('data', onData);
  }

  #add(connection) {
    this.#connections.add(connection);
    this.connections++;
    connection.over.then(() => this.#connections.delete(connection));
    const fault = this.#next.shift();
    if (fault) this.#arm(connection, fault);
  }

  #arm(connection, { id, kind, ms, lane, after, within }) {
    let timer;
    const spring = () => {
      clearTimeout(timer);
      if (connection[lane].trap?.spring === spring) connection[lane].trap = null;
      const { phase } = connection;
      let missed = connection.socket.destroyed;
      try {
        if (!missed) connection.fail(kind, ms);
      } catch {
        // The client has just ended.
        missed = true;
      }
      process.send({ id, answer: missed ? null : phase });
    };
    if (after === 0) return spring();
    connection[lane].trap = { at: connection[lane].bytes + after, spring };
    timer = setTimeout(spring, within);
  }

  /** Does what the test says, and answers. */
  on({ id, act, ...rest }) {
    let answer = null;
    if (act === 'fail') {
      const newest = [...this.#connections].findLast(({ socket }) => !socket.destroyed);
      if (rest.next || !newest) this.#next.push({ id, ...rest });
      else this.#arm(newest, { id, ...rest });
      return;
    }
    if (act === 'down') this.isDown = rest.down;
    if (act === 'calm') for (const { id } of this.#next.splice(0)) process.send({ id, answer: null });
    if (act === 'before') this.before = rest.words;
    if (act === 'release') {
      for (const connection of this.#connections) connection.thaw();
    }
    if (act === 'counts') answer = { bytes: this.bytes, connections: this.connections };
    process.send({ id, answer });
  }
}

const [path, ...words] = process.argv.slice(2);
if (process.send) {
  const server = new Server();
  process.on('message', (message) => server.on(message)).on('disconnect', () => process.exit());
  createServer({ allowHalfOpen: true }, (socket) => server.accept(socket)).listen(path, () => process.send({ id: 0 }));
} else {
  client(path, words);
}
