import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type BashOptions, type BashSnapshot, bash, type OutputChunk } from 'agent-bash';
import { describe, expect, test } from 'vitest';
import { folder, host, seq, settles, until } from '../../../support/index.ts';

async function listened(command: string, options: BashOptions = {}) {
  const chunks: OutputChunk[] = [];
  const result = await settles(
    bash(command, {
      ...options,
      onOutput: (chunk) => {
        chunks.push(chunk);
      },
    }),
    80_000,
  );
  const text = (stream: string) =>
    chunks
      .filter((chunk) => chunk.stream === stream)
      .map((chunk) => chunk.text)
      .join('');
  return { result, chunks, out: text('stdout'), err: text('stderr') };
}

describe('`onOutput`', () => {
  test('gets both streams, whole, before truncation', async () => {
    const { out, err, result } = await listened('seq 20000; seq 30000 >&2', { spill: false });
    expect(out).toBe(seq(1, 20_000));
    expect(err).toBe(seq(1, 30_000));
    expect(result.truncation.stdout).not.toBeNull();
  });

  test('chunks are plain data with two fields', async () => {
    const { chunks } = await listened('echo a; echo b >&2');
    for (const chunk of chunks) {
      expect(Object.keys(chunk).sort()).toEqual(['stream', 'text']);
      expect(['stdout', 'stderr']).toContain(chunk.stream);
      expect(chunk.text).not.toBe('');
      expect(structuredClone(chunk)).toEqual(chunk);
    }
  });

  test('no batch is over 64 KiB', async () => {
    for (const progress of ['collapse', 'keep'] as const) {
      const { chunks, out } = await listened(`yes "$(printf 'é漢%.0s' {1..20})" | head -c 4000000`, {
        spill: false,
        sanitize: { progress },
      });
      expect(chunks.length).toBeGreaterThan(50);
      for (const { text } of chunks) expect(Buffer.byteLength(text)).toBeLessThanOrEqual(65_536);
      expect(Buffer.byteLength(out)).toBe(4_000_000);
    }
  });

  test('sanitized text, the same as in the result', async () => {
    const { out, result } = await listened("printf '\\x1b[1mone\\x1b[0m\\r\\n10%%\\r20%%\\nthree'");
    expect(out).toBe('one\n20%\nthree');
    expect(result.stdout).toBe(out);
  });

  test('nothing for a command without output', async () => {
    expect((await listened('true')).chunks).toEqual([]);
  });

  test('every call precedes the result', async () => {
    let settled = false;
    let late = 0;
    const promise = bash('seq 200000', {
      spill: false,
      onOutput: async () => {
        await sleep(1);
        if (settled) late++;
      },
    });
    await promise;
    settled = true;
    await sleep(100);
    expect(late).toBe(0);
  });

  test('is called in a turn of the event loop of its own thread, after `bash` has returned', async () => {
    let returned = false;
    const seen: boolean[] = [];
    const promise = bash('echo hi', {
      onOutput: () => {
        seen.push(returned);
      },
    });
    returned = true;
    await promise;
    expect(seen).toEqual([true]);
  });
});

describe('one call is in flight at a time; a returned promise is waited for', () => {
  test('over both streams', async () => {
    let inFlight = 0;
    let most = 0;
    await bash('for i in {1..30}; do seq 2000; seq 2000 >&2; done', {
      spill: false,
      onOutput: async () => {
        most = Math.max(most, ++inFlight);
        await sleep(2);
        inFlight--;
      },
    });
    expect(most).toBe(1);
    expect(inFlight).toBe(0);
  });

  test('until it settles the command is held back by its full pipe', async () => {
    const cwd = folder();
    let calls = 0;
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const promise = bash('echo first; head -c 8000000 /dev/zero | tr "\\0" "\\n"; touch done', {
      cwd,
      spill: false,
      onOutput: () => (++calls === 1 ? held : undefined),
    });
    await until(() => calls === 1);
    await sleep(500);
    expect(calls).toBe(1);
    expect(existsSync(join(cwd, 'done'))).toBe(false);
    release();
    expect((await settles(promise)).exitCode).toBe(0);
    expect(existsSync(join(cwd, 'done'))).toBe(true);
  });

  test('a thenable counts as a promise', async () => {
    const order: string[] = [];
    await bash('echo one; sleep .3; echo two', {
      onOutput: ({ text }) => {
        order.push(`start ${text.trim()}`);
        return sleep(50).then(() => {
          order.push(`end ${text.trim()}`);
        });
      },
    });
    expect(order).toEqual(['start one', 'end one', 'start two', 'end two']);
  });
});

