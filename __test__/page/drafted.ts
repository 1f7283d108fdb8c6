import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bash, type Draft, type DraftOptions, openDraft } from 'agent-bash';
import { finished, folder } from '../support/index.ts';
import type { Pages } from './support.ts';

/** The files of the project before any draft. */
const FILES = { 'a.txt': 'one\ntwo\nthree\n', 'src/b.ts': 'export const b = 1;\n', 'src/old.ts': 'old\n' };

/** A project, and drafts of it that pages show. */
export class DraftedProject {
  readonly root = join(folder(), 'shop');
  readonly #dir: string;

  constructor({ state }: Pages) {
    this.#dir = join(state, 'agent-bash', 'drafts');
    mkdirSync(join(this.root, 'src'), { recursive: true });
    for (const [path, text] of Object.entries(FILES)) this.write(path, text);
  }

  /** Returns the absolute path of a file. */
  at(path: string): string {
    return join(this.root, path);
  }

  /** Writes a file outside of drafts, as a person would. */
  write(path: string, text: string): void {
    writeFileSync(this.at(path), text);
  }

  /** Opens a draft in which a command was run. It is closed after the test. */
  async draft(command: string, options: DraftOptions = {}): Promise<Draft> {
    const draft = await openDraft({ root: this.root, dir: this.#dir, ...options });
    finished(() => draft.close());
    const { exitCode, stderr } = await bash(command, { draft });
    if (exitCode !== 0) throw new Error(stderr);
    return draft;
  }
}
