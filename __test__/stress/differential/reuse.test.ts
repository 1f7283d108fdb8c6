import { execFileSync } from 'node:child_process';
import { mkdirSync, realpathSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type BashOptions, bash } from 'agent-bash';
import { expect, test } from 'vitest';
import { folder, isLinux } from '../../support/index.ts';
import { Random } from './generator/random.ts';

/** The number of trees, and of steps in each. */
const [TREES, STEPS] = [Number(process.env.AGENT_BASH_REUSE_TREES ?? 8), 60];

const NAMES = ['a', 'b', 'src/a', 'src/b', 'cache/a', 'new'];

const COMMANDS = [
  'cat a b src/a',
  'ls -lR --time-style=+%s',
  'grep -rn 1 . | sort',
  'wc -c src/* | tail -1',
  'cat cache/* 2>&1',
  'find . -type f -perm -100 | sort',
  'ls missing; cat new',
  'pwd; printf "%s" "$OTHER"',
  'git -c core.fsmonitor=false --no-pager log --format=%s',
  'git -c core.fsmonitor=false --no-pager branch --list',
  'check | head -n 3',
  'check 2>&1',
  'check 2>&1 | tail -n 2',
  'cd src && check 2>&1 | sort',
  'cd src && check |& head -n 2',
  'check 2>&1 | grep -c x; true',
];

/** A change of a tree. */
type Change = (root: string, random: Random, step: number) => void;

const git = (root: string, ...args: string[]) =>
  execFileSync('git', ['-c', 'user.name=nobody', '-c', 'user.email=nobody@localhost', ...args], {
    cwd: root,
    stdio: 'ignore',
  });

/** Changes that may also fail, and change nothing then. */
const CHANGES: Change[] = [
  (root, random, step) => writeFileSync(join(root, random.pick(NAMES)), `${step}\n`),
  (root, random) => writeFileSync(join(root, random.pick(NAMES)), '1\n'),
  (root, random) => rmSync(join(root, random.pick(NAMES))),
  (root, random) => renameSync(join(root, random.pick(NAMES)), join(root, random.pick(NAMES))),
  (root, random, step) => utimesSync(join(root, random.pick(NAMES)), step, step),
  (root, random) =>
    execFileSync('chmod', [random.pick(['u+x', 'u-x']), join(root, random.pick(NAMES))], { stdio: 'ignore' }),
  (root, _, step) => git(root, 'commit', '-qam', `step ${step}`),
  (root, random) => git(root, 'checkout', '-qf', random.pick(['main', 'other'])),
  (root, _, step) => git(root, 'branch', `at-${step}`),
  (root) => git(root, 'reset', '-q', '--hard'),
];

test.runIf(isLinux)(
  'a result that is given again is what the command would have written',
  async () => {
    const given = { again: 0, filtered: 0, ran: 0 };
    for (let tree = 0; tree < TREES; tree++) {
      const random = new Random(tree + 1);
      const [root, outside] = [realpathSync(folder()), realpathSync(folder())];
      writeFileSync(join(outside, 'check'), '#!/bin/sh\ncat a b src/a 2>&1; echo warning >&2; ls -l src; exit 1\n', {
        mode: 0o755,
      });
      for (const name of ['src', 'cache']) mkdirSync(join(root, name));
      for (const name of NAMES) writeFileSync(join(root, name), '1\n');
      writeFileSync(join(root, '.gitignore'), '/cache/\n');
      git(root, 'init', '-q', '-b', 'main');
      git(root, 'add', '.');
      git(root, 'commit', '-qm', 'one');
      git(root, 'branch', 'other');
      for (let step = 0; step < STEPS; step++) {
        if (random.chance(1 / 6)) {
          try {
            random.pick(CHANGES)(root, random, step);
          } catch {
            // Nothing to change.
          }
        }
        const command = random.pick(COMMANDS);
        const cwd = random.chance(1 / 8) ? join(root, 'src') : root;
        const env = { PATH: `${outside}:${process.env.PATH}`, OTHER: random.chance(1 / 8) ? 'x' : null };
        const options: BashOptions = { cwd, env, merge: random.chance(1 / 8) };
        const reuse = { commands: ['check:*'] };
        const [found, expected] = [
          await bash(command, { ...options, reuse, taps: 'on' }),
          await bash(command, options),
        ];
        // In one pipe the streams of two programs come in any order.
        const lines = (text: string) => (options.merge ? text.split('\n').sort() : text);
        const told = ({ stdout, stderr, exitCode }: typeof found) => ({
          step: [tree, step, command],
          stdout: lines(stdout),
          stderr,
          exitCode,
        });
        expect(told(found)).toEqual(told(expected));
        given[found.reused === null ? 'ran' : found.reused.filtered ? 'filtered' : 'again'] += 1;
      }
    }
    console.log(given);
    // All must happen, or nothing was tested.
    expect(given.again).toBeGreaterThan(TREES);
    expect(given.filtered).toBeGreaterThan(TREES / 4);
    expect(given.ran).toBeGreaterThan(TREES);
  },
  300_000,
);
