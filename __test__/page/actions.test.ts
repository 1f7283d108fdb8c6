import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ADDON, alive, folder, until } from '../support/index.ts';
import { type Data, named, opened } from './support.ts';

describe.concurrent('stop', () => {
  test('terminates a command and its descendants', async () => {
    const { pages, tab, events } = await opened();
    pages.host(`bash('echo to be stopped; sleep 1000 & echo $!; wait').catch(() => {});`);
    const run = await events.run((run) => named('stopped')(run) && run.pid);
    await tab.follow(events, run.id);
    const child = Number(await until(() => /\n(\d+)\n/.exec(events.text(run.id))?.[1], 'the pid'));
    expect(await tab.post('/api/stop', { run: run.id })).toMatchObject({ status: 200, json: {} });
    expect(await events.end(run.id)).toMatchObject({ state: 'aborted' });
    await until(() => !alive(child), 'its child is gone');
    expect(await tab.post('/api/stop', { run: run.id })).toMatchObject({ status: 409, code: 'gone' });
  });

  test('of an unknown run is refused, as are input to it and an answer to an unknown question', async () => {
    const { tab } = await opened();
    const task = 'task:t0123456789ab';
    for (const run of ['', ' ', 'x', '1:c1', task, 'task:../../x', '../../../etc/passwd', ':', '\0', '__proto__']) {
      for (const [path, fields] of [
        ['stop', { run }],
        ['input', { run, text: 'x' }],
        ['answer', { ask: run, approved: true }],
      ] as const) {
        expect(await tab.post(`/api/${path}`, fields), `${path} ${run}`).toMatchObject({ status: 409, code: 'gone' });
      }
    }
  });
});

describe.concurrent('input', () => {
  test('answers a prompt in a terminal', async () => {
    const { pages, tab, events } = await opened();
    pages.host(`
      import { PtySession } from 'agent-bash';
      const terminal = new PtySession({ cols: 40, rows: 5 });
      terminal.start('printf "Name: "; read name; echo "Hello $name"; sleep 1000').catch(() => {});`);
    const run = await events.run(({ kind }) => kind === 'terminal');
    expect(run).toMatchObject({ stdin: true });
    await tab.follow(events, run.id);
    const shows = (word: string) =>
      until(() => events.named('screen').some(({ lines }) => lines.join('\n').includes(word)), word);
    await shows('Name:');
    expect((await tab.post('/api/input', { run: run.id, text: 'Joe\n' })).status).toBe(200);
    await shows('Hello Joe');
    expect(events.named('screen').at(-1)).toMatchObject({ run: run.id, rows: 5, columns: 40, end: false });
    const long = await tab.post('/api/input', { run: run.id, text: 'x'.repeat(10_001) });
    expect(long).toMatchObject({ status: 400, code: 'invalid' });
  });

  test('to a command without an open input is refused with the reason of its host', async () => {
    const { pages, tab, events } = await opened();
    pages.host(`bash('sleep 993').catch(() => {});`);
    const { id } = await events.run(named('993'));
    const { status, json } = await tab.post('/api/input', { run: id, text: 'x' });
    expect([status, json.error.code, json.error.message]).toEqual([409, 'invalid', expect.stringMatching(/input/)]);
  });
});

