import { PlaceHeap, type Ranked } from './place-heap.ts';
import { LineItem, WaitingLine } from './waiting-line.ts';

/** Most affinities that are remembered. Those that were used least recently, and have no run, are forgotten. */
const MAX_AFFINITIES = 100_000;

/** Where runs go, and how busy it is. */
export class PlaceLoad implements Ranked {
  heapIndex = -1;
  /** Whether it takes new runs. */
  isOpen = false;
  /** Runs on it now. */
  running = 0;
  /** Failed connections in a row. */
  failures = 0;
  /** The load that the last heartbeat has told. A place that was never connected counts as the busiest. */
  load = Number.POSITIVE_INFINITY;
  memoryFree = 0;
  /** The affinities that stay here. */
  readonly affinities = new Set<Affinity>();
  /** Calls that wait for this place alone. */
  readonly line = new WaitingLine<Waiter>();

  /**
   * Fewer failures, fewer runs, fewer affinities, less load, more memory. Affinities come before the load, which is
   * told every few seconds: all conversations that begin between two heartbeats would go to one place.
   */
  ranksBefore(other: PlaceLoad): boolean {
    return (
      (this.failures - other.failures ||
        this.running - other.running ||
        this.affinities.size - other.affinities.size ||
        this.load - other.load ||
        other.memoryFree - this.memoryFree) < 0
    );
  }
}

/** Calls that run in one place. */
export class Affinity extends LineItem {
  /** Where it stays; `null`: it has no place yet, or none any more. */
  place: PlaceLoad | null = null;
  /** Whether something has begun in its place. */
  hasRun = false;
  /** Whether its place is lost, and no call of it knows. */
  isUntold = false;
  /** The place that is lost. */
  lostPlace: PlaceLoad | null = null;
  /** Whether a run of it was lost, which tells of the place. */
  isTold = false;
  /** Why it is not where it was, for the next result. */
  note: string | null = null;
  /** Calls that have not ended. */
  calls = 0;
  running = 0;
  /** The call that seeks a place for it. */
  seeker: Waiter | null = null;
  /** Calls that wait until it has a place, or until it is known what became of the last ones. */
  readonly waiting = new WaitingLine<Waiter>();

  constructor(readonly key: unknown) {
    super();
  }
}

/** A call that waits for a place. `order` is that of the calls. */
export class Waiter extends LineItem {
  constructor(
    readonly affinity: Affinity | null,
    /** The call has a place. */
    readonly onPlace: (place: PlaceLoad) => void,
    /** The place of its affinity is lost. */
    readonly onLost: () => void,
  ) {
    super();
  }
}

/** Why affinities leave a place: it is lost, or it is given up with this note. */
export type Departure = { lost: true } | { lost: false; note: string };

/**
 * Decides which call goes to which place, and when. Knows neither targets nor time: places are opened and closed from
 * outside. A call costs the logarithm of the number of places.
 */
export class Placement<Place extends PlaceLoad> {
  readonly #perPlace: number;
  /** The places that take a run now. */
  readonly #free = new PlaceHeap<PlaceLoad>();
  /** Calls that may go anywhere. None waits while a place is free. */
  readonly line = new WaitingLine<Waiter>();
  readonly #affinities = new Map<unknown, Affinity>();
  readonly #used = new WaitingLine<Affinity>();
  #calls = 0;
  #uses = 0;

  constructor(perPlace: number) {
    this.#perPlace = perPlace;
  }

  /** Returns the affinity with this key, which is made if it is new. */
  affinity(key: unknown): Affinity {
    const affinity = this.#affinities.get(key) ?? new Affinity(key);
    this.#affinities.set(key, affinity);
    this.#touch(affinity);
    this.#forgetOldest();
    return affinity;
  }

  /** Returns the place of an affinity. */
  placeOf(key: unknown): Place | null {
    return (this.#affinities.get(key)?.place ?? null) as Place | null;
  }

  /** Forgets the affinity with this key, unless a call of it has not ended. */
  drop(key: unknown): void {
    const affinity = this.#affinities.get(key);
    if (affinity?.calls === 0) this.#forget(affinity);
  }

  #forget(affinity: Affinity): void {
    affinity.place?.affinities.delete(affinity);
    this.#rank(affinity.place);
    this.#affinities.delete(affinity.key);
    if (affinity.line) this.#used.remove(affinity);
  }

  /** Numbers a new call, which goes before all later ones also if it comes back. */
  admit(waiter: Waiter): void {
    this.#calls += 1;
    waiter.order = this.#calls;
    if (waiter.affinity) waiter.affinity.calls += 1;
  }

  /** A call is over that neither waits nor runs. */
  dismiss({ affinity }: Waiter): void {
    if (affinity) affinity.calls -= 1;
  }

