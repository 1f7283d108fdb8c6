import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { childrenOf, finished } from '../../support/index.ts';

/** Namespaces with mounts, processes and a network of their own. */
export interface World {
  /** The words that enter them. */
  enter: string[];
  /** Ends all processes in them. */
  end(): Promise<void>;
}

/** Makes namespaces, which end with the test, and runs a script in them as root. */
export async function world(script: string): Promise<World> {
  // A first process that reaps.
  const rest = 'set +e; echo ready; while :; do sleep 1000 & wait $!; done';
  const own = 'set -e; mount -t tmpfs -o mode=755 tmpfs /run; ip link set lo up';
  const namespaces = ['--mount', '--pid', '--net', '--uts', '--fork', '--kill-child', '--mount-proc'];
  const argv = [...namespaces, 'bash', '-c', [own, script, rest].join('\n')];
  const child = spawn('unshare', argv, { stdio: ['ignore', 'pipe', 'inherit'], cwd: '/' });
  const closed = once(child, 'close');
  const end = async () => {
    child.kill('SIGKILL');
    await closed;
  };
  finished(end);
  const [said] = await Promise.race([once(child.stdout, 'data'), closed]);
  const [first] = childrenOf(child.pid ?? 0);
  if (`${said}` !== 'ready\n' || !first) throw new Error(`the namespaces are not ready: ${said}`);
  return { enter: ['nsenter', '--target', `${first.pid}`, '--mount', '--pid', '--net', '--uts'], end };
}

/** Runs a script as root in the namespaces that these words enter. Returns what it prints. */
export function runIn([program = '', ...enter]: string[], script: string): string {
  return execFileSync(program, [...enter, 'bash', '-ec', script], { encoding: 'utf8', cwd: '/' });
}
