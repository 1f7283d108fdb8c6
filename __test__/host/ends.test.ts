import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { folder, linuxTest, until } from '../support/index.ts';
import { GIT, Site } from '../undo/support.ts';
import { type Client, Hosts, type Message } from './support.ts';

/** Starts a host that runs `source` once it is watched. */
async function watched(source: string, control = false): Promise<Client> {
  const hosts = new Hosts();
  const host = hosts.start(`
    import { BackgroundRegistry, PtySession } from 'agent-bash';
    const ignore = () => {};
    await bash('true');
    console.log('ready');
    process.on('SIGUSR1', async () => {
      ${source}
    });
    setInterval(ignore, 1e6);`);
  await host.says(/ready/);
  const client = await hosts.client(host, control);
  await client.watch();
  host.process.kill('SIGUSR1');
  return client;
}

/** Waits for the first end of a run. */
async function firstEnd(client: Client): Promise<Message> {
  return await client.message(({ change }) => change?.ended[0]);
}

/** The first end of a run of a watched host. */
async function endOf(source: string): Promise<Message> {
  return await firstEnd(await watched(source));
}

/** A call of `bash`, as text. */
const call = (command: string, options: object = {}) =>
  `bash(${JSON.stringify(command)}, ${JSON.stringify(options)}).catch(ignore);`;

/** The fields of the end of a command that exited by itself, without output files, denials and receipt. */
const NOTHING = {
  cause: null,
  outputPath: null,
  taskId: null,
  denials: [],
  denied: 0,
  secrets: [],
  receipt: null,
  receiptState: null,
  receiptWhy: null,
  attribution: null,
  changes: null,
  directories: [],
  git: [],
  undo: null,
};

test('the end of a plain command has its limit, duration and usage, and nothing else', async () => {
  const end = await endOf(call('exit 3', { timeoutMs: 20_000 }));
  expect(end).toEqual({
    ...NOTHING,
    key: expect.any(String),
    endedAt: expect.any(Number),
    state: 'exited',
    exitCode: 3,
    signal: null,
    limitMs: 20_000,
    durationMs: expect.any(Number),
    usage: { userMs: expect.any(Number), systemMs: expect.any(Number), maxRssBytes: expect.any(Number) },
  });
  expect(end.durationMs).toBeGreaterThan(0);
  expect(end.usage.maxRssBytes).toBeGreaterThan(100_000);
});

describe('cause', () => {
  test('is the time limit, with the limit', async () => {
    const end = await endOf(call('sleep 1000', { timeoutMs: 300, graceMs: 0 }));
    expect(end).toMatchObject({ state: 'timed-out', exitCode: 124, cause: 'timeout', limitMs: 300 });
    expect(end.durationMs).toBeGreaterThanOrEqual(300);
  });

  test('is a silence, with the longest silence', async () => {
    const end = await endOf(call('sleep 1000', { timeoutMs: 60_000, idleTimeoutMs: 200, graceMs: 0 }));
    expect(end).toMatchObject({ state: 'timed-out', cause: 'silence', limitMs: 200 });
  });

  linuxTest('is a limit on processor time', async () => {
    const end = await endOf(call('while :; do :; done', { limits: { cpuSeconds: 1 }, graceMs: 0 }));
    expect(end).toMatchObject({ state: 'signaled', cause: 'cpu' });
  });

  test('is the caller', async () => {
    const end = await endOf(`const stop = new AbortController();
      bash('echo begun; sleep 1000', { signal: stop.signal, onOutput: () => stop.abort() }).catch(ignore);`);
    expect(end).toMatchObject({ state: 'aborted', cause: 'abort' });
  });

  test('is a person on the page', async () => {
    const client = await watched(call('echo begun; sleep 1000'), true);
    const { key } = await client.run((run) => run.lastLine === 'begun');
    await client.request({ do: 'stop', run: key });
    expect(await client.end(key)).toMatchObject({ state: 'aborted', cause: 'page' });
  });

  test('of a task is its time limit, its silence, or an abort', async () => {
    const client = await watched(
      `const registry = globalThis.registry = new BackgroundRegistry();
      await registry.start('sleep 1001', { timeoutMs: 300 });
      await registry.start('sleep 1002', { idleTimeoutMs: 300 });
      await registry.start('sleep 1003');
      await registry.start('sleep 0.3; exit 4');`,
      true,
    );
    const of = async (command: string) => {
      const runs = () => client.messages.flatMap(({ state, change }) => (state ?? change)?.runs ?? []);
      const { key } = await until(() => runs().find((run: Message) => run.command === command), command);
      if (command === 'sleep 1003') await client.request({ do: 'stop', run: key });
      return await client.end(key);
    };
    const usage = { userMs: expect.any(Number), systemMs: expect.any(Number), maxRssBytes: expect.any(Number) };
    expect(await of('sleep 1001')).toMatchObject({ state: 'timed-out', cause: 'timeout', limitMs: 300, usage });
    expect(await of('sleep 1002')).toMatchObject({ state: 'timed-out', cause: 'silence', limitMs: 300, usage });
    expect(await of('sleep 1003')).toMatchObject({ state: 'aborted', cause: 'abort', limitMs: 86_400_000 });
    expect(await of('sleep 0.3; exit 4')).toMatchObject({ state: 'exited', exitCode: 4, cause: null, usage });
  });
});

