/** Whether something built is still the one of its inputs: by content, so that a checkout or a touched file builds nothing again. */
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { root } from './process.mjs';

/** Where the set-up keeps what it knows; below `target`, which git ignores. */
export const state = join(root, 'target', 'setup');

/** All files at or below a path of the clone, sorted; none when it does not exist. */
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

/** The outputs as they lie there, or null when one is missing. */
function look(outputs) {
  const seen = {};
  for (const file of outputs) {
    const stat = statSync(join(root, file), { throwIfNoEntry: false });
    if (!stat) return null;
    seen[file] = `${stat.size} ${stat.mtimeMs}`;
  }
  return seen;
}

/** What one step of the set-up reads and writes, as paths in the clone. */
export class Stamp {
  constructor(name, inputs, outputs) {
    this.file = join(state, `${name}.json`);
    this.inputs = inputs;
    this.outputs = outputs;
  }

  /** Whether the outputs were made from the inputs as they are now, and nothing has touched them since. */
  fresh() {
    const outputs = look(this.outputs);
    if (!outputs) return false;
    try {
      const kept = JSON.parse(readFileSync(this.file, 'utf8'));
      return kept.inputs === digest(this.inputs) && JSON.stringify(kept.outputs) === JSON.stringify(outputs);
    } catch {
      return false;
    }
  }

  /** Runs `act`, which makes the outputs; the stamp is there only after it went well. */
  async around(act) {
    // Before: what is edited meanwhile may or may not be in the outputs.
    const inputs = digest(this.inputs);
    rmSync(this.file, { force: true });
    await act();
    const outputs = look(this.outputs);
    if (!outputs) throw new Error(`the build went well, but one of these is missing: ${this.outputs.join(', ')}`);
    mkdirSync(dirname(this.file), { recursive: true });
    writeFileSync(this.file, JSON.stringify({ inputs, outputs }));
  }
}
