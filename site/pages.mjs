/**
 * The pages of the site: those of `docs/` as they are, those of the root, and one for each source file that a page
 * links to. Links are rewritten, so that the pages stay plain Markdown of the repository.
 */
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, extname, join, posix, relative } from 'node:path';
import { root } from '../scripts/process.mjs';

/** The anchor that GitHub makes of a heading. */
export const slugify = (heading) =>
  heading
    .toLowerCase()
    .trim()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');

/** The file of the site for a file of the repository. */
function placeOf(path) {
  if (path === 'docs' || path === 'docs/README.md') return 'index.md';
  if (/^[^/]+\.md$/.test(path)) return `project/${path.toLowerCase()}`;
  if (path.startsWith('docs/')) return path.slice('docs/'.length);
  return statSync(join(root, path)).isDirectory() ? `source/${path}/index.md` : `source/${path}.md`;
}

/** Calls `replace` for the target of each link and image of a page, in Markdown and HTML, outside of code. */
function withLinks(text, replace) {
  const code = /^ *(```+|~~~+)[^\n]*\n.*?^ *\1$|(`+)(?!`).*?(?<!`)\2(?!`)/gms;
  let result = '';
  let at = 0;
  const outside = (part) =>
    part
      .replace(/\]\(([^)\s]+)\)/g, (_, target) => `](${replace(target)})`)
      .replace(/\b(src|srcset)="([^"\s]+)"/g, (_, name, target) => `${name}="${replace(target)}"`);
  // A code span may stand in the text of a link, so spans are hidden and put back, not cut out.
  const kept = [];
  for (const match of text.matchAll(code)) {
    result += `${text.slice(at, match.index)}\0${kept.push(match[0]) - 1}\0`;
    at = match.index + match[0].length;
  }
  result = outside(result + text.slice(at));
  return result.replace(/\0(\d+)\0/g, (_, index) => kept[index]);
}

/** A page that shows a source file. */
function shown(path, text) {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length));
  const fence = '`'.repeat(longest + 1);
  return `# ${path}\n\n${fence}${extname(path).slice(1)}\n${text.trimEnd()}\n${fence}\n`;
}

/** A page that lists a directory of the repository. */
function listed(path) {
  const names = readdirSync(join(root, path)).filter((name) => name !== 'node_modules');
  return `# ${path}\n\n${names.map((name) => `- [${name}](${name})\n`).join('')}`;
}

/** Writes all pages below `to`. `docs` is the directory of the pages, another than `docs/` in tests. */
export function writePages(to, docs = join(root, 'docs')) {
  rmSync(to, { recursive: true, force: true });
  const waiting = [];
  const known = new Set();
  const want = (path) => {
    if (!known.has(path)) waiting.push(path);
    known.add(path);
  };
  for (const name of readdirSync(root)) if (name.endsWith('.md')) want(name);
  for (const name of readdirSync(docs, { recursive: true })) {
    if (statSync(join(docs, name)).isFile()) want(`docs/${name}`);
  }

  const fileOf = (path) => (path.startsWith('docs/') ? join(docs, path.slice('docs/'.length)) : join(root, path));
  for (let path = waiting.shift(); path !== undefined; path = waiting.shift()) {
    const file = fileOf(path);
    const place = existsSync(file) ? placeOf(path) : null;
    if (place === null) continue;
    const target = join(to, place);
    mkdirSync(dirname(target), { recursive: true });
    const isDirectory = statSync(file).isDirectory();
    const isPage = extname(path) === '.md';
    if (!isDirectory && !isPage && path.startsWith('docs/')) {
      copyFileSync(file, target);
      continue;
    }
    const text = isDirectory ? listed(path) : readFileSync(file, 'utf8');
    const from = isDirectory ? `${path}/x` : path;
    const links = (link) => {
      const [, name = '', anchor = ''] = /^([^#]*)(#.*)?$/.exec(link) ?? [];
      if (/^\w+:/.test(link) || name === '') return link;
      const other = posix.normalize(posix.join(posix.dirname(from), name)).replace(/\/$/, '');
      // A link that leads nowhere stays as it is: VitePress then names it and fails.
      if (other.startsWith('..') || !existsSync(fileOf(other))) return link;
      want(other);
      const way = relative(dirname(target), join(to, placeOf(other)));
      return `${way.startsWith('.') ? way : `./${way}`}${anchor}`;
    };
    writeFileSync(target, isPage || isDirectory ? withLinks(text, links) : shown(path, text));
  }
}

/** The sections of docs/README.md, as the groups of the sidebar. */
export function sections(text) {
  return text
    .split(/^## /m)
    .slice(1)
    .map((section) => ({
      text: section.slice(0, section.indexOf('\n')),
      items: [...section.matchAll(/^- \[([^\]]+)\]\(([^)]+)\)/gm)].map(([, title, link]) => ({
        text: title,
        link: `/${posix.join('docs', link).startsWith('docs/') ? link : placeOf(posix.join('docs', link))}`.replace(
          /\.md$/,
          '',
        ),
      })),
    }));
}
