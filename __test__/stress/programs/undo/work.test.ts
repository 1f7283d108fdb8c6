import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'vitest';
import { folder, linuxTest, reaching } from '../../../support/index.ts';
import { GIT, Site } from '../../../undo/support.ts';

/** A project as people have them: tracked, untracked and ignored files, a build and a lock. */
async function project(): Promise<Site> {
  const site = new Site();
  for (let index = 0; index < 40; index++) site.write(`src/m${index % 4}/f${index}.ts`, `export const a = ${index};\n`);
  site.write('package.json', '{"name":"p","version":"1.0.0","private":true}\n');
  site.write('package-lock.json', '{"name":"p","version":"1.0.0","lockfileVersion":3,"packages":{}}\n');
  site.write('.gitignore', 'dist\n.env\n');
  site.write('Makefile', 'all:\n\tmkdir -p dist/a; echo 1 > dist/a/x; echo 2 > src/generated.ts; false\n');
  await site.prepare('git init -qb main; git add .; git commit -qm one');
  site.write('.env', 'KEY=1\n');
  site.write('dist/old.js');
  site.write('notes.md', 'not tracked\n');
  site.write('src/m0/f0.ts', 'edited and not committed\n');
  return site;
}

const WORK: [title: string, command: string][] = [
  ['rm -rf src', 'rm -rf src'],
  ['git clean -fdx', 'git clean -fdxq'],
  ['git reset --hard', 'git reset -q --hard'],
  ['git checkout .', 'git checkout -q .'],
  ['a botched sed over a tree', "find src -name '*.ts' -exec sed -i 's/a/aa/; s/export//' {} +"],
  ['a lock that is rewritten', 'npm pkg set version=2.0.0 && npm install --offline --silent --no-audit --no-fund'],
  ['directories that are moved into each other', 'mv src/m1 src/m0/in; mv src/m2 src/m1; mv src lib'],
  ['a failing build that litters', 'make -s'],
  ['a formatter that writes every file anew', 'for f in src/*/*.ts; do tr a-z A-Z < $f > $f.tmp; mv $f.tmp $f; done'],
  ['a commit on a new branch', 'git switch -qc topic && git add notes.md && git commit -qm two'],
  ['a rebase', 'git commit -qam two && git rebase -q --onto HEAD~1 HEAD~1 HEAD && git switch -q --detach'],
  ['modes of a whole tree', 'chmod -R go-rwx . && chmod +x src/*/*.ts'],
];

linuxTest.each(WORK)('%s: undone byte for byte', async (_, command) => {
  const site = await project();
  const before = site.tree();
  const { runId, receipt, undo } = await site.run(command, {
    env: { ...GIT, npm_config_cache: join(site.dir, '..', 'npm') },
    mode: 'slow',
  });
  expect(receipt?.state).toBe('known');
  expect(undo?.covers).toBe('all');
  const after = site.tree();
  expect(after).not.toEqual(before);
  const { conflicts } = await site.undo(runId, { paths: [site.cwd] });
  expect(conflicts).toEqual([]);
  const objects = ([path]: [string, string]) => !path.startsWith('.git/objects');
  const plain = (tree: Record<string, string>) => Object.fromEntries(Object.entries(tree).filter(objects));
  // Objects that the command added to the repository may stay, unreachable.
  expect(plain(site.tree())).toEqual(plain(before));
});

linuxTest('a formatter over 5,000 files: undone byte for byte, and the user’s edits between stay', async () => {
  const site = new Site();
  const count = 5_000;
  for (let index = 0; index < count; index++) site.write(`src/m${index % 50}/f${index}.ts`, `const a = ${index}\n`);
  await site.prepare('git init -qb main; git add .; git commit -qm one');
  const before = site.tree();
  const formatter = join(folder(), 'format.mjs');
  writeFileSync(
    formatter,
    `import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
    for (const entry of readdirSync('src', { recursive: true, withFileTypes: true })) {
      const path = entry.parentPath + '/' + entry.name;
      if (entry.isFile()) writeFileSync(path, readFileSync(path, 'utf8').replace(/$/m, ';'));
    }`,
  );
  const { runId, receipt, undo } = await site.run(`node ${formatter}`, {
    mode: 'slow',
    ...reaching(dirname(formatter)),
  });
  expect([receipt?.state, receipt?.counts.modified, undo?.covers]).toEqual(['known', count, 'all']);
  site.write('src/m7/f7.ts', 'mine\n');
  const { conflicts, restored } = await site.undo(runId);
  expect(conflicts.map(({ path }) => site.short(path))).toEqual(['src/m7/f7.ts']);
  expect(restored).toHaveLength(count - 1);
  const mine = { 'src/m7/f7.ts': site.tree()['src/m7/f7.ts'] };
  expect(site.tree()).toEqual({ ...before, ...mine });
});

linuxTest.each(WORK.slice(0, 5))('%s: with a user who edits files in between', async (_, command) => {
  const site = await project();
  const { runId } = await site.run(command, { env: GIT });
  site.write('src/m3/f3.ts', 'mine\n');
  site.write('new.txt', 'mine\n');
  const { conflicts } = await site.undo(runId);
  expect([site.read('src/m3/f3.ts'), site.read('new.txt')]).toEqual(['mine\n', 'mine\n']);
  for (const { path } of conflicts) expect(site.short(path)).toMatch(/^(src\/m3(\/f3\.ts)?|src)$/);
  expect(site.read('src/m0/f0.ts')).toBe('edited and not committed\n');
  expect(site.read('notes.md')).toBe('not tracked\n');
  expect(site.read('.env')).toBe('KEY=1\n');
});
