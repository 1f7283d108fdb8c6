import { access, constants, cp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Ended, type PackedProject, packedProject, root, run } from './packed.ts';

let project: PackedProject;

beforeAll(async () => {
  project = await packedProject();
});

afterAll(() => project?.[Symbol.asyncDispose]());

/** Runs a script in a project; the extension says as what. */
async function script(name: string, text: string, folder = project.folder): Promise<Ended> {
  await writeFile(join(folder, name), text);
  return run(process.execPath, [name], folder, project.env);
}

/** A copy of the project that a test may break. */
async function copy(name: string): Promise<{ folder: string; platform: string }> {
  const folder = join(dirname(project.folder), name);
  await cp(project.folder, folder, { recursive: true });
  return { folder, platform: join(folder, project.platform.slice(project.folder.length)) };
}

/** The message with which an entry fails at its first use: when it is loaded or when the first command is run. */
async function firstUse(entry: string, folder: string, options: string[] = []): Promise<string> {
  const text = `
    async function use() {
      const { bash, createBashTool, createLocalSandbox } = require('${entry}');
      if (bash) return bash('true');
      if (createLocalSandbox) return (await createLocalSandbox()).runCommand('true');
      let last = createBashTool().execute({ command: 'true' }, { toolCallId: '1', messages: [] });
      if (last[Symbol.asyncIterator]) for await (const one of last) last = one;
      last = await last;
      if (last.error) throw new Error(last.error);
    }
    use().then(() => console.log('it ran'), (error) => process.stdout.write(error.message));`;
  const ended = await run(process.execPath, [...options, '-e', text], folder, project.env);
  return ended.stdout || ended.stderr;
}

/** The files of an installed package, as paths in it. */
async function filesOf(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name).slice(folder.length + 1))
    .sort();
}

describe('the packages', () => {
  test('install without a network, a compiler or a word of complaint', () => {
    expect(project.installed).toMatchObject({ code: 0 });
    expect(project.installed.stderr).not.toMatch(/warn|error/i);
  });

  test('have no scripts, so that nothing of theirs runs at the install', async () => {
    for (const folder of [join(project.folder, 'node_modules', 'agent-bash'), project.platform]) {
      const manifest = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));
      expect(manifest.scripts).toBeUndefined();
      // Whatever is needed comes along.
      expect(manifest.bundleDependencies ?? []).toEqual(Object.keys(manifest.dependencies ?? {}));
    }
    expect(await readFile(join(project.folder, 'package-lock.json'), 'utf8')).not.toContain('hasInstallScript');
  });

  test('hold these files and no others', async () => {
    const main = await filesOf(join(project.folder, 'node_modules', 'agent-bash'));
    const allowed =
      /^(dist\/(cli\.mjs|index\.(cjs|d\.cts)|(ai|sandbox)\.(mjs|cjs|d\.mts|d\.cts)|[\w-]+-[\w-]{8}\.([cm]js|d\.[cm]ts))|docs\/[\w-]+\.md|node_modules\/commander\/.+|index\.d\.ts|native\.cjs|package\.json|README\.md|CHANGELOG\.md|LICENSE)$/;
    expect(main.filter((file) => !allowed.test(file))).toEqual([]);
    expect(main).toEqual(
      expect.arrayContaining(['README.md', 'LICENSE', 'index.d.ts', 'native.cjs', 'dist/index.cjs']),
    );
    const platform = await filesOf(project.platform);
    expect(platform.filter((file) => !file.endsWith('.node'))).toEqual([
      'LICENSE',
      'README.md',
      'agent-bash-supervisor',
      'package.json',
    ]);
    expect(platform.filter((file) => file.endsWith('.node'))).toHaveLength(1);
  });

  test('ask for the platform packages in their own version', async () => {
    const main = JSON.parse(await readFile(join(project.folder, 'node_modules', 'agent-bash', 'package.json'), 'utf8'));
    const names = await readdir(join(root, 'npm'));
    expect(main.optionalDependencies).toEqual(
      Object.fromEntries(names.map((name) => [`agent-bash-${name}`, main.version])),
    );
    for (const name of names) {
      const platform = JSON.parse(await readFile(join(root, 'npm', name, 'package.json'), 'utf8'));
      expect(platform.version).toBe(main.version);
      expect(platform.files).toEqual([`agent-bash.${name}.node`, 'agent-bash-supervisor']);
    }
  });

  test('keep the executable bit of the supervisor', async () => {
    const file = join(project.platform, 'agent-bash-supervisor');
    await access(file, constants.X_OK);
    expect((await stat(file)).mode & 0o777).toBe(0o755);
  });
});

