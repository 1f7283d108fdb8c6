import { bash } from 'agent-bash';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { OF_WORLDS, seccompProfile } from '../../ts/cli/doctor/fix/seccomp.ts';
import { blocks, page, source } from './examples.ts';

const text = await page('containers.md');
const found = blocks(text);
const of = (kind: string) => found.filter((one) => one.kind === kind).map((one) => one.text);

test('the Dockerfile installs from the lock, runs as an ordinary user, and is no shell below process 1', async () => {
  const [dockerfile = '', ...more] = of('dockerfile');
  expect(more).toEqual([]);
  const steps = dockerfile.trim().split('\n');
  expect(steps.map((step) => step.split(' ')[0])).toEqual(['FROM', 'WORKDIR', 'COPY', 'RUN', 'COPY', 'USER', 'CMD']);
  const { engines } = JSON.parse(await source('package.json'));
  const [, major] = /^FROM node:(\d+)-/.exec(dockerfile) ?? [];
  expect(Number(major)).toBeGreaterThan(Number(/\d+/.exec(engines.node)?.[0]));
  expect(JSON.parse(/^CMD (.*)$/m.exec(dockerfile)?.[1] ?? '')).toEqual(['node', 'agent.mjs']);
});

test('the pod is one that the restricted standard admits, with a writable /tmp', () => {
  const [pod] = of('yaml').map((one) => parse(one));
  expect(pod.kind).toBe('Pod');
  const { containers, securityContext, volumes } = pod.spec;
  expect(securityContext).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } });
  const [{ env, securityContext: own, volumeMounts }] = containers;
  expect(own).toEqual({
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ['ALL'] },
  });
  expect(volumeMounts).toEqual([{ name: volumes[0].name, mountPath: '/tmp' }]);
  expect(env[0].value).toMatch(/^\/tmp\//);
});

test('the sysctl of the page is the one that the remedy names', async () => {
  expect(text).toContain('kernel.apparmor_restrict_unprivileged_userns');
  expect(await source('crates/confine-world/src/remedy.rs')).toContain('kernel.apparmor_restrict_unprivileged_userns');
});

test('the entry of the seccomp profile is that of doctor --fix', () => {
  const [entry] = of('json').map((one) => JSON.parse(one));
  expect(JSON.parse(seccompProfile('1.0.0')).syscalls).toContainEqual(entry);
  expect(entry.names).toEqual([...OF_WORLDS].sort());
});

test.each(of('sh'))('a shell can read: %s', async (script) => {
  const { exitCode, stderr } = await bash('bash -n', { stdin: script });
  expect([exitCode, stderr]).toEqual([0, '']);
});

test('secrets of a job are withheld from commands', async () => {
  const env = { ...process.env };
  try {
    process.env.GITHUB_TOKEN = 'ghs_000000000000000000000000000000000000';
    expect((await bash('echo "[$GITHUB_TOKEN]"')).stdout).toBe('[]\n');
  } finally {
    process.env = env;
  }
});
