import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type BashOptions, BashSession, bash } from 'agent-bash';
import { createLocalSandbox } from 'agent-bash/sandbox';
import { describe, expect } from 'vitest';
import { registry } from '../../../background/support.ts';
import {
  folder,
  HANG,
  hasProgram,
  linuxTest,
  seq,
  settles,
  testNeeding,
  timed,
  until,
} from '../../../support/index.ts';

// The longest that there is, and longer than any of these ends takes, so that SIGKILL shows a fault.
const graceMs = 15_000;

/** A bound against a hang, for a command that is killed at the end of that grace. */
const BOUND = graceMs + 2 * HANG;

/** Shell text that makes the file `ready` once the shell has a child with each of these command lines. */
const ready = (...lines: string[]) => {
  const found = lines.map((line) => `pgrep -P $$ -f '^${line}' > /dev/null`);
  return `until ${found.join(' && ')}; do sleep .02; done; : > ready`;
};

/** Waits for the file `ready`. npm takes seconds to start on a busy machine. */
const isReady = (cwd: string) => until(() => existsSync(join(cwd, 'ready')), 'the file `ready`', BOUND);

/** Runs a command, and aborts it once it has made the file `ready`. `late` is the time from there to its end. */
async function aborted(command: string, cwd = folder(), options: BashOptions = {}) {
  const controller = new AbortController();
  const running = bash(command, { cwd, graceMs, timeoutMs: 60_000, signal: controller.signal, ...options });
  await isReady(cwd);
  const [result, late] = await timed(() => {
    controller.abort();
    return settles(running, BOUND);
  });
  return { cwd, result, late };
}

/** A package whose test prints 30 lines and hangs. */
function hangingPackage(): string {
  const cwd = folder();
  writeFileSync(join(cwd, 'package.json'), JSON.stringify({ scripts: { test: 'node hang.cjs' } }));
  const lines = "for (let i = 1; i <= 30; i++) console.log(i); require('fs').writeFileSync('ready', '');";
  writeFileSync(join(cwd, 'hang.cjs'), `${lines} setInterval(() => {}, 1000);`);
  return cwd;
}

// These tests wait most of their time.
describe.concurrent('what the reader prints at the end of its input is in the result', () => {
  for (const [reader, stdout] of [
    ['tail -2', '4\n5\n'],
    ['sort -r', '5\n4\n3\n2\n1\n'],
    ['grep -c .', '5\n'],
    ['wc -l', /^ *5\n$/],
    ['tee f | cat', seq(1, 5)],
    ['jq -s length', '5\n'],
    ["awk 'END{print NR}'", '5\n'],
    ['sort -r | tail -2', '2\n1\n'],
  ] as const) {
    const program = reader.split(' ', 1)[0] ?? '';
    testNeeding(
      program,
      hasProgram(program),
      'linux',
    )(`\`(seq 5; sleep 60) | ${reader}\` at its limit`, async () => {
      // A program that is read from a slow disk first could need more than the 200 ms that a reader has.
      const cwd = folder();
      await settles(bash(`: | ${reader}`, { cwd }));
      const command = `(seq 5; sleep 60) | ${reader}`;
      const result = await settles(bash(command, { cwd, timeoutMs: 2_500, graceMs }), BOUND);
      expect(result).toMatchObject({ status: 'timed-out', exitCode: 124, signal: 'SIGTERM' });
      expect(result.stdout).toEqual(typeof stdout === 'string' ? stdout : expect.stringMatching(stdout));
    });
  }

  linuxTest('from a named pipe', async () => {
    const command = `mkfifo p; (seq 5; ${ready('tail')}; exec sleep 60) > p & tail -2 < p`;
    const { result } = await aborted(command);
    expect(result).toMatchObject({ status: 'aborted', signal: 'SIGTERM', stdout: '4\n5\n' });
  });

  linuxTest('after the SIGKILL of a writer that ignores SIGTERM', async () => {
    const command = `(trap '' TERM; seq 5; ${ready('tail')}; sleep 60) | tail -2`;
    const { result, late } = await aborted(command, folder(), { graceMs: 500 });
    expect(result).toMatchObject({ status: 'aborted', exitCode: 130, stdout: '4\n5\n' });
    expect(late).toBeGreaterThanOrEqual(500);
  });

  linuxTest('of a warm shell, and of a shell without one', async () => {
    for (const warm of [true, false]) {
      const { result } = await aborted(`(seq 5; ${ready('tail')}; sleep 60) | tail -2`, folder(), { warm });
      expect(result).toMatchObject({ status: 'aborted', exitCode: 130, signal: 'SIGTERM', stdout: '4\n5\n' });
    }
  });
});

