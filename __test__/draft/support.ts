import { execFileSync } from 'node:child_process';
import { lstatSync, mkdirSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { type Draft, type DraftOptions, drafts, openDraft } from 'agent-bash';
import { withoutNamespaces } from '../confine/support/held.ts';
import { finished, folder, linuxTest, skippedWithout, stateFolder } from '../support/index.ts';

/** A test of commands in a draft. */
export const draftTest = withoutNamespaces ? skippedWithout('a user namespace with overlays') : linuxTest;

/** A project with a repository, and a home of its own for drafts and undo points. */
export interface Project {
  root: string;
  /** The directory of all drafts. */
  dir: string;
  /** Opens a draft, which is closed after the test. */
  open(options?: DraftOptions): Promise<Draft>;
  /** Runs a script outside of drafts, as a person would. */
  edit(script: string): void;
  /** All that is in the project, with its metadata but times of access. */
  tree(): Record<string, string>;
}

const FILES = 'echo a >a; mkdir -p src/deep node_modules/pkg; echo one >src/one; echo two >src/deep/two; ln -s a link';

export function project(state = stateFolder()): Project {
  process.env.XDG_STATE_HOME = state;
  const root = join(folder(), 'project');
  mkdirSync(root);
  const edit = (script: string) => void execFileSync('bash', ['-ec', script], { cwd: root });
  edit(`${FILES}; echo 1 >node_modules/pkg/index; git init -q -b main .; echo node_modules >.gitignore; git add .
    git -c user.name=t -c user.email=t@t commit -qm first`);
  const open = async (options: DraftOptions = {}) => {
    const draft = await openDraft({ root, ...options });
    finished(() => draft.close());
    return draft;
  };
  const dir = join(state, 'agent-bash', 'drafts');
  // On NFS a file that a world has seen keeps its directory from being removed.
  finished(() => discardAll(root, dir));
  return { root, dir, open, edit, tree: () => treeOf(root) };
}

/** Discards what a test has left, as far as it can be read. */
async function discardAll(root: string, dir: string): Promise<void> {
  const left = await drafts({ root, dir }).catch(() => []);
  await Promise.allSettled(left.map(async ({ id }) => (await openDraft({ id, dir })).discard()));
}

/** All that is in a directory, with its metadata but times of access. */
export function treeOf(directory: string, path = ''): Record<string, string> {
  const found: Record<string, string> = {};
  for (const name of readdirSync(join(directory, path))) {
    const below = join(path, name);
    const at = join(directory, below);
    const { mode, ino, mtimeMs, ctimeMs, nlink } = lstatSync(at);
    const text = mode & 0o040000 ? '' : (mode & 0o170000) === 0o120000 ? readlinkSync(at) : readFileSync(at, 'latin1');
    found[below] = `${mode.toString(8)} ${ino} ${mtimeMs} ${ctimeMs} ${nlink} ${text}`;
    if ((mode & 0o170000) === 0o040000) Object.assign(found, treeOf(directory, below));
  }
  return found;
}
