// Ordinary work in a host process: what a command of an agent does on a real project. Times are in milliseconds.
import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expectSuccess, inDraft } from './drafted.mjs';
import { recorded, timed } from './recorded.mjs';

const PROJECT = fileURLToPath(new URL('../..', import.meta.url));
/** Directories of this project, which are the files of an archive and of a repository. */
const SOURCES = ['__test__', 'crates', 'docs', 'ts'];
const NAME = ['-c', 'user.name=bench', '-c', 'user.email=bench@localhost', '-c', 'gc.auto=0'];
const EXPRESS = 'express@4.21.2';
const PYTEST = 'pytest==8.3.4';
const MODULES = 24;
const TESTS = 40;
const TSC = join(PROJECT, 'node_modules/typescript/lib/tsc.js');

const run = (cwd, file, ...args) => execFileSync(file, args, { cwd, stdio: 'pipe', encoding: 'utf8' });
/** Moves what an earlier run has left out of the working directory. After a removal, ext4 is slow for a minute. */
const putAway = (cwd, name) => {
  if (!existsSync(join(cwd, name))) return;
  const old = join(cwd, '../old');
  mkdirSync(old, { recursive: true });
  renameSync(join(cwd, name), join(old, `${name}-${readdirSync(old).length}`));
};
const shell = (cwd, command) => run(cwd, 'bash', '-c', command);
/** The number of files below a directory. */
const filesIn = (cwd, name) => Number(shell(cwd, `find '${name}' -type f | wc -l`));

/**
 * The kinds of work. `prepare` makes everything that the command needs in an empty directory, `reset` what it needs
 * before each run, and `check` returns whether the command had its effect. None of these is part of the time.
 */
const KINDS = {
  'tar x': {
    prepare: (cwd) => run(PROJECT, 'tar', 'cf', join(cwd, 'from.tar'), ...SOURCES),
    reset(cwd) {
      putAway(cwd, 'to');
      mkdirSync(join(cwd, 'to'));
    },
    command: () => 'tar xf from.tar -C to',
    check: (cwd) => SOURCES.every((name) => filesIn(join(cwd, 'to'), name) === filesIn(PROJECT, name)),
  },
  'npm ci': {
    prepare(cwd) {
      writeFileSync(join(cwd, 'package.json'), '{ "name": "work", "version": "1.0.0", "private": true }\n');
      const quiet = ['--ignore-scripts', '--no-audit', '--no-fund', '--omit-lockfile-registry-resolved=false'];
      run(cwd, 'npm', 'install', ...quiet, EXPRESS);
    },
    reset: (cwd) => putAway(cwd, 'node_modules'),
    command: () => 'npm ci --offline --ignore-scripts --no-audit --no-fund',
    check(cwd) {
      const { packages } = JSON.parse(readFileSync(join(cwd, 'package-lock.json'), 'utf8'));
      return Object.keys(packages).every((name) => existsSync(join(cwd, name, 'package.json')));
    },
  },
  'git checkout': {
    prepare(cwd) {
      run(PROJECT, 'cp', '-r', ...SOURCES, cwd);
      const commit = (name) => run(cwd, 'git', ...NAME, 'commit', '-q', '-m', name);
      run(cwd, 'git', 'init', '-q', '-b', 'old');
      run(cwd, 'git', 'add', '-A', '-f');
      commit('old');
      run(cwd, 'git', 'checkout', '-q', '-b', 'new');
      // Every second file changes, and one directory moves.
      shell(cwd, "git ls-files | awk 'NR % 2' | tr '\\n' '\\0' | xargs -0 sed -i '1s/^/new /' && git mv docs pages");
      run(cwd, 'git', 'add', '-A', '-f');
      commit('new');
    },
    reset: (cwd) => run(cwd, 'git', 'checkout', '-q', 'new'),
    command: () => 'git checkout -q old',
    check: (cwd) => existsSync(join(cwd, 'docs')) && run(cwd, 'git', 'status', '--porcelain') === '',
  },
  'cargo build': {
    prepare(cwd) {
      run(cwd, 'cargo', 'init', '-q', '--name', 'work', '--vcs', 'none');
      const modules = Array.from({ length: MODULES }, (_, at) => `m${at}`);
      for (const [at, name] of modules.entries()) {
        const text = `pub fn sum() -> u64 {\n    (0..${at + 1}).map(|n| n * n).sum()\n}\n`;
        writeFileSync(join(cwd, `src/${name}.rs`), text);
      }
      const sums = modules.map((name) => `${name}::sum()`).join(' + ');
      const main = `fn main() {\n    println!("{}", ${sums});\n}\n`;
      writeFileSync(join(cwd, 'src/main.rs'), `${modules.map((name) => `mod ${name};\n`).join('')}${main}`);
    },
    reset: (cwd) => putAway(cwd, 'target'),
    command: () => 'cargo build -q --offline',
    check(cwd) {
      const sum = (count) => (count * (count - 1) * (2 * count - 1)) / 6;
      const sums = Array.from({ length: MODULES }, (_, at) => sum(at + 1));
      return Number(run(cwd, './target/debug/work')) === sums.reduce((all, one) => all + one);
    },
  },
  tsc: {
    prepare(cwd) {
      const text = (at) =>
        `export interface I${at} { n: number }\nexport const f${at} = ({ n }: I${at}) => n + ${at};\n`;
      mkdirSync(join(cwd, 'src'));
      for (let at = 0; at < 4 * MODULES; at++) writeFileSync(join(cwd, `src/m${at}.ts`), text(at));
      writeFileSync(
        join(cwd, 'tsconfig.json'),
        '{ "compilerOptions": { "outDir": "out", "types": [] }, "include": ["src"] }',
      );
    },
    reset: (cwd) => putAway(cwd, 'out'),
    command: () => `'${process.execPath}' '${TSC}' -p .`,
    check: (cwd) => filesIn(cwd, 'out') === 4 * MODULES,
  },
  'rm -rf node_modules': {
    prepare: (cwd) => run(PROJECT, 'tar', 'cf', join(cwd, 'from.tar'), ...SOURCES),
    reset(cwd) {
      putAway(cwd, 'node_modules');
      mkdirSync(join(cwd, 'node_modules'));
      run(cwd, 'tar', 'xf', 'from.tar', '-C', 'node_modules');
    },
    command: () => 'rm -rf node_modules',
    check: (cwd) => !existsSync(join(cwd, 'node_modules')),
  },
  pytest: {
    prepare(cwd) {
      run(cwd, 'python3', '-m', 'venv', 'venv');
      run(cwd, join(cwd, 'venv/bin/pip'), 'install', '-q', '--disable-pip-version-check', PYTEST);
      mkdirSync(join(cwd, 'tests'));
      const text = (at) => `import json


def test_${at}(tmp_path):
    path = tmp_path / "values.json"
    path.write_text(json.dumps([${at}]))
    assert json.loads(path.read_text()) == [${at}]
`;
      for (let at = 0; at < TESTS; at++) writeFileSync(join(cwd, `tests/test_${at}.py`), text(at));
    },
    reset: (cwd) => rmSync(join(cwd, 'report.xml'), { force: true }),
    command: () => 'venv/bin/python -B -m pytest -q -p no:cacheprovider --junitxml=report.xml tests',
    check: (cwd) => new RegExp(` failures="0" .*tests="${TESTS}"`).test(readFileSync(join(cwd, 'report.xml'), 'utf8')),
  },
};

