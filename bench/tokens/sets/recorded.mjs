// Outputs that we recorded ourselves: bench/tokens/recorded. `node bench/tokens/record.mjs` made them.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export const what = 'recorded by ourselves';

const DIRECTORY = join(import.meta.dirname, '../recorded');

export function* records() {
  for (const name of readdirSync(DIRECTORY).sort()) {
    if (!name.endsWith('.json')) continue;
    const { command, exitCode, stdout, stderr } = JSON.parse(readFileSync(join(DIRECTORY, name), 'utf8'));
    yield { session: name, command, exitCode, output: stdout, stderr };
  }
}
