import { bash, type Receipt } from 'agent-bash';
import { expect } from 'vitest';
import { Site } from '../undo/support.ts';

/** Random numbers from a seed, the same on every machine. */
export function randomFrom(seed: number): (below: number) => number {
  let state = seed * 2654435761 + 1;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) | 0;
    return ((state >>> 8) % 65536) % below;
  };
}

/** Names of that tree, and of things that a command may make in it. */
export const NAMES = ['a', 'b', 'c', 'd', 'd/a', 'd/b', 'd/e', 'd/e/a', 'f', 'f/a'];
/** The commands that make the tree in which generated commands run. */
export const TREE =
  'mkdir -p d/e f; echo 1 >a; echo 22 >b; echo 1 >d/a; echo 333 >d/b; echo 4444 >d/e/a; ln a c; ln -s a f/a';

/** A command of a few steps, each of which may fail. */
export function commandFrom(random: (below: number) => number): string {
  const name = () => NAMES[random(NAMES.length)] ?? 'a';
  const steps = [
    () => `echo ${random(3)} >${name()}`,
    () => `echo 22 >>${name()}`,
    () => `rm -r ${name()}`,
    () => `rm ${name()}`,
    () => `mv ${name()} ${name()}`,
    () => `mv -T ${name()} ${name()}`,
    () => `mkdir ${name()}`,
    () => `rmdir ${name()}`,
    () => `cp -r ${name()} ${name()}`,
    () => `ln ${name()} ${name()}`,
    () => `ln -sfn ${name()} ${name()}`,
    // An ordinary user still reads the tree.
    () => `chmod ${['755', '711', '700'][random(3)]} ${name()}`,
    () => `sed -i s/2/${random(3)}/ ${name()}`,
    () => `truncate -s ${random(3)} ${name()}`,
    () => `touch ${name()}`,
    () => `mkfifo ${name()}`,
  ];
  const count = 1 + random(8);
  return Array.from({ length: count }, () => steps[random(steps.length)]?.()).join('; ');
}

type Tree = Record<string, string>;

const below = (path: string, directory: string) => path === directory || path.startsWith(`${directory}/`);

/** The path that a renamed directory gives a path, by the nearest rename. */
function moved(path: string, renamed: readonly [string, string][]): string {
  const above = renamed.filter(([from]) => below(path, from)).sort(([one], [other]) => other.length - one.length);
  const [nearest] = above;
  return nearest ? nearest[1] + path.slice(nearest[0].length) : path;
}

/** A tree in which a file with a second name in the store counts as one with a single name. */
function unshared(tree: Tree): Tree {
  return Object.fromEntries(Object.entries(tree).map(([path, file]) => [path, file.replace(` as ${path}`, '')]));
}

/** Returns the errors of a receipt about the changes from one tree to another. */
function faults(before: Tree, after: Tree, changes: ReturnType<Site['changes']>): string[] {
  const { created, modified, deleted, renamed } = changes as {
    created: string[];
    modified: string[];
    deleted: string[];
    renamed: [string, string][];
  };
  const found: string[] = [];
  const check = (holds: boolean, fault: string) => void (holds || found.push(fault));
  const left = Object.keys(before).filter((path) => !deleted.includes(path));
  const expected = new Set([...left.map((path) => moved(path, renamed)), ...created, ...modified]);
  for (const path of Object.keys(after)) check(expected.has(path), `${path} is there`);
  for (const path of expected) check(path in after, `${path} is not there`);
  const back = renamed.map(([from, to]): [string, string] => [to, from]);
  const bare = (tree: Tree, path: string) => tree[path]?.replace(/ as .*$/, '');
  for (const path of Object.keys(after)) {
    if (created.includes(path)) continue;
    const origins = [path, moved(path, back)].filter((origin) => bare(before, origin) === bare(after, path));
    const isNew = renamed.some(([, to]) => to === path);
    if (modified.includes(path)) check(origins.length < 2 || isNew, `${path} is as before`);
    else check(origins.length > 0, `${path} has changed`);
  }
  for (const path of deleted) check(path in before, `${path} was not there`);
  return found;
}

/**
 * Runs the commands of seeds, and compares each known receipt with the two trees. With `kept` each run is undone, and
 * the tree is compared with that of before.
 */
export async function compare({ from = 1, to, kept }: { from?: number; to: number; kept: boolean }): Promise<void> {
  for (let seed = from; seed <= to; seed += 1) {
    const site = new Site();
    await site.prepare(TREE);
    const command = commandFrom(randomFrom(seed));
    const before = site.tree();
    const { receipt, runId } = kept
      ? await site.run(command)
      : await bash(command, { cwd: site.cwd, safety: 'off', receipt: 'exact' });
    const after = site.tree();
    const shown = `${seed}: ${command}\n${JSON.stringify(site.changes(receipt))}`;
    expect((receipt as Receipt).attribution, shown).toBe('command');
    if (receipt?.state === 'known') expect(faults(before, after, site.changes(receipt)), shown).toEqual([]);
    if (!kept) continue;
    const undone = await site.undo(runId);
    expect([undone.conflicts, unshared(site.tree())], shown).toEqual([[], unshared(before)]);
  }
}
