import { appendFileSync, existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type BashOptions,
  type BashResult,
  bash,
  type LedgerEntry,
  type ReadLedgerOptions,
  readLedger,
} from 'agent-bash';
import { hostEnv, stateFolder } from '../support/index.ts';

/** A ledger of its own for one test: this process writes and reads it until the test has finished. */
export class Ledger {
  /** `XDG_STATE_HOME` */
  readonly state = stateFolder();
  readonly directory = join(this.state, 'agent-bash/ledger');

  constructor(says?: 'on' | 'off') {
    hostEnv({ XDG_STATE_HOME: this.state, AGENT_BASH_LEDGER: says });
  }

  /** The environment of another process with this ledger. */
  get env(): { XDG_STATE_HOME: string; AGENT_BASH_LEDGER: string } {
    return { XDG_STATE_HOME: this.state, AGENT_BASH_LEDGER: '' };
  }

  /** Runs a command that has an entry. */
  run(command: string, options: BashOptions = {}): Promise<BashResult> {
    return bash(command, { ledger: true, ...options });
  }

  read(options?: ReadLedgerOptions): Promise<LedgerEntry[]> {
    return all(readLedger(options));
  }

  /** The newest entry. */
  async last(): Promise<LedgerEntry> {
    const [entry] = await this.read({ limit: 1 });
    if (!entry) throw new Error('the ledger is empty');
    return entry;
  }

  /** The entry of a run. */
  async of({ runId }: { runId: string }): Promise<LedgerEntry> {
    const found = await this.read({ runId });
    if (found.length !== 1 || !found[0]) throw new Error(`${found.length} entries of ${runId}`);
    return found[0];
  }

  /** The paths of its files. */
  files(): string[] {
    return existsSync(this.directory) ? readdirSync(this.directory).map((name) => join(this.directory, name)) : [];
  }

  /** The path of the file of today. */
  today(): string {
    return join(this.directory, `${new Date().toISOString().slice(0, 10)}.jsonl`);
  }

  /** All that is in its files. */
  text(): string {
    return this.files()
      .map((path) => readFileSync(path, 'utf8'))
      .join('');
  }

  /** Adds bytes to the file of today, as a fault would. */
  damage(bytes: string): void {
    appendFileSync(this.today(), bytes);
  }
}

/** Every entry of an iteration. */
export async function all<T>(entries: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const entry of entries) found.push(entry);
  return found;
}
