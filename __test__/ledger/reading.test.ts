import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { type LedgerEntry, type ReadLedgerOptions, readLedger } from 'agent-bash';
import { describe, expect, test } from 'vitest';
import { folder, host, settles, until } from '../support/index.ts';
import { all, Ledger } from './support.ts';

describe('readLedger', () => {
  test('gives the newest first, and at most as many as are asked for', async () => {
    const ledger = new Ledger();
    for (let at = 0; at < 5; at++) await ledger.run(`echo ${at}`);
    const commands = async (options?: ReadLedgerOptions) => (await ledger.read(options)).map(({ command }) => command);
    expect(await commands()).toEqual(['echo 4', 'echo 3', 'echo 2', 'echo 1', 'echo 0']);
    expect(await commands({ limit: 2 })).toEqual(['echo 4', 'echo 3']);
  });

  test('filters by each option, and by all together', async () => {
    const ledger = new Ledger();
    const root = folder();
    const sub = join(root, 'sub');
    mkdirSync(sub);
    const link = join(root, 'link');
    symlinkSync(sub, link);
    const one = await ledger.run('echo One', { cwd: root, actor: { agent: 'x' } });
    await new Promise((resolve) => setTimeout(resolve, 5));
    const two = await ledger.run('echo two; exit 1', { cwd: sub, actor: { agent: 'X' } });
    await new Promise((resolve) => setTimeout(resolve, 5));
    const three = await ledger.run('echo three', { cwd: '/' });
    const names = new Map([
      [one.runId, 'one'],
      [two.runId, 'two'],
      [three.runId, 'three'],
    ]);
    const found = async (options: ReadLedgerOptions) =>
      (await ledger.read(options)).map(({ runId }) => names.get(runId)).join(' ');
    const [{ startedAt: at }] = (await ledger.read({ runId: two.runId })) as [LedgerEntry];
    expect(await found({})).toBe('three two one');
    expect(await found({ cwd: root })).toBe('two one');
    expect(await found({ cwd: sub })).toBe('two');
    expect(await found({ cwd: link })).toBe('two');
    expect(await found({ cwd: `${root}x` })).toBe('');
    expect(await found({ agent: 'x' })).toBe('one');
    expect(await found({ failed: true })).toBe('two');
    expect(await found({ failed: false })).toBe('three two one');
    expect(await found({ text: 'One' })).toBe('one');
    expect(await found({ text: 'one' })).toBe('');
    expect(await found({ since: at })).toBe('three two');
    expect(await found({ since: new Date(at) })).toBe('three two');
    expect(await found({ until: at })).toBe('one');
    expect(await found({ until: new Date(at + 1) })).toBe('two one');
    expect(await found({ runId: three.runId })).toBe('three');
    expect(await found({ runId: 'none' })).toBe('');
    expect(await found({ cwd: root, failed: true, agent: 'X', text: 'two', since: at, limit: 3 })).toBe('two');
    expect(await found({ cwd: undefined, agent: undefined })).toBe('three two one');
  });

  test('resolves relative paths against the directory of the process', async () => {
    const ledger = new Ledger();
    const { runId } = await ledger.run('true', { cwd: process.cwd() });
    expect((await ledger.read({ cwd: '.' })).map((entry) => entry.runId)).toEqual([runId]);
    expect(await ledger.read({ cwd: 'src' })).toEqual([]);
  });

  test.each([
    [{ since: 'yesterday' }, 'since'],
    [{ since: new Date(Number.NaN) }, 'since'],
    [{ until: Number.NaN }, 'until'],
    [{ cwd: 1 }, 'cwd'],
    [{ cwd: '' }, 'cwd'],
    [{ changed: [] }, 'changed'],
    [{ agent: 5 }, 'agent'],
    [{ failed: 'yes' }, 'failed'],
    [{ text: /x/ }, 'text'],
    [{ runId: null }, 'runId'],
    [{ limit: 0 }, 'limit'],
    [{ limit: 1.5 }, 'limit'],
    [{ limit: '3' }, 'limit'],
    [{ follow: 1 }, 'follow'],
    [{ signal: {} }, 'signal'],
    [{ sinc: 1 }, 'since'],
    [null, 'options'],
    ['x', 'options'],
  ])('rejects with ERR_BASH_INVALID_ARG for %o', async (options, name) => {
    const ledger = new Ledger();
    const entries = readLedger(options as ReadLedgerOptions);
    await expect(all(entries)).rejects.toMatchObject({
      code: 'ERR_BASH_INVALID_ARG',
      message: expect.stringContaining(name),
    });
    expect(ledger.files()).toEqual([]);
  });

  test('of a ledger that is not there is empty, and makes nothing', async () => {
    const ledger = new Ledger();
    expect(await ledger.read()).toEqual([]);
    expect(ledger.files()).toEqual([]);
  });

  test('can be left at any entry', async () => {
    const ledger = new Ledger();
    for (let at = 0; at < 3; at++) await ledger.run('true');
    for await (const { runId } of readLedger()) {
      expect(runId).not.toBe('');
      break;
    }
    const iterator = readLedger()[Symbol.asyncIterator]();
    await iterator.next();
    await iterator.return?.();
  });

  test('ends without an error when its signal aborts', async () => {
    const ledger = new Ledger();
    await ledger.run('true');
    expect(await ledger.read({ signal: AbortSignal.abort() })).toEqual([]);
    const ending = new AbortController();
    const following = all(readLedger({ follow: true, signal: ending.signal }));
    setTimeout(() => ending.abort(), 300);
    expect(await settles(following)).toHaveLength(1);
  });
});

