import { describe, expect, test } from 'vitest';
import { type Affinity, PlaceLoad, Placement, Waiter } from '../../ts/fleet/placement.ts';

/** A call of a test, and what has become of it. */
interface Call {
  place: PlaceLoad | null;
  lost: boolean;
  end(): void;
  withdraw(): void;
}

/** A placement with places that are open. */
function placement(places: number, perPlace: number) {
  const all = Array.from({ length: places }, () => new PlaceLoad());
  const placing = new Placement<PlaceLoad>(perPlace);
  for (const place of all) placing.open(place, true);
  const call = (key?: string): Call => {
    const affinity: Affinity | null = key === undefined ? null : placing.affinity(key);
    const made: Call = {
      place: null,
      lost: false,
      end: () => {
        if (made.place) placing.leave(made.place, affinity);
        placing.dismiss(waiter);
      },
      withdraw: () => placing.withdraw(waiter),
    };
    const waiter = new Waiter(
      affinity,
      (place) => {
        made.place = place;
        if (affinity) affinity.hasRun = true;
      },
      () => {
        made.lost = true;
      },
    );
    placing.admit(waiter);
    placing.request(waiter);
    return made;
  };
  return { all, placing, call };
}

describe('a call goes', () => {
  test('to the place with the fewest runs', () => {
    const { all, call } = placement(3, 4);
    const places = Array.from({ length: 6 }, () => call().place);
    expect(new Set(places.slice(0, 3))).toStrictEqual(new Set(all));
    expect(all.map(({ running }) => running)).toStrictEqual([2, 2, 2]);
  });

  test('then to the one with the least load, then the most memory', () => {
    const { all, placing, call } = placement(3, 4);
    const [first, second, third] = all as [PlaceLoad, PlaceLoad, PlaceLoad];
    Object.assign(first, { load: 2 });
    Object.assign(second, { load: 0.5, memoryFree: 1 });
    Object.assign(third, { load: 0.5, memoryFree: 2 });
    for (const place of all) placing.rank(place);
    expect([call(), call(), call()].map(({ place }) => place)).toStrictEqual([third, second, first]);
  });

  test('to a place that is connected before one that never was', () => {
    const { all, placing, call } = placement(2, 4);
    const [, warm] = all as [PlaceLoad, PlaceLoad];
    warm.load = 9;
    placing.rank(warm);
    expect(call().place).toBe(warm);
  });

  test('to a place without failures first', () => {
    const { all, placing, call } = placement(2, 4);
    const [first, second] = all as [PlaceLoad, PlaceLoad];
    first.failures = 1;
    placing.rank(first);
    expect([call(), call(), call(), call(), call()].map(({ place }) => place)).toStrictEqual([
      ...Array(4).fill(second),
      first,
    ]);
  });

  test('where the calls of its affinity are, also if that place is full', () => {
    const { all, call } = placement(2, 1);
    const first = call('a');
    const second = call('a');
    const other = call('b');
    expect(second.place).toBeNull();
    expect(new Set([first.place, other.place])).toStrictEqual(new Set(all));
    first.end();
    expect(second.place).toBe(first.place);
  });

  test('to different places if it begins a conversation between two heartbeats', () => {
    const { all, placing, call } = placement(4, 4);
    (all[0] as PlaceLoad).load = -1;
    placing.rank(all[0] as PlaceLoad);
    const places = Array.from({ length: 8 }, (_, index) => {
      const made = call(`chat-${index}`);
      made.end();
      return made.place;
    });
    expect(all.map((one) => places.filter((place) => place === one).length)).toStrictEqual([2, 2, 2, 2]);
  });
});

describe('calls that wait', () => {
  test('begin in their order, whether they wait for one place or any', () => {
    const { call } = placement(1, 1);
    const begun: number[] = [];
    const first = call('a');
    const waiting = ['a', undefined, 'b', 'a', undefined].map((key) => call(key));
    first.end();
    for (let left = waiting.length; left > 0; left -= 1) {
      const index = waiting.findIndex((one, at) => one.place !== null && !begun.includes(at));
      begun.push(index);
      waiting[index]?.end();
    }
    expect(begun).toStrictEqual([0, 1, 2, 3, 4]);
  });

  test('keep the order when one of them is withdrawn, also the one that seeks a place for the others', () => {
    const { call } = placement(1, 1);
    const first = call();
    const [seeker, second, third] = [call('a'), call('a'), call('a')];
    seeker.withdraw();
    first.end();
    expect([seeker.place, second.place === first.place, third.place]).toStrictEqual([null, true, null]);
    third.withdraw();
    second.end();
    expect(call('b').place).toBe(first.place);
  });

  test('have a place once one is opened', () => {
    const { all, placing, call } = placement(1, 1);
    placing.open(all[0] as PlaceLoad, false);
    const waiting = call('a');
    expect(waiting.place).toBeNull();
    placing.open(all[0] as PlaceLoad, true);
    expect(waiting.place).toBe(all[0]);
  });
});

