import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { Breaker } from '../../ts/fleet/breaker.ts';
import { Lease } from '../../ts/fleet/lease.ts';
import { ProvidedPlaces } from '../../ts/fleet/provided-places.ts';
import type { ProvidedTarget, TargetProvider } from '../../ts/fleet/types.ts';

beforeEach(() => {
  vi.useFakeTimers({ now: 1_000_000 });
});
afterEach(() => {
  vi.useRealTimers();
});

const LENGTH = 100_000;

/** A provided place with a lease of `LENGTH`, and what happens to it. */
function leased(renew?: ProvidedTarget['renew']) {
  const told: string[] = [];
  const address = { command: ['true'] };
  const place = { id: 'one', address, expiresAt: Date.now() + LENGTH, ...(renew && { renew }) };
  const lease = new Lease(
    place,
    () => told.push(`ending at ${Date.now() - 1_000_000}`),
    () => told.push(`expired at ${Date.now() - 1_000_000}`),
  );
  return { lease, told };
}

describe('a lease', () => {
  test('is renewed at half of its length, for the same length, again and again', async () => {
    const asked: number[] = [];
    const { told } = leased(async (until) => {
      asked.push(until - Date.now());
    });
    await vi.advanceTimersByTimeAsync(10 * LENGTH);
    expect(asked).toStrictEqual(Array(20).fill(LENGTH));
    expect(told).toStrictEqual([]);
  });

  test('that cannot be renewed takes nothing new in its last tenth', async () => {
    const { told } = leased();
    await vi.advanceTimersByTimeAsync(2 * LENGTH);
    expect(told).toStrictEqual([`ending at ${0.9 * LENGTH}`, `expired at ${LENGTH}`]);
  });

  test.each([
    ['rejects', () => Promise.reject(new Error('no'))],
    [
      'throws',
      () => {
        throw new Error('no');
      },
    ],
    ['never settles', () => new Promise<void>(() => {})],
  ])('whose renewal %s ends in time', async (_, renew) => {
    let asked = 0;
    const { told } = leased(() => {
      asked += 1;
      return renew();
    });
    await vi.advanceTimersByTimeAsync(2 * LENGTH);
    expect(told).toStrictEqual([`ending at ${0.9 * LENGTH}`, `expired at ${LENGTH}`]);
    expect(asked).toBeGreaterThan(0);
  });

  test('whose renewal fails once goes on', async () => {
    let asked = 0;
    const { told, lease } = leased(async () => {
      asked += 1;
      if (asked === 1) throw new Error('no');
    });
    await vi.advanceTimersByTimeAsync(3 * LENGTH);
    expect(told).toStrictEqual([]);
    lease.end();
    await vi.advanceTimersByTimeAsync(3 * LENGTH);
    expect(told).toStrictEqual([]);
  });
});

test('a breaker opens after three failures, for 5 s, then twice as long each time, up to 5 min', async () => {
  let tried = 0;
  const breaker = new Breaker(() => {
    tried += 1;
  });
  const pauses: number[] = [];
  breaker.fail();
  breaker.fail();
  expect(breaker.isOpen).toBe(false);
  for (let turn = 0; turn < 9; turn++) {
    breaker.fail();
    expect(breaker.isOpen).toBe(true);
    const pause = (breaker.brokenUntil ?? 0) - Date.now();
    pauses.push(pause / 1_000);
    await vi.advanceTimersByTimeAsync(pause);
    expect([breaker.isOpen, tried]).toStrictEqual([false, turn + 1]);
  }
  expect(pauses).toStrictEqual([5, 10, 20, 40, 80, 160, 300, 300, 300]);
  breaker.succeed();
  breaker.fail();
  breaker.fail();
  expect(breaker.isOpen).toBe(false);
});

/** A provider whose answers the test gives, the pool's places of it, and calls that wait. */
function scripted({ min = 0, max = 3, perTarget = 2 } = {}) {
  const asked: {
    affinity: string | null;
    signal: AbortSignal;
    answer: (place: unknown) => void;
    fail: (error: Error) => void;
  }[] = [];
  const released: [string, boolean][] = [];
  const taken: string[] = [];
  const failures: string[] = [];
  const waiting: (string | null)[] = [];
  const provider: TargetProvider = {
    acquire: ({ affinity, signal }) =>
      new Promise((resolve, reject) => {
        asked.push({ affinity, signal, answer: resolve as (place: unknown) => void, fail: reject });
      }),
    release: async (id, { broken }) => {
      released.push([id, broken]);
    },
  };
  const places = new ProvidedPlaces(
    provider,
    { min, max, perTarget },
    {
      places: () => taken.length,
      waiting: () => waiting.length,
      affinityOf: (index) => waiting[index] ?? null,
      take: ({ id }) => {
        taken.push(id);
      },
      onFailure: (error) => failures.push((error as Error).message),
    },
  );
  return { asked, released, taken, failures, waiting, places, provider };
}