test('outputPath is the file with the whole output', async () => {
  const end = await endOf(call('seq 300000', { spill: { dir: folder() } }));
  expect(readFileSync(end.outputPath, 'utf8')).toMatch(/^1\n2\n[\s\S]*\n300000\n$/);
});

test('the end of a command that moved names its task, and the end of the task its log', async () => {
  const client = await watched(`globalThis.registry = new BackgroundRegistry();
    bash('echo one; sleep 0.6; echo two', { timeoutMs: 200, onTimeout: 'background', registry }).catch(ignore);`);
  const moved = await firstEnd(client);
  expect(moved).toMatchObject({ state: 'backgrounded', exitCode: null, usage: null, cause: null });
  const end = await client.end(moved.taskId);
  expect(end).toMatchObject({ state: 'exited', exitCode: 0, outputPath: moved.outputPath });
  expect(end.durationMs).toBeGreaterThanOrEqual(500);
  expect(readFileSync(end.outputPath, 'utf8')).toMatch(/^one\ntwo\n/);
});

describe.runIf(process.platform === 'linux')('denials', () => {
  test('of files and hosts have their grants, and are counted', async () => {
    const site = new Site();
    const network = { allow: ['allowed.example'] };
    const command =
      'tee /etc/agent-bash-x </dev/null; tee /etc/agent-bash-x </dev/null; exec 3<>/dev/tcp/denied.example/443';
    const end = await endOf(call(command, { cwd: site.cwd, confine: { profile: 'workspace', network } }));
    const write = { write: ['/etc'] };
    expect(end.denials).toContainEqual({
      kind: 'write',
      target: '/etc/agent-bash-x',
      program: 'tee',
      count: 2,
      grant: write,
    });
    const host = end.denials.find(({ kind }: Message) => kind === 'network');
    expect(host).toMatchObject({ target: expect.stringContaining('denied.example'), program: expect.any(String) });
    expect(end.denied).toBe(end.denials.reduce((sum: number, { count }: Message) => sum + count, 0));
  });

  test('are at most 20, and all are counted', async () => {
    const site = new Site();
    const command = 'for at in {1..30}; do echo x > /etc/agent-bash-$at; done';
    const end = await endOf(call(command, { cwd: site.cwd, confine: 'workspace' }));
    expect([end.denials.length, end.denied]).toEqual([20, 30]);
  });

  test('of a task are those of its state', async () => {
    const site = new Site();
    const end = await endOf(`globalThis.registry = new BackgroundRegistry();
      await registry.start('sleep 0.2; tee /etc/agent-bash-x </dev/null; exit 3',
        { cwd: ${JSON.stringify(site.cwd)}, confine: 'workspace' });`);
    expect(end).toMatchObject({ exitCode: 3, denied: 1, denials: [{ kind: 'write', target: '/etc/agent-bash-x' }] });
  });
});