describe('readLedger with follow', () => {
  test('gives the oldest first, and then each run when it starts and when it has ended', async () => {
    const ledger = new Ledger();
    await ledger.run('echo first');
    await ledger.run('echo second');
    const ending = new AbortController();
    const seen: string[] = [];
    const reading = (async () => {
      for await (const { command, state } of readLedger({ follow: true, signal: ending.signal })) {
        seen.push(`${command} ${state}`);
      }
    })();
    await until(() => seen.length >= 2, 'what was there');
    const stopping = new AbortController();
    const slow = ledger.run('sleep 60', { signal: stopping.signal });
    await until(() => seen.includes('sleep 60 running'), 'the start');
    await ledger.run('echo quick');
    await until(() => seen.includes('echo quick exited'), 'a quick command');
    stopping.abort();
    await slow;
    await until(() => seen.includes('sleep 60 aborted'), 'the end');
    ending.abort();
    await settles(reading);
    expect(seen).toEqual([
      'echo first exited',
      'echo second exited',
      'sleep 60 running',
      'echo quick running',
      'echo quick exited',
      'sleep 60 aborted',
    ]);
  });

  test('gives a run that was under way again when it has ended, and what other processes run', async () => {
    const ledger = new Ledger();
    const other = host(
      `const stopping = new AbortController();
       const running = bash('sleep 60', { ledger: true, signal: stopping.signal });
       process.once('SIGUSR2', () => stopping.abort());
       console.log('ready');
       await running;
       await bash('echo over', { ledger: true });`,
      { env: ledger.env },
    );
    await other.says(/ready/);
    await until(async () => (await ledger.read())[0]?.state === 'running', 'the start');
    const seen: string[] = [];
    for await (const { command, state, host } of readLedger({ follow: true })) {
      expect(host.pid).toBe(other.pid);
      seen.push(`${command} ${state}`);
      if (seen.length === 1) other.process.kill('SIGUSR2');
      if (seen.length === 4) break;
    }
    expect(seen).toEqual(['sleep 60 running', 'sleep 60 aborted', 'echo over running', 'echo over exited']);
  });

  test('obeys filters and ends with its limit', async () => {
    const ledger = new Ledger();
    for (const code of [0, 1, 2]) await ledger.run(`exit ${code}`);
    const codes = (options: ReadLedgerOptions) =>
      settles(all(readLedger({ follow: true, ...options }))).then((found) => found.map(({ exitCode }) => exitCode));
    expect(await codes({ limit: 3 })).toEqual([0, 1, 2]);
    expect(await codes({ limit: 2, failed: true })).toEqual([1, 2]);
    expect(await codes({ limit: 1 })).toEqual([0]);
  });
});
