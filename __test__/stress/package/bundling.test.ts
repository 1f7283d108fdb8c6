import { copyFile, mkdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { build, type Format } from 'esbuild';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { testNeeding } from '../../support/index.ts';
import { PACKING, type PackedProject, packedProject, root, run } from './packed.ts';
import { programOf, type Runtime, runtimes } from './runtimes.ts';

const page = await readFile(join(root, 'docs', 'bundling.md'), 'utf8');

/** The error that the page names, on one line. */
const sentence = [...page.matchAll(/^> (.*)$/gm)].map(([, line]) => line).join(' ');

const bun = await programOf(runtimes.find(({ title }) => title.startsWith('Bun')) as Runtime);
let project: PackedProject;

beforeAll(async () => {
  project = await packedProject();
  await writeFile(
    join(project.folder, 'app.mjs'),
    `import { analyze, bash } from 'agent-bash';
     import { createBashTool } from 'agent-bash/ai';
     import { createLocalSandbox } from 'agent-bash/sandbox';
     const said = (error) => console.log(error.code + ': ' + error.message);
     try {
       console.log(typeof createBashTool, typeof createLocalSandbox, analyze('true').verdict);
       bash('echo hi').then(({ stdout }) => process.stdout.write(stdout), said);
     } catch (error) {
       said(error);
     }`,
  );
}, PACKING);

afterAll(() => project?.[Symbol.asyncDispose]());

/** Bundles the app, with the warnings as errors. Returns the file. */
async function bundle(format: Format, options: object, folder = join(project.folder, 'out')): Promise<string> {
  const outfile = join(folder, `app.${format === 'esm' ? 'mjs' : 'cjs'}`);
  const { warnings } = await build({
    absWorkingDir: project.folder,
    entryPoints: ['app.mjs'],
    bundle: true,
    platform: 'node',
    format,
    outfile,
    logLevel: 'silent',
    ...options,
  });
  expect(warnings).toEqual([]);
  return outfile;
}

/** Bundles the app and runs it in the project, without the package of this name. */
async function bundled(format: Format, options: object, removed?: string) {
  const file = await bundle(format, options);
  await using _away = removed === undefined ? null : await without(removed);
  return await run(process.execPath, [file], project.folder, project.env);
}

/** Takes a package out of the project for as long as the returned value lives. */
async function without(name: string) {
  const away = join(project.folder, `${name}-away`);
  const path = join(project.folder, 'node_modules', name);
  await rename(path, away);
  return { [Symbol.asyncDispose]: () => rename(away, path) };
}

describe.each(['esm', 'cjs'] as const)('a bundle of esbuild as %s', (format) => {
  test.each([
    ['with agent-bash as external', { external: ['agent-bash'] }],
    ['minified', { external: ['agent-bash'], minify: true }],
    ['with all packages left out', { packages: 'external' }],
    // The platform's package is not what counts: the main entry looks for it from where it lies.
    ['with the main entry alone as external', { plugins: [mainAlone()] }],
  ])('runs %s', async (_, options) => {
    const expected = { code: 0, stdout: 'function function allow\nhi\n', stderr: '' };
    expect(await bundled(format, options)).toEqual(expected);
  });

  const ran = { code: 0, stdout: 'function function allow\nhi\n', stderr: '' };

  test.each([
    ['as it is', {}],
    ['minified', { minify: true }],
    ['with the platform package as external', { external: ['agent-bash-*'] }],
  ])('that took it along finds the platform package beside it, %s', async (_, options) => {
    expect(await bundled(format, options, 'agent-bash')).toEqual(ran);
  });

  test('that took it along finds the platform package from another directory', async () => {
    const elsewhere = join(dirname(project.folder), `elsewhere-${format}`);
    const file = await bundle(format, {}, elsewhere);
    await using _away = await without('agent-bash');
    // Never from the working directory, whose files may belong to others.
    expect((await run(process.execPath, [file], project.folder, project.env)).stdout).toContain(sentence);
    // From the program that was started.
    const start = join(project.folder, 'start.mjs');
    await writeFile(start, `import ${JSON.stringify(file)};`);
    expect(await run(process.execPath, [start], dirname(file), project.env)).toEqual(ran);
    // From its own file.
    const beside = join(project.folder, basename(file));
    await copyFile(file, beside);
    const code = `import(${JSON.stringify(beside)})`;
    expect(await run(process.execPath, ['-e', code], dirname(file), project.env)).toEqual(ran);
  });

  test.each([
    ['as it is', {}],
    ['minified', { minify: true }],
  ])('without a platform package says what to do, in the sentence of the page, %s', async (_, options) => {
    expect(sentence).toContain('external');
    const said = { code: 0, stdout: `ERR_BASH_SPAWN: ${sentence}\n`, stderr: '' };
    expect(await bundled(format, options, basename(project.platform))).toEqual(said);
  });

  test('refuses a platform package of another version', async () => {
    const file = join(project.platform, 'package.json');
    const manifest = await readFile(file, 'utf8');
    const { name, version } = JSON.parse(manifest);
    await writeFile(file, JSON.stringify({ ...JSON.parse(manifest), version: '0.0.7' }));
    try {
      const said = `ERR_BASH_SPAWN: agent-bash ${version} found its addon in another version only: ${name} 0.0.7. Install version ${version} of that package.\n`;
      expect(await bundled(format, {})).toEqual({ code: 0, stdout: said, stderr: '' });
    } finally {
      await writeFile(file, manifest);
    }
  });
});

/** As bundlers do that know of modules and not of packages. */
function mainAlone() {
  return {
    name: 'main-alone',
    setup: (builder: { onResolve(filter: { filter: RegExp }, act: () => object): void }) =>
      builder.onResolve({ filter: /^agent-bash$/ }, () => ({ path: 'agent-bash', external: true })),
  };
}

test('a copy without the addon says the same', async () => {
  const elsewhere = join(dirname(project.folder), 'copy');
  await mkdir(elsewhere, { recursive: true });
  const copy = join(elsewhere, 'index.cjs');
  for (const name of ['index.cjs', 'main.cjs']) {
    await copyFile(join(project.folder, 'node_modules', 'agent-bash', 'dist', name), join(elsewhere, name));
  }
  const script = `require(${JSON.stringify(copy)}).bash('true').catch((error) => console.log(error.message))`;
  expect(await run(process.execPath, ['-e', script], elsewhere, project.env)).toMatchObject({
    stdout: `${sentence}\n`,
  });
});

describe('docs/bundling.md', () => {
  const blocks = [...page.matchAll(/^```(\w+)\n(.*?)^```$/gms)].map(([, kind, text = '']) => ({ kind, text }));
  const [app, esbuild, next, single] = blocks;

  test('has four blocks, and each is tried here', () => {
    expect(blocks.map(({ kind }) => kind)).toEqual(['ts', 'js', 'js', 'js']);
  });

  testNeeding('Bun', bun !== undefined)('the program of one file runs far from its packages', async () => {
    const [, command = ''] = /^\/\/ app\.js: bun (.*)$/m.exec(single?.text ?? '') ?? [];
    const here = basename(project.platform).replace('agent-bash-', '');
    await writeFile(join(project.folder, 'app.js'), (single?.text ?? '').replaceAll('linux-x64-gnu', here));
    const built = await run(bun as string, command.split(' '), project.folder, project.env);
    expect(built, built.stderr).toMatchObject({ code: 0 });
    const elsewhere = join(dirname(project.folder), 'single');
    await mkdir(elsewhere);
    await rename(join(project.folder, 'app'), join(elsewhere, 'app'));
    const ended = await run(join(elsewhere, 'app'), [], elsewhere, project.env);
    expect(ended).toEqual({ code: 0, stdout: 'from one file\n\n', stderr: '' });
  });

  test('the app, built as the page says, prints what the page says', async () => {
    const folder = join(project.folder, 'page');
    await mkdir(join(folder, 'node_modules'), { recursive: true });
    await symlink(join(root, 'node_modules', 'esbuild'), join(folder, 'node_modules', 'esbuild'));
    await writeFile(join(folder, 'app.ts'), app?.text ?? '');
    await writeFile(join(folder, 'build.mjs'), esbuild?.text ?? '');
    expect(await run(process.execPath, ['build.mjs'], folder, project.env)).toMatchObject({ code: 0, stderr: '' });
    const ended = await run(process.execPath, ['out/app.mjs'], folder, project.env);
    expect(ended).toEqual({ code: 0, stdout: 'from a bundle object\n', stderr: '' });
    await rm(folder, { recursive: true });
  });

  test('the files that Next.js is given are where npm puts them', async () => {
    const url = `data:text/javascript,${encodeURIComponent(next?.text ?? '')}`;
    const { default: config } = await import(/* @vite-ignore */ url);
    expect(config.serverExternalPackages).toEqual(['agent-bash']);
    const [main, platform] = (config.outputFileTracingIncludes['/**'] as string[]).map(
      (glob) => new RegExp(`^${glob.replace('./', '').replace('/**/*', '').replace('*', '.*')}$`),
    );
    expect('node_modules/agent-bash').toMatch(main as RegExp);
    expect(project.platform.slice(project.folder.length + 1)).toMatch(platform as RegExp);
  });
});