describe('in an empty project', () => {
  test('a command runs from an ES module', async () => {
    const ended = await script(
      'main.mjs',
      `import { bash } from 'agent-bash';
       const { stdout, exitCode, status } = await bash('echo hi; exit 3');
       console.log(JSON.stringify({ stdout, exitCode, status }));`,
    );
    expect(ended).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.parse(ended.stdout)).toEqual({ stdout: 'hi\n', exitCode: 3, status: 'exited' });
  });

  test('a command runs from CommonJS', async () => {
    const ended = await script(
      'main.cjs',
      `const { bash } = require('agent-bash');
       bash('echo hi').then(({ stdout }) => process.stdout.write(stdout));`,
    );
    expect(ended).toEqual({ code: 0, stdout: 'hi\n', stderr: '' });
  });

  test('both worlds see the same names and the same functions', async () => {
    const ended = await script(
      'names.mjs',
      `import { createRequire } from 'node:module';
       const require = createRequire(import.meta.url);
       const found = {};
       for (const entry of ['agent-bash', 'agent-bash/ai', 'agent-bash/sandbox']) {
         const esm = await import(entry);
         const cjs = require(entry);
         const names = (module) => Object.keys(module).filter((name) => !['default', 'module.exports', '__esModule'].includes(name)).sort();
         found[entry] = { esm: names(esm), cjs: names(cjs), same: names(cjs).every((name) => esm[name] === cjs[name]) };
       }
       console.log(JSON.stringify(found));`,
    );
    expect(ended.stderr).toBe('');
    const found = JSON.parse(ended.stdout);
    for (const entry of Object.values<{ esm: string[]; cjs: string[] }>(found)) {
      expect(entry.esm.length).toBeGreaterThan(0);
      expect(entry.esm).toEqual(entry.cjs);
    }
    expect(found['agent-bash'].same).toBe(true);
    expect(found['agent-bash'].esm).toEqual(
      expect.arrayContaining(['BackgroundRegistry', 'TRUNCATE', 'bash', 'defaultRegistry']),
    );
    expect(found['agent-bash/ai'].esm).toEqual(expect.arrayContaining(['createBashTool']));
    expect(found['agent-bash/sandbox'].esm).toEqual(expect.arrayContaining(['createLocalSandbox']));
  });

  test('the program runs', async () => {
    const command = ['run', 'echo hi; exit 3'];
    const ended = await run(join(project.folder, 'node_modules/.bin/agent-bash'), command, project.folder, project.env);
    expect(ended).toEqual({ code: 3, stdout: 'hi\n', stderr: '' });
  });

  test.each([
    ['mjs', `import { createBashTool } from 'agent-bash/ai';`],
    ['cjs', `const { createBashTool } = require('agent-bash/ai');`],
  ])('the AI SDK tool runs without the ai package (.%s)', async (kind, load) => {
    const ended = await script(
      `tool.${kind}`,
      `${load}
       async function main() {
         const call = { toolCallId: '1', messages: [] };
         let last = createBashTool().execute({ command: 'echo hi' }, call);
         if (last[Symbol.asyncIterator]) for await (const one of last) last = one;
         process.stdout.write((await last).stdout);
       }
       main();`,
    );
    expect(ended).toEqual({ code: 0, stdout: 'hi\n', stderr: '' });
  });

  test.each([
    ['mjs', `import { createLocalSandbox } from 'agent-bash/sandbox';`],
    ['cjs', `const { createLocalSandbox } = require('agent-bash/sandbox');`],
  ])('the local sandbox runs (.%s)', async (kind, load) => {
    const ended = await script(
      `sandbox.${kind}`,
      `${load}
       async function main() {
         const sandbox = await createLocalSandbox();
         const finished = await sandbox.runCommand('bash', ['-c', 'echo hi']);
         process.stdout.write(await finished.stdout());
         await sandbox.stop();
       }
       main();`,
    );
    expect(ended).toEqual({ code: 0, stdout: 'hi\n', stderr: '' });
  });

  test('nothing but the entries can be reached', async () => {
    const ended = await script('inside.cjs', `require('agent-bash/native.cjs');`);
    expect(ended.stderr).toContain('ERR_PACKAGE_PATH_NOT_EXPORTED');
  });
});