describe.concurrent('answer', () => {
  /** The source of a host that asks by the native call and prints each answer. */
  const ASKS = `
    import { createRequire } from 'node:module';
    const { Bridge } = createRequire(import.meta.url)(${JSON.stringify(ADDON)});
    const bridge = new Bridge((id, event) => console.log(id, JSON.stringify(event)));
    bridge.hold(true);
    bash('sleep 1000').catch(() => {});
    const question = { command: 'git push --force', cwd: '/', verdict: 'ask', rules: ['git-push-force'],
      reasons: ['It replaces history.'], undo: 'none', actor: { agent: 'builder' } };
    process.on('SIGUSR1', () => bridge.ask(JSON.stringify(question)));
    process.on('SIGUSR2', () => bridge.abort(1));`;

  async function asked() {
    const all = await opened();
    const host = all.pages.host(ASKS);
    await all.events.run(({ host: id }) => id === `${host.pid}`);
    host.process.kill('SIGUSR1');
    const [ask] = await until(() => all.events.view.asks.size > 0 && [...all.events.view.asks.values()], 'a question');
    return { ...all, host, ask };
  }

  test('approves, and the question is closed', async () => {
    const { tab, events, host, ask } = await asked();
    expect(ask).toMatchObject({
      command: 'git push --force',
      host: `${host.pid}`,
      actor: { agent: 'builder' },
      reasons: ['It replaces history.'],
      findings: [expect.objectContaining({ span: expect.any(Array), message: expect.any(String) })],
      tokens: expect.any(Array),
      project: { path: '/', name: '/' },
    });
    expect((await tab.post('/api/answer', { ask: ask.id, approved: true })).status).toBe(200);
    await host.says(/^1 .*"approved":true/m);
    await until(() => events.view.asks.size === 0, 'no question');
    expect(await tab.post('/api/answer', { ask: ask.id, approved: false })).toMatchObject({
      status: 409,
      code: 'gone',
    });
  });

  test('denies with the reason of the person', async () => {
    const { tab, host, ask } = await asked();
    const reason = '  Use a branch: "x" \u202e <b>\n ';
    expect((await tab.post('/api/answer', { ask: ask.id, approved: false, reason })).status).toBe(200);
    const [, event = ''] = await host.says(/^1 (.*)$/m);
    expect(JSON.parse(event).answer).toEqual({ approved: false, reason: reason.trim() });
  });

  test('must be true or false', async () => {
    const { tab, events, ask } = await asked();
    for (const approved of [undefined, null, 'true', 1, {}]) {
      expect(await tab.post('/api/answer', { ask: ask.id, approved })).toMatchObject({ status: 400, code: 'invalid' });
    }
    expect(await tab.post('/api/answer', { ask: ask.id, approved: true, reason: 7 })).toMatchObject({ status: 400 });
    expect(events.view.asks.size).toBe(1);
  });

  test('given elsewhere closes the question', async () => {
    const { tab, events, host, ask } = await asked();
    host.process.kill('SIGUSR2');
    await until(() => events.view.asks.size === 0, 'no question');
    expect(await tab.post('/api/answer', { ask: ask.id, approved: true })).toMatchObject({ status: 409, code: 'gone' });
  });

  test('a question of a host that was killed is closed', async () => {
    const { events, host } = await asked();
    host.process.kill('SIGKILL');
    await until(() => events.view.asks.size === 0, 'no question');
  });

  test('without control, no question waits for this page', async () => {
    const { pages, events } = await opened(false);
    const host = pages.host(ASKS);
    await events.run(({ host: id }) => id === `${host.pid}`);
    host.process.kill('SIGUSR1');
    await host.says(/^1 \{"kind":"answered"\}$/m);
  });
});

describe.concurrent('undo', () => {
  test('reverts what a run changed, as the forecast says', async () => {
    const { pages, tab } = await opened();
    const cwd = folder();
    writeFileSync(join(cwd, 'kept'), 'before');
    const host = pages.host(`
      const { runId } = await bash('echo after > kept; echo new > made', { cwd: ${JSON.stringify(cwd)}, undo: 'always', ledger: true });
      console.log('RUN', runId);`);
    const [, runId] = await host.says(/RUN (\S+)/);
    const run = `?run=${encodeURIComponent(runId ?? '')}`;
    const { json: details } = await tab.get(`/api/run${run}`);
    expect(details.entry).toMatchObject({
      runId,
      exitCode: 0,
      undo: expect.stringMatching(/all|part/),
      receipt: { created: 1, modified: 1 },
    });
    const expected = { restored: [join(cwd, 'kept')], removed: [join(cwd, 'made')], conflicts: [], more: 0 };
    expect((await tab.get(`/api/forecast${run}`)).json).toMatchObject(expected);
    expect(readFileSync(join(cwd, 'kept'), 'utf8')).toBe('after\n');
    expect(await tab.post('/api/undo', { run: runId })).toMatchObject({ status: 200, json: expected });
    expect(readFileSync(join(cwd, 'kept'), 'utf8')).toBe('before');
    expect(existsSync(join(cwd, 'made'))).toBe(false);
    const nothing = { restored: [], removed: [], conflicts: [] };
    expect(await tab.post('/api/undo', { run: runId })).toMatchObject({ status: 200, json: nothing });
  });

  test('of what cannot be undone is refused', async () => {
    const { tab } = await opened();
    for (const run of ['none', '../../x', '\0', ' ']) {
      for (const reply of [
        await tab.post('/api/undo', { run }),
        await tab.get(`/api/forecast?run=${encodeURIComponent(run)}`),
      ]) {
        expect([400, 409], run).toContain(reply.status);
        expect(reply.json.error.message, run).not.toBe('');
      }
    }
  });
});

