/**
 * Counts phrases that make comments, documents and test names hard to read: `node scripts/words.mjs [--list] [PATH …]`.
 *
 * The script prints the number of places per 1,000 lines of prose, by directory and by pattern. With `--list` it prints
 * each place. `npm run check` fails above the budget below. Code spans, code blocks, string literals and URLs are not
 * counted.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { Failed, isMain, main, root, run } from './process.mjs';
import { proseOf } from './prose.mjs';

/** The number of places per 1,000 lines of prose that the check allows, over all directories. */
const BUDGET = 3;

/** Whether more places than the budget fail the check. If false, they are only reported. */
const ENFORCED = true;

/** Lines of comments and Markdown may have this many columns. */
const COLUMNS = 120;

/** The units of a rate. "One a process" should read "one per process". */
const UNITS = [
  ...['block', 'call', 'clone', 'command', 'commit', 'directory', 'file', 'host', 'line', 'message', 'name', 'page'],
  ...['process', 'program', 'project', 'row', 'rule', 'run', 'session', 'shell', 'stage', 'stream', 'task', 'test'],
  ...['thread', 'word', 'worker'],
].join('|');

/**
 * The patterns. `find` searches a paragraph without its code spans. `at: 'start'` limits a pattern to the first words
 * of a comment, `at: 'constant'` to the first words of a comment above a constant. `headings: true` includes headings.
 */
export const PATTERNS = [
  {
    name: 'what … without a noun',
    find: /\b(?:what|whatever) (?:is|was|are|were|it|they|has|had|have|comes?|came|stands?|stood|goes|went|there|belongs|lies|remains|cannot|can|may|must|nobody|somebody)\b(?![^.!?]*\?)/gi,
  },
  { name: 'What … or Who … as a whole comment', find: /^(?:What|Who|Whom|Whose)\b(?![^.!]*\?)/g, at: 'start' },
  { name: 'that which', find: /\bthat which\b|\bone that is (?:none|not)\b/gi },
  {
    name: 'nobody, somebody, whoever',
    find: /\b(?:nobody|somebody|whoever|anybody|everybody|whomever)\b/gi,
    headings: true,
  },
  { name: 'For X to Y. on a constant', find: /^For\b/g, at: 'constant' },
  {
    name: 'It … without an antecedent',
    find: /^(?:It|They)\b(?!'s| is (?:\w+ )?(?:clear|easy|fine|hard|important|likely|necessary|ok|possible|safe)\b)/g,
    at: 'start',
  },
  { name: 'is none', find: /(?<!\bthere )\b(?:is|are|was|were) none\b(?! of)/g },
  {
    name: 'has a shell wait',
    find: /\b(?:has|have|having|had) (?:an?|the|its?|each|every|another|them|him) (?:\w+ )?(?:wait|run|look|print|say|tell|stop|die|do)\b(?! of)(?!-)/gi,
  },
  {
    name: 'is let go on',
    find: /\b(?:is|are|was|were|be|been) let (?:go|run|end|die|live|wait|through|be)\b|\blets? \w+ go on\b/gi,
  },
  { name: 'comes to', find: /\b(?:comes|came) to\b(?! an end\b)/gi },
  {
    name: 'stands',
    find: /\bstands?(?= (?:there|here|in|at|on|before|beside|between|alone|under|after|above|below|next)\b|[.,])/gi,
  },
  {
    name: 'one a process',
    find: new RegExp(`\\b(?:one|two|three|\\d+|a (?:line|word|file|byte|test|row)) an? (?:${UNITS})\\b`, 'gi'),
  },
  { name: 'folder', find: /(?<!-)\b(?:sub)?folders?\b/gi, headings: true },
  { name: 'told, heard', find: /\b(?:is|are|was|were|be|being|been|gets?) told\b|\b(?:heard|hears)\b/gi },
  { name: 'a look', find: /\b(?:a|the|one|each|every|another|first|last|next) looks?\b(?! (?:at|like|into|up)\b)/gi },
  { name: 'end of a command', find: /\bends? of (?:an?|the|its|every|each) commands?\b(?! line)/gi },
  { name: 'that there is not', find: /\bthat there (?:is|are|was|were)(?= (?:not|none)\b|[.,;)])/gi },
  {
    name: 'Where … for If',
    find: /(?:^|[.!?:] )Where (?:it|they|a|an|the|there|one|this|that|nothing|no|its|both|all|some|neither)\b(?![^.!?]*\?)/g,
  },
  { name: 'two clauses after semicolons', find: /;(?=[^.!?]*;)(?=\s)/g },
  { name: '«quotes»', find: /«/g, headings: true },
  { name: 'as such', find: /\bas such\b/g },
];

/**
 * Places that are not counted, each with the reason. `path` is a suffix of the file's path, `text` a part of the
 * paragraph.
 */
const EXEMPT = [
  { path: 'scripts/words.mjs', text: '', why: 'The file names the patterns.' },
  { path: 'behaviour/tasks.test.ts', text: 'Nothing left behind, nobody else hurt', why: 'A heading of the contract.' },
];