const settle = () => vi.advanceTimersByTimeAsync(0);
const made = (id: string) => ({ id, address: { command: ['true'] }, expiresAt: null });

describe('a provider', () => {
  test('is asked for one place for as many calls as run there, at most for max, with the affinity of the first', () => {
    const { asked, waiting, places } = scripted();
    waiting.push('a', 'b', 'c');
    places.ask();
    expect(asked.map(({ affinity }) => affinity)).toStrictEqual(['a', 'c']);
    waiting.push(...Array(20).fill('d'));
    places.ask();
    places.ask();
    expect(asked.length).toBe(3);
  });

  test('is asked for the places of min', async () => {
    const { asked, taken, places } = scripted({ min: 2 });
    places.ask();
    expect(asked.map(({ affinity }) => affinity)).toStrictEqual([null, null]);
    asked[0]?.answer(made('one'));
    await settle();
    expect(taken).toStrictEqual(['one']);
    expect(asked.length).toBe(2);
  });

  test('is told when nobody waits any longer, and what it still gives is released once', async () => {
    const { asked, released, taken, waiting, places } = scripted();
    waiting.push('a');
    places.ask();
    waiting.pop();
    places.ask();
    expect(asked[0]?.signal.aborted).toBe(true);
    asked[0]?.answer(made('late'));
    await settle();
    expect([released, taken]).toStrictEqual([[['late', false]], []]);
  });

  test.each([
    ['no object', 7, 'an id that is not a name', null],
    ['no id', { address: { command: ['true'] }, expiresAt: null }, 'an id', null],
    ['no address', { id: 'x', expiresAt: null }, 'an address', 'x'],
    ['a wrong time', { ...made('x'), expiresAt: 'soon' }, 'expiresAt', 'x'],
    ['a wrong renew', { ...made('x'), renew: 1 }, 'renew', 'x'],
    [
      'an option that does not exist',
      { id: 'x', address: { command: ['true'], colour: 1 }, expiresAt: null },
      'colour',
      'x',
    ],
  ])('that gives %s is told of, and what has an id is released', async (_, answer, said, id) => {
    const { asked, released, failures, waiting, places } = scripted();
    waiting.push('a');
    places.ask();
    asked[0]?.answer(answer);
    await settle();
    expect(failures[0]).toContain(said);
    expect(released).toStrictEqual(id === null ? [] : [[id, true]]);
  });

  test('that fails three times is left alone for 5 s', async () => {
    const { asked, failures, waiting, places } = scripted();
    waiting.push('a');
    places.ask();
    for (let turn = 0; turn < 3; turn++) {
      asked[turn]?.fail(new Error(`quota ${turn}`));
      await settle();
    }
    expect([asked.length, failures]).toStrictEqual([3, ['quota 0', 'quota 1', 'quota 2']]);
    await vi.advanceTimersByTimeAsync(4_999);
    expect(asked.length).toBe(3);
    await vi.advanceTimersByTimeAsync(1);
    expect(asked.length).toBe(4);
  });

  test('that throws at once has failed', async () => {
    const { provider, failures, waiting, places } = scripted();
    provider.acquire = () => {
      throw new Error('no cluster');
    };
    waiting.push('a');
    places.ask();
    await settle();
    expect(failures).toStrictEqual(['no cluster', 'no cluster', 'no cluster']);
  });

  test('whose release fails is a warning', async () => {
    const { provider, places } = scripted();
    provider.release = () => Promise.reject(new Error('forbidden'));
    const warned = new Promise<Error>((resolve) => process.once('warning', resolve));
    places.release('one', false);
    vi.useRealTimers();
    expect((await warned).message).toContain('the place one was not released: forbidden');
  });

  test('is waited for by close: late answers are released', async () => {
    const { asked, released, waiting, places } = scripted();
    waiting.push('a');
    places.ask();
    let closed = false;
    const closing = places.close().then(() => {
      closed = true;
    });
    await settle();
    expect([asked[0]?.signal.aborted, closed]).toStrictEqual([true, false]);
    asked[0]?.answer(made('late'));
    await closing;
    expect(released).toStrictEqual([['late', false]]);
    places.ask();
    expect(asked.length).toBe(1);
  });
});
