import { type BashResult, PtySession, type TerminalOptions } from 'agent-bash';
import { onTestFinished } from 'vitest';

/** A terminal that is ended with the test. */
export function terminal(options?: TerminalOptions): PtySession {
  const session = new PtySession(options);
  onTestFinished(() => session.kill());
  return session;
}

/** A terminal in which this runs. */
export async function running(command: string, options?: TerminalOptions): Promise<PtySession> {
  const session = terminal(options);
  await session.start(command);
  return session;
}

/** The exit of a command in a terminal. */
export async function ran(command: string, options?: TerminalOptions): Promise<BashResult> {
  return (await running(command, options)).result();
}

/** All text that a terminal tells of from now on. */
export function heard(session: PtySession): () => string {
  let text = '';
  session.on('data', (more) => {
    text += more;
  });
  return () => text;
}
