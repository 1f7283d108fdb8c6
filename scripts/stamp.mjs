/** Records which inputs an output was built from, by content: a checkout or a touched file causes no rebuild. */
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { root } from './process.mjs';

/** The directory of the set-up's own files, below `target`, which git ignores. */
export const state = join(root, 'target', 'setup');

/** All files at or below a path of the clone, sorted. Empty if the path does not exist. */
function filesAt(path) {
  const stat = statSync(join(root, path), { throwIfNoEntry: false });
  if (!stat) return [];
  if (!stat.isDirectory()) return [path];
  return readdirSync(join(root, path))
    .sort()
    .flatMap((name) => filesAt(join(path, name)));
}

function digest(inputs) {
  const hash = createHash('sha256').update(`${process.platform} ${process.arch}\0`);
  for (const file of inputs.flatMap(filesAt)) {
    const content = readFileSync(join(root, file));
    hash.update(`${file}\0${content.length}\0`).update(content);
  }
  return hash.digest('hex');
}

/** Size and modification time of each output, or null if an output is missing. */
function scan(outputs) {
  const seen = {};
  for (const file of outputs) {
    const stat = statSync(join(root, file), { throwIfNoEntry: false });
    if (!stat) return null;
    seen[file] = `${stat.size} ${stat.mtimeMs}`;
  }
  return seen;
}

/** The inputs and outputs of one step of the set-up, as paths in the clone. */
export class Stamp {
  constructor(name, inputs, outputs) {
    this.file = join(state, `${name}.json`);
    this.inputs = inputs;
    this.outputs = outputs;
  }

  /**
   * Whether the outputs were built from the present inputs and are unchanged since.
   *
   * With `full`, only a full build counts. Without it a quick build counts, too, so a full build is never replaced by a
   * quick one.
   */
  fresh({ full = false } = {}) {
    const outputs = scan(this.outputs);
    if (!outputs) return false;
    try {
      const kept = JSON.parse(readFileSync(this.file, 'utf8'));
      if (full && !kept.full) return false;
      return kept.inputs === digest(this.inputs) && JSON.stringify(kept.outputs) === JSON.stringify(outputs);
    } catch {
      return false;
    }
  }

  /** Runs `act`, which builds the outputs, and writes the stamp after `act` succeeded. */
  async around(act, { full = false } = {}) {
    // The digest is taken before the build: an edit during the build may be missing from the outputs.
    const inputs = digest(this.inputs);
    rmSync(this.file, { force: true });
    await act();
    const outputs = scan(this.outputs);
    if (!outputs) throw new Error(`the build succeeded, but one of these is missing: ${this.outputs.join(', ')}`);
    mkdirSync(dirname(this.file), { recursive: true });
    writeFileSync(this.file, JSON.stringify({ inputs, outputs, full }));
  }
}
