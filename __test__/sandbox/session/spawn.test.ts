import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { held } from '../../support/confined/index.ts';
import { settles, until } from '../../support/index.ts';
import { inPlaces } from '../places.ts';
import { bytesOf, isAlive, pidFrom, textOf } from './support.ts';

inPlaces((place) => {
  /** Numbers, so that a byte that is lost or moved is noticed. They have all values of a byte. */
  const NUMBERED = Buffer.from(Uint32Array.from({ length: 1024 * 1024 }, (_, n) => n * 2_654_435_761).buffer);
  const ALL_BYTES = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));

  test('bytes are bytes: invalid text arrives unchanged', async () => {
    const { session } = await place.sessionInFolder();
    await session.writeBinaryFile({ path: 'bytes', content: ALL_BYTES });
    const command = await session.spawn({ command: 'cat bytes; cat bytes >&2' });
    const [stdout, stderr] = await Promise.all([bytesOf(command.stdout), bytesOf(command.stderr)]);
    expect(stdout.equals(ALL_BYTES)).toBe(true);
    expect(stderr.equals(ALL_BYTES)).toBe(true);
  });

  test('the pid is that of the shell, and known while it runs', async () => {
    const { session } = await place.sessionInFolder();
    const command = await session.spawn({ command: 'echo $$; sleep 1000' });
    const reader = command.stdout.getReader();
    const { value } = await settles(reader.read());
    expect(Number(Buffer.from(value as Uint8Array).toString())).toBe(command.pid);
    expect(await isAlive(command.pid as number)).toBe(true);
    await command.kill();
    expect(await isAlive(command.pid as number)).toBe(false);
  });

  test('output comes while the command runs, unfinished lines too', async () => {
    const { folder, session } = await place.sessionInFolder();
    const command = await session.spawn({
      command: 'printf half; until [ -e go ]; do sleep 0.01; done; echo " whole"',
    });
    const reader = command.stdout.getReader();
    expect(Buffer.from((await settles(reader.read())).value as Uint8Array).toString()).toBe('half');
    await session.writeTextFile({ path: join(folder, 'go'), content: '' });
    expect(Buffer.from((await settles(reader.read())).value as Uint8Array).toString()).toBe(' whole\n');
    expect((await reader.read()).done).toBe(true);
  });

  test('who does not read holds the command back, and loses nothing', async () => {
    const { session } = await place.sessionInFolder();
    const command = await session.spawn({ command: 'seq 2000000; echo over >&2' });
    const text = await textOf(command.stdout);
    expect(text?.length).toBe(14_888_896);
    expect(text?.endsWith('\n1999999\n2000000\n')).toBe(true);
    expect(await textOf(command.stderr)).toBe('over\n');
  });

  test('an unread flood is held, and memory with it', async () => {
    const { session } = await place.sessionInFolder();
    const command = await session.spawn({ command: 'yes & echo $! >pid; wait' });
    await until(async () => (await session.stat({ path: 'pid' }))?.size);
    const before = process.memoryUsage().rss;
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(process.memoryUsage().rss - before).toBeLessThan(64 * 1024 * 1024);
    await settles(command.kill());
    expect(await settles(command.wait())).toEqual({ exitCode: 130, ...held });
  });

  test('wait resolves at the end of much unread output, and it can be read afterwards', async () => {
    const { session } = await place.sessionInFolder();
    const command = await session.spawn({ command: 'seq 1000000; seq 1000000 >&2' });
    expect(await settles(command.wait())).toEqual({ exitCode: 0, ...held });
    expect((await textOf(command.stdout))?.length).toBe(6_888_896);
    expect((await textOf(command.stderr))?.length).toBe(6_888_896);
  });

  test('wait resolves at the end, without a reader', async () => {
    const { session } = await place.sessionInFolder();
    const small = await session.spawn({ command: 'seq 10000; seq 10000 >&2; exit 5' });
    expect(await settles(small.wait())).toEqual({ exitCode: 5, ...held });
    // More than may wait unread, but not more than a pipe holds beyond that.
    const more = await session.spawn({ command: 'head -c 1080000 /dev/zero' });
    expect(await settles(more.wait())).toEqual({ exitCode: 0, ...held });
    expect((await bytesOf(more.stdout)).length).toBe(1_080_000);
  });

  test('a stream that is cancelled holds nothing back', async () => {
    const { session } = await place.sessionInFolder();
    const command = await session.spawn({ command: 'seq 2000000; echo over >&2' });
    await command.stdout.cancel();
    expect(await textOf(command.stderr)).toBe('over\n');
    expect(await settles(command.wait())).toEqual({ exitCode: 0, ...held });
  });

  test('standard input is written as it comes, and ends when it is closed', async () => {
    const { session } = await place.sessionInFolder();
    const command = await session.spawn({ command: 'read first; echo "got $first"; cat; echo over', stdin: true });
    const writer = command.stdin.getWriter();
    const reader = command.stdout.getReader();
    await writer.write(Buffer.from('one\n'));
    expect(Buffer.from((await settles(reader.read())).value as Uint8Array).toString()).toBe('got one\n');
    void writer.write(ALL_BYTES);
    await writer.close();
    const rest: Uint8Array[] = [];
    for (let next = await reader.read(); !next.done; next = await reader.read()) rest.push(next.value);
    expect(Buffer.concat(rest).equals(Buffer.concat([ALL_BYTES, Buffer.from('over\n')]))).toBe(true);
    expect(await command.wait()).toEqual({ exitCode: 0, ...held });
  });

  test('a large input waits for its reader, and arrives whole and in order', async () => {
    const { folder, session } = await place.sessionInFolder();
    const command = await session.spawn({ command: 'until [ -e go ]; do sleep 0.01; done; cat', stdin: true });
    const writer = command.stdin.getWriter();
    let taken = 0;
    const writing = (async () => {
      for (let at = 0; at < NUMBERED.length; at += 10_000) {
        await writer.write(NUMBERED.subarray(at, at + 10_000));
        taken += 1;
      }
      await writer.close();
    })();
    await new Promise((resolve) => setTimeout(resolve, 200));
    // Only pipes and sockets hold some.
    expect(taken * 10_000).toBeLessThan(1024 * 1024);
    await session.writeTextFile({ path: join(folder, 'go'), content: '' });
    const [arrived] = await Promise.all([bytesOf(command.stdout), settles(writing)]);
    expect(arrived.equals(NUMBERED)).toBe(true);
    expect(await command.wait()).toEqual({ exitCode: 0, ...held });
  });

  test('an input of more than a message to a target may have is written at once', async () => {
    const { session } = await place.sessionInFolder();
    const command = await session.spawn({ command: 'wc -c', stdin: true });
    const writer = command.stdin.getWriter();
    await writer.write(Buffer.alloc(81 * 1024 * 1024));
    await writer.close();
    expect((await textOf(command.stdout))?.trim()).toBe(`${81 * 1024 * 1024}`);
  });

  test('input without a reader fails, and the command goes on', async () => {
    const { session } = await place.sessionInFolder();
    const command = await session.spawn({
      command: 'exec <&-; echo closed; until [ -e go ]; do sleep 0.01; done; exit 6',
      stdin: true,
    });
    await settles(command.stdout.getReader().read());
    const writer = command.stdin.getWriter();
    const failed = expect(writer.closed).rejects.toMatchObject({ code: 'EPIPE' });
    await expect(writer.write(Buffer.alloc(100_000))).rejects.toMatchObject({ code: 'EPIPE' });
    await failed;
    await session.writeTextFile({ path: 'go', content: '' });
    expect(await command.wait()).toEqual({ exitCode: 6, ...held });
  });

  test('a write to a command that has ended fails', async () => {
    const { session } = await place.sessionInFolder();
    const command = await session.spawn({ command: 'true', stdin: true });
    await command.wait();
    const writer = command.stdin.getWriter();
    writer.closed.catch(() => {});
    await expect(settles(writer.write(Buffer.from('x')))).rejects.toMatchObject({ code: 'EPIPE' });
  });

  test('a write to a command whose end is not known here yet settles', async () => {
    const { session } = await place.sessionInFolder();
    for (let n = 0; n < 5; n++) {
      const command = await session.spawn({ command: 'true', stdin: true });
      const writer = command.stdin.getWriter();
      writer.closed.catch(() => {});
      // No output arrives meanwhile.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);
      await expect(settles(writer.write(Buffer.from('late')))).rejects.toMatchObject({ code: 'EPIPE' });
      expect(await command.wait()).toEqual({ exitCode: 0, ...held });
    }
  });

  test('a command that ends while its input is written settles the write', async () => {
    const { session } = await place.sessionInFolder();
    const command = await session.spawn({ command: 'head -c 5 >/dev/null; exit 2', stdin: true });
    const writer = command.stdin.getWriter();
    writer.closed.catch(() => {});
    await expect(settles(writer.write(Buffer.alloc(4 * 1024 * 1024)))).rejects.toMatchObject({ code: 'EPIPE' });
    expect(await command.wait()).toEqual({ exitCode: 2, ...held });
  });

  test('without stdin there is none, and reading gives the end at once', async () => {
    const { session } = await place.sessionInFolder();
    for (const options of [{}, { stdin: false } as const]) {
      const command = await session.spawn({ command: 'cat; echo over', ...options });
      expect('stdin' in command).toBe(false);
      expect(await textOf(command.stdout)).toBe('over\n');
    }
  });

  test('chunks that are no bytes are refused', async () => {
    const { session } = await place.sessionInFolder();
    const command = await session.spawn({ command: 'cat', stdin: true });
    const writer = command.stdin.getWriter();
    writer.closed.catch(() => {});
    await expect(writer.write('text' as never)).rejects.toMatchObject({ code: 'ERR_BASH_INVALID_ARG' });
    await command.kill();
  });

  test('kill ends the whole tree, and may be called again', async () => {
    const { folder, session } = await place.sessionInFolder();
    const command = await session.spawn({ command: 'setsid bash -c "echo \\$\\$ >pid; sleep 1000" & wait' });
    const pid = await pidFrom(join(folder, 'pid'));
    await Promise.all([command.kill(), command.kill()]);
    expect(await isAlive(pid)).toBe(false);
    expect(await command.wait()).toEqual({ exitCode: 130, ...held });
    await command.kill();
  });

  test('an abort without a listener is no unhandled rejection', async () => {
    const unhandled: unknown[] = [];
    const note = (reason: unknown) => unhandled.push(reason);
    process.on('unhandledRejection', note);
    onTestFinished(() => void process.off('unhandledRejection', note));
    const { session } = await place.sessionInFolder();
    const controller = new AbortController();
    const command = await session.spawn({ command: 'sleep 1000', abortSignal: controller.signal });
    controller.abort(new Error('enough'));
    expect(await textOf(command.stdout)).toBe('');
    await command.kill();
    await new Promise((resolve) => setImmediate(resolve));
    expect(unhandled).toEqual([]);
  });

  test('a command that ended by itself is not aborted later', async () => {
    const { session } = await place.sessionInFolder();
    const controller = new AbortController();
    const command = await session.spawn({ command: 'exit 7', abortSignal: controller.signal });
    expect(await textOf(command.stdout)).toBe('');
    expect(await command.wait()).toEqual({ exitCode: 7, ...held });
    controller.abort(new Error('late'));
    expect(await command.wait()).toEqual({ exitCode: 7, ...held });
  });

  test('output that is to be cleaned is', async () => {
    const { session } = await place.sessionInFolder({ sanitize: true });
    const command = await session.spawn({ command: String.raw`printf '\033[1m10%%\r99%% é\n'` });
    expect(await textOf(command.stdout)).toBe('99% é\n');
  });

  test('the listener of the options receives text, for any split', async () => {
    let heard = '';
    await using session = place.session({
      onOutput: ({ text }) => {
        heard += text;
      },
    });
    const command = await session.spawn({ command: String.raw`printf '\342'; sleep 0.05; printf '\200\224\n'` });
    expect(await textOf(command.stdout)).toBe('—\n');
    expect(heard).toBe('—\n');
  });

  test('those who observe runs hear text, too', async () => {
    let observed = '';
    const hear = (message: unknown) => {
      observed += (message as { text: string }).text;
    };
    const { session } = await place.sessionInFolder();
    // A home is made on a target by a command of ours.
    await session.run({ command: 'true' });
    subscribe('agent-bash:output', hear);
    onTestFinished(() => void unsubscribe('agent-bash:output', hear));
    const command = await session.spawn({ command: String.raw`printf '\342'; sleep 0.05; printf '\200\224\n'` });
    expect(await textOf(command.stdout)).toBe('—\n');
    expect(observed).toBe('—\n');
  });

  test('a hundred at once', async () => {
    const { session } = await place.sessionInFolder();
    const commands = await Promise.all(
      Array.from({ length: 100 }, (_, index) =>
        session.spawn({ command: `read line; echo "$line ${index}"`, stdin: true }),
      ),
    );
    const texts = await Promise.all(
      commands.map(async (command) => {
        const writer = command.stdin.getWriter();
        await writer.write(Buffer.from('hello\n'));
        await writer.close();
        return textOf(command.stdout);
      }),
    );
    expect(texts).toEqual(texts.map((_, index) => `hello ${index}\n`));
  });
});
