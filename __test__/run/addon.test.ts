import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { ADDON, folder, packageRoot } from '../support/index.ts';

/** Uses the package in another process with this addon. Returns what it prints. */
async function used(addon: string): Promise<string> {
  const script = `
    import { safetyRules } from 'agent-bash';
    try { console.log(safetyRules().length > 0); } catch ({ code, message }) { console.log(code + ' ' + message); }`;
  const env = { ...process.env, AGENT_BASH_ADDON: addon };
  const options = { cwd: packageRoot, env };
  return (await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], options)).stdout.trim();
}

test('AGENT_BASH_ADDON names the file of the addon', async () => {
  expect(await used(ADDON)).toBe('true');
});

test('a file that is no addon is named with the reason', async () => {
  const text = join(folder(), 'text.node');
  writeFileSync(text, 'no addon');
  const missing = join(folder(), 'none.node');
  expect(await used(missing)).toBe(`ERR_BASH_SPAWN ${missing} does not exist`);
  expect(await used(text)).toContain(`ERR_BASH_SPAWN ${text} cannot be loaded: `);
  expect(await used('./x.node')).toBe('ERR_BASH_SPAWN AGENT_BASH_ADDON: ./x.node is not an absolute path');
});
