import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { childrenOf, finished } from '../../support/index.ts';

/**
 * Makes namespaces with mounts, processes and a network of their own, and runs a script in them. All processes in them
 * end with the test. Returns the words that enter them.
 */
export async function world(script: string): Promise<string[]> {
  // A first process that reaps.
  const rest = 'set +e; echo ready; while :; do sleep 1000 & wait $!; done';
  const own = 'set -e; mount -t tmpfs -o mode=755 tmpfs /run; ip link set lo up';
  const namespaces = ['--mount', '--pid', '--net', '--uts', '--fork', '--kill-child', '--mount-proc'];
  const argv = [...namespaces, 'bash', '-c', [own, script, rest].join('\n')];
  const child = spawn('unshare', argv, { stdio: ['ignore', 'pipe', 'inherit'], cwd: '/' });
  const closed = once(child, 'close');
  finished(async () => {
    child.kill('SIGKILL');
    await closed;
  });
  const [said] = await Promise.race([once(child.stdout, 'data'), closed]);
  const [first] = childrenOf(child.pid ?? 0);
  if (`${said}` !== 'ready\n' || !first) throw new Error(`the namespaces are not ready: ${said}`);
  return ['nsenter', '--target', `${first.pid}`, '--mount', '--pid', '--net', '--uts'];
}

/** Runs a script as root in the namespaces that these words enter. Returns what it prints. */
export function runIn([program = '', ...enter]: string[], script: string): string {
  return execFileSync(program, [...enter, 'bash', '-ec', script], { encoding: 'utf8', cwd: '/' });
}
