import { access, readdir } from 'node:fs/promises';
import { dirname, join, normalize } from 'node:path';
import { expect, test } from 'vitest';
import { packageRoot } from '../support/index.ts';
import { source } from './examples.ts';

const roots = (await readdir(packageRoot)).filter((name) => name.endsWith('.md'));
const docs = (await readdir(join(packageRoot, 'docs'))).filter((name) => name.endsWith('.md'));
const pages = [...roots, ...docs.map((name) => `docs/${name}`)];

/** The anchors that GitHub makes of a page's headings. */
function anchors(text: string): string[] {
  const plain = text.replace(/^ *```.*?^ *```$/gms, '');
  return [...plain.matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

test.each(pages)('%s: its links lead somewhere', async (page) => {
  const text = (await source(page)).replace(/^ *```.*?^ *```$/gms, '').replace(/``.*?``|`[^`\n]*`/g, 'code');
  const dead: string[] = [];
  for (const [, target = ''] of text.matchAll(/\]\(([^)\s]+)\)/g)) {
    if (/^\w+:/.test(target)) continue;
    const [path = '', anchor] = target.split('#');
    const file = path === '' ? page : normalize(join(dirname(page), path));
    const there = await access(join(packageRoot, file)).then(
      () => true,
      () => false,
    );
    if (!there || (anchor && !anchors(await source(file)).includes(anchor))) dead.push(target);
  }
  expect(dead).toEqual([]);
});

/** The code spans of a page that are paths of the repository. */
function paths(text: string): string[] {
  const spans = text
    .replace(/^ *```.*?^ *```$/gms, '')
    .matchAll(/`((?:src|ts|scripts|bench|__test__|docs|\.github)\/[^`\s<{*]*)`/g);
  return [...new Set([...spans].map(([, path = '']) => path))];
}

test.each(['ARCHITECTURE.md', 'CONTRIBUTING.md'])('%s: the files that it names exist', async (page) => {
  const named = paths(await source(page));
  expect(named.length).toBeGreaterThan(5);
  const missing = await Promise.all(
    named.map((path) =>
      access(join(packageRoot, path)).then(
        () => [],
        () => [path],
      ),
    ),
  );
  expect(missing.flat()).toEqual([]);
});
