import { type Checks, checkFields, invalid, isSignal, record, wholeNumber } from '../core/checks.ts';
import { BashError } from '../errors.ts';
import { thereOf } from '../target/handle.ts';
import { checkConnect } from '../target/options.ts';
import { AFFINITY } from './handle.ts';
import type { TargetPoolOptions } from './types.ts';

const LONGEST_MS = 86_400_000;
const MOST_PLACES = 10_000;

/** The defaults of a pool. Times are in ms. */
export const POOL_DEFAULTS = { min: 0, max: 8, perTarget: 4, queueMs: 60_000, idleMs: 300_000 } as const;

const POOL: Checks<TargetPoolOptions> = {
  targets: (value, name) => {
    if (!Array.isArray(value)) throw invalid(name, value, 'an array of targets and addresses');
    for (const one of Array.from(value)) {
      const there = thereOf(one);
      if (there?.native.state === 'closed') throw new BashError('ERR_BASH_CLOSED', `${name}: ${there.id} was closed`);
      if (!there) checkConnect(one);
    }
  },
  provider: (value, name) => {
    record(value, name);
    for (const method of ['acquire', 'release']) {
      const given = (value as Record<string, unknown>)[method];
      if (typeof given !== 'function') throw invalid(`${name}.${method}`, given, 'a function');
    }
  },
  min: wholeNumber(0, MOST_PLACES),
  max: wholeNumber(1, MOST_PLACES),
  perTarget: wholeNumber(1, 1_024),
  queueMs: wholeNumber(0, LONGEST_MS),
  idleMs: wholeNumber(0, LONGEST_MS),
};

const ACQUIRE: Checks<{ affinity?: string | undefined; signal?: AbortSignal | undefined }> = {
  affinity: AFFINITY,
  signal: isSignal,
};

/** Checks what a pool is made with. */
export function checkPool(options: unknown): asserts options is TargetPoolOptions {
  checkFields<TargetPoolOptions>('TargetPool', options, POOL);
  const { targets = [], provider, min = POOL_DEFAULTS.min, max = POOL_DEFAULTS.max } = options as TargetPoolOptions;
  if (targets.length === 0 && provider === undefined) {
    throw new BashError('ERR_BASH_INVALID_ARG', 'TargetPool: it has neither targets nor a provider');
  }
  if (min > max) throw new BashError('ERR_BASH_INVALID_ARG', `min: ${min} is more than max, ${max}`);
}

/** Checks what `acquire` is called with. */
export function checkAcquire(options: unknown): void {
  checkFields('TargetPool.acquire', options, ACQUIRE);
}
