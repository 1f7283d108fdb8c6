import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { brokenLinks } from '../../../site/anchors.mjs';
import { folder } from '../../support/index.ts';
import { root, run } from '../package/packed.ts';

// The site as `npm run docs` builds it. The first run installs its generators.

const SLOW = 20 * 60_000;
const build = (...args: string[]) =>
  run(process.execPath, [join(root, 'site/build.mjs'), ...args], root, process.env, SLOW);

describe('the documentation site', () => {
  let out: string;
  const html = (page: string) => readFile(join(out, page), 'utf8');

  beforeAll(async () => {
    out = await mkdtemp(join(tmpdir(), 'agent-bash-site-'));
    const { code, stdout, stderr } = await build('--out', out);
    expect(code, stderr).toBe(0);
    expect(stdout).toContain('index.html');
  }, SLOW);
  afterAll(() => rm(out, { recursive: true }));

  test('has each page of docs/ and of the root', async () => {
    const pages = (await readdir(join(root, 'docs'))).filter((name) => name.endsWith('.md') && name !== 'README.md');
    const files = await readdir(out, { recursive: true });
    expect(pages.map((name) => name.replace(/md$/, 'html')).filter((name) => !files.includes(name))).toEqual([]);
    for (const name of ['index', 'project/changelog', 'project/security', 'project/architecture']) {
      expect(files).toContain(`${name}.html`);
    }
  });

  test('has the reference of each entry point', async () => {
    const { exports } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
    for (const entry of Object.keys(exports).filter((name) => name !== './package.json')) {
      expect(await html(join('api/agent-bash', entry, 'index.html'))).toContain('agent-bash');
    }
    expect(await html('api/agent-bash/functions/bash.html')).toContain('BashOptions');
    expect(await html('api/agent-bash/ai/functions/createBashTool.html')).toContain('BashToolOptions');
  });

  test('shows the files that pages link to', async () => {
    expect(await html('project/readme.html')).toContain('source/LICENSE.third-party.txt');
    expect(await html('source/LICENSE.third-party.txt.html')).toContain('Licen');
  });

  test('has a search of its own', async () => {
    const files = await readdir(join(out, 'assets/chunks'));
    expect(files.some((name) => name.startsWith('@localSearchIndex'))).toBe(true);
  });

  test('has no broken link, down to the anchors', () => {
    expect(brokenLinks(out)).toEqual([]);
  });
});

test(
  'a link to a page that does not exist fails the build',
  async () => {
    const docs = folder();
    await cp(join(root, 'docs'), docs, { recursive: true });
    await writeFile(join(docs, 'wrong.md'), '# Wrong\n\nSee [nowhere](nowhere.md).\n');
    const { code, stderr } = await build('--docs', docs, '--no-reference', '--out', folder());
    expect(code).toBe(1);
    expect(stderr).toMatch(/dead link \S*nowhere\S* in file wrong\.md/);
  },
  SLOW,
);

test('a link to a heading that does not exist is found', async () => {
  const site = folder();
  await mkdir(join(site, 'api'));
  await writeFile(
    join(site, 'one.html'),
    '<h2 id="here">Here</h2><a href="#here">1</a><a class="x" href="/api/#there">2</a>',
  );
  await writeFile(join(site, 'api/index.html'), '<a href="../one.html#here">3</a><a href="../one#gone">4</a>');
  expect(brokenLinks(site).sort()).toEqual([
    'api/index.html: ../one#gone has no such heading',
    'one.html: /api/#there has no such heading',
  ]);
});
