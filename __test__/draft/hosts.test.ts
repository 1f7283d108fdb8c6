import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { BashSession, bash, drafts } from 'agent-bash';
import { describe, expect } from 'vitest';
import { finished, folder, host, hostEnv, hostResult, rejection, until } from '../support/index.ts';
import { draftTest, project } from './support.ts';

describe('a draft outlives its host', () => {
  draftTest('with all that ended commands wrote, and is committed by another process', async () => {
    const { root, open, tree } = project();
    const before = tree();
    const first = host(`import { openDraft } from 'agent-bash';
      const draft = await openDraft({ root: ${JSON.stringify(root)}, name: 'left' });
      await bash('echo mine >>a; mkdir -p new/dir; echo 1 >new/dir/f', { draft });
      console.log('id=' + draft.id);
      await bash('echo x >half; sleep 60', { draft });`);
    const [, id = ''] = await first.says(/^id=(\w+)/m);
    const listed = async () => (await drafts({ root })).find((draft) => draft.id === id);
    await until(async () => (await listed())?.counts.created === 4);
    expect((await listed())?.hosts).toEqual([first.pid]);
    const draft = await open({ id });
    expect(await rejection(() => draft.commit())).toMatchObject({ code: 'ERR_BASH_DRAFT', reason: 'busy' });
    first.process.kill('SIGKILL');
    await first.ended();
    expect(tree()).toEqual(before);
    // What a killed host runs ends a little later.
    const committed = await until(() => draft.commit().catch(() => undefined));
    expect(committed.conflicts).toEqual([]);
    expect(readFileSync(join(root, 'new/dir/f'), 'utf8') + readFileSync(join(root, 'a'), 'utf8')).toBe('1\na\nmine\n');
    expect(await listed()).toBe(undefined);
  });

  draftTest('and its tasks of a directory go on in it', async () => {
    const { root, open } = project();
    const dir = join(root, '../tasks');
    const first = host(`import { openDraft, BackgroundRegistry } from 'agent-bash';
      const draft = await openDraft({ root: ${JSON.stringify(root)} });
      const registry = new BackgroundRegistry({ dir: ${JSON.stringify(dir)}, draft });
      await registry.start('until [ -e stop ]; do sleep 0.05; done; echo seen >told');
      console.log('id=' + draft.id);
      setInterval(() => {}, 1000);`);
    const [, id = ''] = await first.says(/^id=(\w+)/m);
    first.process.kill('SIGKILL');
    await first.ended();
    const draft = await open({ id });
    // Its processes are those of the task: both see what the other one writes.
    expect(await rejection(() => draft.commit())).toMatchObject({ reason: 'busy' });
    await bash('touch stop', { draft });
    await until(async () => (await draft.read('told')) !== null);
    await until(() => draft.commit().catch(() => undefined));
    expect(readFileSync(join(root, 'told'), 'utf8')).toBe('seen\n');
  });
});

draftTest('two hosts in one draft share it', async () => {
  const { root, open, dir } = project();
  const draft = await open();
  await bash('mkdir shared; echo one >shared/a', { draft });
  const other = host(`import { openDraft } from 'agent-bash';
    const draft = await openDraft({ id: ${JSON.stringify(draft.id)} });
    const { stdout } = await bash('cat shared/a; echo two >shared/b; readlink /proc/self/ns/mnt', { draft });
    console.log('said=' + stdout.replaceAll('\\n', ' '));
    process.stdin.resume();
    setInterval(() => {}, 1000);`);
  const [, said = ''] = await other.says(/^said=(.*)/m);
  const here = await bash('cat shared/b; readlink /proc/self/ns/mnt', { draft });
  expect([said.split(' ')[0], here.stdout]).toEqual(['one', `two\n${said.split(' ')[1]}\n`]);
  expect((await drafts({ root }))[0]?.hosts).toEqual([process.pid, other.pid].sort((a, b) => a - b));
  // A commit here gives commands there a view of their own.
  await draft.commit({ paths: ['shared/a'] });
  expect(readFileSync(join(root, 'shared/a'), 'utf8')).toBe('one\n');
  other.process.kill('SIGKILL');
  await other.ended();
  await draft.discard();
  expect(readdirSync(dir)).toEqual([]);
});

