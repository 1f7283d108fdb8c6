import { createHash } from 'node:crypto';
import { lstatSync, mkdirSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import {
  type BashOptions,
  type BashResult,
  bash,
  type Receipt,
  type UndoRunOptions,
  undo,
  undoPoints,
} from 'agent-bash';
import { folder, until } from '../support/index.ts';

/** A directory for commands, and a store beside it. */
export class Site {
  readonly cwd: string;
  readonly dir: string;

  constructor(base = folder()) {
    this.cwd = join(base, 'project');
    this.dir = join(base, 'undo');
    mkdirSync(this.cwd);
  }

  path(name: string): string {
    return join(this.cwd, name);
  }

  /** Writes a file, and makes its directories. */
  write(name: string, text: string | Uint8Array = `${name}\n`): string {
    const path = this.path(name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    return path;
  }

  read(name: string): string {
    return readFileSync(this.path(name), 'utf8');
  }

  /** Runs a command that can be undone. `undo` is laid over the options of its undo. */
  run(command: string, { undo: given, ...options }: BashOptions = {}): Promise<BashResult> {
    const more = typeof given === 'object' ? given : {};
    return bash(command, {
      cwd: this.cwd,
      safety: 'off',
      undo: { when: 'always', dir: this.dir, ...more },
      ...options,
    });
  }

  /** Runs a command that must succeed, and that is not recorded. */
  async prepare(command: string): Promise<void> {
    const { exitCode, stderr } = await bash(command, { cwd: this.cwd, safety: 'off', env: GIT });
    if (exitCode !== 0) throw new Error(`${command}: ${stderr}`);
  }

  /** Waits until the directory is watched: the first command in it does so for a moment only. */
  async watched(): Promise<void> {
    const state = async () => (await bash('true', { cwd: this.cwd, receipt: 'watch' })).receipt?.state;
    await until(async () => (await state()) === 'known', `${this.cwd} is watched`);
  }

  undo(runId: string, options: UndoRunOptions = {}) {
    return undo(runId, { dir: this.dir, ...options });
  }

  points() {
    return undoPoints({ dir: this.dir });
  }

  /** Everything below the directory, by path; see `treeOf`. */
  tree(): Record<string, string> {
    return treeOf(this.cwd);
  }

  /** A path of a result, relative to the directory. */
  short(path: string): string {
    return relative(this.cwd, path);
  }

  /** The paths of a receipt, relative to the directory. */
  changes(receipt: Receipt | null) {
    const paths = (list: readonly { path: string }[] = []) => list.map(({ path }) => this.short(path));
    return {
      created: paths(receipt?.created),
      modified: paths(receipt?.modified),
      deleted: paths(receipt?.deleted),
      renamed: (receipt?.renamed ?? []).map(({ from, to }) => [this.short(from), this.short(to)]),
    };
  }
}

/** The author and committer of commits. */
export const GIT = {
  GIT_AUTHOR_NAME: 'Ann',
  GIT_AUTHOR_EMAIL: 'ann@example.com',
  GIT_COMMITTER_NAME: 'Ann',
  GIT_COMMITTER_EMAIL: 'ann@example.com',
  GIT_CONFIG_GLOBAL: '/dev/null',
};

/**
 * Every file below a directory: its kind, its mode, its contents or target, and the first path of a hard-linked file.
 * Times are left out, since an undo does not restore them.
 */
export function treeOf(directory: string): Record<string, string> {
  const tree: Record<string, string> = {};
  const first = new Map<number, string>();
  const visit = (path: string, name: string) => {
    const file = lstatSync(path);
    const { mode, ino } = file;
    const bits = (mode & 0o7777).toString(8);
    if (file.isDirectory()) {
      tree[name] = `directory ${bits}`;
      for (const entry of readdirSync(path).sort()) visit(join(path, entry), join(name, entry));
    } else if (file.isSymbolicLink()) tree[name] = `link ${readlinkSync(path)}`;
    else if (file.isFile()) {
      const hash = createHash('sha256').update(readFileSync(path)).digest('hex').slice(0, 16);
      // The store may have another name of it.
      const other = first.get(ino);
      first.set(ino, other ?? name);
      tree[name] = `file ${bits} ${hash}${other === undefined ? '' : ` as ${other}`}`;
    } else tree[name] = `other ${bits}`;
  };
  visit(directory, '.');
  return tree;
}
