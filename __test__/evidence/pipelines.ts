import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { BashOptions, Tap } from 'agent-bash';
import { describe, expect, test } from 'vitest';
import { folder } from '../support/index.ts';
import { type Run, WAYS } from './ways.ts';

export const TAPS: BashOptions = { evidence: 'status', taps: 'on' };

/** Ways in which a command in the foreground runs on pipes. */
export const HERE = WAYS.filter(([way]) => !/terminal|task|background/.test(way));

/** A program that prints its arguments' numbers of bytes of all kinds. */
const BYTES = `perl -e 'print join "", map { chr($_ * 7 % 256) } 1 .. 300_000'`;

/** Programs that leave their output in the pipe, or write it at once. */
const LEAVES_MUCH = `node -e 'process.stdout.write("x".repeat(60000)); process.exit()'`;
const LEAVES_LINES = `node -e 'for (let i = 0; i < 1000; i++) console.log("test " + i + " failed"); process.exit()'`;
const WRITES_ONCE = `python3 -c 'import os; os.set_blocking(1, False); os.write(1, b"x" * 60000)'`;

/** Pipelines whose output and codes are the same each time, with their producers. */
const PIPELINES: [command: string, producer: string][] = [
  ['seq 1 1000 | tail -2', 'seq 1 1000'],
  ['seq 1 200000 | grep -c 7', 'seq 1 200000'],
  [`${BYTES} | md5sum`, BYTES],
  ['bash -c "seq 3; exit 3" | cat', 'bash -c "seq 3; exit 3"'],
  ['bash -c "seq 3; kill -9 \\$\\$" | cat', 'bash -c "seq 3; kill -9 \\$\\$"'],
  ['bash -c "seq 2; seq 9 >&2" 2>&1 | sort', 'bash -c "seq 2; seq 9 >&2" 2>&1'],
  ['bash -c "seq 2; seq 9 >&2" |& sort -r', 'bash -c "seq 2; seq 9 >&2"'],
  ['cd / && python3 -c "print(7)" | while read x; do echo "$PWD $x"; done', 'python3 -c "print(7)"'],
  ['seq 5 | (read x; echo "$x"; cat) | tac', 'seq 5'],
  ['A=1 seq 3 | exec cat', 'A=1 seq 3'],
  ['no-such-program 2>/dev/null | cat', 'no-such-program 2>/dev/null'],
  ['perl -e 1 | cat', 'perl -e 1'],
  ['perl -e "print 5" | cat', 'perl -e "print 5"'],
  ['perl -e "print qx(ls /proc/self/fd)" | cat', 'perl -e "print qx(ls /proc/self/fd)"'],
  ['seq 0 | { sleep .05; exec ls /proc/self/fd; }', 'seq 0'],
  ['seq 0 | (sleep .2; ls /proc/$$/fd)', 'seq 0'],
  [`perl -e 'print "x" x 60000' | (sleep .3; dd bs=60000 count=1 2>/dev/null | wc -c)`, `perl -e 'print "x" x 60000'`],
  ['perl -e "\\$|=1; print 7 for 1 .. 999" | (sleep .2; wc -c)', 'perl -e "\\$|=1; print 7 for 1 .. 999"'],
  // What a program leaves in its pipe when it exits arrives.
  [`${LEAVES_MUCH} | wc -c`, LEAVES_MUCH],
  [`${LEAVES_LINES} | grep -c test`, LEAVES_LINES],
  [`${WRITES_ONCE} | (sleep .3; wc -c)`, WRITES_ONCE],
  ['bash -c "sleep .2; seq 3" | cat', 'bash -c "sleep .2; seq 3"'],
  ['bash -c "(sleep .2; seq 3) & seq 7" | cat', 'bash -c "(sleep .2; seq 3) & seq 7"'],
];

/** Pipelines whose readers leave early. */
const LEFT = ['yes | head -1', 'seq 1 1000000 | head -1', 'yes | true', 'yes | (exec <&-; sleep .05)'];

/** Calls a function once for each of its arguments. */
function once<Result>(work: (command: string) => Result): (command: string) => Result {
  const known = new Map<string, Result>();
  return (command) => {
    if (!known.has(command)) known.set(command, work(command));
    return known.get(command) as Result;
  };
}

const inPlainBash = once((command) => {
  const { stdout, stderr, status } = spawnSync('bash', ['-c', command], { cwd: folder(), maxBuffer: 1 << 28 });
  return { text: `${stdout}${stderr}`, exitCode: status as number | null };
});

/** What a command writes into a pipe. */
export const written = once((command) => {
  return spawnSync('bash', ['-c', `${command} cat`], { cwd: folder(), maxBuffer: 1 << 28 }).stdout as Buffer;
});

export const bytesOf = ({ path }: Tap): Buffer => readFileSync(path ?? '');

async function untapped(run: Run, command: string) {
  const { text, exitCode } = await run(command, { evidence: 'status' });
  return { text, exitCode };
}

/** Tests pipelines in each way: those that are chosen by their number and that of the way. */
export function testPipelines(isChosen: (pipeline: number, way: number) => boolean): void {
  describe.each(HERE.map(([name, run], way) => ({ name, run, way })))('$name', ({ run, way }) => {
    test.each(PIPELINES.filter((_, pipeline) => isChosen(pipeline, way)))(
      '%s: output and code are those of plain bash, and the copy is whole',
      async (command, producer) => {
        const plain = inPlainBash(command);
        const { text, exitCode, evidence } = await run(command, TAPS);
        const isOfSurroundings = command.includes('/proc');
        if (isOfSurroundings) expect({ text, exitCode }).toEqual(await untapped(run, command));
        else expect({ text, exitCode }).toEqual(plain);
        expect(evidence?.tap).toMatchObject({ command: producer, kept: true, why: null, complete: true });
        const kept = bytesOf(evidence?.tap as Tap);
        expect(evidence?.tap).toMatchObject({ bytes: kept.length });
        const pipe = /\|&?/.exec(command)?.[0];
        if (!isOfSurroundings) expect(kept.equals(written(`${producer} ${pipe}`))).toBe(true);
      },
    );

    test.each(LEFT.filter((_, pipeline) => isChosen(pipeline, way)))(
      '%s: the producer ends by SIGPIPE, and what it wrote is the beginning of the copy',
      async (command) => {
        const { text, exitCode, evidence } = await run(command, TAPS);
        expect({ text, exitCode }).toEqual(inPlainBash(command));
        expect(evidence?.parts[0]).toMatchObject({ signal: 'SIGPIPE' });
        expect(evidence?.tap).toMatchObject({ kept: true, complete: false });
        const kept = bytesOf(evidence?.tap as Tap);
        const all = command.startsWith('yes') ? Buffer.from('y\n'.repeat(200_000)) : written('seq 1 1000000 |');
        expect(kept.equals(all.subarray(0, kept.length))).toBe(true);
      },
    );
  });
}
