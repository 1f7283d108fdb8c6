/** Estimated tokens that an extra turn of a model costs. */
const TURN = 300;
/** Recalls after which a rule does not pay. */
const RECALLS = 2;

/** The reasons for gaps that are not rules. They are never off. */
const NO_RULES: readonly string[] = ['budget', 'long', 'seen'];

/** The figures of one rule. */
export interface RuleStats {
  /** The name of the rule; `'budget'`, `'long'` or `'seen'` for lines that no rule left out. */
  rule: string;
  /** Tokens that the rule left out. */
  saved: number;
  /** How many of these tokens were recalled later. */
  recalled: number;
}

interface Entry {
  saved: number;
  recalled: number;
  recalls: number;
}

/** The books of a session: the tokens that each rule saved, and how many of these were recalled. */
export class RuleLedger {
  readonly #entries = new Map<string, Entry>();
  readonly #retired = new Set<string>();
  readonly #onRetired: (stats: RuleStats) => void;

  /** `onRetired` is called once for each rule that does not pay. */
  constructor(onRetired: (stats: RuleStats) => void) {
    this.#onRetired = onRetired;
  }

  /** Notes that a rule left out lines with these tokens. */
  save(rule: string, tokens: number): void {
    this.#entry(rule).saved += tokens;
  }

  /** Notes that lines with these tokens were recalled, which a rule had left out. */
  recall(rule: string, tokens: number): void {
    const entry = this.#entry(rule);
    entry.recalled += tokens;
    entry.recalls += 1;
    const pays = entry.recalls < RECALLS && entry.saved >= entry.recalled + TURN * entry.recalls;
    if (pays || NO_RULES.includes(rule) || this.#retired.has(rule)) return;
    this.#retired.add(rule);
    this.#onRetired({ rule, saved: entry.saved, recalled: entry.recalled });
  }

  /** The names of the rules that do not pay. */
  get retired(): string[] {
    return [...this.#retired];
  }

  /** The figures of all rules. */
  stats(): RuleStats[] {
    return [...this.#entries].map(([rule, { saved, recalled }]) => ({ rule, saved, recalled }));
  }

  #entry(rule: string): Entry {
    const found = this.#entries.get(rule) ?? { saved: 0, recalled: 0, recalls: 0 };
    this.#entries.set(rule, found);
    return found;
  }
}
