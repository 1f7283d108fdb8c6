import type { BackgroundTask } from 'agent-bash';

/** The order in which people and models are shown tasks: those that run first, and then the newest. */
export function runningFirst(a: BackgroundTask, b: BackgroundTask): number {
  const running = Number(b.state === 'running') - Number(a.state === 'running');
  return running || b.startedAt - a.startedAt;
}