describe.runIf(process.platform === 'linux')('changes', () => {
  const exact = (site: Site) => ({ cwd: site.cwd, safety: 'off', receipt: 'exact', env: GIT });

  function site(): Site {
    const site = new Site();
    for (const name of ['edited', 'gone', 'moved']) site.write(name);
    return site;
  }

  const changes = (site: Site) => [
    { kind: 'created', path: site.path('made'), type: 'file', bytes: 4, bytesBefore: null },
    { kind: 'modified', path: site.path('edited'), type: 'file', bytes: 12, bytesBefore: 7 },
    { kind: 'deleted', path: site.path('gone'), type: 'file', bytes: null, bytesBefore: 5 },
    {
      kind: 'renamed',
      path: site.path('there'),
      from: site.path('moved'),
      type: null,
      bytes: null,
      bytesBefore: null,
    },
  ];
  const COMMAND = 'echo new > made; echo more >> edited; rm gone; mv moved there';
  const counts = { created: 1, modified: 1, deleted: 1, renamed: 1 };

  test('are those of the receipt, a rename with its old path', async () => {
    const at = site();
    const end = await endOf(call(COMMAND, exact(at)));
    expect(end).toMatchObject({ receipt: counts, receiptState: 'known', receiptWhy: null, attribution: 'command' });
    expect(end.changes).toEqual(changes(at));
  });

  test('of a task come with its end', async () => {
    const at = site();
    const client = await watched(`globalThis.registry = new BackgroundRegistry();
      await registry.start(${JSON.stringify(`sleep 0.3; ${COMMAND}`)}, ${JSON.stringify(exact(at))});`);
    const end = await firstEnd(client);
    expect(end).toMatchObject({ state: 'exited', receipt: counts, receiptState: 'known', attribution: 'command' });
    expect(end.changes).toEqual(changes(at));
    expect(client.runs()).toEqual([]);
  });

  test('are at most 200, and all are counted', async () => {
    const command = 'touch a{1..150}; rm old*';
    const at = new Site();
    for (let file = 0; file < 150; file++) at.write(`old${file}`);
    const end = await endOf(call(command, exact(at)));
    expect(end.receipt).toEqual({ created: 150, modified: 0, deleted: 150, renamed: 0 });
    expect(end.changes).toHaveLength(200);
  });

  test('in git are listed beside them', async () => {
    const at = new Site();
    const git = 'git init -q -b main; git config user.email a@b.c; git config user.name a';
    const command = `${git}; echo x > a; git add a; git commit -qm one`;
    const end = await endOf(call(command, exact(at)));
    expect(end.git).toEqual([
      {
        repository: at.cwd,
        head: [null, expect.stringMatching(/^[0-9a-f]{40}$/)],
        branch: [null, 'main'],
        index: true,
        stash: false,
        state: null,
      },
    ]);
  });
});

test('no secret of a command is in its end', async () => {
  const secret = 'ghp_0123456789abcdefghijABCDEFGHIJ012345';
  const site = new Site();
  const options = { cwd: site.cwd, safety: 'off', ...(process.platform === 'linux' ? { receipt: 'exact' } : {}) };
  const command = `touch ${secret}; tee /nowhere/${secret} <<< 'hunter2hunter2'; sleep 0.2 # -u joe:hunter2hunter2`;
  const end = await endOf(call(command, options));
  expect(end.state).toBe('exited');
  expect(JSON.stringify(end)).not.toMatch(/hunter2|ghp_/);
});

describe('a run that has ended a moment ago', () => {
  test('is followed as far as its output is held, and takes no input', async () => {
    const client = await watched(call('echo one; echo two >&2; printf three'), true);
    const { key } = await firstEnd(client);
    await client.follow(key);
    await client.followed(key);
    expect(client.text(key).split('\n').sort()).toEqual(['one', 'three', 'two']);
    for (const request of [{ do: 'stop' }, { do: 'input', text: 'x' }]) {
      expect((await client.request({ ...request, run: key })).error).toMatchObject({ code: 'gone' });
    }
  });

  test('is followed with its last screen if it is a terminal', async () => {
    const client = await watched(`new PtySession({ cols: 40, rows: 5 }).start('echo last').catch(ignore);`);
    const { key } = await firstEnd(client);
    await client.follow(key);
    const screen = await client.message(({ screen }) => screen?.end && screen);
    expect(screen.lines[0]).toBe('last');
  });

  test('is followed by its log if it is a task', async () => {
    const client = await watched(`globalThis.registry = new BackgroundRegistry();
      await registry.start('sleep 0.2; echo logged');`);
    const { key } = await firstEnd(client);
    await client.follow(key);
    await client.followed(key);
    expect(client.text(key)).toBe('logged\n');
  });

  test('is gone for a client that comes later', async () => {
    const hosts = new Hosts();
    const host = hosts.start(`await bash('echo one'); console.log('done'); setInterval(() => {}, 1e6);`);
    await host.says(/done/);
    const client = await hosts.client(host);
    await client.watch();
    expect((await client.request({ do: 'follow', run: 'c1' })).error).toMatchObject({ code: 'gone' });
  });
});