describe('an affinity whose place is lost', () => {
  test('is told once, then has a new place', () => {
    const { placing, call } = placement(2, 2);
    const first = call('a');
    const lost = first.place as PlaceLoad;
    first.end();
    placing.open(lost, false);
    placing.free(lost, { lost: true });
    const told = call('a');
    expect(told).toMatchObject({ lost: true, place: null });
    told.end();
    const next = call('a');
    expect(next.lost).toBe(false);
    expect(next.place).not.toBe(lost);
  });

  test('is not told again if its own run was lost', () => {
    const { placing, call } = placement(2, 2);
    const running = call('a');
    const lost = running.place as PlaceLoad;
    placing.open(lost, false);
    placing.free(lost, { lost: true });
    const waiting = call('a');
    expect(waiting).toMatchObject({ lost: false, place: null });
    placing.affinity('a').isUntold = false;
    running.end();
    expect(waiting.lost).toBe(false);
    expect(waiting.place).not.toBe(lost);
  });

  test('tells the first of the calls that wait, and places the others', () => {
    const { placing, call } = placement(2, 1);
    const running = call('a');
    const lost = running.place as PlaceLoad;
    const waiting = [call('a'), call('a')];
    placing.open(lost, false);
    placing.free(lost, { lost: true });
    running.end();
    expect(waiting.map((one) => one.lost)).toStrictEqual([true, false]);
    expect(waiting[1]?.place).not.toBe(lost);
  });

  test('of a place that is given up leaves it with a note', () => {
    const { placing, call } = placement(2, 1);
    const first = call('a');
    first.end();
    const place = first.place as PlaceLoad;
    placing.open(place, false);
    placing.free(place, { lost: false, note: 'drained' });
    const next = call('a');
    expect(next.lost).toBe(false);
    expect(next.place).not.toBe(place);
    expect(placing.affinity('a').note).toBe('drained');
  });
});

test('a call that never began leaves no affinity behind', () => {
  const { placing, all } = placement(1, 1);
  const affinity = placing.affinity('a');
  const waiter = new Waiter(
    affinity,
    () => {},
    () => {},
  );
  placing.admit(waiter);
  placing.request(waiter);
  expect(placing.placeOf('a')).toBe(all[0]);
  placing.retreat(all[0] as PlaceLoad, affinity);
  expect(placing.placeOf('a')).toBeNull();
  expect((all[0] as PlaceLoad).affinities.size).toBe(0);
});

test('affinities are bounded, and those in use are kept', () => {
  const { placing, call } = placement(1, 1_000_000);
  const kept = call('kept');
  for (let index = 0; index < 100_050; index++) call(`chat-${index}`).end();
  expect(placing.placeOf('kept')).toBe(kept.place);
  expect((kept.place as PlaceLoad).affinities.size).toBeLessThanOrEqual(100_001);
  expect(placing.placeOf('chat-0')).toBeNull();
  expect(placing.placeOf('chat-100049')).not.toBeNull();
});

test('whatever is called, ended, withdrawn, opened, closed and freed: no call is forgotten and none is placed twice', () => {
  let seed = 7;
  const random = (below: number) => {
    seed = (seed * 1_103_515_245 + 12_345) & 0x7fffffff;
    return seed % below;
  };
  for (let round = 0; round < 200; round++) {
    const { all, placing, call } = placement(3, 2);
    const open: Call[] = [];
    for (let step = 0; step < 200; step++) {
      const place = all[random(3)] as PlaceLoad;
      const index = random(Math.max(1, open.length));
      const one = open[index];
      switch (random(7)) {
        case 0:
        case 1:
        case 2:
          open.push(call(random(3) === 0 ? undefined : `chat-${random(5)}`));
          break;
        case 3:
          if (one?.place || one?.lost) open.splice(index, 1)[0]?.end();
          break;
        case 4:
          if (one && !one.place && !one.lost) {
            one.withdraw();
            open.splice(index, 1)[0]?.end();
          }
          break;
        case 5:
          placing.open(place, random(2) === 0);
          break;
        default:
          placing.open(place, false);
          placing.free(place, random(2) === 0 ? { lost: true } : { lost: false, note: 'drained' });
      }
      for (const each of all) {
        expect(each.running).toBeLessThanOrEqual(2);
        expect(each.running).toBe(open.filter((made) => made.place === each).length);
      }
    }
    for (const place of all) placing.open(place, true);
    for (let left = 0; left < 1_000 && open.length > 0; left++) {
      const index = open.findIndex(({ place, lost }) => place !== null || lost);
      if (index < 0) break;
      open.splice(index, 1)[0]?.end();
    }
    expect(open, `round ${round}`).toStrictEqual([]);
  }
});
