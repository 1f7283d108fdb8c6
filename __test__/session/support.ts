import { type BashOptions, BashSession, type SessionResult } from 'agent-bash';
import { finished } from '../support/index.ts';

/** The two ways in which the shells of a session start. */
export const WAYS: [string, BashOptions][] = [
  ['warm', {}],
  ['cold', { warm: false }],
];

/** A session of this test alone. */
export function session(options?: BashOptions): BashSession {
  const made = new BashSession(options);
  finished(() => made.close());
  return made;
}

/** Runs commands one after another, and gives the last one's result. */
export async function inTurn(one: BashSession, ...commands: string[]): Promise<SessionResult> {
  let last: SessionResult | undefined;
  for (const command of commands) last = await one.run(command);
  if (last === undefined) throw new Error('no command was given');
  return last;
}
