import { execFileSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { root } from './packed.ts';

/** The result of the check for this output of `npm audit --json`, or its error. */
function verdict(printed: string, required = false): string {
  const script = `
    import { auditVerdict } from './scripts/audit.mjs';
    try { console.log(auditVerdict(process.argv[1], ${required})); } catch (error) { console.log('failed: ' + error.message); }`;
  return execFileSync(process.execPath, ['--input-type=module', '-e', script, printed], {
    cwd: root,
    encoding: 'utf8',
  });
}

const counts = (total: number) => ({ metadata: { vulnerabilities: { total } } });

test('npm audit fails the check by its findings', () => {
  const found = JSON.stringify({ ...counts(1), vulnerabilities: { commander: { severity: 'low' } } });
  expect(verdict(found)).toBe('failed: npm audit: commander\n');
  expect(verdict(JSON.stringify(counts(0)))).toBe('npm audit: nothing is known against what a user installs\n');
});

test.each([
  ['an error', JSON.stringify({ message: '405 Method Not Allowed', error: { summary: '' } }), '405 Method Not Allowed'],
  ['a page', '<html>', 'no JSON came back'],
  ['nothing', '', 'no JSON came back'],
  ['null', 'null', 'no JSON came back'],
])('a registry that answers npm audit with %s fails it only where there is a network', (_, printed, why) => {
  const text = `npm audit: the registry was not able to answer, so nothing is known (${why})\n`;
  expect(verdict(printed)).toBe(text);
  expect(verdict(printed, true)).toBe(`failed: ${text}`);
});

test('cargo deny looks at the crates of each target', async () => {
  const { napi } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
  const [, listed = ''] = /^targets = \[\n(.*?)^\]/ms.exec(await readFile(join(root, 'deny.toml'), 'utf8')) ?? [];
  expect(listed.match(/[\w-]+/g)).toEqual(napi.targets);
});

test('the notices name the crates of the binaries and the packages beside them', async () => {
  const notices = await readFile(join(root, 'LICENSE.third-party.txt'), 'utf8');
  const { bundleDependencies } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
  const crates = /^\[dependencies\]\n(.*?)^\[/ms.exec(await readFile(join(root, 'Cargo.toml'), 'utf8'))?.[1] ?? '';
  const names = [...crates.matchAll(/^([\w-]+) = /gm)].map(([, name]) => name ?? '');
  // Macros run in the compiler, and nothing of them is in a binary.
  for (const name of names) if (name !== 'napi-derive') expect(notices).toMatch(new RegExp(`^${name} \\d`, 'm'));
  for (const name of bundleDependencies) expect(notices).toMatch(new RegExp(`^${name} \\S+ \\(npm\\)$`, 'm'));
  expect(notices).toContain('musl');
  expect(notices).toContain('the Rust standard library');
});
