import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { ADDON, folder, packageRoot } from '../support/index.ts';

/** Uses the package in another process with this addon, after a line of code. Returns what it prints. */
async function used(addon: string, before = ''): Promise<string> {
  const script = `
    ${before};
    const { safetyRules } = await import('agent-bash');
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

test('a platform without a build is refused with what to use instead', async () => {
  for (const [name, value] of [
    ['arch', 'riscv64'],
    ['platform', 'freebsd'],
  ]) {
    const said = await used('', `Object.defineProperty(process, '${name}', { value: '${value}' })`);
    expect(said).toMatch(/^ERR_BASH_UNSUPPORTED agent-bash has no build for [^\n]*: it runs on Linux [^\n]* WSL 2\.$/);
    expect(said).toContain(value);
  }
});

test('a platform with a build that is not there is told how to install it', async () => {
  const said = await used('', "Object.defineProperty(process, 'platform', { value: 'darwin' })");
  expect(said).toMatch(/^ERR_BASH_SPAWN agent-bash found no addon for darwin [^\n]*--include=optional/);
});