draftTest('two hosts share it, though the second finds a cache that was made meanwhile', async () => {
  const { open } = project();
  const home = folder();
  const cache = join(home, 'cache');
  hostEnv({ HOME: home, npm_config_cache: cache });
  const draft = await open();
  const commands = new BashSession({ draft });
  finished(() => commands.close());
  await commands.run('echo shared >said; sleep 60 &');
  mkdirSync(cache);
  const other = await hostResult<string>(
    `import { openDraft } from 'agent-bash';
     const draft = await openDraft({ id: ${JSON.stringify(draft.id)} });
     console.log(JSON.stringify((await bash('cat said', { draft })).stdout));`,
  );
  expect(other).toBe('shared\n');
});

draftTest('a host sees at its next command that another one has committed', async () => {
  const { root, open } = project();
  const draft = await open();
  await bash('mkdir -p made/deep; echo 1 >made/deep/f; echo x >a', { draft });
  const other = host(`import { openDraft } from 'agent-bash';
    const draft = await openDraft({ id: ${JSON.stringify(draft.id)} });
    const { applied } = await draft.commit({ paths: ['made'] });
    console.log('applied=' + applied.length);`);
  await other.says(/^applied=1$/m);
  await other.ended();
  await bash('echo 2 >f', { draft, cwd: join(root, 'made/deep') });
  expect(readFileSync(join(root, 'made/deep/f'), 'utf8')).toBe('1\n');
  expect((await draft.changes()).modified.map(({ path }) => path)).toEqual([
    join(root, 'a'),
    join(root, 'made/deep/f'),
  ]);
});

draftTest('without namespaces nothing runs, and the root is not touched', async () => {
  const { root, tree } = project();
  const before = tree();
  const script = `import { openDraft } from 'agent-bash';
    const failed = (error) => [error.code, error.reason];
    const made = await openDraft({ root: ${JSON.stringify(root)} }).catch(failed);
    process.stdout.write(JSON.stringify(made));`;
  expect(await hostResult(script, { env: { AGENT_BASH_NAMESPACES: 'off' } })).toEqual([
    'ERR_BASH_DRAFT',
    'unsupported',
  ]);
  // A namespace that may not have a user namespace of its own.
  const limited = `unshare -Ur bash -c 'echo 0 >/proc/sys/user/max_user_namespaces; exec "$0" "$@"'`;
  const inner = `import { openDraft } from 'agent-bash';
    const failed = (error) => [error.code, error.reason];
    const draft = await openDraft({ root: ${JSON.stringify(root)} });
    process.stdout.write(JSON.stringify(await bash('echo x >>a; touch made', { draft }).catch(failed)));`;
  const running = host(inner, { before: `exec() { builtin exec ${limited} "$@"; }` });
  await running.ended();
  expect(running.stdout() + running.stderr()).toBe('["ERR_BASH_DRAFT","unsupported"]');
  expect(tree()).toEqual(before);
});

draftTest('no link of a command leads a reader out of the draft', async () => {
  const { root, open, edit } = project();
  const outside = join(root, '../outside');
  mkdirSync(outside);
  writeFileSync(join(outside, 'secret'), 'secret\n');
  edit(`ln -s ${outside} before`);
  const draft = await open();
  for (const side of ['draft', 'base'] as const) expect(await draft.read('before/secret', { side })).toBe(null);
  await bash(`ln -s ${outside} out; ln -s ${outside}/secret link2; rm -r src; ln -s ${outside} src`, { draft });
  for (const path of ['out/secret', 'link2', 'src/secret', 'src/one']) {
    expect([path, await draft.read(path)]).toEqual([path, null]);
  }
  expect(await draft.diff()).not.toContain('+secret');
  // A directory that is a link in turn, while the draft is read.
  await bash('mkdir d; echo decoy >d/secret', { draft });
  const stop = new AbortController();
  const swaps = bash(`while :; do mv d e; ln -s ${outside} d; rm d; mv e d; done`, { draft, signal: stop.signal });
  for (let turn = 0; turn < 60; turn++) {
    const seen = [await draft.read('d/secret').catch(() => null), await draft.diff().catch(() => '')];
    expect(seen.map(String).join()).not.toMatch(/^115,101,99|\+secret/m);
  }
  stop.abort();
  await swaps;
});
