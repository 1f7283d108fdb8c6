import { readFileSync } from 'node:fs';
import { defineConfig } from 'vitepress';
import { ENTRIES } from '../api.mjs';
import { sections, slugify } from '../pages.mjs';

const index = readFileSync(new URL('../.pages/index.md', import.meta.url), 'utf8');
const reference = ENTRIES.map(({ name }) => ({ text: name, link: `/api/${name}/` }));

export default defineConfig({
  title: 'agent-bash',
  description: 'The bash tool for coding agents',
  lang: 'en',
  srcDir: '.pages',
  cacheDir: '../target/site-cache',
  cleanUrls: false,
  ignoreDeadLinks: false,
  markdown: { anchor: { slugify } },
  themeConfig: {
    nav: [
      { text: 'Guide', link: '/running' },
      { text: 'API', link: '/api/' },
      { text: 'Changelog', link: '/project/changelog' },
    ],
    sidebar: [...sections(index), { text: 'API reference', collapsed: true, items: reference }],
    outline: { level: [2, 3] },
    search: {
      provider: 'local',
      options: {
        // The search leaves out sources and notices.
        _render: (text, env, markdown) => (env.relativePath.startsWith('source/') ? '' : markdown.render(text, env)),
      },
    },
  },
});
