import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { filesAreListed } from '../../../scripts/release/packages.mjs';
import { PACKING, root, run } from './packed.ts';

let clone: string;
let version: string;
let head: string;

const env = {
  ...process.env,
  GIT_AUTHOR_NAME: 'tester',
  GIT_AUTHOR_EMAIL: 'tester@example.com',
  GIT_COMMITTER_NAME: 'tester',
  GIT_COMMITTER_EMAIL: 'tester@example.com',
};

const git = async (...words: string[]) => (await run('git', words, clone, env)).stdout.trim();
const read = (name: string) => readFile(join(clone, name), 'utf8');
const tag = (...words: string[]) => run(process.execPath, ['scripts/release/tag.mjs', ...words], clone, env, PACKING);

/** The same while git refuses this commit. */
async function tagWithout(subject: string) {
  const hook = join(clone, '.git/hooks/commit-msg');
  await writeFile(hook, `#!/bin/sh\n! grep -q '^${subject}' "$1"\n`, { mode: 0o755 });
  const ended = await tag();
  await rm(hook);
  return ended;
}

beforeAll(async () => {
  clone = await mkdtemp(join(tmpdir(), 'agent-bash-tag-'));
  await run('git', ['clone', '--quiet', root, clone], root, env);
  await symlink(join(root, 'node_modules'), join(clone, 'node_modules'));
  await writeFile(join(clone, '.git/info/exclude'), 'node_modules\n');
  head = await git('rev-parse', 'HEAD');
  version = JSON.parse(await read('package.json')).version;
});

beforeEach(async () => {
  await git('reset', '--quiet', '--hard', head);
  for (const name of (await git('tag', '--list')).split('\n').filter(Boolean)) await git('tag', '--delete', name);
});

afterAll(() => rm(clone, { recursive: true, force: true }));

test(
  'a release is dated and tagged, and the next version stands everywhere',
  async () => {
    expect(await tag('7.8.9')).toMatchObject({ code: 0 });
    expect((await git('log', '--format=%s', `${head}..`)).split('\n')).toEqual(['Begin 7.8.9', `Release ${version}`]);
    expect(await git('log', '-1', '--format=%s', `v${version}`)).toBe(`Release ${version}`);
    expect(await git('show', `v${version}:CHANGELOG.md`)).toMatch(
      new RegExp(`^## ${version} \\(\\d{4}-\\d\\d-\\d\\d\\)$`, 'm'),
    );
    expect(await git('status', '--porcelain')).toBe('');

    expect(await read('CHANGELOG.md')).toMatch(new RegExp(`^## 7\\.8\\.9 \\(unreleased\\)\n\n## ${version} \\(`, 'm'));
    for (const name of [
      'package.json',
      'package-lock.json',
      'npm/linux-x64-gnu/package.json',
      'npm/agent-bash-host/package.json',
    ]) {
      expect(JSON.parse(await read(name)).version).toBe('7.8.9');
    }
    expect(await read('Cargo.toml')).toContain('\nversion = "7.8.9"\n');
    expect(await read('Cargo.lock')).toContain('name = "agent-bash-sys"\nversion = "7.8.9"\n');
    // No machine has run the tests of that version.
    expect(JSON.parse(await read('npm/levels.json'))).toMatchObject({ 'linux-arm64-gnu': 'built' });
  },
  PACKING,
);

test(
  'by itself the next version is a minor one',
  async () => {
    expect(await tag()).toMatchObject({ code: 0 });
    const [major, minor] = version.split('.').map(Number);
    expect(JSON.parse(await read('package.json')).version).toBe(`${major}.${Number(minor) + 1}.0`);
  },
  PACKING,
);

test.each(['Release', 'Begin'])(
  'if the commit "%s …" fails, nothing has changed',
  async (subject) => {
    expect(await tagWithout(subject)).toMatchObject({ code: 1 });
    expect(await git('rev-parse', 'HEAD')).toBe(head);
    expect(await git('status', '--porcelain')).toBe('');
    expect(await git('tag', '--list')).toBe('');
  },
  PACKING,
);

test.each([
  ['a version that is none', () => tag('next'), 'next is no version: X.Y.Z'],
  [
    'a work tree with changes',
    async () => {
      await writeFile(join(clone, 'README.md'), 'other');
      return tag();
    },
    'the work tree has changes: commit them first',
  ],
  [
    'a version that has a tag',
    async () => {
      await git('tag', `v${version}`);
      return tag();
    },
    ' exists already',
  ],
  [
    'a version that CHANGELOG.md does not name',
    async () => {
      await writeFile(join(clone, 'CHANGELOG.md'), '# Changelog\n');
      await git('commit', '--all', '--quiet', '--message', 'Forget');
      return tag();
    },
    'CHANGELOG.md has no version ',
  ],
])('it refuses %s, and changes nothing', async (_, act, message) => {
  const before = await git('rev-parse', 'HEAD');
  const { code, stderr } = await act();
  expect([code, stderr]).toEqual([1, expect.stringContaining(message)]);
  expect((await git('log', '--format=%s', `${before}..`)).includes('Release')).toBe(false);
});

describe('the files of a package', () => {
  let place: string;

  beforeAll(async () => {
    place = await mkdtemp(join(tmpdir(), 'agent-bash-files-'));
  });

  afterAll(() => rm(place, { recursive: true, force: true }));

  /** A tarball with these files, each with its mode. */
  async function tarball(files: Record<string, number>): Promise<string> {
    await rm(join(place, 'package'), { recursive: true, force: true });
    for (const [name, mode] of Object.entries(files)) {
      const file = join(place, 'package', name);
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, name, { mode });
    }
    const made = await run('tar', ['czf', 'made.tgz', 'package'], place);
    expect(made.code).toBe(0);
    return join(place, 'made.tgz');
  }

  const declared = { files: ['dist', '!dist/*.map', 'agent-bash-supervisor'] };
  const right = { 'package.json': 0o644, 'dist/index.js': 0o644, 'agent-bash-supervisor': 0o755 };

  test('are those that it lists', async () => {
    await expect(filesAreListed(await tarball(right), declared)).resolves.toBeUndefined();
  });

  test.each([
    ['one more', { ...right, 'notes.txt': 0o644 }, 'notes.txt is not listed'],
    ['one less', { 'package.json': 0o644, 'agent-bash-supervisor': 0o755 }, 'dist is missing'],
    ['a map', { ...right, 'dist/index.js.map': 0o644 }, 'dist/index.js.map does not belong there'],
    [
      'a program that is none',
      { ...right, 'agent-bash-supervisor': 0o644 },
      'agent-bash-supervisor has the mode -rw-r--r--',
    ],
  ])('%s is refused by its name', async (_, files, message) => {
    await expect(filesAreListed(await tarball(files), declared)).rejects.toThrow(message);
  });
});
