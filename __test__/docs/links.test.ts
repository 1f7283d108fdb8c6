import { access, readdir } from 'node:fs/promises';
import { dirname, join, normalize } from 'node:path';
import { expect, test } from 'vitest';
import { packageRoot } from '../support/index.ts';
import { source } from './examples.ts';

const roots = (await readdir(packageRoot)).filter((name) => name.endsWith('.md'));
const docs = (await readdir(join(packageRoot, 'docs'))).filter((name) => name.endsWith('.md'));
const pages = [...roots, ...docs.map((name) => `docs/${name}`), 'bench/README.md', 'examples/coding-agent/README.md'];

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

/** What the npm package has of the repository. */
const { files: shipped }: { files: string[] } = JSON.parse(await source('package.json'));
const isShipped = (file: string) => shipped.some((entry) => file === entry || file.startsWith(`${entry}/`));

/** The targets of a page's links in this repository. */
function targets(text: string): string[] {
  const prose = text.replace(/^ *```.*?^ *```$/gms, '').replace(/``.*?``|`[^`\n]*`/g, 'code');
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target = '']) => target)
    .filter((target) => !/^\w+:/.test(target));
}

/** The file that a link of a page leads to. */
function fileOf(page: string, target: string): string {
  const [path = ''] = target.split('#');
  return path === '' ? page : normalize(join(dirname(page), path));
}

test.each(pages.filter(isShipped))('%s: its links lead to files of the package', async (page) => {
  const outside = targets(await source(page)).filter((target) => !isShipped(fileOf(page, target)));
  expect(outside).toEqual([]);
});

test.each(pages)('%s: its links lead somewhere', async (page) => {
  const dead: string[] = [];
  for (const target of targets(await source(page))) {
    const [, anchor] = target.split('#');
    const file = fileOf(page, target);
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
