import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { cp, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { linuxTest } from '../../support/capability.ts';
import { HOST, PACKING, type PackedProject, packedProject, root, run } from './packed.ts';

const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
const MACHINE = process.arch === 'arm64' ? 'aarch64' : 'x86_64';

/** What a target without tools that decode has. */
const TOOLS = [
  'bash',
  'cat',
  'chmod',
  'env',
  'head',
  'id',
  'ls',
  'mkdir',
  'mv',
  'rm',
  'sh',
  'sha256sum',
  'uname',
  'wc',
];

/** Connects to a target with the PATH and the home in its arguments, and prints what came of it. */
const MAIN = `import { bash, connect } from 'agent-bash';
const [, , path, home] = process.argv;
const start = performance.now();
try {
  const command = ['env', '-i', 'PATH=' + path, 'HOME=' + home, 'XDG_RUNTIME_DIR=' + home];
  const target = await connect({ command, name: 'there' });
  const ms = Math.round(performance.now() - start);
  const { stdout } = await bash('echo hi', { target });
  console.log(JSON.stringify({ stdout, sent: target.info.program.sent, sha256: target.info.program.sha256, ms }));
  await target.close();
} catch ({ code, reason, message }) {
  console.log(JSON.stringify({ code, reason, message }));
}`;

interface Listed {
  machine: string;
  bytes: number;
  sha256: string;
  forms: { coding: string; file: string; bytes: number; sha256: string }[];
}

let project: PackedProject;

/** Makes a directory beside the project. */
const made = () => mkdtemp(join(dirname(project.folder), 'target-'));

/** Makes a PATH with the tools of a target, and with these. */
async function pathWith(...decoders: string[]): Promise<string> {
  const bin = await made();
  for (const name of [...TOOLS, ...decoders]) {
    const at = ['/usr/bin', '/bin'].map((place) => join(place, name)).find((file) => existsSync(file));
    await symlink(at ?? name, join(bin, name));
  }
  return bin;
}

/** Runs the program of a project against a target. */
async function connected(path: string, home: string, folder = project.folder): Promise<Record<string, unknown>> {
  const { stdout, stderr } = await run(process.execPath, ['main.mjs', path, home], folder, project.env);
  expect(stderr).toBe('');
  return JSON.parse(stdout);
}

beforeAll(async () => {
  project = await packedProject();
  await writeFile(join(project.folder, 'main.mjs'), MAIN);
}, PACKING);

afterAll(() => project?.[Symbol.asyncDispose]());

describe('targets of an empty project', () => {
  linuxTest('need the package with the program, which the error names', async () => {
    const without = await made();
    await cp(project.folder, without, { recursive: true });
    await rm(join(without, 'node_modules', HOST), { recursive: true, force: true });
    expect(await connected(await pathWith(), await made(), without)).toMatchObject({
      code: 'ERR_BASH_TARGET',
      reason: 'no-program',
      message: expect.stringContaining(`: agent-bash-host is not installed: npm install agent-bash-host@${version}`),
    });
  });

  describe('with agent-bash-host', () => {
    const at = () => join(project.folder, 'node_modules', HOST);
    const list = async (): Promise<Listed[]> =>
      JSON.parse(await readFile(join(project.folder, 'node_modules/agent-bash/host-programs.json'), 'utf8'));

    beforeAll(async () => {
      expect(await project.install(HOST)).toMatchObject({ code: 0, stderr: '' });
    });

    linuxTest('run commands by the form that the tools there decode', async () => {
      const [program] = await list();
      const cases: [string, string[]][] = [
        ['xz', ['xz', 'gzip']],
        ['gzip', ['gzip']],
        ['raw', []],
      ];
      for (const [coding, tools] of cases) {
        const home = await made();
        const { ms, ...result } = await connected(await pathWith(...tools), home);
        expect(result).toEqual({ stdout: 'hi\n', sent: true, sha256: program?.sha256 });
        const bytes = program?.forms.find((form) => form.coding === coding)?.bytes ?? program?.bytes;
        console.log(`${coding}: ${bytes} bytes, connected in ${ms} ms`);
        const names = await readdir(join(home, `.cache/agent-bash-host-${process.getuid?.()}`));
        expect(names).toEqual([program?.sha256]);
      }
    });

    linuxTest('have the program in two forms, which fit the list of the main package', async () => {
      const [program, ...more] = await list();
      expect([program?.machine, more]).toEqual([MACHINE, []]);
      expect(program?.forms.map(({ coding }) => coding)).toEqual(['xz', 'gzip']);
      const names = program?.forms.map(({ file }) => file) ?? [];
      const files = await readdir(at());
      expect(files.sort()).toEqual(
        [...names, 'LICENSE', 'LICENSE.third-party.txt', 'README.md', 'package.json'].sort(),
      );
      const unpacked = gunzipSync(await readFile(join(at(), names[1] ?? '')));
      expect(createHash('sha256').update(unpacked).digest('hex')).toBe(program?.sha256);
    });

    test('may be of any system: the program is for the target', async () => {
      const manifest = JSON.parse(await readFile(join(at(), 'package.json'), 'utf8'));
      expect(manifest).toMatchObject({ name: HOST, version });
      for (const key of ['os', 'cpu', 'libc', 'scripts', 'dependencies']) expect(manifest).not.toHaveProperty(key);
    });

    linuxTest('send at most 3 MB by xz', async () => {
      const [program] = await list();
      expect(program?.forms[0]?.bytes).toBeLessThanOrEqual(3e6);
    });
  });
});
