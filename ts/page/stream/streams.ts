import type { ServerResponse } from 'node:http';
import type { Welcome } from '../wire.ts';
import type { FollowPlaces } from './follow.ts';
import { EventStream } from './stream.ts';

/** Most tabs at once. */
const MOST = 32;
/** Time in ms that a tab has to reconnect before its stream is closed. */
const AWAY_MS = 10_000;

/** The streams of all tabs. */
export class Streams {
  readonly #places: FollowPlaces;
  readonly #welcome: Omit<Welcome, 'stream'>;
  readonly #watched: (isWatched: boolean) => void;
  readonly #streams = new Map<string, { stream: EventStream; away: NodeJS.Timeout | null }>();

  /** `watched` is called when the first stream opens and when the last one closes. */
  constructor(places: FollowPlaces, welcome: Omit<Welcome, 'stream'>, watched: (isWatched: boolean) => void) {
    this.#places = places;
    this.#welcome = welcome;
    this.#watched = watched;
  }

  get(id: string): EventStream | undefined {
    return this.#streams.get(id)?.stream;
  }

  /**
   * Sends events to a response. `last` is the id of the last event that its tab received, `STREAM.NUMBER`. Returns
   * false if there are too many tabs.
   */
  open(response: ServerResponse, last: string | null): boolean {
    const [id = '', number = ''] = last?.split('.') ?? [];
    let known = this.#streams.get(id);
    if (!known) {
      if (this.#streams.size >= MOST && !this.#closeOne()) return false;
      if (this.#streams.size === 0) this.#watched(true);
      known = { stream: new EventStream(this.#places, this.#welcome), away: null };
      this.#streams.set(known.stream.id, known);
    }
    const { stream } = known;
    if (known.away) clearTimeout(known.away);
    known.away = null;
    stream.attach(response, /^\d{1,15}$/.test(number) ? Number(number) : null);
    response.on('close', () => {
      const now = this.#streams.get(stream.id);
      if (now && !stream.isConnected) now.away ??= setTimeout(() => this.#close(stream), AWAY_MS).unref();
    });
    return true;
  }

  close(): void {
    for (const { stream } of [...this.#streams.values()]) this.#close(stream);
  }

  /** Closes a stream without a connection. Returns whether there was one. */
  #closeOne(): boolean {
    const away = [...this.#streams.values()].find(({ stream }) => !stream.isConnected);
    if (away) this.#close(away.stream);
    return away !== undefined;
  }

  #close(stream: EventStream): void {
    const known = this.#streams.get(stream.id);
    if (known?.away) clearTimeout(known.away);
    this.#streams.delete(stream.id);
    stream.close();
    if (this.#streams.size === 0) this.#watched(false);
  }
}
