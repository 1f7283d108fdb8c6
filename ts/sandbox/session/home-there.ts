import type { Target } from 'agent-bash';
import { answerOf } from '../script.ts';

/** Writes the path of a private directory: `$2` if it is one still, else a new one with the prefix `$1`. */
const MAKE = `if [[ $2 && -d $2 && ! -L $2 && -O $2 ]]; then printf %s "$2"; exit; fi
mktemp -d -- "\${TMPDIR:-/tmp}/$1XXXXXXXXXX"`;

const REMOVE = 'exec rm -rf -- "$1"';
/** Removes a directory that is empty. */
const REMOVE_EMPTY = 'rmdir -- "$1" 2> /dev/null; exit 0';

/**
 * A private directory on a target, of mode 0700 in the temporary directory there. It is made when it is first needed,
 * and stays if the process that needs it is killed.
 */
export class HomeThere {
  readonly #target: Target;
  readonly #prefix: string;
  #made: Promise<string> | null = null;
  /** The host program that has made it. With another one, the machine may have been started anew. */
  #by = 0;

  /** `option` is the one that gives another directory. It is part of the name. */
  constructor(target: Target, option: 'home' | 'dir' = 'home') {
    this.#target = target;
    this.#prefix = `agent-bash-${option}-`;
  }

  /** The path of an existing directory. Rejects if it cannot be made. */
  get path(): Promise<string> {
    const { pid } = this.#target.info;
    if (this.#made === null || this.#by !== pid) this.#made = this.#make(this.#made);
    this.#by = pid;
    return this.#made;
  }

  async #make(before: Promise<string> | null): Promise<string> {
    const known = (await before?.catch(() => '')) ?? '';
    const making = answerOf(this.#target, MAKE, [this.#prefix, known], 'no private directory could be made');
    making.catch(() => {
      this.#made = null;
    });
    return (await making).replace(/\n$/, '');
  }

  /** Removes the directory if nothing is in it. A later command gets another directory. */
  removeEmpty(): Promise<void> {
    return this.#remove(REMOVE_EMPTY);
  }

  /** Removes the directory with its content. A later command gets another directory. */
  remove(): Promise<void> {
    return this.#remove(REMOVE);
  }

  async #remove(script: string): Promise<void> {
    const made = this.#made;
    const path = await made?.catch(() => null);
    if (path == null) return;
    await answerOf(this.#target, script, [path], 'the private directory could not be removed');
    if (this.#made === made) this.#made = null;
  }
}
