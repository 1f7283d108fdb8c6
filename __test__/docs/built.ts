import { createRequire } from 'node:module';
import { ADDON } from '../support/host.ts';

/** A name pattern that marks a secret variable, with an example. */
export interface NameRow {
  pattern: string;
  says: 'always' | 'usually' | 'maybe';
  example: string;
}

/** A variable that a command gets by default. */
export interface Default {
  name: string;
  /** null removes an inherited variable. */
  value: string | null;
  unless: string[];
  /** Whether the default holds in a terminal, too. */
  always: boolean;
  why: string;
}

/** The limits, defaults and tables of the addon. Times are in ms, sizes in bytes. */
interface Facts {
  request: {
    maxArgumentBytes: number;
    maxCommandBytes: number;
    maxLimitMs: number;
    maxGraceMs: number;
    defaultGraceMs: number;
    modeLimitsMs: Record<string, number>;
    movingLimitMs: number;
    defaultSpillBytes: number;
    spillKeptMs: number;
    defaultSnapshotMs: number;
    snapshotMs: [number, number];
  };
  run: Record<'hardBoundMs' | 'snapshotBytes' | 'batchBytes' | 'fewReplaced', number>;
  capture: { truncate: object; lineLimitBytes: number; hardKeepBytes: number; spillsTogetherBytes: number };
  supervise: {
    drainIdleMs: number;
    drainWholeMs: number;
    commandShownChars: number;
    settleMs: number;
    graceWithoutHostMs: number;
    outflowQuietMs: number;
    admission: Record<'perCommand' | 'perTask' | 'perSessionShare' | 'reserve' | 'most', number>;
    warm: Record<'kept' | 'sweepMs' | 'pauseMs', number>;
    limits: Record<'shortestMs' | 'idleMs' | 'share', number>;
    blocked: Record<'most' | 'commandChars', number>;
  };
  tasks: Record<'maxTasks' | 'maxLogBytes' | 'retentionMs' | 'defaultLimitMs' | 'patternWindowBytes', number> & {
    lost: string[];
  };
  environment: {
    secretNames: NameRow[];
    harmless: { pattern: string; example: string }[];
    shapes: { vendor: string; begins: string }[];
    fields: string[];
    host: { name: string; holding: string[]; why: string }[];
    untrue: string[];
    otherTerminal: string[];
    defaults: Default[];
    cold: string[];
    warmRoomBytes: number;
  };
  confine: Record<'protect' | 'system', string[]> &
    Record<'hide' | 'hideOfSystem', { path: string; what: string; source: string }[]> &
    Record<'maxEntries' | 'maxExposed', number> & {
      parts: string[];
      /** In the order in which they are tried. `needs` has one entry for each part, null where it is not held. */
      ways: { name: string; needs: (string | null)[]; besides: string }[];
    };
  blockedNotes: string[];
  blockedSoonMs: number;
  oomScoreAtLeast: number;
}

const native = createRequire(import.meta.url)(ADDON);

/** The facts of the built addon. */
export const facts: Facts = JSON.parse(native.facts());

/** A number with commas, as the pages write it. */
export const count = (value: number) => value.toLocaleString('en-US');

/** A size in the largest unit that divides it. */
export function size(bytes: number): string {
  const [unit, factor] =
    [['GiB', 2 ** 30] as const, ['MiB', 2 ** 20] as const].find(([, one]) => bytes % one === 0) ??
    (['KiB', 1024] as const);
  return `${bytes / factor} ${unit}`;
}

/** A time in seconds from 1 s on, in milliseconds below. */
export const time = (ms: number) => (ms < 1000 ? `${ms} ms` : `${ms / 1000} s`);

const MINUTE = 60_000;

/** A time in minutes, hours or days. */
export const minutes = (ms: number) => `${ms / MINUTE} min`;
export const hours = (ms: number) => `${ms / (60 * MINUTE)} h`;
export const days = (ms: number) => `${ms / (24 * 60 * MINUTE)} days`;

/** A small number as a word. */
export const word = (value: number) => ['zero', 'one', 'two', 'three', 'four', 'five'][value] ?? String(value);

/** A fraction as words. */
export const share = (parts: number) => ({ 5: 'a fifth', 10: 'a tenth' })[parts] ?? `1/${parts}`;
