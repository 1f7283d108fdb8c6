import { readFileSync } from 'node:fs';
import { constants } from 'node:os';
import type { Part } from 'agent-bash';
import { describe, expect, test } from 'vitest';
import { isLinux } from '../../support/index.ts';
import { Place } from './place.ts';
import { plain } from './plain.ts';
import { environment, runIn } from './ways.ts';

const count = Number(process.env.AGENT_BASH_SCRIPTS ?? 600);
const batch = 50;

/** Producers, and whether they write more than any pipe holds, so that their code shows a reader that leaves. */
const PRODUCERS: [source: string, endless: boolean][] = [
  ['seq 1 N', false],
  ['seq 1 N 2>&1', false],
  ['A=N env -u B seq 3', false],
  ['seq 1 900000', true],
  ['yes N', true],
  ['bash -c "seq N; exit N"', false],
  ['bash -c "seq 5; kill -TERM \\$\\$; sleep 9"', false],
  ['bash -c "(sleep .0N; seq 4) & seq N"', false],
  ['bash -c "for i in 1 2 3; do seq N; sleep .00N; done"', false],
  ['bash -c "exec 1>&2; seq N" 2>/dev/null', false],
  ['no-such-program-N 2>/dev/null', false],
  [`perl -e 'print chr($_ * N % 256) for 1 .. N * 100'`, false],
  [`perl -e '$| = 1; print chr($_ % 256) x ($_ * N % 7000) for 1 .. 40'`, false],
  [`perl -e 'syswrite STDOUT, "x" x (N * 1000)'`, false],
];

/** Readers, and whether they leave before the end of what an endless producer writes. */
const READERS: [source: string, leaves: boolean][] = [
  ['cat', false],
  ['tail -n N', false],
  ['wc -c', false],
  ['md5sum', false],
  ['od -An -tx1 | tail -1', false],
  ['(sleep .0N; cat) | md5sum', false],
  ['tee /dev/null | cksum', false],
  ['grep -ac 7', false],
  ['{ while read -r x; do echo "$x"; done; } | md5sum', false],
  ['exec cksum', false],
  ['head -n N', true],
  ['head -c N', true],
  ['true', true],
  ['(exec <&-; sleep .0N)', true],
  ['(read -r x; echo "$x"; exit N)', true],
  ['sed Nq', true],
];

/** Numbers that look random and are the same each time. */
function* numbers(seed: number): Generator<number, never> {
  for (let state = seed >>> 0; ; ) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    yield state >>> 8;
  }
}

interface Pipeline {
  command: string;
  producer: string;
  /** Whether the producer's code may be that of SIGPIPE or its own, by chance. */
  races: boolean;
  leaves: boolean;
}

function pipeline(index: number): Pipeline {
  const random = numbers(index + 1);
  const pick = <T>(from: readonly T[]) => from[random.next().value % from.length] as T;
  const filled = (source: string) =>
    source.replaceAll(/\bN\b|N(?=q)|(?<=\.0+)N|(?<=-)N$/g, () => `${1 + (random.next().value % 60)}`);
  let [[producer, endless], [reader, leaves]] = [pick(PRODUCERS), pick(READERS)];
  if (endless && !leaves) [producer, endless] = ['seq 1 N', false];
  producer = filled(producer);
  const before = pick(['', '', 'cd / && ', 'cd /usr && ']);
  return { command: `${before}${producer} | ${filled(reader)}`, producer, races: leaves && !endless, leaves };
}

const codeOf = ({ exitCode, signal }: Part) => exitCode ?? 128 + constants.signals[signal as NodeJS.Signals];

describe.runIf(isLinux).each(['cold', 'warm', 'session'] as const)('taps, %s', (way) => {
  const batches = Array.from({ length: Math.ceil(count / batch) }, (_, at) => at * batch);
  test.each(batches)(
    'pipelines from %i on end as in a plain bash, and the copy is what the producer wrote',
    async (from) => {
      const env = await environment();
      const place = new Place();
      for (let index = from; index < Math.min(from + batch, count); index++) {
        const { command, producer, races, leaves } = pipeline(index);
        await place.use(async (cwd) => {
          const wanted = await plain(`${command}\nx=$? y="\${PIPESTATUS[*]}"; echo "$y" >/dev/stderr; exit $x`, {
            cwd,
            env,
          });
          const { stdout, exitCode, evidence } = await runIn(way, command, { cwd, env, evidence: 'status' });
          expect({ index, command, stdout, exitCode }).toEqual({ ...wanted, stderr: undefined, index, command });
          const [first = ''] = wanted.stderr.trim().split('\n').at(-1)?.split(' ') ?? [];
          const part = evidence?.parts.find((one) => one.command === producer);
          if (!races) expect({ command, code: part && codeOf(part) }).toEqual({ command, code: Number(first) });
          const tap = evidence?.tap;
          expect({ command, tap }).toMatchObject({ command, tap: { kept: true, command: producer } });
          const kept = readFileSync(tap?.path ?? '').toString('latin1');
          if (!leaves || tap?.complete) {
            const whole = await plain(`${producer} | od -An -v -tx1 | tr -d ' \\n'`, { cwd, env });
            expect(Buffer.from(kept, 'latin1').toString('hex')).toBe(whole.stdout.trim());
            expect(tap).toMatchObject({ complete: true, bytes: kept.length });
          }
        });
      }
    },
  );

  test('one read gets as much as from a plain pipe', async () => {
    const env = await environment();
    const place = new Place();
    for (const size of [1, 4095, 4096, 4097, 10_000, 60_000, 65_536, 65_537, 69_632]) {
      const command = `perl -e 'syswrite STDOUT, "x" x ${size}' | (sleep .2; dd bs=65536 count=1 2>/dev/null) | wc -c`;
      await place.use(async (cwd) => {
        const wanted = await plain(command, { cwd, env });
        const { stdout } = await runIn(way, command, { cwd, env, evidence: 'status' });
        expect({ size, stdout }).toEqual({ size, stdout: wanted.stdout });
      });
    }
  });
});
