import { access, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { platforms } from '../../../scripts/platform.mjs';
import { PACKING, root, run } from './packed.ts';

interface Step {
  uses?: string;
  run?: string;
  env?: Record<string, unknown>;
  with?: Record<string, unknown>;
}

interface Job {
  needs?: string;
  'runs-on': string;
  'timeout-minutes': number;
  permissions?: Record<string, string>;
  strategy?: { matrix: { include: Record<string, unknown>[] } };
  steps: Step[];
}

interface Workflow {
  on: object;
  permissions: Record<string, string>;
  jobs: Record<string, Job>;
}

const folder = join(root, '.github', 'workflows');
const names = (await readdir(folder)).sort();
const read = async (name: string) => parse(await readFile(join(folder, name), 'utf8'), { strict: true }) as Workflow;
const [ci, release, stress] = (await Promise.all(names.map(read))) as [Workflow, Workflow, Workflow];

const steps = (workflow: Workflow) => Object.values(workflow.jobs).flatMap((job) => job.steps);

test('there are three: one for each change, one for a release, one for each night', () => {
  expect(names).toEqual(['ci.yml', 'release.yml', 'stress.yml']);
  expect(stress.on).toMatchObject({ schedule: [{ cron: expect.any(String) }] });
  expect(stress.jobs.linux?.steps.map((step) => step.run)).toContain('npm run test:stress');
});

test.each([
  ['ci', ci],
  ['release', release],
  ['stress', stress],
])('%s: jobs are bounded, actions pinned, rights named, and each step does one thing', (_, workflow) => {
  expect(workflow.permissions).toEqual({ contents: 'read' });
  for (const job of Object.values(workflow.jobs)) {
    expect(job['timeout-minutes']).toBeLessThanOrEqual(workflow === stress ? 240 : 45);
    if (job.needs) expect(Object.keys(workflow.jobs)).toContain(job.needs);
  }
  for (const { uses, run: script } of steps(workflow)) {
    expect([uses, script].filter(Boolean)).toHaveLength(1);
    if (uses) expect(uses).toMatch(/^[\w-]+\/[\w-]+@v\d+/);
  }
});

test('a change has to pass .ci/run, advisories included', () => {
  const step = ci.jobs.linux?.steps.find((one) => one.run === 'bash .ci/run');
  expect(step?.env).toEqual({ AGENT_BASH_ONLINE: 1 });
});

test('a release is built for each target on the system with the oldest C library that it is for', async () => {
  const { napi } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
  const matrix = release.jobs.build?.strategy?.matrix.include ?? [];
  expect(matrix.map(({ platform }) => platform).sort()).toEqual(platforms().sort());
  expect(matrix).toHaveLength(napi.targets.length);
  const images = matrix.map(({ platform, image }) => [String(platform).split('-').at(2), image]);
  expect(new Set(images.map(String))).toEqual(new Set(['gnu,almalinux:8', 'musl,rust:1-alpine', ',']));
  expect(steps(release).some((step) => step.run?.includes('node scripts/glibc.mjs'))).toBe(true);
});

test('every file of ours that a workflow names is there', async () => {
  const named = JSON.stringify([ci, release, stress]).match(/\bscripts\/\w+\.mjs|\.ci\/run|__test__\/\w+/g) ?? [];
  expect(named.length).toBeGreaterThan(4);
  for (const file of named) await access(join(root, file));
});

test(
  'the packages say where their sources are, which provenance compares, and where to report faults',
  async () => {
    const place = await mkdtemp(join(tmpdir(), 'agent-bash-repository-'));
    try {
      const env = { ...process.env, GITHUB_REPOSITORY: 'someone/agent-bash' };
      const packed = await run(process.execPath, [join(root, 'scripts', 'pack.mjs'), place], root, env, PACKING);
      const tarballs = packed.stdout.trim().split('\n');
      expect(tarballs).toHaveLength(3);
      for (const tarball of tarballs) {
        const { stdout } = await run('tar', ['-xOf', tarball, 'package/package.json'], place);
        expect(JSON.parse(stdout)).toMatchObject({
          repository: { type: 'git', url: 'git+https://github.com/someone/agent-bash.git' },
          homepage: 'https://github.com/someone/agent-bash#readme',
          bugs: { url: 'https://github.com/someone/agent-bash/issues' },
        });
      }
    } finally {
      await rm(place, { recursive: true });
    }
  },
  PACKING,
);

test('it is published with provenance and without a token, the main package last, and not if another failed', async () => {
  const job = release.jobs.publish as Job;
  expect(job.permissions).toEqual({ attestations: 'write', contents: 'write', 'id-token': 'write' });
  expect(release.on).toEqual({ push: { tags: ['v*'] } });
  expect(JSON.stringify(release)).not.toMatch(/secrets\.|NODE_AUTH_TOKEN/);
  const publish = job.steps.find((step) => step.run?.includes('npm publish'))?.run ?? '';
  expect(publish).toContain('--provenance');
  expect(job.steps.some((step) => step.run?.startsWith('npm run release -- --artifacts'))).toBe(true);

  // An npm of ours that fails at the second tarball.
  const place = await mkdtemp(join(tmpdir(), 'agent-bash-publish-'));
  try {
    const script = `mkdir -p target/release-run; printf '%s\\n' one two main > target/release-run/packed.txt
      npm() { echo "$@"; case "$*" in *two) return 1 ;; esac; }; export -f npm
      ${publish.replace("sh -c '", "bash -c '")}`;
    const ended = await run('bash', ['-c', script], place);
    expect(ended.code).not.toBe(0);
    expect(ended.stdout).toBe('publish --provenance --access public one\npublish --provenance --access public two\n');
  } finally {
    await rm(place, { recursive: true });
  }
});
