import { resolve, types } from '../core/builtins.ts';
import { type Check, type Checks, checkFields, fields, invalid, isSignal, type, wholeNumber } from '../core/checks.ts';
import { DECIDED, type Decided, ledgerByEnvironment } from '../core/ledger.ts';
import type { CommandOptions } from '../types.ts';
import type { Actor, ReadLedgerOptions } from './types.ts';

/** The check of `actor`. */
export const ACTOR: Check = fields<Actor>({
  agent: type('string'),
  session: type('string'),
  toolCallId: type('string'),
  user: type('string'),
});

const moment: Check = (value, name) => {
  if (!Number.isFinite(types.isDate(value) ? value.getTime() : value)) {
    throw invalid(name, value, 'a valid Date or a time in ms');
  }
};

/** The path of a directory or file. */
const path: Check = (value, name) => {
  if (typeof value !== 'string' || value === '' || value.includes('\0')) throw invalid(name, value, 'a path');
};

const READ: Checks<ReadLedgerOptions> = {
  since: moment,
  until: moment,
  cwd: path,
  agent: type('string'),
  failed: type('boolean'),
  changed: path,
  text: type('string'),
  runId: type('string'),
  limit: wholeNumber(1),
  follow: type('boolean'),
  signal: isSignal,
};

/** Checks what `readLedger` is called with. */
export function checkRead(options: unknown): asserts options is ReadLedgerOptions {
  checkFields<ReadLedgerOptions>('readLedger', options, READ);
}

/** Returns the filters for the addon, as JSON. */
export function nativeQuery({ signal, since, until, cwd, changed, ...others }: ReadLedgerOptions): string {
  const ms = (moment: number | Date | undefined) => (typeof moment === 'object' ? moment.getTime() : moment);
  const absolute = (path: string | undefined) => (path === undefined ? undefined : resolve(path));
  return JSON.stringify({
    ...others,
    since: ms(since),
    until: ms(until),
    cwd: absolute(cwd),
    changed: absolute(changed),
  });
}

/** Returns the options of a command about its entry in the ledger. */
export function nativeEntry(given: CommandOptions): { ledger?: true; decidedBy?: string | undefined } {
  const ledger = given.ledger ?? ledgerByEnvironment() ?? false;
  return ledger ? { ledger, decidedBy: (given as Decided)[DECIDED] } : {};
}
