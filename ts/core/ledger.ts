import { internalKey } from './internal.ts';

/**
 * Names the option of `bash` by which a tool says where a person has approved a command.
 */
export const DECIDED: unique symbol = internalKey('decided');

/** Where a person has decided about a command: in the host, or on the page. */
export type Decider = 'host' | 'page';

/** Options of a command about which a person has decided. */
export interface Decided {
  [DECIDED]?: Decider | undefined;
}

/**
 * The name of an option of an approval. A server with no other way of asking uses it to refuse commands that need a
 * person.
 */
export const NOBODY: unique symbol = internalKey('nobody');

/** Options of an approval without another way of asking. */
export interface WithoutPeople {
  /** The reason of the refusal, which the model reads. */
  [NOBODY]?: string | undefined;
}

/** Returns what `AGENT_BASH_LEDGER` decides for this process and all below it. `undefined`: nothing. */
export function ledgerByEnvironment(): boolean | undefined {
  const says = process.env.AGENT_BASH_LEDGER;
  return says === 'on' ? true : says === 'off' ? false : undefined;
}
