/**
 * Names the option of `bash` by which a tool says where a person has approved a command. It is a symbol, out of reach
 * of callers who only know the types. The entries are bundled apart, so the symbol belongs to the whole process.
 */
export const DECIDED: unique symbol = Symbol.for('agent-bash.decided') as never;

/** Where a person has decided about a command: in the host, or on the page. */
export type Decider = 'host' | 'page';

/** Options of a command about which a person has decided. */
export interface Decided {
  [DECIDED]?: Decider | undefined;
}

/**
 * The name of an option of an approval. A server with no other way of asking uses it to refuse commands that need a
 * person. It is a symbol, which callers cannot reach through the types.
 */
export const NOBODY: unique symbol = Symbol.for('agent-bash.nobody') as never;

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
