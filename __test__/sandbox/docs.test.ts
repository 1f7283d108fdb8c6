import { execFile } from 'node:child_process';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');
const page = await readFile(join(root, 'docs/sandbox.md'), 'utf8');
const examples = [...page.matchAll(/^```js\n(.*?)^```$/gms)].map((match) => match[1] ?? '');

test('the page has examples', () => {
  expect(examples.length).toBe(3);
});

// Each example runs as it stands; what it prints is what the comments behind its console.log lines say.
test.each(examples.map((code, index) => [index + 1, code] as const))(
  'example %i of docs/sandbox.md',
  async (index, code) => {
    const file = join(root, `.docs-sandbox-${process.pid}-${index}.mjs`);
    await writeFile(file, code);
    try {
      const { stdout } = await promisify(execFile)(process.execPath, [file], { cwd: root });
      const expected = [...code.matchAll(/console\.log\(.*\); \/\/ (.*)$/gm)].map((match) => match[1]);
      expect(stdout.split('\n').filter((line) => line !== '')).toEqual(expected);
    } finally {
      await rm(file);
    }
  },
);