const WAYS = { plain: 'off', confine: 'confined', undo: 'undo', both: 'confined, undo', draft: 'draft' };

/** Runs a command in a way. Returns the time, which is without the commit of a draft. */
const runIn = (way, command, cwd) => (way === 'draft' ? inDraft(command, cwd) : recorded(WAYS[way], command, cwd));

export const KINDS_OF_WORK = Object.keys(KINDS);
export const WAYS_OF_WORK = Object.keys(WAYS);

/** Makes a directory below `folder` in which work of this kind can be done, and returns it. */
async function prepareWork(kind, folder) {
  const place = realpathSync(mkdtempSync(join(folder, 'agent-bash-work-')));
  try {
    const cwd = join(place, 'work');
    mkdirSync(cwd);
    KINDS[kind].prepare(cwd);
    return place;
  } catch (error) {
    rmSync(place, { recursive: true });
    throw error;
  }
}

/** Does the work in each of these ways, one after another, after a first command in each. Returns the times. */
async function workOnce(ways, kind, place) {
  const cwd = join(place, 'work');
  const { reset, command, check } = KINDS[kind];
  for (const way of ways) await runIn(way, 'true', cwd);
  const times = [];
  for (const way of ways) {
    reset(cwd);
    const [time] = await runIn(way, command(), cwd);
    if (!check(cwd)) throw new Error(`${kind}, ${way}: not done`);
    times.push(time);
  }
  return times;
}

/** Makes a second copy of a project with an installed package, as a work tree and as a draft. Returns times. */
async function copyOnce(folder) {
  const place = await prepareWork('npm ci', folder);
  const [root, dir] = [join(place, 'work'), join(place, 'drafts')];
  try {
    shell(root, 'echo node_modules >.gitignore; git init -q; git add -A');
    run(root, 'git', ...NAME, 'commit', '-q', '-m', 'project');
    const works = `node -e "require('express')"`;
    const install = `git worktree add -q ../tree && cd ../tree && ${KINDS['npm ci'].command()} >out && ${works}`;
    const [worktree] = await timed(() => expectSuccess(install, { cwd: root }));
    const { openDraft } = await import('agent-bash');
    const [opened, draft] = await timed(async () => {
      const draft = await openDraft({ root, dir });
      await expectSuccess(works, { draft });
      return draft;
    });
    await draft.discard();
    return { worktree, opened };
  } finally {
    rmSync(place, { recursive: true });
  }
}

export const work = { prepareWork, workOnce, copyOnce };
