// Tokens that views save on real outputs, and whether they lose anything. See docs/tokens.md.
import { createRequire } from 'node:module';
import { median, quantile } from '../stats.mjs';
import { number, percent, time } from '../table.mjs';
import { judgeRecord } from '../tokens/judge.mjs';
import { followSession, sumSessions } from '../tokens/sessions.mjs';
import { load } from '../tokens/sets/index.mjs';
import { openSubject } from '../tokens/subject.mjs';
import { budgeted, faults, saved, tables } from '../tokens/tables.mjs';

export const title = 'tokens of real outputs';

/** Of each set, a short run judges one record in this many. */
const SHORT = 20;
/** Failures are put into one output in this many, and into each by a full run. */
const INJECTED = { short: 5, full: 1 };
/** Faults that are printed. */
const PRINTED = 20;

export async function measure({ short, ours }) {
  if (ours.length === 0) return [];
  const { countTokens } = createRequire(import.meta.url)('gpt-tokenizer/encoding/o200k_base');
  // A text may hold what the tokenizer takes for one of its own signs.
  const count = (text) => countTokens(text, { disallowedSpecial: new Set() });
  const { records, missing } = load();
  if (missing.length > 0) {
    console.error(`without the sets ${missing.join(', ')}: node bench/tokens/fetch.mjs says how to get them`);
  }
  const chosen = records.filter((record, at) => !short || record.set === 'recorded' || at % SHORT === 0);
  const subject = openSubject();
  const judged = [];
  const sessions = new Sessions(count);
  try {
    for (const [seed, record] of chosen.entries()) {
      const injects = seed % (short ? INJECTED.short : INJECTED.full) === 0;
      const follow = (level) => sessions.of(record, level);
      judged.push(await judgeRecord(record, { subject, count, seed, injects, follow }));
    }
  } finally {
    await subject.close();
  }
  report(judged);
  if (!short) reportSessions(sessions);
  return lines(judged, missing.length === 0 && !short);
}

/** The sets whose records are whole sessions. */
const WHOLE = ['specstory', 'pi', 'swe-agent'];

/** The sessions of the sets that have any, at each level. */
class Sessions {
  #count;
  #levels = new Map();

  constructor(count) {
    this.#count = count;
  }

  /** The session of a record at a level, or `null`. */
  of({ set, session }, level) {
    if (!WHOLE.includes(set)) return null;
    const sessions = this.#levels.get(level) ?? new Map();
    this.#levels.set(level, sessions);
    const key = `${set} ${session}`;
    if (!sessions.has(key)) sessions.set(key, followSession(this.#count));
    return sessions.get(key);
  }

  /** The sums at each level. */
  sums() {
    return [...this.#levels].map(([level, sessions]) => ({
      level,
      ...sumSessions([...sessions.values()].map((session) => session.finish())),
    }));
  }
}

function reportSessions(sessions) {
  const head =
    '| whole sessions | sessions | calls | before | after | recalls | with recalls |\n|---|---|---|---|---|---|---|';
  const rows = sessions.sums().map(({ level, sessions, calls, before, after, recalls, recalled }) => {
    const share = (tokens) => `${((100 * (before - tokens)) / before).toFixed(1)} %`;
    return `| ${level} | ${sessions} | ${calls} | ${before} | ${share(after)} | ${recalls} | ${share(after + recalled)} |`;
  });
  console.error(`${[head, ...rows].join('\n')}\n`);
}

function report(judged) {
  console.error(`\n${tables(judged)}\n`);
  for (const [kind, found] of Object.entries(faults(judged))) {
    for (const { set, level, command, text } of found.slice(0, PRINTED)) {
      console.error(`${kind}: ${set}, ${level}: ${command.slice(0, 80).replaceAll('\n', ' ')}: ${text.slice(0, 200)}`);
    }
  }
}

function lines(judged, isFull) {
  const found = faults(judged);
  const over = budgeted(judged);
  const reach = (min) => (isFull ? { reach: { min } } : {});
  const times = judged
    .filter(({ bytes }) => bytes > 40_000 && bytes < 60_000)
    .flatMap(({ rows }) => rows.map(({ us }) => us / 1e3));
  return [
    number('views that are not complete', found.incomplete.length, { reach: { max: 0 } }),
    number('failures that are hidden', found.hidden.length, { reach: { max: 0 } }),
    number('injected failures that are hidden', found.injected.length, { reach: { max: 0 } }),
    percent('lossless, all outputs', saved(judged, 'lossless'), reach(10)),
    percent('salient at 1,000, over 1 KB, no contents', saved(over, 'salient 1000'), reach(40)),
    percent('salient at 500, over 1 KB, no contents', saved(over, 'salient 500'), reach(50)),
    ...(times.length === 0
      ? []
      : [
          time('time for 50 KiB', median(times), {
            reach: { max: 3 },
            note: `p99 ${quantile(times, 0.99).toFixed(2)} ms`,
          }),
        ]),
  ];
}
