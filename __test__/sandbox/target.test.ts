import { existsSync, readdirSync, statSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { bash, type Target, TargetPool } from 'agent-bash';
import { createBashTool } from 'agent-bash/ai';
import { createLocalSandbox, createLocalSandboxSession, createSandbox, createSandboxSession } from 'agent-bash/sandbox';
import { describe, expect, test } from 'vitest';
import {
  addressOf,
  confined,
  folder,
  held,
  host,
  mark,
  place,
  rejection,
  sleepers,
  state,
  until,
} from '../support/index.ts';
import { isAlive, pidFrom, textOf } from './support.ts';

const homesIn = (directory: string) => readdirSync(directory).filter((name) => name.startsWith('agent-bash-home-'));

/** A session on a target, with what cuts its link. */
async function sessionThere(options: Parameters<typeof place>[0] = {}) {
  const there = await place(options);
  const session = createSandboxSession({ target: there.target, graceMs: 300 });
  return { ...there, session };
}

/** More bytes than all buffers between two machines hold, each different from its neighbours. */
const MUCH = Buffer.alloc(24 * 1024 * 1024, 'all bytes come in their order; ');

describe('the option', () => {
  test('is a target, or left out for this machine', async () => {
    const { target } = await place();
    const pool = new TargetPool({ targets: [target] });
    for (const make of [createSandbox, createSandboxSession]) {
      const wrong = { code: 'ERR_BASH_INVALID_ARG' };
      expect(() => make({ target: 'build1' as never })).toThrow(expect.objectContaining(wrong));
      expect(() => make({ target: pool as never })).toThrow(/pool\.acquire\(\)/);
    }
    expect(await createSandboxSession({ cwd: '/usr' }).run({ command: 'pwd' })).toMatchObject({ stdout: '/usr\n' });
    expect(await (await createSandbox({ cwd: '/usr' }).runCommand('pwd')).stdout()).toBe('/usr\n');
    await target.close();
    expect(() => createSandbox({ target })).toThrow(expect.objectContaining({ code: 'ERR_BASH_CLOSED' }));
  });

  test('is refused by those that are of this machine by their name', async () => {
    const { target } = await place();
    for (const [make, instead] of [
      [createLocalSandbox, 'createSandbox takes'],
      [createLocalSandboxSession, 'createSandboxSession takes'],
    ] as const) {
      const wrong = { code: 'ERR_BASH_INVALID_ARG', message: expect.stringContaining(instead) };
      expect(() => (make as (options: { target: Target }) => unknown)({ target })).toThrow(
        expect.objectContaining(wrong),
      );
    }
  });

  test('names the other machine for models, and relative directories begin at its own', async () => {
    const { target, home } = await place();
    await bash('mkdir -p project', { target });
    const { description, run } = createSandboxSession({ target, cwd: 'project', home: 'there' });
    expect(description).toContain(`The host ${target.info.hostName} (linux `);
    expect(description).toContain(`as ${target.info.user}: another machine than that of the agent`);
    expect(description).toContain(`Root directory: ${home}/project.`);
    expect((await run({ command: 'pwd; echo $HOME' })).stdout).toBe(`${home}/project\n${home}/there\n`);
  });
});

describe('a private home', () => {
  test('is made there when the first command needs it, and goes with the session', async () => {
    const { session, home } = await sessionThere();
    await session.writeTextFile({ path: 'file', content: 'x' });
    expect(homesIn(home)).toHaveLength(confined ? 1 : 0);
    const [one, two] = await Promise.all([1, 2].map(() => session.run({ command: 'echo -n "$HOME"; echo x >> ~/f' })));
    expect(one?.stdout).toBe(two?.stdout);
    expect(homesIn(home)).toHaveLength(1);
    const own = join(home, homesIn(home)[0] as string);
    expect(one?.stdout).toBe(own);
    expect(statSync(own).mode & 0o777).toBe(0o700);
    await session[Symbol.asyncDispose]();
    expect(homesIn(home)).toEqual([]);
    expect((await session.run({ command: 'ls -A ~' })).stdout).toBe('');
    await session[Symbol.asyncDispose]();
    expect(homesIn(home)).toEqual([]);
  });

  test('is made anew if the machine that comes back has it no more', async () => {
    const { session, home, target, cut, down } = await sessionThere({ detachMs: 300 });
    const { stdout: before } = await session.run({ command: 'echo -n ~' });
    down(true);
    cut();
    await state(target, 'lost');
    await bash('rm -rf -- "$1"', { args: [before], safety: 'off', confine: 'off' });
    down(false);
    const { stdout: after } = await session.run({ command: 'echo -n ~; touch ~/f' });
    expect(after).not.toBe(before);
    expect(existsSync(join(after, 'f'))).toBe(true);
    await session[Symbol.asyncDispose]();
    expect(homesIn(home)).toEqual([]);
  });
});

describe('a cut link', () => {
  test('loses nothing of a file that is read, and of one that is written', async () => {
    const { session, home, target, cut } = await sessionThere();
    await writeFile(join(home, 'much'), MUCH);
    const reader = ((await session.readFile({ path: 'much' })) as ReadableStream<Uint8Array>).getReader();
    const read: Uint8Array[] = [(await reader.read()).value as Uint8Array];
    cut();
    await state(target, 'disconnected');
    for (let next = await reader.read(); !next.done; next = await reader.read()) read.push(next.value);
    expect(Buffer.concat(read).equals(MUCH)).toBe(true);

    let sent = 0;
    const content = new ReadableStream<Uint8Array>({
      async pull(stream) {
        if (sent === MUCH.length / 2) {
          cut();
          await state(target, 'disconnected');
        }
        if (sent === MUCH.length) return stream.close();
        stream.enqueue(MUCH.subarray(sent, sent + MUCH.length / 8));
        sent += MUCH.length / 8;
      },
    });
    await session.writeFile({ path: 'copy', content });
    expect((await readFile(join(home, 'copy'))).equals(MUCH)).toBe(true);
  });

  test('loses nothing of a command that is fed and read', async () => {
    const { session, target, cut } = await sessionThere();
    const cat = await session.spawn({ command: 'cat', stdin: true });
    const writer = cat.stdin.getWriter();
    const text = textOf(cat.stdout);
    await writer.write(Buffer.from('one '));
    cut();
    await state(target, 'disconnected');
    await writer.write(Buffer.from('two'));
    await writer.close();
    expect(await text).toBe('one two');
    expect(await cat.wait()).toEqual({ exitCode: 0, ...held });
  });

  test('loses nothing of much input, while it waits for its reader and while it flows', async () => {
    const { session, home, target, cut } = await sessionThere();
    const command = 'until [ -e go ]; do sleep 0.01; done; cat > copy';
    const copying = await session.spawn({ command, stdin: true });
    const writer = copying.stdin.getWriter();
    const write = (from: number, to: number) => writer.write(MUCH.subarray(from, to));
    const first = write(0, MUCH.length / 2);
    cut();
    await state(target, 'disconnected');
    await state(target, 'connected');
    await writeFile(join(home, 'go'), '');
    await first;
    const second = write(MUCH.length / 2, MUCH.length);
    cut();
    await second;
    await writer.close();
    expect(await copying.wait()).toEqual({ exitCode: 0, ...held });
    expect((await readFile(join(home, 'copy'))).equals(MUCH)).toBe(true);
  });
});

test('an abort while the link is down settles commands that have not begun, even before the session has a home', async () => {
  const { session, home, target, cut, down } = await sessionThere();
  down(true);
  cut();
  await state(target, 'disconnected');
  const controller = new AbortController();
  const running = session.run({ command: 'touch began', abortSignal: controller.signal });
  const reading = rejection(() => session.readTextFile({ path: 'file', abortSignal: controller.signal }));
  const reason = new Error('enough');
  controller.abort(reason);
  expect((await running).exitCode).toBe(130);
  expect(await reading).toBe(reason);
  expect(target.state).toBe('disconnected');
  down(false);
  await session.run({ command: 'touch later' });
  expect(existsSync(join(home, 'began'))).toBe(false);
  await session[Symbol.asyncDispose]();
  expect(homesIn(home)).toEqual([]);
});

describe('a lost target', () => {
  test('leaves 255 and the output so far, and rejects what is done with files', async () => {
    const { session, home, target, cut, down } = await sessionThere({ detachMs: 300 });
    await writeFile(join(home, 'much'), MUCH);
    const sandbox = createSandbox({ target });
    const seconds = mark();
    const heard = createSandboxSession({ target, onOutput: () => void begun.push(1) });
    const begun: number[] = [];
    const running = heard.run({ command: `echo out; sleep ${seconds}` });
    const detached = await sandbox.runCommand({ cmd: 'sleep', args: [seconds], detached: true });
    const reader = ((await session.readFile({ path: 'much' })) as ReadableStream<Uint8Array>).getReader();
    await reader.read();
    const endless = new ReadableStream<Uint8Array>({ start: (stream) => stream.enqueue(Buffer.from('x')) });
    const writing = rejection(() => session.writeFile({ path: 'part', content: endless }));
    await until(() => begun.length > 0 && existsSync(join(home, 'part')) && sleepers(seconds).length === 2);
    down(true);
    cut();
    expect(await running).toMatchObject({ exitCode: 255, lost: true, stdout: 'out\n' });
    expect(await detached.wait()).toMatchObject({ exitCode: 255, lost: true });
    const lost = { code: 'ERR_BASH_TARGET', reason: 'lost', target: 'there' };
    expect(await writing).toMatchObject(lost);
    const rest = async () => {
      for (let next = await reader.read(); !next.done; next = await reader.read());
    };
    expect(await rejection(rest)).toMatchObject(lost);
    expect(await rejection(() => session.stat({ path: 'much' }))).toMatchObject({ code: 'ERR_BASH_TARGET' });
    await until(() => sleepers(seconds).length === 0);
    down(false);
    expect(await session.run({ command: 'echo again' })).toMatchObject({ exitCode: 0, stdout: 'again\n' });
    await sandbox.stop();
    await session[Symbol.asyncDispose]();
    await heard[Symbol.asyncDispose]();
    expect(homesIn(home)).toEqual([]);
  });
});

test('a tool tells the model that the target of its sandbox was lost', async () => {
  const { target, session, home, cut, down } = await sessionThere({ detachMs: 300 });
  const tool = createBashTool({ sandbox: session });
  const outputs: unknown[] = [];
  const answering = (async () => {
    const command = 'echo begun; touch begun; sleep 1000';
    for await (const output of tool.execute({ command }, { toolCallId: '1' })) outputs.push(output);
  })();
  await until(() => existsSync(join(home, 'begun')));
  down(true);
  cut();
  await answering;
  expect(target.state).toBe('lost');
  const notes = [expect.stringContaining('has lost the command with its target')];
  expect(outputs.at(-1)).toMatchObject({ exitCode: 255, stdout: 'begun\n', notes });
  down(false);
});

describe('the end', () => {
  test('of a program that is killed, or signalled as a group, is told with its number', async () => {
    const { target } = await place();
    const sandbox = createSandbox({ target });
    expect((await sandbox.runCommand('bash', ['-c', 'kill -KILL $$'])).exitCode).toBe(137);
    const server = await sandbox.runCommand({ cmd: 'bash', args: ['-c', 'sleep 1000 & wait'], detached: true });
    await server.kill('SIGINT');
    expect((await server.wait()).exitCode).toBe(130);
    await server.kill('SIGTERM');
    const other = await sandbox.runCommand({ cmd: 'sleep', args: ['1000'], detached: true });
    await expect(other.kill('SIGNONE' as never)).rejects.toMatchObject({ code: 'ERR_BASH_INVALID_ARG' });
    await other.kill();
    expect((await other.wait()).exitCode).toBe(130);
  });

  test('of a sandbox and a session after that of their target finds nothing to do', async () => {
    const { target, session } = await sessionThere();
    const sandbox = createSandbox({ target });
    await sandbox.runCommand('true');
    expect(await session.run({ command: 'echo $HOME' })).toMatchObject({ exitCode: 0 });
    await target.close();
    await sandbox.stop();
    await session[Symbol.asyncDispose]();
  });

  test('of a sandbox ends what commands left running, of whatever group, and leaves others alone', async () => {
    const { target, home } = await place();
    const [sandbox, other] = [createSandbox({ target, graceMs: 300 }), createSandbox({ target })];
    const seconds = mark();
    const left = [
      `setsid sleep ${seconds} > /dev/null 2>&1 < /dev/null & echo $! > left`,
      `setsid env -i sleep ${seconds} > /dev/null 2>&1 < /dev/null & echo $! > cleared`,
      // One that ignores SIGTERM, and one that is stopped.
      `setsid bash -c 'trap "" TERM; echo $$ > deaf; sleep ${seconds}; :' > /dev/null 2>&1 < /dev/null &`,
      `setsid bash -c 'echo $$ > still; kill -STOP $$; sleep ${seconds}; :' > /dev/null 2>&1 < /dev/null &`,
    ];
    for (const command of left) await sandbox.runCommand('bash', ['-c', command]);
    await other.runCommand('bash', ['-c', `setsid sleep ${seconds} > /dev/null 2>&1 < /dev/null & echo $! > others`]);
    const files = ['left', 'cleared', 'deaf', 'still'].map((name) => join(home, name));
    const pids = await Promise.all(files.map(pidFrom));
    const running = sandbox.runCommand('sleep', [seconds]);
    await sandbox.stop();
    expect((await running).exitCode).toBe(130);
    for (const pid of pids) expect(await isAlive(pid)).toBe(false);
    expect(await isAlive(await pidFrom(join(home, 'others')))).toBe(true);
    expect(await (await sandbox.runCommand('echo', ['again'])).stdout()).toBe('again\n');
    await Promise.all([sandbox.stop(), other.stop()]);
    expect(sleepers(seconds)).toEqual([]);
  });

  test('of a host that is killed ends its commands; a private home stays', async () => {
    const home = folder();
    const seconds = mark();
    const { says, process: node } = host(`
      import { connect } from 'agent-bash';
      import { createSandboxSession } from 'agent-bash/sandbox';
      const target = await connect(${JSON.stringify({ ...addressOf(home), name: 'there' })});
      const session = createSandboxSession({ target });
      void session.run({ command: 'echo kept > ~/file; sleep ${seconds}' });
      const { stdout } = await session.spawn({ command: 'echo up; sleep ${seconds}' });
      await stdout.getReader().read();
      console.log('running');
    `);
    await says(/running/);
    await until(() => sleepers(seconds).length === 2);
    node.kill('SIGKILL');
    await until(() => sleepers(seconds).length === 0);
    expect(homesIn(home)).toHaveLength(1);
  });
});
