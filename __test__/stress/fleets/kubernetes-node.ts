import { execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, copyFileSync, mkdirSync, openSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { parseAllDocuments } from 'yaml';
import { finished, hasProgram, isRoot, packageRoot, testNeeding, until } from '../../support/index.ts';

const run = promisify(execFile);

/** A test with a Kubernetes node of its own. */
export const nodeTest = testNeeding(
  'root, and what `scripts/kubernetes` needs: etcd, containerd, runc, and Go for its first start',
  isRoot && ['etcd', 'containerd', 'runc', 'ctr', 'kubectl', 'openssl', 'ip', 'unshare', 'nsenter'].every(hasProgram),
  'linux',
);

const SCRIPT = join(packageRoot, 'scripts/kubernetes');
const HERE = import.meta.dirname;

/** The programs in the image of the pods. */
const PROGRAMS = [
  ...['bash', 'sh', 'cat', 'chmod', 'env', 'head', 'hostname', 'id', 'ls', 'mkdir', 'mv', 'ps', 'rm', 'sha256sum'],
  ...['sleep', 'tee', 'touch', 'tr', 'uname', 'wc'],
];

/** A Kubernetes node with the resources of agent-sandbox, and a controller of the tests that serves them. */
export class KubernetesNode {
  /** The words that start kubectl. */
  readonly program: string[];
  readonly #directory: string;
  readonly #enter: string[];
  #controller: ReturnType<typeof spawn> | undefined;

  private constructor(directory: string, first: string) {
    this.#directory = directory;
    this.#enter = ['nsenter', '-t', first, '--net'];
    const config = ['--kubeconfig', join(directory, 'kubeconfig'), '--cache-dir', join(directory, 'cache')];
    this.program = [...this.#enter, 'kubectl', ...config];
  }

  /** Starts a node in a directory, with a warm pool `agents` of this size, and an empty one `cold`. */
  static async start(directory: string, replicas: number): Promise<KubernetesNode> {
    await run(SCRIPT, ['up', directory]);
    const up = readFileSync(join(directory, 'up.pid'), 'utf8').trim();
    const [first = ''] = readFileSync(`/proc/${up}/task/${up}/children`, 'utf8').split(' ');
    const node = new KubernetesNode(directory, first);
    await run(SCRIPT, ['image', directory, image(join(directory, 'box')), 'box:1']);
    await node.#define(replicas);
    node.control();
    return node;
  }

  /** Starts the controller. */
  control(): void {
    const log = openSync(join(this.#directory, 'controller.log'), 'a');
    const [program = '', ...enter] = this.#enter;
    const args = [...enter, process.execPath, join(HERE, 'controller.mjs'), this.#directory];
    this.#controller = spawn(program, args, { stdio: ['ignore', log, log] });
  }

  /** Ends the controller, so that claims wait. */
  stopControl(): void {
    this.#controller?.kill('SIGKILL');
  }

  /** Runs kubectl. Resolves with what it prints. */
  async kubectl(...args: string[]): Promise<string> {
    const [program = '', ...words] = this.program;
    return (await run(program, [...words, ...args], { maxBuffer: 1e8 })).stdout;
  }

  /** Creates resources, given as objects. */
  async apply(...resources: object[]): Promise<void> {
    const path = join(this.#directory, 'apply.json');
    writeFileSync(path, JSON.stringify({ kind: 'List', apiVersion: 'v1', items: resources }));
    await this.kubectl('apply', '--validate=false', '-f', path);
  }

  /** The names of all resources of a kind. */
  async names(kind: string): Promise<string[]> {
    const text = await this.kubectl('get', kind, '-o', 'jsonpath={.items[*].metadata.name}');
    return text.split(' ').filter((name) => name !== '');
  }

  /** Sets how many sandboxes of a pool are kept warm. */
  async resize(pool: string, replicas: number): Promise<void> {
    const patch = JSON.stringify({ spec: { replicas } });
    await this.kubectl('patch', 'sandboxwarmpool', pool, '--type=merge', '--patch', patch);
  }

  /** Kills the API server, which comes back by itself. */
  async restart(): Promise<void> {
    await run(SCRIPT, ['restart', this.#directory]);
  }

  /** Kills kubelet, which comes back by itself. */
  async restartKubelet(): Promise<void> {
    await run(SCRIPT, ['rekubelet', this.#directory]);
  }

  /** Starts a proxy that spoils some calls. Returns the words that start kubectl with it. */
  async rough(seed: number): Promise<string[]> {
    const [program = '', ...enter] = this.#enter;
    const args = [...enter, process.execPath, join(HERE, 'rough-proxy.mjs'), this.#directory, `${seed}`];
    const proxy = spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    finished(() => {
      proxy.kill('SIGKILL');
    });
    const [port] = (await once(proxy.stdout, 'data')) as [Buffer];
    return [...this.program, `--server=http://127.0.0.1:${port.toString().trim()}`];
  }

  /** Ends all. */
  async end(): Promise<void> {
    this.stopControl();
    await run(SCRIPT, ['down', this.#directory]);
  }

  async #define(replicas: number): Promise<void> {
    const folder = join(HERE, 'agent-sandbox');
    const texts = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8'));
    const definitions = texts.flatMap((text) => parseAllDocuments(text).map((document) => document.toJS()));
    // Versions are converted by a service of its own, which nothing here needs.
    for (const { spec } of definitions) spec.conversion = { strategy: 'None' };
    await this.apply(...definitions);
    await until(async () => (await this.kubectl('api-resources')).match(/x-k8s\.io/g)?.length === 4);
    const group = 'extensions.agents.x-k8s.io/v1beta1';
    const spec = { podTemplate: { spec: POD } };
    const pool = (name: string, size: number) => ({
      apiVersion: group,
      kind: 'SandboxWarmPool',
      metadata: { name, namespace: 'default' },
      spec: { replicas: size, sandboxTemplateRef: { name: 'box' } },
    });
    await this.apply(
      { apiVersion: group, kind: 'SandboxTemplate', metadata: { name: 'box', namespace: 'default' }, spec },
      pool('agents', replicas),
      pool('cold', 0),
    );
  }
}

const POD = {
  nodeName: 'node1',
  hostNetwork: true,
  automountServiceAccountToken: false,
  enableServiceLinks: false,
  terminationGracePeriodSeconds: 0,
  containers: [{ name: 'main', image: 'box:1', imagePullPolicy: 'Never', command: ['sleep', 'infinity'] }],
};

/** Makes a root file system of programs of this machine with their libraries. Returns its archive. */
function image(root: string): string {
  for (const name of ['bin', 'etc', 'root', 'tmp', 'var/tmp']) mkdirSync(join(root, name), { recursive: true });
  for (const name of ['tmp', 'var/tmp']) chmodSync(join(root, name), 0o1777);
  writeFileSync(join(root, 'etc/passwd'), 'root:x:0:0:root:/root:/bin/bash\n');
  for (const name of PROGRAMS) {
    const path = execFileSync('realpath', [execFileSync('which', [name], { encoding: 'utf8' }).trim()], {
      encoding: 'utf8',
    });
    copyFileSync(path.trim(), join(root, 'bin', name));
  }
  const programs = [...PROGRAMS.map((name) => join(root, 'bin', name)), join(packageRoot, 'agent-bash-host')];
  for (const program of programs) {
    // A static program has none.
    const libraries = execFileSync('sh', ['-c', 'ldd "$1" 2>/dev/null || true', 'sh', program], { encoding: 'utf8' });
    for (const [, library = ''] of libraries.matchAll(/(\/\S+) \(0x/g)) {
      mkdirSync(join(root, dirname(library)), { recursive: true });
      copyFileSync(library, join(root, dirname(library), basename(library)));
    }
  }
  execFileSync('tar', ['-C', root, '-cf', `${root}.tar`, '.']);
  return `${root}.tar`;
}
