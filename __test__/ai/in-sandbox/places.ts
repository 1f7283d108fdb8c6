import { createJustBashSandbox } from '@ai-sdk/sandbox-just-bash';
import type { ToolSandbox, ToolSandboxSession } from 'agent-bash/ai';
import { createLocalSandbox, createLocalSandboxSession } from 'agent-bash/sandbox';
import { onTestFinished } from 'vitest';
import { folder } from '../../support/index.ts';

/** The published session, in a world of its own. */
export async function justBash(): Promise<ToolSandboxSession> {
  return (await createJustBashSandbox({ cwd: '/work' }).createSession()).restricted();
}

/** Our own session in a directory of the test's own; it ends with the test. */
export function localSession(cwd: string = folder()): ToolSandboxSession {
  const session = createLocalSandboxSession({ cwd, graceMs: 300 });
  onTestFinished(() => session[Symbol.asyncDispose]());
  return session;
}

/** The same without `spawn`, as a session that can only run. */
export function runOnly(cwd: string = folder()): ToolSandboxSession {
  const { spawn, ...session } = localSession(cwd);
  return session;
}

/** A command runner in a directory of the test's own. */
export function localRunner(cwd: string = folder()): ToolSandbox {
  const sandbox = createLocalSandbox({ cwd, graceMs: 300 });
  onTestFinished(() => sandbox.stop());
  return sandbox;
}

/** Wherever a command can run, by name. */
export const PLACES: [name: string, make: () => ToolSandbox | Promise<ToolSandbox>][] = [
  ['the published session', justBash],
  ['our session', localSession],
  ['a session that only runs', runOnly],
  ['a command runner', localRunner],
];
