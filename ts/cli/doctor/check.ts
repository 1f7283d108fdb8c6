/** The result of one check of `agent-bash doctor`. */
export interface Check {
  /** In kebab-case; the same on every machine. */
  name: string;
  /** `'failed'`: no command runs. `'missing'`: a capability is absent. */
  state: 'ok' | 'missing' | 'failed';
  /** The finding, in words. */
  found: string;
  /** The consequence as a sentence, or `null` if there is none. */
  cost: string | null;
}

/** Returns a check that passed. */
export function fine(name: string, found: string): Check {
  return { name, state: 'ok', found, cost: null };
}

/** Returns a check that found a capability missing. Commands run. */
export function missing(name: string, found: string, cost: string): Check {
  return { name, state: 'missing', found, cost };
}

/** Returns a check without which no command runs. */
export function failed(name: string, found: string, cost: string): Check {
  return { name, state: 'failed', found, cost };
}

/** Returns a passed check, or a check with a missing capability. */
export function either(good: boolean, name: string, found: string, cost: string): Check {
  return good ? fine(name, found) : missing(name, found, cost);
}

/** Runs a check. A check that throws becomes a finding itself. */
export async function probe(name: string, ask: () => Check | Promise<Check>, cost: string): Promise<Check> {
  try {
    return await ask();
  } catch (error) {
    return missing(name, `could not be found out: ${error instanceof Error ? error.message : String(error)}`, cost);
  }
}
