import { BashSession, bash, connect } from 'agent-bash';
import { expect } from 'vitest';
import { finished, mark, sleepers, until } from '../../support/index.ts';
import { sshHost } from '../../support/ssh.ts';
import { clients, cut } from './clients.ts';
import { containerTest, podmanWith } from './containers.ts';

/** An ssh host, and a container of its Podman behind it. */
async function chain() {
  const { config, host } = sshHost();
  const { run, program } = await podmanWith('busybox');
  const container = run('busybox');
  const outer = await connect({ ssh: { host, config } });
  finished(() => outer.close());
  const inner = await connect({ podman: { container, program }, via: outer });
  finished(() => inner.close());
  return { outer, inner, config, container };
}

containerTest('a container behind an ssh host runs what any target runs, through cuts of both links', async () => {
  const { outer, inner, config, container } = await chain();
  expect(inner).toMatchObject({ id: `podman:${container}`, kind: 'podman' });
  expect(inner.info).toMatchObject({ hostName: 'box', home: '/' });
  await using session = new BashSession({ target: inner });
  await session.run('cd /tmp; X=1');
  let text = '';
  const onOutput = (chunk: { text: string }) => {
    text += chunk.text;
  };
  const counts = 'for i in $(seq 300); do echo $i; echo $i >> /tmp/log; sleep 0.01; done; exit 9';
  const ran = bash(counts, { target: inner, onOutput });
  await until(() => text.includes('\n20\n'));
  cut('ssh', config);
  await bash('echo again >> /tmp/log', { target: inner });
  await until(() => text.includes('\n150\n'));
  cut('podman', container);
  await bash('echo again >> /tmp/log', { target: inner });
  expect(await ran).toMatchObject({ exitCode: 9 });
  const lines = Array.from({ length: 300 }, (_, index) => `${index + 1}`);
  expect(text.trimEnd().split('\n')).toStrictEqual(lines);
  const log = Buffer.from((await inner.readFile('/tmp/log')) ?? []).toString();
  const written = log.trimEnd().split('\n');
  expect([written.length, written.filter((line) => line !== 'again')]).toStrictEqual([302, lines]);
  expect((await session.run('echo "$X $PWD"')).stdout).toBe('1 /tmp\n');
  const seconds = mark();
  const last = bash(`setsid sleep ${seconds} & sleep ${seconds}`, { target: inner });
  await until(() => sleepers(seconds).length === 2);
  await outer.close();
  expect(await last).toMatchObject({ status: 'lost' });
  await until(() => sleepers(seconds).length === 0 && clients('podman', container).length === 0);
});