describe('the types', () => {
  const consumer = `
    import { bash, TRUNCATE, type BashOptions, type BashResult } from 'agent-bash';
    import { createBashTool } from 'agent-bash/ai';
    import { createLocalSandbox } from 'agent-bash/sandbox';
    const options: BashOptions = { timeoutMs: 1000, truncate: TRUNCATE.tail };
    export const result: Promise<BashResult> = bash('true', options);
    export const tools = { bash: createBashTool() };
    export const sandbox = createLocalSandbox();
    // @ts-expect-error a command is a string
    bash(1);
    // @ts-expect-error an exit code may be null
    export const code: Promise<number> = bash('true').then((ended) => ended.exitCode);
  `;

  test.each([
    ['node16', 'node16', ['esm.mts', 'cjs.cts']],
    ['nodenext', 'nodenext', ['esm.mts', 'cjs.cts']],
    ['preserve', 'bundler', ['esm.mts', 'either.ts']],
  ])('resolve with module %s, resolution %s, libraries checked too', async (module, moduleResolution, files) => {
    const { folder } = await copy(`types-${module}`);
    for (const file of files) await writeFile(join(folder, file), consumer);
    await symlink(join(root, 'node_modules', '@types'), join(folder, 'node_modules', '@types'));
    const compilerOptions = {
      module,
      moduleResolution,
      target: 'es2022',
      lib: ['es2023', 'esnext.disposable'],
      types: ['node'],
      strict: true,
      exactOptionalPropertyTypes: true,
      skipLibCheck: false,
      noEmit: true,
    };
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }));
    const ended = await run(process.execPath, [join(root, 'node_modules', 'typescript', 'bin', 'tsc')], folder);
    expect(ended).toEqual({ code: 0, stdout: '', stderr: '' });
  });
});

describe('what is missing is named', () => {
  test('the supervisor: the error says where it was looked for', async () => {
    const { folder, platform } = await copy('no-supervisor');
    await rm(join(platform, 'agent-bash-supervisor'));
    const ended = await script(
      'main.mjs',
      `import { bash } from 'agent-bash';
       await bash('echo hi').then(() => console.log('ran'), (error) => console.log(JSON.stringify([error.code, error.message])));`,
      folder,
    );
    expect(ended.stderr).toBe('');
    const [code, message] = JSON.parse(ended.stdout);
    expect(code).toBe('ERR_BASH_SPAWN');
    expect(message).toContain(join(platform, 'agent-bash-supervisor'));
  });

  test('the addon: the error says where it was looked for', async () => {
    const { folder, platform } = await copy('no-addon');
    const addon = (await readdir(platform)).find((file) => file.endsWith('.node')) ?? '';
    await rm(join(platform, addon));
    const message = await firstUse('agent-bash', folder);
    expect(message).toContain(addon);
    expect(message).toContain(platform);
  });

  test('the platform package: the error says so', async () => {
    const { folder, platform } = await copy('no-platform');
    await rm(platform, { recursive: true });
    expect(await firstUse('agent-bash', folder)).toContain(basename(platform));
  });

  test.each(['agent-bash', 'agent-bash/ai', 'agent-bash/sandbox'])(
    'Windows: %s says in one sentence to use WSL',
    async (entry) => {
      await writeFile(
        join(project.folder, 'windows.cjs'),
        `Object.defineProperty(process, 'platform', { value: 'win32' });`,
      );
      const message = await firstUse(entry, project.folder, ['--require', './windows.cjs']);
      expect(message).toMatch(/^[^\n]*\bWSL\b[^\n]*$/);
      expect(message.split(/[.!?](?:\s|$)/).filter(Boolean)).toHaveLength(1);
    },
  );
});
