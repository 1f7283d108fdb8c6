import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { temporaryFolder } from './support.ts';

const root = join(import.meta.dirname, '../..');
const page = await readFile(join(root, 'docs/sandbox.md'), 'utf8');
const examples = [...page.matchAll(/^```js\n(.*?)^```$/gms)].map((match) => match[1] ?? '');

test('the page has examples', () => {
  expect(examples.length).toBe(3);
});

// Each example runs unchanged. The comments behind its console.log lines give the output.
test.each(examples.map((code, index) => [index + 1, code] as const))(
  'example %i of docs/sandbox.md',
  async (_, code) => {
    const TMPDIR = await temporaryFolder();
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', code], {
      cwd: root,
      env: { ...process.env, TMPDIR },
    });
    const expected = [...code.matchAll(/console\.log\(.*\); \/\/ (.*)$/gm)].map((match) => match[1]);
    expect(stdout.split('\n').filter((line) => line !== '')).toEqual(expected);
  },
);