describe('when a line is delivered', () => {
  test('`keep`: at once', async () => {
    const cwd = folder();
    let text = '';
    const promise = bash("printf 'name? '; until [ -e go ]; do sleep .02; done; echo end", {
      cwd,
      sanitize: { progress: 'keep' },
      onOutput: (chunk) => {
        text += chunk.text;
      },
    });
    await until(() => text === 'name? ');
    writeFileSync(join(cwd, 'go'), '');
    expect((await promise).stdout).toBe('name? end\n');
    expect(text).toBe('name? end\n');
  });

  test('`sanitize: false`: at once', async () => {
    const cwd = folder();
    let text = '';
    const promise = bash("printf 'name? '; until [ -e go ]; do sleep .02; done", {
      cwd,
      sanitize: false,
      onOutput: (chunk) => {
        text += chunk.text;
      },
    });
    await until(() => text === 'name? ');
    writeFileSync(join(cwd, 'go'), '');
    await promise;
  });

  test('`collapse`: when it ends, or the command does', async () => {
    const cwd = folder();
    const chunks: string[] = [];
    const promise = bash(
      "echo whole; printf '1%%\\r2%%\\r'; touch there; until [ -e go ]; do sleep .02; done; printf '3%%\\nlast'",
      {
        cwd,
        onOutput: ({ text }) => {
          chunks.push(text);
        },
      },
    );
    await until(() => existsSync(join(cwd, 'there')) && chunks.length > 0);
    await sleep(200);
    expect(chunks.join('')).toBe('whole\n');
    writeFileSync(join(cwd, 'go'), '');
    await promise;
    expect(chunks.join('')).toBe('whole\n3%\nlast');
  });

  test('`collapse`: a line past 64 KiB is delivered as it stands and collapses no more', async () => {
    const { out } = await listened('head -c 200000 /dev/zero | tr "\\0" x; printf "\\rend\\n"; echo next', {
      spill: false,
    });
    expect(out.startsWith('x'.repeat(65_000))).toBe(true);
    expect(out.endsWith('next\n')).toBe(true);
    expect(out.replace(/^x+/, '')).toMatch(/^\r?(end\n|end)?/);
  });

  test('whole lines come while the command runs', async () => {
    const cwd = folder();
    let text = '';
    const promise = bash('for i in 1 2 3; do echo "$i"; until [ -e "go$i" ]; do sleep .02; done; done', {
      cwd,
      onOutput: (chunk) => {
        text += chunk.text;
      },
    });
    for (const n of [1, 2, 3]) {
      await until(() => text === seq(1, n));
      writeFileSync(join(cwd, `go${n}`), '');
    }
    expect((await promise).stdout).toBe('1\n2\n3\n');
  });
});

describe('a throw or a rejection takes the listener away and is a note', () => {
  test.each([
    [
      'a throw',
      () => {
        throw new Error('the listener broke');
      },
    ],
    ['a rejection', () => Promise.reject(new Error('the listener broke'))],
    ['something odd', () => Promise.reject(undefined)],
    [
      'a throw of no error',
      () => {
        throw null;
      },
    ],
  ])('%s', async (_, broken) => {
    let calls = 0;
    const result = await settles(
      bash('seq 100000; echo err >&2', {
        spill: false,
        onOutput: () => {
          calls++;
          return broken();
        },
      }),
    );
    expect(result).toMatchObject({ status: 'exited', exitCode: 0, stderr: 'err\n' });
    expect(calls).toBe(1);
    expect(result.stdout.startsWith(seq(98_001, 100_000))).toBe(true);
    expect(result.notes).toHaveLength(1);
  });

  test('the note gives the error', async () => {
    const { notes } = await bash('echo hi', {
      onOutput: () => {
        throw new Error('the listener broke');
      },
    });
    expect(notes[0]).toContain('the listener broke');
    expect(notes[0]).not.toContain('\n');
  });
});

describe('`onSnapshot`', () => {
  test('shows a running command, the unfinished line included', async () => {
    const cwd = folder();
    const seen: BashSnapshot[] = [];
    const promise = bash("echo one; echo err >&2; printf '1%%\\r50%%'; until [ -e go ]; do sleep .02; done; echo", {
      cwd,
      snapshotIntervalMs: 20,
      onSnapshot: (snapshot) => {
        seen.push(snapshot);
      },
    });
    const last = await until(() => seen.find(({ stdout, stderr }) => stdout === 'one\n50%' && stderr === 'err\n'));
    const count = seen.length;
    await sleep(300);
    expect(seen.length - count).toBeLessThanOrEqual(2);
    writeFileSync(join(cwd, 'go'), '');
    const result = await promise;
    const after = seen.length;
    expect(last.pid).toBe(result.pid);
    expect(last.durationMs).toBeGreaterThan(0);
    expect(Object.keys(last).sort()).toEqual(['durationMs', 'pid', 'stderr', 'stdout']);
    await sleep(100);
    expect(seen.length).toBe(after);
  });

  test('shows the last 8 KiB', async () => {
    const cwd = folder();
    let last = '';
    const promise = bash('seq 100000; until [ -e go ]; do sleep .02; done', {
      cwd,
      spill: false,
      snapshotIntervalMs: 20,
      onSnapshot: ({ stdout }) => {
        expect(Buffer.byteLength(stdout)).toBeLessThanOrEqual(8_192);
        last = stdout;
      },
    });
    await until(() => last.endsWith('\n100000\n'));
    expect(Buffer.byteLength(last)).toBeGreaterThan(8_000);
    writeFileSync(join(cwd, 'go'), '');
    await promise;
  });

  test('a throw takes it away and is a note', async () => {
    let calls = 0;
    const { notes, exitCode } = await bash('for i in {1..20}; do echo $i; sleep .03; done', {
      snapshotIntervalMs: 20,
      onSnapshot: () => {
        calls++;
        throw new Error('the snapshot broke');
      },
    });
    expect(exitCode).toBe(0);
    expect(calls).toBe(1);
    expect(notes.join('\n')).toContain('the snapshot broke');
  });
});

test('a listener that is never answered does not keep a script from ending after a limit', async () => {
  const script = host(
    "const { status } = await bash('yes', { timeoutMs: 300, graceMs: 100, onOutput: () => new Promise(() => {}) });\nconsole.log(status);",
  );
  expect((await script.ended()).code).toBe(0);
  expect(script.stdout()).toBe('timed-out\n');
});
