import type { Target } from 'agent-bash';
import { answerOf } from '../script.ts';

/** Writes the path of a private directory: `$2` if it is one still, else a new one with the prefix `$1`. */
const MAKE = `if [[ $2 && -d $2 && ! -L $2 && -O $2 ]]; then printf %s "$2"; exit; fi
mktemp -d -- "\${TMPDIR:-/tmp}/$1XXXXXXXXXX"`;

const REMOVE = 'exec rm -rf -- "$1"';
/** Removes a directory that is empty. Writes a word if there are files in it. */
const REMOVE_EMPTY = 'rmdir -- "$1" 2> /dev/null || [[ ! -d $1 ]] || printf kept';

/**
 * A private directory on a target, of mode 0700 in the temporary directory there. It is made when it is first needed,
 * and stays if the process that needs it is killed.
 */
export class HomeThere {
  readonly #target: Target;
  readonly #prefix: string;
  #made: Promise<string> | null = null;
  /** The path of the directory that was made last, and not removed. */
  #known = '';
  /** The host program that was there then. With another one, the machine may have been started anew. */
  #by = 0;

  /** `option` tells what it is for. It is part of the name. */
  constructor(target: Target, option: 'home' | 'dir' = 'home') {
    this.#target = target;
    this.#prefix = `agent-bash-${option}-`;
  }

  /** The path of an existing directory. Rejects if it cannot be made. */
  get path(): Promise<string> {
    const { state, info } = this.#target;
    if (this.#made === null || state === 'lost' || this.#by !== info.pid) this.#made = this.#make();
    return this.#made;
  }

  async #make(): Promise<string> {
    this.#by = this.#target.info.pid;
    try {
      const words = [this.#prefix, this.#known];
      const path = await answerOf(this.#target, MAKE, words, 'no private directory could be made');
      this.#by = this.#target.info.pid;
      this.#known = path.replace(/\n$/, '');
      return this.#known;
    } catch (error) {
      this.#made = null;
      throw error;
    }
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
    await this.#made?.catch(() => {});
    const path = this.#known;
    // A target that was closed cannot be reached any more.
    if (path === '' || this.#target.state === 'closed') return;
    const kept = await answerOf(this.#target, script, [path], 'the private directory could not be removed');
    if (kept === '' && this.#known === path) [this.#known, this.#made] = ['', null];
  }
}