  /** Gives a call a place, now or once there is one. */
  request(waiter: Waiter): void {
    const { affinity } = waiter;
    if (affinity?.isUntold) this.#tellLoss(waiter, affinity);
    else if (affinity?.place) this.#enter(waiter, affinity.place);
    else if (affinity?.seeker) affinity.waiting.insert(waiter);
    else {
      if (affinity) affinity.seeker = waiter;
      this.#seek(waiter);
    }
  }

  /** Removes a call that waits. */
  withdraw(waiter: Waiter): void {
    const { affinity, line } = waiter;
    line?.remove(waiter);
    if (affinity?.seeker !== waiter) return;
    affinity.seeker = null;
    this.#requestNext(affinity);
  }

  /** A run has left its place. */
  leave(place: Place, affinity: Affinity | null): void {
    place.running -= 1;
    if (affinity) {
      affinity.running -= 1;
      if (affinity.running === 0 && affinity.place === null) this.#requestAll(affinity.waiting);
    }
    this.#serve(place);
  }

  /** A call leaves its place before it has begun there. Its affinity seeks another one if nothing of it has. */
  retreat(place: Place, affinity: Affinity | null): void {
    if (affinity?.place === place && !affinity.hasRun && affinity.running === 1) {
      affinity.place = null;
      place.affinities.delete(affinity);
    }
    this.leave(place, affinity);
  }

  /** Lets a place take runs, or no new ones. What waits for it stays. */
  open(place: Place, isOpen: boolean): void {
    place.isOpen = isOpen;
    this.#serve(place);
  }

  /** Ranks a place anew whose load, memory or failures have changed. */
  rank(place: Place): void {
    this.#rank(place);
  }

  /** Lets all affinities leave a place. Their calls that wait seek another one. */
  free(place: Place, why: Departure): void {
    for (const affinity of place.affinities) {
      affinity.place = null;
      if (affinity.hasRun && why.lost) {
        affinity.isUntold = !affinity.isTold;
        affinity.lostPlace = place;
      }
      if (affinity.hasRun && !why.lost) affinity.note = why.note;
      affinity.hasRun = false;
      affinity.isTold = false;
    }
    place.affinities.clear();
    this.#rank(place);
    this.#requestAll(place.line);
  }

  /** Tells of the loss by this call, unless runs that have not ended will. */
  #tellLoss(waiter: Waiter, affinity: Affinity): void {
    if (affinity.running > 0) {
      affinity.waiting.insert(waiter);
    } else {
      affinity.isUntold = false;
      waiter.onLost();
      affinity.lostPlace = null;
    }
  }

  #seek(waiter: Waiter): void {
    const best = this.#free.best;
    if (best) this.#start(waiter, best);
    else this.line.insert(waiter);
  }

  #enter(waiter: Waiter, place: PlaceLoad): void {
    if (place.isOpen && place.running < this.#perPlace && place.line.first === null) this.#start(waiter, place);
    else place.line.insert(waiter);
  }

  #start(waiter: Waiter, place: PlaceLoad): void {
    const { affinity } = waiter;
    place.running += 1;
    if (affinity) {
      affinity.running += 1;
      affinity.seeker = null;
      if (affinity.place === null) {
        affinity.place = place;
        place.affinities.add(affinity);
      }
    }
    this.#rank(place);
    waiter.onPlace(place);
    if (affinity) this.#requestAll(affinity.waiting);
  }

  /** Starts what waits for a place or for any, the oldest first. */
  #serve(place: PlaceLoad): void {
    while (place.isOpen && place.running < this.#perPlace) {
      const [own, any] = [place.line.first, this.line.first];
      const next = own && any ? (own.order < any.order ? own : any) : (own ?? any);
      if (next === null) break;
      next.line?.remove(next);
      this.#start(next, place);
    }
    this.#rank(place);
  }

  #rank(place: PlaceLoad | null): void {
    if (place === null) return;
    if (place.isOpen && place.running < this.#perPlace) this.#free.put(place);
    else this.#free.remove(place);
  }

  #requestAll(line: WaitingLine<Waiter>): void {
    for (const waiter of line.takeAll()) this.request(waiter);
  }

  #requestNext(affinity: Affinity): void {
    const next = affinity.waiting.first;
    if (next === null) return;
    affinity.waiting.remove(next);
    this.request(next);
  }

  /** Marks an affinity as the one that was used last. */
  #touch(affinity: Affinity): void {
    if (affinity.line) this.#used.remove(affinity);
    this.#uses += 1;
    affinity.order = this.#uses;
    this.#used.insert(affinity);
  }

  /** Forgets the affinity that was used least recently. One with calls counts as used. */
  #forgetOldest(): void {
    const oldest = this.#used.first;
    if (oldest === null || this.#used.length <= MAX_AFFINITIES) return;
    if (oldest.calls > 0) this.#touch(oldest);
    else this.#forget(oldest);
  }
}
