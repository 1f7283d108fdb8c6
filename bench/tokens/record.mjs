// node bench/tokens/record.mjs: records outputs of the tools of this machine into bench/tokens/recorded.
//
// The commands run in this clone and in a project of their own below the temporary directory. The names of the
// machine, of the user and of the directories are replaced.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, hostname, tmpdir, userInfo } from 'node:os';
import { join, resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '../..');
const RECORDED = join(import.meta.dirname, 'recorded');
/** Longest output that is recorded, bytes. */
const LONGEST = 60_000;

/** A small project with a failing test, a type error and a syntax error. */
const FILES = {
  'package.json': '{ "name": "sample", "version": "1.0.0", "private": true, "type": "module" }\n',
  'sum.mjs': 'export const sum = (a, b) => a - b;\n',
  'sum.test.mjs': [
    "import { test } from 'node:test';",
    "import { equal } from 'node:assert';",
    "import { sum } from './sum.mjs';",
    "for (let n = 0; n < 40; n++) test('sum of ' + n + ' and 0', () => equal(sum(n, 0), n));",
    "test('sum of 1 and 2', () => equal(sum(1, 2), 3));\n",
  ].join('\n'),
  'wrong.ts': 'const a: number = "text";\nexport function f(x: string): number { return x; }\n',
  'Cargo.toml': '[package]\nname = "sample"\nversion = "0.1.0"\nedition = "2024"\n[workspace]\n',
  'src/lib.rs': [
    'pub fn sum(a: i32, b: i32) -> i32 { a - b }',
    '#[cfg(test)] mod tests { use super::*;',
    ...Array.from({ length: 30 }, (_, n) => `#[test] fn adds_${n}_and_0() { assert_eq!(sum(${n}, 0), ${n}); }`),
    '#[test] fn adds_1_and_2() { assert_eq!(sum(1, 2), 3); } }\n',
  ].join('\n'),
  'broken/Cargo.toml': '[package]\nname = "broken"\nversion = "0.1.0"\nedition = "2024"\n[workspace]\n',
  'broken/src/main.rs': 'fn main() { let x: u32 = "text"; println!("{}", y); }\n',
  Makefile: 'all: a.o b.o\n%.o: %.c\n\tcc -Wall -c $< -o $@\n',
  'a.c': 'int main(void) { int unused; return 0; }\n',
  'b.c': 'int f(void) { return undeclared; }\n',
};

