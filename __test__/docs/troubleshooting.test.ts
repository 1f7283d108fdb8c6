import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { bash } from 'agent-bash';
import { describe, expect, test, vi } from 'vitest';
import { packageRoot } from '../support/index.ts';
import { page, source } from './examples.ts';

const text = await page('troubleshooting.md');

/** The sources that write messages, each text on one line. */
async function messages(): Promise<string> {
  const files = await Promise.all(
    ['ts', 'src', 'crates'].map(async (directory) => {
      const names = await readdir(join(packageRoot, directory), { recursive: true });
      return names.filter((name) => /\.(ts|rs)$/.test(name)).map((name) => `${directory}/${name}`);
    }),
  );
  const texts = await Promise.all(files.flat().map(source));
  return texts
    .join('\n')
    .replace(/['`]\s*\+\s*\n\s*['`]/g, '')
    .replace(/\\\n\s*/g, '')
    .replaceAll('\\"', '"');
}

/** Words of the system, of npm and of a linker, which no source of ours has. */
const FOREIGN = ['Too many open files', 'Argument list too long', 'Read-only file system', 'command not found'];

/** The code spans that quote a message: more than one word, or one before a colon. */
function quoted(cell: string): string[] {
  const spans = [...cell.matchAll(/(`+)(?!`)(.*?)(?<!`)\1(?!`)/g)].map(([, , span = '']) => span);
  return spans.filter((span) => / /.test(span) && !/^(npm test|sudo -n|set -o|safety: |new |await )/.test(span));
}

const rows = text.split('\n').filter((line) => line.startsWith('| ') && !/^\| (message|symptom) /.test(line));
const quotes = [...new Set(rows.flatMap((row) => quoted(row.split(' | ')[0] ?? '')))];
const all = await messages();

describe('docs/troubleshooting.md quotes messages as the source has them', () => {
  test('it quotes many', () => {
    expect(rows.length).toBeGreaterThan(30);
    expect(quotes.length).toBeGreaterThan(20);
  });

  test.each(quotes.filter((quote) => !FOREIGN.some((words) => quote.endsWith(words))))('%s', (quote) => {
    // Values that a message has in the middle or at its end, and that the source writes as {} or ${…}.
    const parts = quote.split(/"[^"]*"|\b2000\b| failed: .*|: Permission denied|: EAGAIN/);
    for (const part of parts.map((one) => one.trim()).filter(Boolean)) expect(all.includes(part), part).toBe(true);
  });
});

test('fake timers do not stop a command or its limit', async () => {
  vi.useFakeTimers();
  try {
    expect(await bash('sleep 60', { timeoutMs: 300 })).toMatchObject({ status: 'timed-out' });
  } finally {
    vi.useRealTimers();
  }
});
