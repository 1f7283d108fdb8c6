/** An event of a stream. */
export interface StreamEvent {
  id: string;
  name: string;
  data: string;
}

/** Splits the text of an event stream into its events. */
export class EventParser {
  #rest = '';

  /** Returns the events that this text completes. */
  add(text: string): StreamEvent[] {
    const blocks = (this.#rest + text).split('\n\n');
    this.#rest = blocks.pop() as string;
    return blocks.map(eventOf).filter((event) => event !== null);
  }
}

function eventOf(block: string): StreamEvent | null {
  const event: StreamEvent = { id: '', name: '', data: '' };
  for (const line of block.split('\n')) {
    const colon = line.indexOf(': ');
    const [name, value] = [line.slice(0, colon), line.slice(colon + 2)];
    if (name === 'id') event.id = value;
    else if (name === 'event') event.name = value;
    else if (name === 'data') event.data = value;
  }
  // A heartbeat is a block without an event.
  return event.name === '' ? null : event;
}
