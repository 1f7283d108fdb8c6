/**
 * `npm run docs`: the documentation as a static site in `target/site`, with a search and a reference of the API.
 * `-- --serve` then serves it on this machine. A link that leads nowhere fails the build.
 *
 * For tests: `--docs DIR` has other pages, `--out DIR` is another place, `--no-reference` leaves the reference out.
 *
 * The generators have a lock of their own, so that `npm ci` of the project does not install them. The first run does.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import { Failed, main, npm, root, run } from '../scripts/process.mjs';
import { brokenLinks } from './anchors.mjs';
import { ENTRIES, writeReference } from './api.mjs';
import { writePages } from './pages.mjs';

const here = join(root, 'site');
const vitepress = join(here, 'node_modules', '.bin', 'vitepress');

/** Installs the generators if those of the lock are not there. */
async function install() {
  const lock = readFileSync(join(here, 'package-lock.json'), 'utf8');
  const mark = join(here, 'node_modules', '.installed-lock');
  if (existsSync(mark) && readFileSync(mark, 'utf8') === lock) return;
  console.error('docs: the generators (npm ci) …');
  await run(npm, ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: here, output: 'keep' });
  writeFileSync(mark, lock);
}

await main(async () => {
  const { values } = parseArgs({
    options: {
      docs: { type: 'string', default: join(root, 'docs') },
      out: { type: 'string', default: join(root, 'target', 'site') },
      reference: { type: 'boolean', default: true },
      serve: { type: 'boolean', default: false },
    },
    allowNegative: true,
  });
  await install();
  const pages = join(here, '.pages');
  writePages(pages, values.docs);
  if (values.reference) {
    console.error('docs: the API reference …');
    await writeReference(join(pages, 'api'), join(here, '.entries'));
  } else {
    for (const name of ['', ...ENTRIES.map((entry) => entry.name)]) {
      mkdirSync(join(pages, 'api', name), { recursive: true });
      writeFileSync(join(pages, 'api', name, 'index.md'), '# API reference\n');
    }
  }
  console.error('docs: the site …');
  await run(vitepress, ['build', here, '--outDir', values.out], { output: 'keep', env: { NODE_ENV: 'production' } });
  const broken = brokenLinks(values.out);
  if (broken.length > 0) throw new Failed(`${broken.length} broken links:\n${broken.join('\n')}`);
  console.log(`docs: ${relative(process.cwd(), join(values.out, 'index.html'))}`);
  if (values.serve) await run(vitepress, ['preview', here, '--outDir', values.out]);
});