const exempt = (path, text) => EXEMPT.some((entry) => path.endsWith(entry.path) && text.includes(entry.text));

/** The lines of a file that are too long, as places. Tables, links and test names cannot be wrapped. */
function longLines({ lines, text }) {
  const all = text.split('\n');
  return lines
    .filter(
      ({ wraps, number }) =>
        wraps && [...all[number - 1]].length > COLUMNS && !/^\s*\||https?:\/\/|^\[/.test(all[number - 1]),
    )
    .map(({ number }) => ({ line: number, pattern: 'long line', excerpt: `${[...all[number - 1]].length} columns` }));
}

function applies({ at, headings }, { start, constant, heading }) {
  if (heading && !headings) return false;
  if (at === 'start') return start;
  if (at === 'constant') return constant;
  return true;
}

/** All places of one file. */
export function placesIn(path, text) {
  const prose = proseOf(path, text);
  const places = prose.paragraphs.flatMap((paragraph) =>
    PATTERNS.filter((pattern) => applies(pattern, paragraph)).flatMap(({ name, find }) =>
      [...paragraph.text.matchAll(find)]
        .filter(() => !exempt(path, paragraph.text))
        .map(({ index }) => ({
          line: paragraph.lineAt(index),
          pattern: name,
          excerpt: paragraph.text.slice(Math.max(0, index - 30), index + 60).trim(),
        })),
    ),
  );
  return { lines: prose.lines.length, places: [...places, ...longLines({ lines: prose.lines, text })] };
}

/** The files whose prose counts, as paths in the clone. */
async function files(paths) {
  const kinds = ['rs', 'ts', 'mts', 'cts', 'mjs', 'md'].map((kind) => `*.${kind}`);
  const args = ['ls-files', '--cached', '--others', '--exclude-standard', '--', ...kinds];
  const { stdout } = await run('git', args, { output: 'keep' });
  const inside = (file) => paths.length === 0 || paths.some((path) => file === path || file.startsWith(`${path}/`));
  return [...new Set(stdout.trim().split('\n'))]
    .filter((file) => file !== 'index.d.ts' && !file.startsWith('npm/') && inside(file) && existsSync(join(root, file)))
    .sort();
}

/** The directory that a file is counted for. */
function directoryOf(file) {
  const parts = file.split('/');
  if (parts.length === 1) return '.';
  return ['src', 'ts', '__test__'].includes(parts[0]) && parts.length > 2 ? parts.slice(0, 2).join('/') : parts[0];
}

/** Adds `places` and `lines` to the row of `key`. */
function add(table, key, places, lines) {
  const row = table.get(key) ?? { places: 0, lines: 0 };
  table.set(key, { places: row.places + places, lines: row.lines + lines });
}

const perThousand = (places, lines) => ((places * 1000) / Math.max(lines, 1)).toFixed(1);

/** Counts the places below the paths, over the whole clone without any. */
export async function count(paths = []) {
  const total = { places: [], lines: 0, byDirectory: new Map() };
  for (const file of await files(paths)) {
    const { lines, places } = placesIn(file, readFileSync(join(root, file), 'utf8'));
    total.lines += lines;
    for (const place of places) total.places.push({ file, ...place });
    add(total.byDirectory, directoryOf(file), places.length, lines);
  }
  return total;
}

function print({ places, lines, byDirectory }) {
  for (const [directory, row] of byDirectory) {
    console.log(
      `${directory.padEnd(34)} ${perThousand(row.places, row.lines).padStart(8)}  (${row.places} in ${row.lines} lines)`,
    );
  }
  const byPattern = new Map();
  for (const { pattern } of places) byPattern.set(pattern, (byPattern.get(pattern) ?? 0) + 1);
  console.log();
  for (const [pattern, found] of [...byPattern].sort((a, b) => b[1] - a[1])) {
    console.log(`${pattern.padEnd(34)} ${perThousand(found, lines).padStart(8)}  (${found})`);
  }
}

/** The check: fails above the budget if it is enforced. */
export async function plainWords() {
  const { places, lines } = await count();
  const text = `${perThousand(places.length, lines)} places per 1,000 lines of prose, ${BUDGET} allowed: node scripts/words.mjs --list`;
  if (places.length * 1000 > BUDGET * lines) {
    if (ENFORCED) throw new Failed(text);
    console.log(`not enforced yet: ${text}`);
  }
}

if (process.argv[1] && isMain(import.meta)) {
  await main(async () => {
    const args = process.argv.slice(2);
    const paths = args.filter((arg) => !arg.startsWith('-')).map((path) => relative(root, resolve(path)));
    const found = await count(paths.filter((path) => path !== ''));
    if (args.includes('--list')) {
      for (const { file, line, pattern, excerpt } of found.places)
        console.log(`${file}:${line}: ${pattern}: ${excerpt}`);
    } else {
      print(found);
    }
    console.log(
      `\n${perThousand(found.places.length, found.lines)} places per 1,000 lines of prose (${found.places.length} in ${found.lines})`,
    );
  });
}
