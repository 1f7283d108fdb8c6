import { access, constants, cp, readdir, readFile, realpath, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { platforms } from '../../../scripts/platform.mjs';
import { type Ended, HOST, PACKING, type PackedProject, packedProject, root, run } from './packed.ts';

let project: PackedProject;

const manifest = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));

/** The names under which users import the entries. */
const entries = Object.entries<string | object>(manifest.exports)
  .filter(([, target]) => typeof target === 'object')
  .map(([path]) => path.replace('.', 'agent-bash'));

/** All files that package.json leads to, as paths in the package. */
const built = [...new Set(JSON.stringify([manifest.exports, manifest.bin]).match(/dist\/[^"]+/g))];

beforeAll(async () => {
  project = await packedProject();
}, PACKING);

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
      // All dependencies are included.
      expect(manifest.bundleDependencies ?? []).toEqual(Object.keys(manifest.dependencies ?? {}));
    }
    expect(await readFile(join(project.folder, 'package-lock.json'), 'utf8')).not.toContain('hasInstallScript');
  });

  test('hold these files and no others', async () => {
    const main = await filesOf(join(project.folder, 'node_modules', 'agent-bash'));
    // Parts that entries share have a hash in their names; commander's files are its own matter.
    const ours = main.filter(
      (file) => !/^dist\/[\w-]+-[\w-]{8}\.([cm]js|d\.[cm]ts)$|^node_modules\/commander\//.test(file),
    );
    const docs = await readdir(join(root, 'docs'));
    expect(ours).toEqual(
      [
        ...built,
        'dist/main.cjs',
        ...docs.filter((name) => name.endsWith('.md') || name.endsWith('.svg')).map((name) => `docs/${name}`),
        'ARCHITECTURE.md',
        'CHANGELOG.md',
        'CONTRIBUTING.md',
        'LICENSE',
        'LICENSE.third-party.txt',
        'README.md',
        'SECURITY.md',
        'host-programs.json',
        'package.json',
      ].sort(),
    );
    expect(main.filter((file) => /\.map$|(^|\/)(tsconfig|\.)/.test(file))).toEqual([]);
    const platform = await filesOf(project.platform);
    expect(platform).toEqual(
      [
        'LICENSE',
        'LICENSE.third-party.txt',
        'README.md',
        'agent-bash-supervisor',
        `agent-bash.${basename(project.platform).replace('agent-bash-', '')}.node`,
        'package.json',
      ].sort(),
    );
  });

  test('are 7 MB to fetch at most, both together', async () => {
    const files = [...project.tarballs].flatMap(([name, file]) => (name === HOST ? [] : [file]));
    const sizes = await Promise.all(files.map(async (file) => (await stat(file)).size));
    expect(sizes.reduce((all, size) => all + size)).toBeLessThanOrEqual(7e6);
  });

  test('ask for the platform packages in their own version', async () => {
    const main = JSON.parse(await readFile(join(project.folder, 'node_modules', 'agent-bash', 'package.json'), 'utf8'));
    const names = platforms();
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
       for (const entry of ${JSON.stringify(entries)}) {
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
    expect(found['agent-bash/anthropic'].esm).toEqual(['anthropicBash']);
    expect(found['agent-bash/openai'].esm).toEqual(['agentsShell', 'openaiLocalShell', 'openaiShell']);
    expect(found['agent-bash/sandbox'].esm).toEqual(expect.arrayContaining(['createLocalSandbox']));
    expect(found['agent-bash/otel'].esm).toEqual(['instrument']);
    expect(found['agent-bash/page'].esm).toEqual(['startPage']);
    expect(found['agent-bash/render'].esm).toEqual(['renderHtml', 'renderStyles', 'renderText']);
  });

  test('the program runs', async () => {
    const command = ['run', 'echo hi; exit 3'];
    const ended = await run(join(project.folder, 'node_modules/.bin/agent-bash'), command, project.folder, project.env);
    expect(ended).toEqual({ code: 3, stdout: 'hi\n', stderr: '' });
  });

  test('the program knows where its parts are', async () => {
    const file = join(project.folder, 'node_modules/.bin/agent-bash');
    const { code, stdout } = await run(file, ['doctor', '--json'], project.folder, project.env);
    expect(code).toBe(0);
    const { checks } = JSON.parse(stdout) as { checks: { name: string; found: string }[] };
    for (const name of ['addon', 'supervisor']) {
      expect(checks.find((check) => check.name === name)?.found).toContain(basename(project.platform));
    }
  });

  test('the program serves MCP, with no SDK installed', async () => {
    const env = Object.fromEntries(Object.entries(project.env).filter(([, value]) => value !== undefined));
    const transport = new StdioClientTransport({
      command: join(project.folder, 'node_modules/.bin/agent-bash'),
      args: ['mcp'],
      cwd: project.folder,
      env: env as Record<string, string>,
    });
    const client = new Client({ name: 'client', version: '1' });
    await client.connect(transport);
    try {
      const { structuredContent } = await client.callTool({ name: 'bash', arguments: { command: 'pwd; exit 3' } });
      expect(structuredContent).toMatchObject({ stdout: `${await realpath(project.folder)}\n`, exitCode: 3 });
    } finally {
      await client.close();
    }
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
    ['mjs', `import { anthropicBash } from 'agent-bash/anthropic'; import { agentsShell } from 'agent-bash/openai';`],
    [
      'cjs',
      `const { anthropicBash } = require('agent-bash/anthropic'); const { agentsShell } = require('agent-bash/openai');`,
    ],
  ])('the tools of the providers run without their packages (.%s)', async (kind, load) => {
    const ended = await script(
      `providers.${kind}`,
      `${load}
       async function main() {
         for await (const { stdout, status } of anthropicBash().execute({ command: 'echo hi' }, { toolCallId: '1' })) {
           if (status === 'exited') process.stdout.write(stdout);
         }
         const { output } = await agentsShell().run({ commands: ['echo ho'] });
         process.stdout.write(output[0].stdout);
       }
       main();`,
    );
    expect(ended).toEqual({ code: 0, stdout: 'hi\nho\n', stderr: '' });
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
    const ended = await script('inside.cjs', `require('agent-bash/dist/index.cjs');`);
    expect(ended.stderr).toContain('ERR_PACKAGE_PATH_NOT_EXPORTED');
  });
});

