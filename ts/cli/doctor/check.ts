/** What `agent-bash doctor` says of one thing. */
export interface Check {
  /** In kebab-case; the same on every machine. */
  name: string;
  /** `'failed'` says that no command runs, `'missing'` that there is less than there could be. */
  state: 'ok' | 'missing' | 'failed';
  /** What was found, in words. */
  found: string;
  /** What is lost by that, a sentence; `null` when nothing is. */
  cost: string | null;
}

/** All that is well. */
export function fine(name: string, found: string): Check {
  return { name, state: 'ok', found, cost: null };
}

/** Commands run, and something is lost. */
export function missing(name: string, found: string, cost: string): Check {
  return { name, state: 'missing', found, cost };
}

/** No command runs. */
export function failed(name: string, found: string, cost: string): Check {
  return { name, state: 'failed', found, cost };
}

/** The one or the other. */
export function either(good: boolean, name: string, found: string, cost: string): Check {
  return good ? fine(name, found) : missing(name, found, cost);
}

/** A probe that fails itself is an answer, too. */
export async function probe(name: string, ask: () => Check | Promise<Check>, cost: string): Promise<Check> {
  try {
    return await ask();
  } catch (error) {
    return missing(name, `could not be found out: ${error instanceof Error ? error.message : String(error)}`, cost);
  }
}
