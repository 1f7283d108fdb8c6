import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { finished, folder } from '../support/index.ts';

/** Programs that do what a test says, in a directory of their own. */
export interface Scripted {
  directory: string;
  /** The calls so far, each with its arguments in one line. */
  calls(): string[];
}

/** Writes programs, each with these lines of bash. `again FILE` tells how often it was called. */
export function scripted(programs: Record<string, string>): Scripted {
  const directory = folder();
  for (const [name, lines] of Object.entries(programs)) {
    const begin = `#!/bin/bash\ncd ${directory}\necho "${name} $*" >>calls\nagain() { echo >>"$1"; wc -l <"$1"; }\n`;
    writeFileSync(join(directory, name), `${begin}${lines}\n`);
    chmodSync(join(directory, name), 0o755);
  }
  const calls = join(directory, 'calls');
  return { directory, calls: () => (existsSync(calls) ? readFileSync(calls, 'utf8').trimEnd().split('\n') : []) };
}

/** Has the programs of a directory found before all others, until the end of the test. */
export function onPath(directory: string): void {
  const { PATH } = process.env;
  process.env.PATH = `${directory}:${PATH}`;
  finished(() => {
    process.env.PATH = PATH;
  });
}

export const request = (signal = new AbortController().signal) => ({ affinity: null, signal });
