import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { join } from 'node:path';
import { type WebSocket, WebSocketServer } from 'ws';
import { finished, folder, hasProgram, isRoot, testNeeding } from '../../support/index.ts';
import { type World, world } from './world.ts';

/** A test with a cluster of its own. */
export const clusterTest = testNeeding(
  'root, and kubectl 1.31 or later, which speaks WebSocket',
  isRoot && ['kubectl', 'unshare', 'nsenter'].every(hasProgram) && speaksWebSocket(),
  'linux',
);

function speaksWebSocket(): boolean {
  const version = JSON.parse(execFileSync('kubectl', ['version', '--client', '--output=json'], { encoding: 'utf8' }));
  const { major, minor } = version.clientVersion as { major: string; minor: string };
  return Number(major) > 1 || Number.parseInt(minor, 10) >= 31;
}

const PROTOCOL = 'v5.channel.k8s.io';
/** The channels of the protocol, which are the first byte of each message. */
const [STDIN, STDOUT, STDERR, ERROR, CLOSE] = [0, 1, 2, 3, 255];

/** The pod, whose containers share all namespaces. */
export const NAMESPACE = 'web';
export const POD = 'app-0';
const CONTAINERS = ['main', 'side'];

/** A call of exec. */
export interface Call {
  namespace: string;
  pod: string;
  container: string | null;
}

/** A Kubernetes API server with one pod, as far as `kubectl exec` needs it. */
export class Cluster {
  /** The config of kubectl. */
  readonly config: string;
  /** The words that start kubectl with this config, whose contexts are `here` and `elsewhere`. */
  readonly program: string[];
  /** The home of the pod, as this machine sees it. */
  readonly home: string;
  /** The calls of exec so far. */
  readonly calls: Call[] = [];
  /** The answer to each exec in place of one: the status code of HTTP, the reason and the message of Kubernetes. */
  refusal: [number, string, string] | undefined;
  /** The uid of the pod. `null`: there is no pod. */
  uid: string | null = 'one';
  /** The phase of the pod. */
  phase = 'Running';
  /** Time in ms without a byte after which a new connection is cut. 0: never. */
  idleMs = 0;
  port = 0;
  readonly #server = createServer((request, response) => this.#answer(request, response));
  readonly #sockets = new WebSocketServer({ noServer: true, handleProtocols: (all) => all.has(PROTOCOL) && PROTOCOL });
  readonly #connections = new Set<Socket>();
  readonly #place = folder();
  #pod: World | undefined;

