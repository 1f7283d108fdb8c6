import type { PageEvents, PageFailure } from '../../wire.ts';
import { EventParser } from './sse.ts';

const TOKEN = 'agent-bash-token';
/** Time in ms without data after which a stream counts as broken. */
const SILENCE_MS = 40_000;
/** Delays in ms before each attempt to reconnect. */
const RETRY_MS = [250, 500, 1_000, 2_000, 5_000];

/** A request that the server refused. */
export class Refused extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** The state of the page's connection to its server. */
export type Connection = 'connecting' | 'open' | 'broken' | 'signed-out';

/** The server of this page. */
export class Server {
  #token = sessionStorage.getItem(TOKEN) ?? '';
  #last = '';
  #tries = 0;
  /** Called when the connection changes. */
  onConnection: (connection: Connection) => void = () => {};
  onEvent: <Name extends keyof PageEvents>(name: Name, data: PageEvents[Name]) => void = () => {};

  /** Removes the code from the address and exchanges it for a token. */
  async signIn(): Promise<void> {
    const code = location.hash.slice(1);
    if (code === '') return;
    history.replaceState(null, '', location.pathname);
    try {
      const { token } = await this.post<{ token: string }>('sign-in', { code });
      this.#token = token;
      sessionStorage.setItem(TOKEN, token);
    } catch {
      // Going back opens a used link again in a tab that is already signed in.
    }
  }

  /** Sends an action. Rejects with `Refused`. */
  post<Answer>(path: string, body: object): Promise<Answer> {
    const headers = { 'Content-Type': 'application/json', ...this.#authorization };
    return this.#json(path, { method: 'POST', headers, body: JSON.stringify(body) });
  }

  /** Asks for data. Rejects with `Refused`. */
  get<Answer>(path: string, parameters: Record<string, string>): Promise<Answer> {
    return this.#json(`${path}?${new URLSearchParams(parameters)}`, { headers: this.#authorization });
  }

  /** Receives events while the tab is signed in. */
  async listen(): Promise<void> {
    for (;;) {
      this.onConnection('connecting');
      const isSignedOut = await this.#receive().then(
        () => false,
        (error) => error instanceof Refused && error.status === 401,
      );
      if (isSignedOut) return this.onConnection('signed-out');
      this.onConnection('broken');
      const wait = RETRY_MS[Math.min(this.#tries, RETRY_MS.length - 1)];
      this.#tries += 1;
      await new Promise((resolve) => setTimeout(resolve, wait));
    }
  }

  get #authorization(): Record<string, string> {
    return this.#token === '' ? {} : { Authorization: `Bearer ${this.#token}` };
  }

  async #json<Answer>(path: string, init: RequestInit): Promise<Answer> {
    let response: Response;
    try {
      response = await fetch(`/api/${path}`, init);
    } catch {
      throw new Refused(0, 'the server of this page cannot be reached');
    }
    const value = (await response.json()) as Answer & Partial<PageFailure>;
    if (!response.ok) throw new Refused(response.status, value.error?.message ?? response.statusText);
    return value;
  }

  async #receive(): Promise<void> {
    const ending = new AbortController();
    let alive = setTimeout(() => ending.abort(), SILENCE_MS);
    try {
      const headers = { ...this.#authorization, ...(this.#last && { 'Last-Event-ID': this.#last }) };
      const response = await fetch('/api/events', { headers, signal: ending.signal });
      if (!response.ok || !response.body) throw new Refused(response.status, response.statusText);
      this.#tries = 0;
      this.onConnection('open');
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      const parser = new EventParser();
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return;
        clearTimeout(alive);
        alive = setTimeout(() => ending.abort(), SILENCE_MS);
        for (const { id, name, data } of parser.add(value)) {
          this.#last = id;
          this.onEvent(name as keyof PageEvents, JSON.parse(data));
        }
      }
    } finally {
      clearTimeout(alive);
      ending.abort();
    }
  }
}
