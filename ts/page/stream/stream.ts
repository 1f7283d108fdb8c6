import { randomBytes } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import type { Board } from '../board/board.ts';
import type { Screen } from '../host/protocol.ts';
import type { PageEvents, PageScreen, Welcome } from '../wire.ts';
import { OutputQueue } from './budget.ts';
import { type FollowPlaces, follow } from './follow.ts';
import { Merged } from './merged.ts';
import { Sent } from './sent.ts';
import type { Follow, OutputSink } from './sink.ts';

/** Time in ms between two updates, for at most 30 per second. */
const UPDATE_MS = 34;
/** Time in ms between two heartbeats. */
const ALIVE_MS = 5_000;
/**
 * Consecutive heartbeats that a tab may leave unread before it is disconnected. They take less time than the 30 seconds
 * after which a host drops its reader.
 */
const UNREAD = 3;
/** Most changes that wait for a tab. If there are more, the tab gets the whole state instead. */
const WAITING = 2_000;

/** The events of one tab. The stream outlives a broken connection and continues when the tab reconnects. */
export class EventStream {
  readonly id = randomBytes(12).toString('base64url');
  readonly #board: Board;
  readonly #places: FollowPlaces;
  readonly #welcome: Omit<Welcome, 'stream'>;
  readonly #changes = new Merged();
  readonly #sent = new Sent();
  readonly #unlisten: () => void;
  #output = new OutputQueue();
  #screen: PageScreen | null = null;
  #followed: { run: string; follow: Follow } | null = null;
  #response: ServerResponse | null = null;
  #timer: NodeJS.Timeout | null = null;
  #heart: NodeJS.Timeout | null = null;
  #unread = 0;
  #last = 0;
  /** Whether the next update is the whole state. */
  #stale = true;

  constructor(places: FollowPlaces, welcome: Omit<Welcome, 'stream'>) {
    this.#board = places.board;
    this.#places = places;
    this.#welcome = welcome;
    this.#unlisten = places.board.listen((change) => {
      if (this.#stale) return;
      this.#changes.add(change);
      if (this.#changes.size > WAITING) this.#stale = true;
      this.#soon();
    });
  }

  get isConnected(): boolean {
    return this.#response !== null;
  }

  /** Sends all further events to this response. `last` is the number of the last event that the tab received. */
  attach(response: ServerResponse, last: number | null): void {
    this.#response?.end();
    this.#detach();
    this.#response = response;
    response.on('close', () => {
      if (this.#response === response) this.#detach();
    });
    response.on('drain', () => {
      this.#unread = 0;
      this.#soon();
    });
    this.#unread = 0;
    this.#heart = setInterval(() => this.#heartbeat(response), ALIVE_MS);
    const missed = last === null ? null : this.#sent.after(last);
    if (missed) for (const text of missed) response.write(text);
    else {
      this.#event('welcome', { stream: this.id, ...this.#welcome });
      this.#sendState();
      if (this.#followed) this.follow(this.#followed.run);
    }
    this.#followed?.follow.resume();
    this.#soon();
  }

  /** Follows the output of a run, or of none, instead of the current one. */
  follow(run: string | null): void {
    this.#followed?.follow.close();
    this.#followed = null;
    this.#output = new OutputQueue();
    this.#screen = null;
    if (run !== null) this.#followed = { run, follow: follow(this.#places, run, this.#sinkFor(run)) };
  }

  /** Ends the stream for good. */
  close(): void {
    this.#unlisten();
    this.follow(null);
    this.#response?.end();
    this.#detach();
  }

  #sinkFor(run: string): OutputSink {
    return {
      output: (piece, start) => {
        this.#output.add(piece, start);
        if (this.#output.isFull) this.#followed?.follow.pause();
        this.#soon();
      },
      screen: (screen: Screen) => {
        this.#screen = { ...screen, run };
        this.#soon();
      },
      none: (why) => this.#event('no-output', { run, why }),
    };
  }

  #detach(): void {
    this.#response = null;
    if (this.#heart) clearInterval(this.#heart);
    if (this.#timer) clearTimeout(this.#timer);
    this.#heart = null;
    this.#timer = null;
    this.#followed?.follow.pause();
  }

  #heartbeat(response: ServerResponse): void {
    if (!response.writableNeedDrain) response.write(':\n\n');
    else if (++this.#unread >= UNREAD) response.destroy();
  }

  #sendState(): void {
    this.#changes.clear();
    this.#stale = false;
    this.#event('state', this.#board.state);
  }

  #soon(): void {
    if (this.#timer || !this.#response || this.#response.writableNeedDrain) return;
    const wait = Math.max(0, this.#last + UPDATE_MS - performance.now());
    this.#timer = setTimeout(() => this.#update(), wait);
  }

  #update(): void {
    this.#timer = null;
    this.#last = performance.now();
    if (this.#stale) this.#sendState();
    const changes = this.#changes.take();
    if (changes) this.#event('change', changes);
    const run = this.#followed?.run;
    if (run === undefined) return;
    if (this.#screen) this.#event('screen', this.#screen);
    this.#screen = null;
    const output = this.#output.take(this.#last);
    if (output) this.#event('output', { run, ...output });
    if (!this.#output.isFull) this.#followed?.follow.resume();
    if (!this.#output.isEmpty) this.#soon();
  }

  #event<Name extends keyof PageEvents>(name: Name, data: PageEvents[Name]): void {
    const text = `id: ${this.id}.${this.#sent.next}\nevent: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
    this.#sent.add(text);
    this.#response?.write(text);
  }
}
