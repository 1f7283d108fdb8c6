import { BashSession } from 'agent-bash';
import { describe, expect, test } from 'vitest';
import { type Case, cases } from './cases.ts';
import { differences } from './known.ts';
import { Place } from './place.ts';
import { plain } from './plain.ts';
import { compared, environment, evidences, options, outcomeOf } from './ways.ts';

/** All that a session keeps, written to descriptor 9 when the shell ends by itself. */
const dump =
  "trap '{ pwd; umask; declare -p; declare -f; alias; shopt -p; set +o; ulimit -a; hash; dirs; } >state 2>/dev/null' EXIT; ";

/** Lines of the state that are others each time, or that no session keeps. */
const passing = /^declare -\S+ (_|BASH\w*|EPOCH\w*|FUNCNAME|LINENO|PIPESTATUS|PPID|S?RANDOM|SECONDS|AGENT_BASH_ID)\b/;

describe('one session for a whole series', () => {
  test.each(evidences)(
    'each case that leaves no trace ends as in a plain `bash -c`, whatever ran before it, evidence %s',
    async (evidence) => {
      const env = await environment();
      const place = new Place();
      const session = new BashSession({
        ...options,
        evidence,
        taps: evidence === 'off' ? 'off' : 'on',
        cwd: await place.use(async (cwd) => cwd),
      });
      try {
        const state = async (script: string) => {
          const { exitCode, stdout } = await place.use((cwd) =>
            plain(`${dump}${script}\n`, { cwd, env }).then(async (outcome) => ({
              ...outcome,
              stdout: (await plain('cat state', { cwd, env })).stdout,
            })),
          );
          return {
            exitCode,
            text: stdout
              .split('\n')
              .filter((line) => !passing.test(line))
              .join('\n'),
          };
        };
        const untouched = (await state(':')).text;
        expect(untouched).toContain('declare -x HOME');
        const series: Case[] = [];
        for (const one of cases()) {
          if (/\btrap\b|\bexec\b/.test(one.script) || differences.some((known) => known.in.test(one.script))) continue;
          const { text } = await state(one.script);
          // One without a state did not end by itself, and such a command leaves the session as it was.
          if (text === untouched || text === '') series.push(one);
        }
        expect(series.length).toBeGreaterThan(150);
        for (const { name, script } of series) {
          const expected = compared('session', await place.use((cwd) => plain(script, { cwd, env })));
          const found = compared(
            'session',
            outcomeOf(await place.use((cwd) => session.run(script, { ...options, cwd }))),
          );
          expect({ name, ...found }).toEqual({ name, ...expected });
        }
      } finally {
        await session.close();
        place.remove();
      }
    },
    120_000,
  );
});
