import type { Base } from '../base.ts';

/** The options that a command of a session starts with: `ready` in place of `base` if they take time to make. */
export interface Current {
  base: Base;
  ready?: Promise<Base>;
  /** The variables of the command. */
  env: Record<string, string>;
}