describe.concurrent('the history', () => {
  async function filled() {
    const all = await opened(false);
    const cwd = folder();
    const host = all.pages.host(`
      const run = (command, options) => bash(command, { ledger: true, ...options });
      await run('echo one', { cwd: ${JSON.stringify(cwd)}, actor: { agent: 'builder' } });
      await run('exit 3', { cwd: '/' });
      await run('echo made > made', { cwd: ${JSON.stringify(cwd)}, receipt: 'exact' });
      console.log('FILLED');`);
    await host.says(/FILLED/);
    await host.ended();
    return { ...all, cwd };
  }

  test('has the runs of the ledger, newest first, with their counts', async () => {
    const { tab, cwd } = await filled();
    const { json } = await tab.get('/api/history');
    expect(json.entries.map(({ command }: Data) => command)).toEqual(['echo made > made', 'exit 3', 'echo one']);
    expect(json).toMatchObject({ runs: 3, failed: 1, lost: 0, more: false, agents: ['builder'] });
    expect(json.projects.map(({ path }: Data) => path).sort()).toEqual(['/', cwd].sort());
    expect(json.bars).toHaveLength(48);
    expect(json.bars.reduce((sum: number, { runs }: Data) => sum + runs, 0)).toBe(3);
    expect(json.until - json.from).toBeGreaterThanOrEqual(24 * 3_600_000 - 60_000);
    expect(json.entries[1]).toMatchObject({
      exitCode: 3,
      tokens: expect.any(Array),
      project: { path: '/' },
      undo: null,
    });
  });

  test('applies filters', async () => {
    const { tab, cwd } = await filled();
    const commands = async (query: string) => {
      const { json } = await tab.get(`/api/history?${query}`);
      return json.entries.map(({ command }: Data) => command);
    };
    expect(await commands(`cwd=${encodeURIComponent(cwd)}`)).toEqual(['echo made > made', 'echo one']);
    expect(await commands('agent=builder')).toEqual(['echo one']);
    expect(await commands('failed=true')).toEqual(['exit 3']);
    expect(await commands('failed=false&text=one')).toEqual(['echo one']);
    expect(await commands(`changed=${encodeURIComponent(join(cwd, 'made'))}`)).toEqual(['echo made > made']);
    expect(await commands(`since=${Date.now() + 60_000}`)).toEqual([]);
    expect(await commands(`until=${Date.now() + 60_000}&since=`)).toHaveLength(3);
    expect(await commands('until=1')).toEqual([]);
  });

  const WRONG = [
    'since=soon',
    'since=-1',
    'until=1e9',
    'until=9999999999999999',
    'since=1.5',
    'failed=yes',
    'failed=1',
    'Agent=x',
    'limit=1',
    'since=1&since=2',
    'agent=x&agent=',
    'follow=true',
    'cwd=%00',
    '__proto__=x',
    'signal=x',
  ];

  test('refuses wrong filters with 400', async () => {
    const { tab, page } = await opened(false);
    for (const query of WRONG) {
      expect(await tab.get(`/api/history?${query}`), query).toMatchObject({ status: 400, code: 'invalid' });
    }
    expect(page.host.stderr()).toBe('');
  });

  test('without a ledger is empty', async () => {
    const { tab } = await opened(false);
    expect((await tab.get('/api/history')).json).toMatchObject({ entries: [], runs: 0, agents: [], projects: [] });
  });

  test('has the details of one run, and refuses a request that names none', async () => {
    const { tab } = await filled();
    const { json } = await tab.get('/api/history');
    const { runId } = json.entries[0];
    expect((await tab.get(`/api/run?run=${runId}`)).json).toMatchObject({ findings: [], entry: json.entries[0] });
    expect((await tab.get('/api/run?run=none')).json).toEqual({ findings: [], entry: null });
    for (const path of ['run', 'forecast']) {
      for (const query of ['', '?run=', `?run=${'x'.repeat(1_001)}`]) {
        expect(await tab.get(`/api/${path}${query}`)).toMatchObject({ status: 400, code: 'invalid' });
      }
    }
  });

  test('has the output of an ended run if it was spilled', async () => {
    const { pages, tab, events } = await opened(false);
    const host = pages.host(`
      const spill = { dir: ${JSON.stringify(folder())} };
      const { runId } = await bash('seq 100000', { ledger: true, spill });
      const other = await bash('echo little', { ledger: true });
      console.log('RUNS', runId, other.runId);`);
    const [, runId = '', other = ''] = await host.says(/RUNS (\S+) (\S+)/);
    await until(() => events.named('welcome').length > 0, 'the welcome');
    await tab.follow(events, runId);
    await until(() => events.outputs(runId).at(-1)?.end, 'the end');
    const text = events.text(runId);
    expect(text).toMatch(/\n99999\n100000\n$/);
    const [{ gap, start }] = events.outputs(runId);
    expect(start).toBe(true);
    expect(gap + Buffer.byteLength(text)).toBe(588_895);
    await tab.follow(events, other);
    await until(() => events.named('no-output').find(({ run }) => run === other), 'a reason');
  });
});
