import type { OutputStore } from 'agent-bash';
import type { Level } from '../../reduce/keeping.ts';

/**
 * Names the option by which a server gives each of its tools the same store. It is a symbol, out of reach of callers
 * who only know the types, and one of the whole process, since the entries are bundled apart.
 */
export const SHARED_OUTPUTS: unique symbol = Symbol.for('agent-bash.shared-outputs') as never;

/** Options with a shared store. */
export interface Sharing {
  [SHARED_OUTPUTS]?: OutputStore;
}

/** Names the option of a call with the place of its outputs. */
export const VIEWS: unique symbol = Symbol('agent-bash.views');

/** The options of a call, with the place of its outputs. */
export interface Viewed {
  [VIEWS]?: Place;
}

/** The place of the outputs of which lines are left out. */
export interface Place {
  outputs: OutputStore;
  /** Whether the model may recall lines. */
  recalls: boolean;
  /** The level of the tool's calls, as long as `perCall` does not change it. */
  level: Level;
}
