import { lstatSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'vitest';
import { commandFrom, randomFrom, TREE } from '../../../receipt/generated.ts';
import { linuxTest } from '../../../support/index.ts';
import { GIT, Site } from '../../../undo/support.ts';

type Random = (below: number) => number;
type Tree = Record<string, string>;

const GIT_STEPS = [
  'git add -A',
  'git commit -qam two',
  'git switch -qc topic',
  'git stash -qu',
  'git reset -q --hard',
  'git clean -fdxq',
  'git checkout -q .',
  'git rm -q b',
  'git mv a moved',
  'rm -rf .git',
];

/** Steps on files, some of them with git between. */
function historyFrom(random: Random): string {
  const steps = Array.from({ length: 1 + random(3) }, () =>
    random(2) === 0 ? commandFrom(random) : GIT_STEPS[random(GIT_STEPS.length)],
  );
  return steps.join('; ');
}

/** The edits of a user after a run: their texts, and every path that the edits may concern. */
interface Edits {
  texts: string[];
  paths: string[];
}

/** Edits files that are there and makes new ones, outside of .git. */
function edit(site: Site, random: Random): Edits {
  const edits: Edits = { texts: [], paths: [] };
  for (let count = random(3); count > 0; count -= 1) {
    const isNew = (path: string) => !path.startsWith('.git') && !edits.paths.includes(path);
    const files = Object.keys(site.tree()).filter(isNew);
    const path = files[random(files.length)] ?? '.';
    const file = lstatSync(site.path(path));
    const text = `mine ${count}`;
    if (file.isDirectory()) {
      edits.paths.push(join(path, `mine${count}`));
    } else if (file.isFile()) {
      // An edit in place is one of every name of the file.
      edits.paths.push(...files.filter((other) => lstatSync(site.path(other)).ino === file.ino));
    } else continue;
    writeFileSync(site.path(edits.paths.at(-1) ?? path), text);
    edits.texts.push(text);
  }
  return edits;
}

/** The paths of before of each file, by its inode. */
function pathsByInode(site: Site, paths: string[]): Map<number, string[]> {
  const found = new Map<number, string[]>();
  for (const path of paths) {
    const { ino } = lstatSync(site.path(path));
    found.set(ino, [...(found.get(ino) ?? []), path]);
  }
  return found;
}

const isAbove = (one: string, other: string) => one === '.' || one === other || other.startsWith(`${one}/`);
const concerns = (one: string, other: string) => isAbove(one, other) || isAbove(other, one);

/** A tree without what an undo may leave or change: unreachable objects, and the index's times of files. */
function comparable(tree: Tree): Tree {
  const kept = Object.entries(tree).filter(([path]) => !path.startsWith('.git/objects'));
  return Object.fromEntries(kept.map(([path, file]) => [path, file.replace(/ as .*$/, '')]));
}

/** The texts of all files of a directory. */
function textsIn(directory: string): string[] {
  const entries = readdirSync(directory, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8'));
}

async function history(seed: number): Promise<void> {
  const random = randomFrom(seed);
  const site = new Site();
  await site.prepare(`git init -qb main; ${TREE}; git add a b d; git commit -qm one; echo x > d/untracked`);
  const before = comparable(site.tree());
  const origins = pathsByInode(site, Object.keys(before));
  const command = historyFrom(random);
  const { runId, undo } = await site.run(command, { env: GIT });
  const left = site.tree();
  const edits = edit(site, random);
  // A file that the user edited may have had other names, and one that the run gave it.
  const touched = edits.paths.flatMap((path) => [path, ...(origins.get(lstatSync(site.path(path)).ino) ?? [])]);
  const { conflicts } = await site.undo(runId, { paths: [site.cwd] });
  const shown = `${seed}: ${command}\nuser: ${edits.paths.join(' ')}`;
  expect(undo, shown).toMatchObject({ covers: 'all' });
  const stayed = conflicts.map(({ path }) => site.short(path));
  const after = comparable(site.tree());
  if (edits.paths.length === 0) {
    expect([stayed, after], shown).toEqual([[], before]);
    return;
  }
  const texts = textsIn(site.cwd);
  for (const text of edits.texts) expect(texts, `${shown}\n${text} is lost`).toContain(text);
  // Directories that moved give paths that the user touched other names, and so may renamed files.
  const kind = (tree: Tree, path: string) => tree[path]?.split(' ')[0];
  const moved = Object.keys(left).filter((path) => kind(left, path) !== kind(before, path));
  const concerned = [...touched, ...stayed];
  const names = new Set(concerned.map((path) => path.split('/').at(-1)));
  const isTouched = (path: string) =>
    concerned.some((one) => concerns(one, path)) || names.has(path.split('/').at(-1)) || moved.includes(path);
  for (const path of stayed) {
    // A moved file that an edit keeps from its place stays, and so the earlier file of its new path stays away.
    const isConcerned = touched.some((one) => concerns(one, path) || moved.some((to) => isAbove(to, one)));
    expect([path, isConcerned || moved.includes(path)], shown).toEqual([path, true]);
  }
  for (const path of new Set([...Object.keys(before), ...Object.keys(after)])) {
    if (isTouched(path) || isTouched(dirname(path))) continue;
    expect([path, after[path]], shown).toEqual([path, before[path]]);
  }
}

// Another seed and more of them: AGENT_BASH_SEED=1001 AGENT_BASH_HISTORIES=10000.
const first = Number(process.env.AGENT_BASH_SEED ?? 1);
const count = Number(process.env.AGENT_BASH_HISTORIES ?? 500);

for (let from = first; from < first + count; from += 125) {
  linuxTest(
    `125 generated histories from ${from} on: byte for byte, and what a user did stays`,
    { timeout: 300_000 },
    async () => {
      for (let seed = from; seed < from + 125; seed += 1) await history(seed);
    },
  );
}
