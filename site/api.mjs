/** The API reference, made of the published types of each entry point (`dist/*.d.cts` and `dist/*.d.mts`). */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { root, run } from '../scripts/process.mjs';

const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

/** The names of the entry points, and their files with types. */
export const ENTRIES = Object.entries(exports)
  .filter(([entry]) => entry !== './package.json')
  .map(([entry, { types, import: module }]) => ({
    name: entry === '.' ? 'agent-bash' : `agent-bash/${entry.slice(2)}`,
    types: types ?? module.types,
  }));

/** Writes the pages of the reference below `to`. `work` is a directory for files on the way. */
export async function writeReference(to, work) {
  rmSync(work, { recursive: true, force: true });
  mkdirSync(work, { recursive: true });
  const entryPoints = ENTRIES.map(({ name, types }, index) => {
    const file = join(work, `${index}.ts`);
    const from = relative(work, join(root, types)).replace(/\.d\.([cm])ts$/, '.$1js');
    writeFileSync(file, `/**\n * @module ${name}\n */\nexport * from ${JSON.stringify(from)};\n`);
    return file;
  });
  const compilerOptions = {
    module: 'nodenext',
    moduleResolution: 'nodenext',
    target: 'es2022',
    lib: ['es2023', 'dom'],
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    types: ['node'],
    typeRoots: [join(root, 'node_modules', '@types')],
  };
  writeFileSync(join(work, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts'] }));
  const options = {
    entryPoints,
    tsconfig: join(work, 'tsconfig.json'),
    plugin: ['typedoc-plugin-markdown'],
    out: to,
    name: 'API reference',
    readme: 'none',
    router: 'member',
    entryFileName: 'index',
    disableSources: true,
    // Some types have no name of their own outside: the comments tell of them.
    validation: { notExported: false },
    hidePageHeader: true,
    useCodeBlocks: true,
    parametersFormat: 'table',
    interfacePropertiesFormat: 'list',
  };
  writeFileSync(join(work, 'typedoc.json'), JSON.stringify(options));
  const typedoc = join(root, 'site', 'node_modules', '.bin', 'typedoc');
  await run(typedoc, ['--options', join(work, 'typedoc.json')], { output: 'keep', cwd: join(root, 'site') });
}
