import { kill, mentioning } from '../../support/index.ts';

/** The processes of a client of this name that have `text`, which only this test has, in their arguments. */
export function clients(name: string, text: string): number[] {
  return mentioning(text)
    .filter((one) => one.name === name)
    .map(({ pid }) => pid);
}

/** Kills such clients. Fails if there is none. */
export function cut(name: string, text: string): void {
  const found = clients(name, text);
  if (found.length === 0) throw new Error(`no ${name} runs with ${text}`);
  for (const pid of found) kill(pid, 'SIGKILL');
}
