import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { Lines } from '../../ts/page/host/lines.ts';
import { hostOf } from '../../ts/page/host/place.ts';
import { readMessage } from '../../ts/page/host/read.ts';
import { OutputQueue } from '../../ts/page/stream/budget.ts';
import { Sent } from '../../ts/page/stream/sent.ts';

const { fromHost } = JSON.parse(readFileSync(new URL('../host/messages.json', import.meta.url), 'utf8'));

describe('a message of a host', () => {
  test.each(Object.keys(fromHost))('%s is read with all its fields', (name) => {
    const message = fromHost[name];
    const read = readMessage(JSON.stringify(message));
    expect(read).toEqual(message);
  });

  test.each(['', 'x', '7', 'null', '"x"', '[]', '{}', '{"dance":1}'])('%j is not a message', (line) => {
    expect(readMessage(line)).toBeNull();
  });

  test('has empty values in the place of values of wrong types', () => {
    const { state } = JSON.parse(
      JSON.stringify(readMessage('{"state":{"runs":[7,null,{"key":{},"state":"waiting"}],"asks":[[]]}}')),
    );
    expect(state.runs).toHaveLength(3);
    expect(state.runs[2]).toEqual({
      key: '',
      runId: '',
      kind: 'command',
      command: '',
      cwd: '',
      target: null,
      actor: null,
      startedAt: 0,
      state: 'waiting',
      waiting: { why: 'input', text: '' },
      lastLine: '',
      limitMs: null,
      idleMs: null,
      confinement: null,
      size: null,
      processes: null,
      cpuMs: null,
      memory: null,
      pid: null,
      taskId: null,
      ports: [],
      undo: false,
      stdin: false,
    });
  });

  test('has its numbers clamped to their ranges', () => {
    const run =
      '{"startedAt":1e300,"pid":-4,"cpuMs":1.9,"memory":1e999,"ports":[{"port":70000},{"port":-1},{"port":80.5}]}';
    const message = readMessage(`{"state":{"runs":[${run}],"asks":[]}}`);
    expect(message).toMatchObject({ state: { runs: [{ startedAt: 8.64e15, pid: 0, cpuMs: 1, memory: null }] } });
    expect(JSON.stringify(message)).toContain(
      '"ports":[{"port":65535,"address":""},{"port":0,"address":""},{"port":80,"address":""}]',
    );
    expect(readMessage('{"screen":{"rows":-1,"columns":1e9,"cursor":[1,null]}}')).toMatchObject({
      screen: { rows: 0, columns: 1_000, cursor: null, lines: [] },
    });
  });
});

describe('the lines of a host', () => {
  test('are the same for any split of their bytes', () => {
    const bytes = Buffer.from('one\nzwei äöü €\n\n🎉 end\n');
    for (let size = 1; size < 12; size += 1) {
      const lines = new Lines(100);
      const found: string[] = [];
      for (let at = 0; at < bytes.length; at += size) found.push(...lines.add(bytes.subarray(at, at + size)));
      expect(found).toEqual(['one', 'zwei äöü €', '', '🎉 end']);
    }
  });

  test('that are too long throw, complete or not', () => {
    expect(() => new Lines(10).add(Buffer.from('12345678901\n'))).toThrow('more than 10');
    const lines = new Lines(10);
    lines.add(Buffer.from('1234567890'));
    expect(() => lines.add(Buffer.from('1'))).toThrow('more than 10');
  });
});

test.each<[string, string | null]>([
  ['1.sock', '1'],
  ['4711-1.sock', '4711-1'],
  ['0.sock', null],
  ['01.sock', null],
  ['-1.sock', null],
  ['4711-.sock', null],
  ['4711.sock.tmp', null],
  ['x4711.sock', null],
  ['4711.sock\n', null],
  ['99999999999.sock', null],
])('the file %j is the socket of host %j', (file, host) => {
  expect(hostOf(file)).toBe(host);
});

describe('output on its way to a tab', () => {
  const piece = (text: string, more: object = {}) => ({ text, gap: 0, end: false, ...more });

  test('is sent whole while it is slow', () => {
    const queue = new OutputQueue(0);
    queue.add(piece('a\n'), true);
    queue.add(piece('b\n', { end: true }), false);
    expect(queue.take(0)).toEqual({ text: 'a\nb\n', gap: 0, start: true, end: true });
    expect(queue.take(1)).toBeNull();
  });

  test('keeps the newest text and counts the dropped bytes', () => {
    const queue = new OutputQueue(0);
    for (let at = 0; at < 1_000; at += 1) queue.add(piece('ä'.repeat(9_999).concat('\n')), at === 0);
    const { text, gap } = queue.take(0) ?? { text: '', gap: 0 };
    expect(text.length).toBeLessThanOrEqual(1024 * 1024);
    expect(Buffer.byteLength(text) + gap).toBe(1_000 * (2 * 9_999 + 1));
    expect(text.startsWith('ä'.repeat(9_999))).toBe(true);
  });

  test('is at most 512 KiB a second in the long run', () => {
    const queue = new OutputQueue(0);
    let sent = 0;
    for (let now = 0; now < 60_000; now += 34) {
      queue.add(piece('x'.repeat(1_000_000)), now === 0);
      sent += queue.take(now)?.text.length ?? 0;
    }
    expect(sent).toBeLessThan(60 * 512 * 1024 + 2 * 1024 * 1024);
    expect(sent).toBeGreaterThan(50 * 512 * 1024);
  });

  test('is not cut inside a character', () => {
    const queue = new OutputQueue(0);
    queue.add(piece('🎉'.repeat(600_000)), true);
    const text = queue.take(0)?.text ?? '';
    expect(text).toMatch(/^(🎉)+$/u);
    expect(Buffer.from(text).includes('\ufffd')).toBe(false);
  });

  test('after a gap replaces the output before it', () => {
    const queue = new OutputQueue(0);
    queue.add(piece('old'), true);
    queue.add(piece('new', { gap: 10 }), false);
    expect(queue.take(0)).toEqual({ text: 'new', gap: 13, start: true, end: false });
  });
});

test('the events kept for a tab are bounded, and are replayed completely or not at all', () => {
  const sent = new Sent();
  for (let at = 1; at <= 100; at += 1) sent.add(`${at}`.padEnd(20_000));
  expect(sent.next).toBe(101);
  expect(sent.after(100)).toEqual([]);
  expect(sent.after(98)?.map((text) => text.trim())).toEqual(['99', '100']);
  expect(sent.after(101)).toBeNull();
  expect(sent.after(5)).toBeNull();
  const first = Array.from({ length: 101 }, (_, at) => at).find((at) => sent.after(at) !== null) ?? 0;
  expect((100 - first) * 20_000).toBeLessThanOrEqual(512 * 1024);
});