describe('the types', () => {
  const consumer = `
    import { bash, TRUNCATE, type BashOptions, type BashResult } from 'agent-bash';
    import { createBashTool } from 'agent-bash/ai';
    import { anthropicBash, type ProviderTool } from 'agent-bash/anthropic';
    import { agentsShell, openaiLocalShell, openaiShell } from 'agent-bash/openai';
    import { renderText } from 'agent-bash/render';
    import { createLocalSandbox } from 'agent-bash/sandbox';
    const options: BashOptions = { timeoutMs: 1000, truncate: TRUNCATE.tail };
    export const result: Promise<BashResult> = bash('true', options);
    export const tools = { bash: createBashTool() };
    export const provided: ProviderTool[] = [anthropicBash(), openaiShell(), openaiLocalShell()];
    export const ran = agentsShell().run({ commands: [] });
    export const sandbox = createLocalSandbox();
    export const text: Promise<string> = result.then((ended) => renderText({ command: 'true', result: ended }));
    // @ts-expect-error a command is a string
    bash(1);
    ${entries.map((entry, index) => `import * as entry${index} from '${entry}'; export { entry${index} };`).join('\n')}
    export const code: Promise<number> = bash('true').then((ended) => ended.exitCode);
    // @ts-expect-error with options that may send a command to the background, an exit code may be null
    export const maybe: Promise<number> = bash('true', options).then((ended) => ended.exitCode);
  `;

  test.each([
    ['node16', 'node16', ['esm.mts', 'cjs.cts']],
    ['nodenext', 'nodenext', ['esm.mts', 'cjs.cts']],
    ['preserve', 'bundler', ['esm.mts', 'either.ts']],
    ['commonjs', 'node10', ['either.ts']],
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

describe('missing parts are named', () => {
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

  test('a supervisor of another version, as after an update: the error says what to do', async () => {
    const { folder, platform } = await copy('other-supervisor');
    await writeFile(join(platform, 'agent-bash-supervisor'), '#!/bin/sh\n', { mode: 0o755 });
    const code = `import { bash } from 'agent-bash';
      const run = (confine) => bash('true', { confine }).catch(({ code, message }) => code + message);
      console.log(JSON.stringify([await run('off'), await run('workspace')]));`;
    const ended = await script('main.mjs', code, folder);
    const told = expect.stringMatching(/^ERR_BASH_SPAWN.*start this process again/);
    expect(JSON.parse(ended.stdout)).toEqual([told, told]);
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

  // Other entries load none of the addon, or are for one client alone.
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
