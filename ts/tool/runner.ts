import { bash } from 'agent-bash';
import { sandboxRunner } from './in-sandbox/runner.ts';
import { sandboxOf } from './in-sandbox/sandbox.ts';
import { sessionOf, sessionRunner } from './in-session.ts';
import { terminalOf, terminalRunner } from './in-terminal.ts';
import type { BashToolOptions } from './types.ts';

/** Returns the function that runs the commands of a call. */
export function runnerOf(options: BashToolOptions): typeof bash {
  const sandbox = sandboxOf(options);
  if (sandbox !== undefined) return sandboxRunner(sandbox);
  const terminal = terminalOf(options);
  if (terminal !== undefined) return terminalRunner(terminal);
  const session = sessionOf(options);
  return session === undefined ? (options.run ?? bash) : sessionRunner(session);
}
