/**
 * The browser app of the page as a module of text: `import { script, style } from 'agent-bash:page-app'`. It becomes a
 * part of the entry `agent-bash/page`, so that bundlers of users find all of it.
 */
import { join } from 'node:path';
import { build } from 'esbuild';
import { root } from './process.mjs';

const MODULE = 'agent-bash:page-app';
const APP = join(root, 'ts', 'page', 'app');

/** Bundles the app: one script and one style sheet, both minified. */
export async function pageApp() {
  const { outputFiles } = await build({
    entryPoints: { script: join(APP, 'main.ts'), style: join(APP, 'style', 'main.css') },
    tsconfig: join(APP, 'tsconfig.json'),
    outdir: root,
    bundle: true,
    minify: true,
    write: false,
    format: 'esm',
    charset: 'utf8',
    // Browsers with light-dark(), relative colours and the text-wrap of the style sheet.
    target: ['chrome125', 'firefox128', 'safari17.5'],
  });
  const text = (ending) => outputFiles.find(({ path }) => path.endsWith(ending)).text;
  return { script: text('.js'), style: text('.css') };
}

/** The plugin of the bundler. */
export function pageAppPlugin() {
  return {
    name: 'page-app',
    resolveId: (id) => (id === MODULE ? `\0${MODULE}` : null),
    async load(id) {
      if (id !== `\0${MODULE}`) return null;
      const { script, style } = await pageApp();
      return `export const script = ${JSON.stringify(script)};\nexport const style = ${JSON.stringify(style)};\n`;
    },
  };
}
