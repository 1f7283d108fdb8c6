/** What a place of a heap is ranked by. */
export interface Ranked {
  /** The index in the heap; -1: it is not in it. */
  heapIndex: number;
  ranksBefore(other: this): boolean;
}

/** Places by their rank. A change costs the logarithm of their number. */
export class PlaceHeap<Place extends Ranked> {
  readonly #places: Place[] = [];

  /** The place that ranks first. */
  get best(): Place | undefined {
    return this.#places[0];
  }

  /** Puts a place where its rank is now, whether it was in the heap or not. */
  put(place: Place): void {
    if (place.heapIndex < 0) {
      place.heapIndex = this.#places.length;
      this.#places.push(place);
    }
    this.#sink(this.#rise(place.heapIndex));
  }

  /** Removes a place, if it is in the heap. */
  remove(place: Place): void {
    const index = place.heapIndex;
    if (index < 0) return;
    const last = this.#places.pop() as Place;
    place.heapIndex = -1;
    if (last === place) return;
    this.#set(index, last);
    this.#sink(this.#rise(index));
  }

  #rise(index: number): number {
    const place = this.#places[index] as Place;
    while (index > 0) {
      const above = (index - 1) >> 1;
      const other = this.#places[above] as Place;
      if (!place.ranksBefore(other)) break;
      this.#set(index, other);
      index = above;
    }
    this.#set(index, place);
    return index;
  }

  #sink(index: number): void {
    const place = this.#places[index] as Place;
    for (;;) {
      const left = 2 * index + 1;
      let below = left;
      const [one, other] = [this.#places[left], this.#places[left + 1]];
      if (one === undefined) break;
      if (other?.ranksBefore(one)) below = left + 1;
      const best = this.#places[below] as Place;
      if (!best.ranksBefore(place)) break;
      this.#set(index, best);
      index = below;
    }
    this.#set(index, place);
  }

  #set(index: number, place: Place): void {
    this.#places[index] = place;
    place.heapIndex = index;
  }
}