describe.concurrent('`npm test 2>&1 | tail -20` whose test hangs: the last 20 lines', () => {
  const command = 'npm test 2>&1 | tail -20';

  linuxTest(
    'at the limit',
    async () => {
      // On a busy machine npm takes seconds to start. The limit is several times as long as this start.
      const [, start] = await timed(() => aborted(command, hangingPackage()));
      const timeoutMs = Math.ceil(5_000 + 5 * start);
      const result = await settles(bash(command, { cwd: hangingPackage(), timeoutMs, graceMs }), timeoutMs + BOUND);
      expect(result).toMatchObject({ status: 'timed-out', exitCode: 124, signal: 'SIGTERM' });
      expect(result.stdout).toContain(seq(15, 30));
    },
    240_000,
  );

  linuxTest('at an abort', async () => {
    const { result } = await aborted(command, hangingPackage());
    expect(result).toMatchObject({ status: 'aborted', exitCode: 130, signal: 'SIGTERM' });
    expect(result.stdout).toContain(seq(15, 30));
  });

  linuxTest('as a task that is killed', async () => {
    const tasks = registry();
    const cwd = hangingPackage();
    const task = await tasks.start(command, { cwd, graceMs });
    await isReady(cwd);
    const check = await settles(tasks.kill(task.id), BOUND);
    expect(check.task).toMatchObject({ state: 'killed', signal: 'SIGTERM', exitCode: 143 });
    expect(check.output).toContain(seq(15, 30));
  });
});

describe.concurrent('a Node job with a SIGTERM handler, `| cat`', () => {
  linuxTest('TERM first; what it prints while cleaning up is kept', async () => {
    const cwd = folder();
    writeFileSync(
      join(cwd, 'job.cjs'),
      `process.on('SIGTERM', () => {
         console.log('cleaning up');
         setTimeout(() => { console.log('done'); process.exit(); }, 700);
       });
       console.log('started');
       require('fs').writeFileSync('ready', '');
       setInterval(() => {}, 1000);`,
    );
    const { result } = await aborted('node job.cjs | cat', cwd);
    expect(result).toMatchObject({ signal: 'SIGTERM', stdout: 'started\ncleaning up\ndone\n' });
  });

  linuxTest('and of a shell whose output goes through `tee`', async () => {
    // A trap runs once the program has ended that bash is just starting. That program must be there to be signalled.
    const command = `exec > >(tee log); trap 'sleep .5; echo bye; exit' TERM; (${ready('tee', 'sleep 60')}) & sleep 60`;
    const { result } = await aborted(command);
    expect(result).toMatchObject({ status: 'aborted', stdout: 'bye\n' });
  });
});

