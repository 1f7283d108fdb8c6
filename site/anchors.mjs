/** Checks the links of the built site down to their anchors, which VitePress does not. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';

const decoded = (text) => decodeURIComponent(text.replaceAll('&amp;', '&').replaceAll('&#39;', "'"));

/** Returns a line for each link of a page to a file or an anchor that the site does not have. */
export function brokenLinks(site) {
  const files = new Set(readdirSync(site, { recursive: true }));
  const pages = new Map();
  for (const file of files) {
    if (!file.endsWith('.html')) continue;
    const html = readFileSync(join(site, file), 'utf8');
    const ids = new Set([...html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => decoded(id)));
    const links = [...html.matchAll(/<a\b[^>]*? href="([^"]+)"/g)].map(([, href]) => decoded(href));
    pages.set(file, { ids, links });
  }
  const broken = [];
  for (const [file, { links }] of pages) {
    for (const link of new Set(links)) {
      if (/^\w+:/.test(link)) continue;
      const [path, anchor] = link.split('#');
      const way =
        path === '' ? file : posix.join(path.startsWith('/') ? '' : posix.dirname(file), path.replace(/^\//, ''));
      const target = [way, `${way}.html`, posix.join(way, 'index.html')].find(
        (one) => files.has(one) && /\.\w+$/.test(one),
      );
      if (target === undefined) broken.push(`${file}: ${link} leads nowhere`);
      else if (anchor && !pages.get(target)?.ids.has(anchor)) broken.push(`${file}: ${link} has no such heading`);
    }
  }
  return broken;
}