  private constructor() {
    this.config = join(this.#place, 'config');
    this.program = ['kubectl', '--kubeconfig', this.config, '--cache-dir', join(this.#place, 'cache')];
    this.home = join(this.#place, 'root');
    for (const name of ['root', 'tmp']) mkdirSync(join(this.#place, name));
    chmodSync(join(this.#place, 'tmp'), 0o1777);
    this.#server.on('connection', (socket: Socket) => {
      this.#connections.add(socket);
      socket.on('close', () => this.#connections.delete(socket)).on('error', () => {});
    });
    this.#server.on('upgrade', (request, socket: Socket, head) => this.#upgrade(request, socket, head));
  }

  /** Starts a cluster for one test. */
  static async start(): Promise<Cluster> {
    const cluster = new Cluster();
    await cluster.startPod();
    await cluster.listen(0);
    finished(() => cluster.stop());
    return cluster;
  }

  /** Starts listening, again on the port that it had. */
  async listen(port = this.port): Promise<void> {
    this.#server.listen(port, '127.0.0.1');
    await once(this.#server, 'listening');
    this.port = (this.#server.address() as AddressInfo).port;
    const server = `http://127.0.0.1:${this.port}`;
    const context = (name: string, namespace: string) => ({ name, context: { cluster: 'one', user: 'me', namespace } });
    const config = {
      'current-context': 'here',
      clusters: [{ name: 'one', cluster: { server } }],
      users: [{ name: 'me', user: {} }],
      contexts: [context('here', NAMESPACE), context('elsewhere', 'other')],
    };
    writeFileSync(this.config, JSON.stringify(config));
  }

  /** Stops listening, and cuts all connections. */
  async stop(): Promise<void> {
    if (!this.#server.listening) return;
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.cut();
    await closed;
  }

  /** Cuts all connections. */
  cut(): void {
    for (const socket of this.#connections) socket.destroy();
  }

  /** Lets all connections be as they are, and passes nothing on any more. */
  freeze(): void {
    for (const socket of this.#connections) {
      socket.pause();
      socket.write = () => false;
    }
  }

  /** Ends the processes of the pod, and starts it again, with the files that it had. */
  async startPod(): Promise<void> {
    await this.#pod?.end();
    // The last one hides where the others are.
    const bound = ['root /root', 'tmp /var/tmp', 'tmp /tmp'];
    const mounts = bound.map((pair) => `mount --bind ${this.#place}/${pair}`);
    this.#pod = await world([`hostname ${POD}`, ...mounts].join('\n'));
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const { pathname } = new URL(request.url ?? '', 'http://here');
    const [, kind, name] = /\/(pods|namespaces)\/([^/]+)$/.exec(pathname) ?? [];
    const body = pathname === POD_PATH && this.uid !== null ? this.#describe() : DISCOVERY[pathname];
    if (body) send(response, 200, body);
    else if (kind) send(response, 404, status(404, 'NotFound', `${kind} "${name}" not found`));
    else send(response, 400, status(400, 'BadRequest', `this server does not serve ${pathname}`));
  }

  #describe(): object {
    const containers = CONTAINERS.map((name) => ({ name, image: 'image' }));
    const metadata = { name: POD, namespace: NAMESPACE, uid: this.uid };
    return { kind: 'Pod', apiVersion: 'v1', metadata, spec: { containers }, status: { phase: this.phase } };
  }

  #upgrade(request: IncomingMessage, socket: Socket, head: Buffer): void {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://here');
    const [, namespace = '', pod = ''] = /\/namespaces\/([^/]+)\/pods\/([^/]+)\/exec$/.exec(pathname) ?? [];
    this.calls.push({ namespace, pod, container: searchParams.get('container') });
    const refusal = this.refusal ?? this.#refusalOf(searchParams.get('container'));
    if (refusal) {
      const text = JSON.stringify(status(...refusal));
      const lines = [`HTTP/1.1 ${refusal[0]} Refused`, 'content-type: application/json', 'connection: close'];
      socket.end([...lines, `content-length: ${text.length}`, '', text].join('\r\n'));
      return;
    }
    if (this.idleMs > 0) socket.setTimeout(this.idleMs, () => socket.destroy());
    this.#sockets.handleUpgrade(request, socket, head, (client) => this.#exec(client, searchParams.getAll('command')));
  }

  #refusalOf(container: string | null): Cluster['refusal'] {
    if (container === null || CONTAINERS.includes(container)) return undefined;
    return [400, 'BadRequest', `container ${container} is not valid for pod ${POD}`];
  }

  /** Runs a command in the pod. As with containerd, it goes on when its client is gone, and its output is taken. */
  #exec(client: WebSocket, command: string[]): void {
    const [program = '', ...enter] = this.#pod?.enter ?? [];
    const environment = ['env', '-i', 'HOME=/root', 'PATH=/usr/local/bin:/usr/bin:/bin', '--chdir=/'];
    const child = spawn(program, [...enter, ...environment, ...command], { stdio: 'pipe' });
    const pass = (channel: number, bytes: Uint8Array) => client.send(Buffer.concat([Buffer.of(channel), bytes]));
    child.stdout.on('data', (bytes) => pass(STDOUT, bytes));
    child.stderr.on('data', (bytes) => pass(STDERR, bytes));
    child.stdin.on('error', () => {});
    client.on('message', (message: Buffer) => {
      if (message[0] === STDIN) child.stdin.write(message.subarray(1));
      if (message[0] === CLOSE && message[1] === STDIN) child.stdin.end();
    });
    client.on('close', () => child.stdin.end()).on('error', () => {});
    child.on('close', (code) => {
      pass(ERROR, Buffer.from(JSON.stringify(ending(code ?? 137))));
      client.close(1000);
    });
  }
}

const NAMESPACE_PATH = `/api/v1/namespaces/${NAMESPACE}`;
const POD_PATH = `${NAMESPACE_PATH}/pods/${POD}`;

const DISCOVERY: Record<string, object> = {
  [NAMESPACE_PATH]: { kind: 'Namespace', apiVersion: 'v1', metadata: { name: NAMESPACE } },
  '/api': { kind: 'APIVersions', versions: ['v1'], serverAddressByClientCIDRs: [] },
  '/apis': { kind: 'APIGroupList', apiVersion: 'v1', groups: [] },
  '/api/v1': {
    kind: 'APIResourceList',
    groupVersion: 'v1',
    resources: [
      { name: 'pods', singularName: 'pod', namespaced: true, kind: 'Pod', verbs: ['get', 'list'] },
      { name: 'pods/exec', singularName: '', namespaced: true, kind: 'PodExecOptions', verbs: ['create', 'get'] },
    ],
  },
};

function send(response: ServerResponse, code: number, body: object): void {
  response.writeHead(code, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

function status(code: number, reason: string, message: string): object {
  return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, reason, code };
}

/** What the last message of an exec says. */
function ending(code: number): object {
  if (code === 0) return { metadata: {}, status: 'Success' };
  const causes = [{ reason: 'ExitCode', message: `${code}` }];
  const message = `command terminated with non-zero exit code: exit status ${code}`;
  return { metadata: {}, status: 'Failure', message, reason: 'NonZeroExitCode', details: { causes } };
}