describe.concurrent('ended within the grace all the same', () => {
  for (const [name, command, stdout] of [
    ['`yes | head -c 1G | md5sum`', `(${ready('md5sum')}) & yes | head -c 100G | md5sum`, /^[0-9a-f]{32} {2}-\n$/],
    ['`cat <(sleep 60) | wc`', `(${ready('wc')}) & cat <(sleep 60) | wc -c`, /^ *0\n$/],
    ['a reader that ignores the end of file', `(${ready('sleep 61')}) & sleep 60 | sleep 61`, /^$/],
    ['one before another reader', `yes | (echo 1; ${ready('tail')}; exec sleep 61) | tail -1`, /^1\n$/],
    ['a reader that goes on with something else', '(: > ready; sleep 60) | { cat; sleep 61; }', /^$/],
    ['a reader and writer that are one process', `(${ready('cat')}) & sleep 60 | cat 3<>/proc/self/fd/0`, /^$/],
    ['a ring of pipes', `coproc cat; (${ready('cat -u')}) & cat -u <&"\${COPROC[0]}" >&"\${COPROC[1]}"`, /^$/],
    [
      'a shell with a trap that waits for its reader',
      `trap exit TERM; mkfifo p; exec 3<>p; (${ready('cat p')}) & cat p`,
      /^$/,
    ],
    [
      'a stopped reader',
      `(seq 5; until kill -STOP "$(pgrep -P $$ -x tail)"; do :; done 2> /dev/null; : > ready; sleep 60) | tail -2`,
      /^4\n5\n$/,
    ],
  ] as const) {
    linuxTest(name, async () => {
      const { result, late } = await aborted(command);
      expect(result.status).toBe('aborted');
      expect(result.stdout).toMatch(stdout);
      expect(late).toBeLessThan(graceMs);
    });
  }

  linuxTest('a reader whose writer ignores SIGTERM gets SIGTERM before SIGKILL', async () => {
    const reader = `trap 'echo term; exit' TERM; : > ready; while read -t 60; do :; done; sleep 60 & wait`;
    const { result } = await aborted(
      `(trap '' TERM; sleep 60) | bash -c '${reader.replaceAll("'", `'\\''`)}'`,
      folder(),
      {
        graceMs: 1_000,
      },
    );
    expect(result).toMatchObject({ status: 'aborted', stdout: 'term\n' });
  });
});

describe.concurrent('nothing runs on half of its input', () => {
  for (const [name, command] of [
    ['after `$(…)`', 'x=$(: > ready; sleep 60); : > after'],
    ['after a pipeline', ': > ready; sleep 60 | cat; : > after'],
    ['in a loop that reads', '(echo one; : > ready; sleep 60) | { while read -r x; do :; done; : > after; }'],
    ['in a script from a pipe', "(printf ': > after'; : > ready; sleep 60) | bash"],
    ['by xargs', '(printf after; : > ready; sleep 60) | xargs touch'],
  ] as const) {
    linuxTest(name, async () => {
      const { cwd, result } = await aborted(command);
      expect(result).toMatchObject({ status: 'aborted', signal: 'SIGTERM' });
      expect(existsSync(join(cwd, 'after'))).toBe(false);
    });
  }
});

describe.concurrent('the same rule', () => {
  const command = `(seq 5; ${ready('tail')}; sleep 60) | tail -2`;

  linuxTest('at `registry.kill`, of a task and of a command that became one at its limit', async () => {
    const tasks = registry();
    for (const moved of [false, true]) {
      const cwd = folder();
      const options = { cwd, graceMs, timeoutMs: moved ? 1_500 : 60_000 };
      const id = moved
        ? ((await bash(command, { ...options, registry: tasks })).background?.id ?? '')
        : (await tasks.start(command, options)).id;
      await isReady(cwd);
      const check = await settles(tasks.kill(id), BOUND);
      expect(check.task.state).toBe('killed');
      expect(check.output).toBe('4\n5\n');
    }
  });

  linuxTest('in a session, which stays usable', async () => {
    const cwd = folder();
    await using session = new BashSession({ cwd });
    await session.run('A=1');
    const controller = new AbortController();
    const running = session.run(command, { graceMs, signal: controller.signal });
    await isReady(cwd);
    controller.abort();
    expect(await settles(running, BOUND)).toMatchObject({ status: 'aborted', signal: 'SIGTERM', stdout: '4\n5\n' });
    expect((await session.run('echo $A')).stdout).toBe('1\n');
  });

  linuxTest('at the end of a sandbox', async () => {
    const cwd = folder();
    const sandbox = createLocalSandbox({ cwd, graceMs });
    const running = sandbox.runCommand('bash', ['-c', command]);
    await isReady(cwd);
    await settles(sandbox.stop(), BOUND);
    expect(await (await settles(running)).stdout()).toBe('4\n5\n');
  });
});
