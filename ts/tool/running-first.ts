import type { BackgroundTask } from 'agent-bash';

/** Orders tasks for display: running tasks first, then the newest. */
export function runningFirst(a: BackgroundTask, b: BackgroundTask): number {
  const running = Number(b.state === 'running') - Number(a.state === 'running');
  return running || b.startedAt - a.startedAt;
}
