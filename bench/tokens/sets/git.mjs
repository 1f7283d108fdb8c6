// Reads files of the newest commit of a git directory, which needs no work tree.
import { execFileSync } from 'node:child_process';

const LARGEST = 1 << 30;

/** Opens a git directory. `read` returns the text of a file, `files` the paths that a pattern matches. */
export function openRepository(directory) {
  const git = (...args) =>
    execFileSync('git', ['--git-dir', directory, ...args], { encoding: 'utf8', maxBuffer: LARGEST });
  return {
    commit: git('rev-parse', 'HEAD').trim(),
    files: (pattern) =>
      git('ls-tree', '-r', '-z', '--name-only', 'HEAD')
        .split('\0')
        .filter((path) => pattern.test(path)),
    read: (path) => git('show', `HEAD:${path}`),
  };
}
