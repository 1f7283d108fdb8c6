import { type Check, fields, invalid, oneOf, record, strings } from '../core/checks.ts';
import { BashError } from '../errors.ts';
import type { Secret } from './types.ts';

const place = oneOf('bearer', 'basic', 'header', 'query', 'body', 'sigv4');

export const text: Check = (value, name) => {
  if (typeof value !== 'string') throw invalid(name, value, 'a string');
};

const SECRET: Check = fields<Secret>({
  // The value is in no message.
  value: (value, name) => {
    if (typeof value !== 'string' && typeof value !== 'function') {
      throw new BashError(
        'ERR_BASH_INVALID_ARG',
        `${name} is neither a string nor a function, but of type ${typeof value}`,
      );
    }
  },
  hosts: strings,
  as: (value, name) => {
    for (const one of Array.isArray(value) ? value : [value]) place(one, name);
  },
  methods: strings,
  paths: strings,
  inject: (value, name) => {
    if (typeof value !== 'boolean') throw invalid(name, value, 'a boolean');
  },
  file: text,
  template: text,
  ttlMs: (value, name) => {
    if (!Number.isSafeInteger(value) || (value as number) < 0)
      throw invalid(name, value, 'a whole number of milliseconds');
  },
});

/** The check of `confine.secrets`. The addon checks names, hosts, files and the length of values. */
export const SECRETS: Check = (value, name) => {
  record(value, name);
  for (const [key, secret] of Object.entries(value as object)) {
    SECRET(secret, `${name}.${key}`);
    for (const needed of ['value', 'hosts'] as const) {
      if ((secret as Secret)[needed] !== undefined) continue;
      throw new BashError('ERR_BASH_INVALID_ARG', `${name}.${key}.${needed} is missing`);
    }
  }
};

/** What a function has returned, and when. */
interface Returned {
  source: number;
  text?: string;
  failure?: string;
  at: number;
}

const returned = new WeakMap<object, Returned>();
let sources = 0;

/** The value of a secret, for the addon. Values of one function are equal there, whatever it has returned. */
interface NativeSecretText {
  text?: string;
  failure?: string;
  source?: number;
}

/** Secrets as the addon takes them. The functions were called before. */
export function nativeSecrets(secrets: Record<string, Secret>): Record<string, unknown> {
  const native = Object.entries(secrets).map(([name, { value, as, ...rest }]) => {
    const places = as === undefined ? [] : [as].flat();
    return [name, { ...rest, value: nativeText(value), as: places }];
  });
  return Object.fromEntries(native);
}

function nativeText(value: Secret['value']): NativeSecretText {
  if (typeof value === 'string') return { text: value };
  const { at: _, ...known } = returned.get(value) ?? { failure: 'its function was not called', at: 0, source: 0 };
  return known;
}

/** Whether the functions of secrets were called. */
export function areCalled(secrets: Record<string, Secret> = {}): boolean {
  return Object.values(secrets).every(({ value }) => typeof value === 'string' || returned.has(value));
}

/** Calls the functions of secrets whose values are missing or older than `ttlMs`. `undefined` if there are none. */
export function callFunctions(secrets: Record<string, Secret> = {}): Promise<unknown> | undefined {
  const calls = Object.values(secrets).flatMap(({ value, ttlMs }) => {
    if (typeof value !== 'function') return [];
    const known = returned.get(value);
    const isFresh = known?.text !== undefined && (ttlMs === undefined || Date.now() - known.at < ttlMs);
    return isFresh ? [] : [call(value, known?.source ?? ++sources)];
  });
  return calls.length === 0 ? undefined : Promise.all(calls);
}

async function call(value: () => string | Promise<string>, source: number): Promise<void> {
  const at = Date.now();
  returned.set(value, { source, at, ...(await answerOf(value)) });
}

async function answerOf(value: () => string | Promise<string>): Promise<{ text: string } | { failure: string }> {
  try {
    const text = await value();
    return typeof text === 'string' ? { text } : { failure: `its function returned no string but ${typeof text}` };
  } catch (error) {
    return { failure: `its function has failed: ${error instanceof Error ? error.message : String(error)}` };
  }
}
