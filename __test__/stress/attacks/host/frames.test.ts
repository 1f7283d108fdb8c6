import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { Hosts } from '../../../host/support.ts';
import { isLinux, until } from '../../../support/index.ts';

const FRAMES = 100_000;

/** Runs commands until it is told to stop, and prints how many had the right output. */
const HOST = `
  let stop = false;
  process.on('SIGUSR1', () => { stop = true; });
  const idle = bash('echo begun; exec sleep 1000', { timeoutMs: 300_000 });
  idle.catch(() => {});
  let right = 0;
  let wrong = 0;
  console.log('ready');
  while (!stop) {
    const { stdout, exitCode } = await bash('echo ' + right + '; exit 3');
    if (stdout === right + '\\n' && exitCode === 3) right++;
    else wrong++;
  }
  console.log('counts', right, wrong);
  setInterval(() => {}, 1e6);`;

const pick = <T>(from: readonly T[]): T => from[randomInt(from.length)] as T;

const WHOLE = [
  '{"hello":1}',
  '{"hello":1,"control":true}',
  '{"id":1,"do":"watch"}',
  '{"id":2,"do":"follow","run":"c1"}',
  '{"id":3,"do":"unfollow","run":"c1"}',
  '{"id":4,"do":"input","run":"c1","text":"y\\n"}',
  '{"id":6,"do":"answer","ask":"a1","approved":true,"reason":"x"}',
];
const VALUES = ['null', '-1', '1e999', '99999999999999999999', '"x"', '[]', '{}', 'true', '"\\ud800"', '"\\u0000"'];

/** Ways of making a frame that no client sends. */
const HOSTILE: (() => Buffer)[] = [
  () => Buffer.from(pick(WHOLE).slice(0, randomInt(1, 40))),
  () => Buffer.from(`${pick(WHOLE)}${pick(WHOLE)}`),
  () => Buffer.from(`${'['.repeat(randomInt(1, 30_000))}`),
  () => Buffer.from(`{"id":1,"do":"follow","run":${'{"a":'.repeat(randomInt(1, 5_000))}1`),
  () => Buffer.from(`{"id":${pick(VALUES)},"do":"follow","run":"c1"}`),
  () => Buffer.from(`{"id":9,"do":${pick(VALUES)},"run":"c1"}`),
  () => Buffer.from(`{"id":9,"do":"input","run":${pick(VALUES)},"text":${pick(VALUES)}}`),
  () => Buffer.from(`{"id":9,"id":8,"do":"watch","do":"stop","run":"../../c1"}`),
  () => Buffer.from(pick(WHOLE).replace('1', '\0')),
  () => Buffer.concat([Buffer.from(pick(WHOLE)), Buffer.from([0xff, 0xfe, 0xc0, 0x80])]),
  () => Buffer.from(Array.from({ length: randomInt(1, 200) }, () => randomInt(256))),
  () => Buffer.from(`{"id":9,"do":"follow","run":"${'x'.repeat(randomInt(1, 3_000))}"}`),
  () => {
    const bytes = Buffer.from(pick(WHOLE));
    bytes[randomInt(bytes.length)] = randomInt(256);
    return bytes;
  },
];
const OVERSIZED = Buffer.from('x'.repeat(70_000));

/** Sends frames on one connection until it is closed or there are enough. Returns how many. */
async function attack(path: string): Promise<number> {
  const socket: Socket = connect(path);
  let closed = false;
  let failed: Error | undefined;
  socket.on('close', () => {
    closed = true;
  });
  socket.on('error', (error: NodeJS.ErrnoException) => {
    if (!['EPIPE', 'ECONNRESET', 'EAGAIN'].includes(error.code ?? '')) failed = error;
  });
  // Some read nothing.
  if (randomInt(4) > 0) socket.resume();
  if (randomInt(8) > 0) socket.write('{"hello":1}\n');
  let sent = 0;
  const most = randomInt(1, 40);
  while (!closed && sent < most) {
    const frame = randomInt(200) === 0 ? OVERSIZED : pick(HOSTILE)();
    // Some frames come in parts, and some without their end.
    const end = Buffer.from(randomInt(10) === 0 ? '' : '\n');
    const cut = randomInt(frame.length + 1);
    socket.write(frame.subarray(0, cut));
    socket.write(Buffer.concat([frame.subarray(cut), end]));
    sent++;
    if (randomInt(20) === 0) await sleep(0);
  }
  await sleep(0);
  socket.destroy();
  if (!closed) await once(socket, 'close');
  if (failed) throw failed;
  return sent;
}

const memoryOf = (pid: number) =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024;
const descriptorsOf = (pid: number) => readdirSync(`/proc/${pid}/fd`).length;

test.runIf(isLinux)(
  `${FRAMES} damaged and hostile frames change nothing`,
  async () => {
    const hosts = new Hosts();
    const host = hosts.start(HOST);
    await host.says(/ready/);
    const honest = await hosts.client(host);
    await honest.request({ do: 'watch' });
    const path = hosts.socket(host);
    let sent = 0;
    const send = async (until: number) => {
      const attacker = async () => {
        while (sent < until) sent += await attack(path);
      };
      await Promise.all(Array.from({ length: 12 }, attacker));
    };
    await send(FRAMES / 2);
    const [memory, descriptors] = [memoryOf(host.pid), descriptorsOf(host.pid)];
    await send(FRAMES);
    // Clients that read nothing are still being heard out.
    await until(() => descriptorsOf(host.pid) <= descriptors + 8, 'the descriptors are closed');
    expect(memoryOf(host.pid)).toBeLessThan(memory + 32 * 1024 * 1024);
    expect(await honest.request({ do: 'unfollow', run: 'c1' })).toMatchObject({ ok: true });
    const told = honest.messages.filter((message) => JSON.stringify(message).includes('"c1"'));
    expect(
      honest.runs().map(({ key }) => key),
      JSON.stringify(told.slice(-4)),
    ).toContain('c1');
    const next = await hosts.client(host, true);
    await next.request({ do: 'follow', run: 'c1' });
    await until(() => next.text('c1') === 'begun\n', 'the output');
    host.process.kill('SIGUSR1');
    const [, right, wrong] = await host.says(/counts (\d+) (\d+)/);
    console.log(`${sent} frames, ${right} commands meanwhile, ${Math.round(memory / 2 ** 20)} MiB`);
    expect(Number(wrong)).toBe(0);
    expect(Number(right)).toBeGreaterThan(100);
  },
  300_000,
);
