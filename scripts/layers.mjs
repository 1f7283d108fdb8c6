/**
 * Checks the structure of the Rust sources: `node scripts/layers.mjs`.
 *
 * No two files of a crate use each other in a circle, and files, functions and structs stay below the sizes here. The
 * compiler keeps the crates in their order. Comments and Markdown are wrapped. dependency-cruiser checks the imports of
 * ts/ (.dependency-cruiser.mjs).
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { Failed, isMain, main, root, run } from './process.mjs';
import { edgesOf, modulesBelow, sizesOf } from './rust.mjs';

const LINES = 700;
const FUNCTION_LINES = 60;
const FIELDS = 12;
/** Columns of a line of comment or Markdown. Tables, links and blocks of code cannot be wrapped. */
const COLUMNS = 120;

/** Places that may be larger, as `FILE`, or `FILE NAME` for a function or a struct, each with the reason. */
const LARGER = {
  'crates/safety/src/eval/simple_command.rs SimpleCommand':
    'one field per fact of a command that rules or results read',
  'crates/safety/src/programs/wrapper.rs Wrapper': 'one field per fact of a wrapper',
  'crates/safety/src/unwrap/inline/syntax.rs Syntax': 'one field per sign in which languages differ',
  'crates/protocol/src/plan/child.rs Plan': 'one field per fact of a process to start',
  'crates/reduce/src/rules/counting.rs Tests': 'one field per key of the table',
  'crates/runner/src/request/mod.rs Request': 'one field per option, as the stages read them',
  'crates/sys/src/witness.rs WitnessEvent': 'one field per fact of an event',
  'crates/runner/src/request/mod.rs check': 'one line per field of a request',
  'crates/runner/src/live/shape.rs Run': 'one field per field of the message to those who watch',
  'crates/runner/src/request/raw.rs RawOptions': 'one field per public option',
  'crates/runner/src/run/outcome.rs Outcome': 'one field per field of the public result',
  'crates/capture/src/captured.rs Truncation': 'one field per field of the public result',
  'crates/protocol/src/task/task.rs Task': 'one field per field of the state file',
  'crates/ledger/src/record.rs Start': 'one field per fact of a start',
  'crates/remote/src/messages/greeting.rs Facts': 'one field per fact of the place',
  'crates/supervisor/src/shim/running.rs Running': 'the reason is beside the struct',
};

/** Whether a finding fails the check. If false, findings are only reported. */
const ENFORCED = true;

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

const isLarger = (...words) => words.join(' ') in LARGER;

function largeItems({ file, ...module }) {
  const { functions, structs } = sizesOf(module);
  return [
    ...functions
      .filter(({ name, length }) => length > FUNCTION_LINES && !isLarger(file, name))
      .map(({ name, line, length }) => `long function: ${file}:${line}: ${name} has ${length} lines`),
    ...structs
      .filter(({ name, fields, isPublicShape }) => fields > FIELDS && !isPublicShape && !isLarger(file, name))
      .map(({ name, line, fields }) => `large struct: ${file}:${line}: ${name} has ${fields} fields`),
  ];
}

/** The long functions of a TypeScript or JavaScript file. */
function longFunctions(file) {
  const source = readFileSync(join(root, file), 'utf8');
  const tree = ts.createSourceFile(file, source, ts.ScriptTarget.Latest, true);
  const lineOf = (position) => tree.getLineAndCharacterOfPosition(position).line + 1;
  const found = [];
  const visit = (node) => {
    if (ts.isFunctionLike(node) && node.body) {
      const line = lineOf(node.getStart());
      const length = lineOf(node.getEnd()) - line + 1;
      const name = node.name?.getText() ?? node.parent.name?.getText() ?? 'a function';
      if (length > FUNCTION_LINES && !isLarger(file, name)) {
        found.push(`long function: ${file}:${line}: ${name} has ${length} lines`);
      }
    }
    ts.forEachChild(node, visit);
  };
  visit(tree);
  return found;
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

/** The modules of the crate in a directory. */
function modulesOf(directory) {
  const source = join(directory, 'src');
  return new Map([...modulesBelow(join(source, 'lib.rs'))].filter(([, { file }]) => file.startsWith(source)));
}

/** The files whose size counts, as paths in the clone. */
async function sources() {
  const { stdout } = await run('git', ['ls-files', '*.rs', '*.ts', '*.mjs', '*.md'], { output: 'keep' });
  return stdout
    .trim()
    .split('\n')
    .filter((file) => file !== 'index.d.ts' && !file.startsWith('npm/'));
}

/** All findings, one text each. */
export async function findings() {
  const crates = ['.', ...readdirSync(join(root, 'crates')).map((name) => join('crates', name))].map(modulesOf);
  const files = await sources();
  const longFiles = files
    .filter((file) => !file.endsWith('.md'))
    .map((file) => [file, readFileSync(join(root, file), 'utf8').split('\n').length - 1])
    .filter(([file, lines]) => lines > LINES && !isLarger(file))
    .map(([file, lines]) => `long file: ${file} has ${lines} lines`);
  return [
    ...crates.flatMap((crate) => circles(edgesOf(crate))),
    ...longFiles,
    ...files.flatMap(wideLines),
    ...crates.flatMap((crate) => [...crate.values()]).flatMap(largeItems),
    ...files.filter((file) => /^(?:ts|scripts|bench|examples)\//.test(file)).flatMap(longFunctions),
  ];
}

/** The check: fails with the findings if it is enforced. */
export async function layered() {
  const found = await findings();
  if (found.length === 0) return;
  if (ENFORCED) throw new Failed(`${found.join('\n')}\n${found.length} findings`);
  console.log(`not enforced yet: ${found.length} findings: node scripts/layers.mjs`);
}

if (process.argv[1] && isMain(import.meta)) {
  await main(async () => {
    const found = await findings();
    for (const text of found) console.log(text);
    console.log(`${found.length} findings`);
    if (ENFORCED && found.length > 0) process.exitCode = 1;
  });
}
