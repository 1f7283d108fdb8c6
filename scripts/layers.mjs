/**
 * Checks the structure of the sources: `node scripts/layers.mjs`.
 *
 * No two files of a crate use each other in a circle, no two public types of a crate have one name, comments and
 * Markdown are wrapped, and the sources that they mention exist. The compiler keeps the crates in their order, and
 * dependency-cruiser checks the imports of ts/ (.dependency-cruiser.mjs). `node scripts/layers.mjs --names` prints how
 * many types have a name of one word, and how many share their name.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Failed, isMain, main, root, run } from './process.mjs';
import { edgesOf, modulesBelow } from './rust.mjs';

/** Columns of a line of comment or Markdown. Tables, links and blocks of code cannot be wrapped. */
const COLUMNS = 120;

/** The shortest circle through a file, as the files on it, or null. */
function circleThrough(start, edges) {
  const before = new Map([[start, null]]);
  const queue = [start];
  for (const file of queue) {
    for (const to of edges.get(file).keys()) {
      if (to === start) {
        const circle = [];
        for (let at = file; at !== null; at = before.get(at)) circle.unshift(at);
        return circle;
      }
      if (!before.has(to)) {
        before.set(to, file);
        queue.push(to);
      }
    }
  }
  return null;
}

/** One circle for each set of files that reach each other: removing the reported circles one by one finds them all. */
function circles(edges) {
  const seen = new Set();
  const found = [];
  for (const file of edges.keys()) {
    const circle = circleThrough(file, edges);
    const key = circle && [...circle].sort().join();
    if (!circle || seen.has(key)) continue;
    seen.add(key);
    const steps = circle.map((from, at) => {
      const to = circle[(at + 1) % circle.length];
      return `\n    ${from} → ${to}: ${edges.get(from).get(to)}`;
    });
    found.push(`circle of ${circle.length}:${steps.join('')}`);
  }
  return found;
}

/** The types that a text defines, with their visibility. */
function typesIn(file) {
  const definition = /^\s*(pub )?(?:pub\([^)]*\) )?(?:unsafe )?(?:struct|enum|trait|union) ([A-Z]\w*)/gm;
  const crate = file.startsWith('crates/') ? file.split('/')[1] : 'addon';
  const text = readFileSync(join(root, file), 'utf8');
  return [...text.matchAll(definition)].map(([, visibility, name]) => ({
    file,
    crate,
    name,
    isPublic: visibility !== undefined,
    isOneWord: /^[A-Z][a-z0-9]*$/.test(name),
  }));
}

/** Groups the types of one name. */
function byName(types) {
  const groups = new Map();
  for (const type of types) groups.set(type.name, [...(groups.get(type.name) ?? []), type]);
  return groups;
}

/**
 * The names that two public types share: any name in one crate, and a name of one word in all crates, where grep and a
 * reader would take one for the other. The files of macOS mirror those of Linux.
 */
function sharedNames(types) {
  const groups = [...byName(types.filter(({ isPublic, file }) => isPublic && !file.includes('/macos/')))];
  return groups.flatMap(([name, all]) => {
    const crates = new Set(all.map(({ crate }) => crate));
    const isShared = all.length > crates.size || (all.length > 1 && all[0].isOneWord);
    return isShared ? [`shared name: ${name}: ${all.map(({ file }) => file).join(', ')}`] : [];
  });
}

/** The figures of the types' names, for all crates and for each. */
function figures(types) {
  const groups = byName(types);
  const row = (title, some) => {
    const share = (count) => `${Math.round((100 * count) / some.length)} %`.padStart(5);
    const oneWord = some.filter(({ isOneWord }) => isOneWord).length;
    const shared = some.filter(({ name }) => groups.get(name).length > 1).length;
    return `${title.padEnd(12)} ${String(some.length).padStart(5)} types, one word ${share(oneWord)}, shared ${share(shared)}`;
  };
  const crates = [...new Set(types.map(({ crate }) => crate))].sort();
  return [
    ...crates.map((name) =>
      row(
        name,
        types.filter(({ crate }) => crate === name),
      ),
    ),
    row('all', types),
  ];
}

/** The lines of comments, or of a Markdown file, that are too long. */
function wideLines(file) {
  const isPage = file.endsWith('.md');
  let inCode = false;
  return readFileSync(join(root, file), 'utf8')
    .split('\n')
    .flatMap((line, at) => {
      if (isPage && /^\s*```/.test(line)) inCode = !inCode;
      const isProse = isPage
        ? !inCode && !/^\s*(?:\||\[)/.test(line)
        : /^\s*(?:\/\/[/!]?|\*|\/\*\*)\s+(?![|@])/.test(line);
      const columns = [...line].length;
      return isProse && columns > COLUMNS && !/https?:/.test(line)
        ? [`wide line: ${file}:${at + 1}: ${columns} columns`]
        : [];
    });
}

/** The mentions of sources that do not exist, in comments and Markdown. Tests make up paths of their own. */
function missingPaths(file) {
  if (/tests?\b|^CHANGELOG/.test(file)) return [];
  const mentioned = readFileSync(join(root, file), 'utf8').matchAll(
    /\b(?:crates|scripts|ts)\/[\w/.-]+\.(?:rs|ts|mjs)\b/g,
  );
  return [...mentioned].flatMap(([path]) => (existsSync(join(root, path)) ? [] : [`no such file: ${file}: ${path}`]));
}

/** The modules of the crate in a directory. */
function modulesOf(directory) {
  const source = join(directory, 'src');
  return new Map([...modulesBelow(join(source, 'lib.rs'))].filter(([, { file }]) => file.startsWith(source)));
}

/** The text files of the clone. */
async function sources() {
  const { stdout } = await run('git', ['ls-files', '*.rs', '*.ts', '*.mjs', '*.md'], { output: 'keep' });
  const files = stdout.trim().split('\n');
  return files.filter((file) => file !== 'index.d.ts' && !file.startsWith('npm/'));
}

async function types() {
  return (await sources()).filter((file) => /^(?:crates|src)\/.*\.rs$/.test(file)).flatMap(typesIn);
}

/** All findings, one text each. */
export async function findings() {
  const crates = ['.', ...readdirSync(join(root, 'crates')).map((name) => join('crates', name))].map(modulesOf);
  return [
    ...crates.flatMap((crate) => circles(edgesOf(crate))),
    ...sharedNames(await types()),
    ...(await sources()).flatMap((file) => [...wideLines(file), ...missingPaths(file)]),
  ];
}

/** The check: fails with the findings. */
export async function layered() {
  const found = await findings();
  if (found.length > 0) throw new Failed(`${found.join('\n')}\n${found.length} findings`);
}

if (process.argv[1] && isMain(import.meta)) {
  await main(async () => {
    if (process.argv.includes('--names')) console.log(figures(await types()).join('\n'));
    else await layered();
  });
}
