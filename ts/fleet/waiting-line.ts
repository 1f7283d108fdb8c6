/** An item of one line at a time. Items with a lower `order` come first. */
export class LineItem {
  order = 0;
  line: WaitingLine<LineItem> | null = null;
  previous: LineItem | null = null;
  next: LineItem | null = null;
}

/** A line in which items can be removed anywhere. All steps take constant time for items that arrive in their order. */
export class WaitingLine<Item extends LineItem> {
  first: Item | null = null;
  #last: Item | null = null;
  length = 0;

  /** Puts an item into its place by `order`, behind equal ones. */
  insert(item: Item): void {
    let before: LineItem | null = this.#last;
    // An item that comes back goes to the front, mostly.
    if (this.first !== null && item.order < this.first.order) before = null;
    while (before !== null && before.order > item.order) before = before.previous;
    const next = before === null ? this.first : before.next;
    item.line = this as unknown as WaitingLine<LineItem>;
    item.previous = before;
    item.next = next;
    if (before === null) this.first = item;
    else before.next = item;
    if (next === null) this.#last = item;
    else next.previous = item;
    this.length += 1;
  }

  /** Removes an item of this line. */
  remove(item: Item): void {
    if (item.previous === null) this.first = item.next as Item | null;
    else item.previous.next = item.next;
    if (item.next === null) this.#last = item.previous as Item | null;
    else item.next.previous = item.previous;
    item.line = null;
    item.previous = null;
    item.next = null;
    this.length -= 1;
  }

  /** Returns the item with this many before it. */
  at(index: number): Item | null {
    let item = this.first;
    for (let left = index; item !== null && left > 0; left -= 1) item = item.next as Item | null;
    return item;
  }

  /** Removes all items, and returns them in their order. */
  takeAll(): Item[] {
    const items: Item[] = [];
    for (let item = this.first; item !== null; item = this.first) {
      this.remove(item);
      items.push(item);
    }
    return items;
  }
}