/** The commands, by the names of their files. `in`: the clone or the project. */
const COMMANDS = {
  'cargo-test-fails': { in: 'project', command: 'cargo test --offline' },
  'cargo-build-fails': { in: 'project', command: 'cd broken && cargo build --offline' },
  'cargo-tree': { in: 'clone', command: 'cargo tree --offline --depth 2' },
  'cargo-metadata': { in: 'project', command: 'cargo metadata --offline --no-deps --format-version 1' },
  'node-test-fails': { in: 'project', command: 'node --test' },
  'node-throws': { in: 'project', command: 'node -e "throw new TypeError(\'no such thing\')"' },
  'node-missing-module': { in: 'project', command: 'node missing.mjs' },
  'tsc-fails': { in: 'project', command: `${ROOT}/node_modules/.bin/tsc --noEmit --strict wrong.ts` },
  'vitest-passes': { in: 'clone', command: 'npx vitest run --project=first __test__/render --reporter=verbose' },
  'biome-help': { in: 'clone', command: 'npx biome check --help' },
  'npm-missing-script': { in: 'project', command: 'npm run deploy' },
  'npm-help': { in: 'project', command: 'npm help install | head -100' },
  'git-log': { in: 'clone', command: 'git log --oneline -60' },
  'git-log-stat': { in: 'clone', command: 'git log --stat -5' },
  'git-show': { in: 'clone', command: 'git show HEAD~20' },
  'git-diff-stat': { in: 'clone', command: 'git diff --stat HEAD~30 HEAD' },
  'git-status': { in: 'clone', command: 'git status' },
  'git-not-a-repository': { in: 'project', command: 'git -C / status' },
  'git-ls-files': { in: 'clone', command: 'git ls-files src' },
  'grep-lines': { in: 'clone', command: 'grep -rn "fn new" src --include=*.rs' },
  'grep-errors': { in: 'clone', command: 'grep -rn "Error::" src/undo src/plan | head -60' },
  'grep-missing-file': { in: 'project', command: 'grep -n x missing.txt' },
  'find-files': { in: 'clone', command: 'find src ts -name "*.ts" -o -name "*.rs" | sort' },
  'ls-long': { in: 'clone', command: 'ls -la src/safety src/capture' },
  'ls-recursive': { in: 'clone', command: 'ls -R ts' },
  'du-directories': { in: 'clone', command: 'du -a src/napi' },
  'wc-lines': { in: 'clone', command: 'wc -l src/*/*.rs' },
  'cat-file': { in: 'clone', command: 'cat src/pattern.rs' },
  'sed-lines': { in: 'clone', command: "sed -n '1,80p' ts/index.ts" },
  'make-fails': { in: 'project', command: 'make -k' },
  'pip-list': { in: 'project', command: 'pip list' },
  'pip-missing': { in: 'project', command: 'pip install --no-index no-such-package' },
  'python-traceback': { in: 'project', command: 'python3 -c "import json; json.loads(\'{\')"' },
  'python-unittest': { in: 'project', command: 'python3 -m unittest -v json.no_such_module' },
  'apt-simulates': { in: 'project', command: 'apt-get install --simulate --no-install-recommends emacs-nox' },
  'apt-missing': { in: 'project', command: 'apt-get install --simulate no-such-package' },
  'dpkg-list': { in: 'project', command: 'dpkg -l | head -80' },
  'curl-refused': { in: 'project', command: 'curl -sv http://127.0.0.1:9/' },
  'tar-lists': { in: 'clone', command: 'tar cvf /dev/null docs | sort' },
  'seq-repeats': { in: 'project', command: 'for i in $(seq 200); do echo "waiting for the server"; done' },
  'missing-command': { in: 'project', command: 'no-such-command --help' },
};

function makeProject() {
  const directory = mkdtempSync(join(tmpdir(), 'sample-'));
  for (const [path, text] of Object.entries(FILES)) {
    mkdirSync(join(directory, path, '..'), { recursive: true });
    writeFileSync(join(directory, path), text);
  }
  return directory;
}

/** Replaces what names this machine. */
function anonymous(text, project) {
  const own = [
    [project, '/srv/sample'],
    [ROOT, '/srv/project'],
    [homedir(), '/home/user'],
    [hostname(), 'machine'],
  ];
  const plain = own.reduce(
    (replaced, [from, to]) => (from.length > 1 ? replaced.replaceAll(from, to) : replaced),
    text,
  );
  return plain
    .replace(/^Author: .*$/gm, 'Author: Ann Example <ann@example.com>')
    .replaceAll(` ${userInfo().username} `, ' user ');
}

const clip = (text) => (text.length <= LONGEST ? text : text.slice(0, text.lastIndexOf('\n', LONGEST) + 1));

const wanted = process.argv.slice(2);
const project = makeProject();
mkdirSync(RECORDED, { recursive: true });
try {
  for (const [name, { in: place, command }] of Object.entries(COMMANDS)) {
    if (wanted.length > 0 && !wanted.includes(name)) continue;
    const run = spawnSync('bash', ['-c', command], {
      cwd: place === 'clone' ? ROOT : project,
      encoding: 'utf8',
      maxBuffer: 1 << 28,
      timeout: 300_000,
      env: {
        ...process.env,
        NO_COLOR: '1',
        FORCE_COLOR: '0',
        PAGER: 'cat',
        GIT_PAGER: 'cat',
        CARGO_TERM_COLOR: 'never',
      },
    });
    // biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences begin with one
    const text = (stream) => clip(anonymous(stream.replace(/\x1b\[[0-9;?]*[A-Za-z]/g, ''), project));
    const record = {
      command: anonymous(command, project),
      exitCode: run.status,
      stdout: text(run.stdout),
      stderr: text(run.stderr),
    };
    writeFileSync(join(RECORDED, `${name}.json`), `${JSON.stringify(record, null, 2)}\n`);
    console.log(`${name}: exit code ${run.status}, ${run.stdout.length} + ${run.stderr.length} characters`);
  }
} finally {
  rmSync(project, { recursive: true, force: true });
}
