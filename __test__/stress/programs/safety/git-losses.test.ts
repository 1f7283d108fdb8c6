import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { analyze } from 'agent-bash';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { noMisses, told } from '../../../safety/support.ts';
import { folder } from '../../../support/index.ts';

const commands = readFileSync(fileURLToPath(new URL('../../../safety/git-losses.txt', import.meta.url)), 'utf8')
  .trimEnd()
  .split('\n');

/** These commands move a branch, which the policy leaves to the model: no word of them means deletion. */
const moves = /^git (checkout -B|switch (-C|--force-create)|branch (-f|--force|-M|-C) \S|update-ref refs\/)/;
/** A name that may be a branch or a directory. */
const either = /^git checkout src$/;
/** A ref that is named on standard input, or a work tree without changes, of which git takes care itself. */
const elsewhere = /update-ref --stdin|^git worktree remove \.\.\/clean$/;

describe('what git loses, in a repository with work of all kinds', () => {
  let base: string;
  beforeAll(() => {
    base = folder(afterAll);
    mkdirSync(join(base, 'first'));
    const made = bash(setup, join(base, 'first'));
    expect(made.status, made.stderr).toBe(0);
  });

  const bash = (script: string, cwd: string) =>
    spawnSync('bash', ['-c', script], {
      cwd,
      encoding: 'utf8',
      input: '',
      timeout: 30_000,
      env: {
        PATH: process.env.PATH,
        HOME: base,
        GIT_CONFIG_NOSYSTEM: '1',
        GIT_EDITOR: 'true',
        GIT_AUTHOR_NAME: 'a',
        GIT_AUTHOR_EMAIL: 'a@b',
        GIT_COMMITTER_NAME: 'a',
        GIT_COMMITTER_EMAIL: 'a@b',
      },
    });

  /**
   * Changed, staged, untracked, ignored and stashed work, a branch of its own, a dirty work tree, and a remote that has
   * advanced.
   */
  const setup = `set -e
    git init -q -b main w; git init -q --bare -b main r.git; git -C r.git config receive.denyDeleteCurrent ignore; cd w
    mkdir src; echo 1 > a.ts; echo 1 > src/b.ts; echo ignored > .gitignore; git add a.ts src .gitignore; git commit -qm one
    git branch old; git tag v1; git remote add origin ../r.git; git push -q origin main old v1
    git checkout -q -b other; echo o > o.ts; git add o.ts; git commit -qm other; git checkout -q main; git branch merged
    git clone -q ../r.git ../c; (cd ../c; echo r > remote.ts; git add remote.ts; git commit -qm remote; git push -q origin main)
    git commit -q --allow-empty -m local
    echo stash > a.ts; git stash -q
    echo changed > a.ts; echo changed > src/b.ts; echo s > staged.ts; git add staged.ts; echo u > u.ts; echo u > src/u.ts; echo i > ignored`;

  /** The work at risk. A missing or changed key afterwards is a loss. */
  function work(root: string): Record<string, string> {
    const has = (file: string, text = '') =>
      existsSync(join(root, file)) && readFileSync(join(root, file), 'utf8').includes(text);
    const files: [string, string?][] = [
      ['w/a.ts', 'changed'],
      ['w/src/b.ts', 'changed'],
      ['w/staged.ts'],
      ['w/u.ts'],
      ['w/src/u.ts'],
      ['w/ignored'],
      ['wt/dirty.ts'],
      ['clean/a.ts'],
    ];
    const found = files.filter(([file, text]) => has(file, text)).map(([file]) => [file, 'there']);
    const { stdout } = bash(
      `for r in other old stash@{0}; do echo "$r $(git rev-parse -q --verify "$r")"; done
       for r in old v1; do echo "remote-$r $(git -C ../r.git rev-parse -q --verify "$r")"; done
       tip=$(git -C ../c rev-parse main); git -C ../r.git merge-base --is-ancestor "$tip" main 2>/dev/null && echo "remote-main whole"
       [ -s .git/logs/HEAD ] && echo "reflog there"`,
      join(root, 'w'),
    );
    return Object.fromEntries([
      ...found,
      ...stdout
        .trimEnd()
        .split('\n')
        .map((line) => line.split(' ')),
    ]);
  }

  function fresh(name: string): string {
    const root = join(base, name);
    cpSync(join(base, 'first'), root, { recursive: true });
    // Work trees know where they are.
    bash('git worktree add -q ../wt old; echo d > ../wt/dirty.ts; git worktree add -q ../clean v1', join(root, 'w'));
    return root;
  }

  const parts = 6;

  test.each(Array.from({ length: parts }, (_, n) => n))('is stopped: denied or asked about (part %d)', (part) => {
    let losses = 0;
    const misses = commands.flatMap((command, at) => {
      if (at % parts !== part) return [];
      const root = fresh(String(at));
      const before = work(root);
      expect(Object.values(before).filter((value) => value).length).toBe(15);
      const cwd = join(root, 'w');
      bash(command, cwd);
      const after = work(root);
      const lost = Object.keys(before).filter((key) => before[key] !== after[key]);
      if (lost.length === 0) return [];
      losses++;
      const analysis = analyze(command, { cwd, home: base, env: { HOME: base } });
      const stopped = analysis.verdict === 'ask' || analysis.verdict === 'deny';
      const left = moves.test(command) || either.test(command) || elsewhere.test(command);
      return stopped || left ? [] : [`${command}: ${told(analysis)}, and lost ${lost.join(' ')}`];
    });
    expect(losses).toBeGreaterThan(10);
    noMisses(misses);
  });
});
