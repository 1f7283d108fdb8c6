// The figures of a judgement, and their tables as Markdown.
import { LEVELS } from './judge.mjs';

const percent = (before, after) => (before === 0 ? 0 : (100 * (before - after)) / before);

/** Sums the tokens of some judged records: before, and after at each level. */
export function sum(judged) {
  const total = { outputs: judged.length, before: 0, after: Object.fromEntries(LEVELS.map(({ name }) => [name, 0])) };
  for (const { before, rows } of judged) {
    total.before += before;
    for (const { level, after } of rows) total.after[level] += after;
  }
  return total;
}

/** Returns the share of tokens that a level saves on some judged records, percent. */
export const saved = (judged, level) => {
  const { before, after } = sum(judged);
  return percent(before, after[level]);
};

/** Records over 1 KB that are no file contents: those that a budget is for. */
export const budgeted = (judged) => judged.filter(({ bytes, kind }) => bytes > 1024 && kind !== 'contents');

/** The number of faults of each kind, with the lines that were looked for. */
export function faults(judged) {
  const found = { incomplete: [], hidden: [], injected: [] };
  for (const { set, command, rows } of judged) {
    for (const row of rows) {
      for (const { kind, text } of row.faults) found[kind].push({ set, command, level: row.level, text });
    }
  }
  return found;
}

function table(title, groups) {
  const head = `| ${title} | outputs | tokens | ${LEVELS.map(({ name }) => name).join(' | ')} | faults |`;
  const rows = groups.map(([name, judged]) => {
    const { outputs, before } = sum(judged);
    const cells = LEVELS.map((level) => `${saved(judged, level.name).toFixed(1)} %`);
    const wrong = Object.values(faults(judged)).flat().length;
    return `| ${name} | ${outputs} | ${before} | ${cells.join(' | ')} | ${wrong} |`;
  });
  return [head, `|${'---|'.repeat(LEVELS.length + 4)}`, ...rows].join('\n');
}

function groupBy(judged, key) {
  const groups = new Map();
  for (const each of judged) groups.set(each[key], [...(groups.get(each[key]) ?? []), each]);
  return [...groups].sort(([a], [b]) => (a < b ? -1 : 1));
}

/** All tables of a judgement. */
export function tables(judged) {
  const over = budgeted(judged);
  return [
    table('set', [...groupBy(judged, 'set'), ['all', judged]]),
    table('over 1 KB, no contents', [...groupBy(over, 'set'), ['all', over]]),
    table('kind', groupBy(judged, 'kind')),
  ].join('\n\n');
}
