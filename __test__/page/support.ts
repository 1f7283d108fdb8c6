import { request as httpRequest, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { endTasks, Hosts } from '../host/support.ts';
import { finished, type Host, stateFolder, until } from '../support/index.ts';

/** Any event of a page. `ts/page/wire.ts` has their types. */
// biome-ignore lint/suspicious/noExplicitAny: the tests look at parts of events
export type Data = any;

/** A response of a page. */
export interface Reply {
  status: number;
  headers: IncomingMessage['headers'];
  text: string;
  /** The code of a refusal; '' for another reply. */
  code: string;
  json: Data;
}

export interface Sent {
  method?: string | undefined;
  headers?: Record<string, string | string[]> | undefined;
  body?: string | Uint8Array | undefined;
}

/** Pages that processes of their own serve, with hosts and a ledger that no other test uses. */
export class Pages {
  readonly hosts = new Hosts();
  /** `XDG_STATE_HOME` */
  readonly state = stateFolder();
  readonly env: Record<string, string>;

  /** `runtime` is the `XDG_RUNTIME_DIR`. */
  constructor(runtime?: string) {
    const env = { XDG_STATE_HOME: this.state, XDG_RUNTIME_DIR: runtime ?? this.hosts.runtime };
    this.env = { ...env, AGENT_BASH_LEDGER: 'on' };
    finished(() => endTasks(join(this.state, 'agent-bash')));
  }

  /** Starts a host that these pages show, with a ledger. */
  host(source: string): Host {
    return this.hosts.start(source, { env: this.env });
  }

  /** Serves a page in a process that also runs `source`. */
  async serve(options: { control?: boolean; port?: number } = {}, source = ''): Promise<Page> {
    const process = this.host(`
      import { startPage } from 'agent-bash/page';
      const page = await startPage(${JSON.stringify(options)});
      const link = () => console.log('LINK ' + page.url);
      link();
      process.on('SIGUSR2', link);
      process.on('SIGTERM', async () => { await page.close(); console.log('CLOSED'); });
      ${source}`);
    const [, port = ''] = await process.says(/LINK http:\/\/127\.0\.0\.1:(\d+)\/#/);
    return new Page(process, Number(port));
  }
}

/** A page that is served. */
export class Page {
  readonly host: Host;
  readonly port: number;
  readonly origin: string;

  constructor(host: Host, port: number) {
    this.host = host;
    this.port = port;
    this.origin = `http://127.0.0.1:${port}`;
  }

  /** The codes of all links so far. */
  get codes(): string[] {
    return [...this.host.stdout().matchAll(/LINK \S+#(\S+)/g)].map(([, code = '']) => code);
  }

  /** Waits for another link, and returns its code. */
  async another(): Promise<string> {
    const { length } = this.codes;
    this.host.process.kill('SIGUSR2');
    return await until(() => this.codes[length], 'another link');
  }

  /** Sends a request with a browser's headers. `headers` replace them, and an empty one removes its header. */
  send(target: string, { method = 'GET', headers = {}, body }: Sent = {}): Promise<Reply> {
    const all: Record<string, string | string[]> = {
      Host: `127.0.0.1:${this.port}`,
      'Sec-Fetch-Site': 'same-origin',
      ...(method === 'POST' && { Origin: this.origin, 'Content-Type': 'application/json' }),
      ...headers,
    };
    const given = Object.entries(all).filter(([, value]) => value !== '');
    return new Promise((resolve, reject) => {
      const request = httpRequest({
        port: this.port,
        host: '127.0.0.1',
        method,
        path: target,
        agent: false,
        setHost: false,
        headers: Object.fromEntries(given),
      });
      request.on('error', reject).on('response', (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (piece) => {
          text += piece;
        });
        response.on('error', reject).on('end', () => resolve(replyOf(response, text)));
      });
      request.end(body);
    });
  }

  /** Signs a tab in with the newest code, or another one. */
  async signIn(code = this.codes.at(-1) ?? ''): Promise<Tab> {
    const { json } = await this.post('/api/sign-in', { code });
    if (!json.token) throw new Error(`not signed in: ${JSON.stringify(json)}`);
    return new Tab(this, json.token);
  }

  /** Sends a POST request with a JSON body. */
  post(target: string, fields: object, headers: Sent['headers'] = {}): Promise<Reply> {
    return this.send(target, { method: 'POST', headers, body: JSON.stringify(fields) });
  }

  /** Sends raw bytes. Returns everything received until the server closes. */
  raw(text: string | Uint8Array, ...later: string[]): Promise<string> {
    return new Promise((resolve) => {
      let said = '';
      const socket = connect(this.port, '127.0.0.1', () => {
        socket.write(text);
        for (const piece of later) socket.write(piece);
      });
      finished(() => {
        socket.destroy();
      });
      socket.setEncoding('utf8').on('data', (piece) => {
        said += piece;
      });
      socket.on('error', () => {}).on('close', () => resolve(said));
    });
  }
}

function replyOf({ statusCode = 0, headers }: IncomingMessage, text: string): Reply {
  const json = text.startsWith('{') ? JSON.parse(text) : {};
  return { status: statusCode, headers, text, json, code: json.error?.code ?? '' };
}

/** A tab that is signed in. */
export class Tab {
  readonly page: Page;
  readonly token: string;

  constructor(page: Page, token: string) {
    this.page = page;
    this.token = token;
  }

  get authorization(): Record<string, string> {
    return { Authorization: `Bearer ${this.token}` };
  }

  get(target: string): Promise<Reply> {
    return this.page.send(target, { headers: this.authorization });
  }

  post(target: string, fields: object): Promise<Reply> {
    return this.page.post(target, fields, this.authorization);
  }

  /** Opens the stream of events, after the event `last` if it is given. */
  async events(last?: string): Promise<Events> {
    const events = new Events(this, last);
    await until(() => events.status !== 0, 'the stream is answered');
    return events;
  }

  /** Follows the output of a run in a stream. */
  async follow(events: Events, run: string): Promise<void> {
    const { json } = await this.post('/api/follow', { stream: events.welcome.stream, run });
    if (json.error) throw new Error(json.error.message);
  }
}

/** The events of a tab. */
export class Events {
  status = 0;
  readonly all: { id: string; name: string; data: Data; at: number }[] = [];
  closed = false;
  response: IncomingMessage | null = null;
  #rest = '';

  constructor({ page, authorization }: Tab, last?: string) {
    const headers = {
      Host: `127.0.0.1:${page.port}`,
      ...authorization,
      ...(last !== undefined && { 'Last-Event-ID': last }),
    };
    const options = { port: page.port, host: '127.0.0.1', path: '/api/events', agent: false, headers };
    const request = httpRequest(options, (response) => {
      this.response = response;
      response.setEncoding('utf8').on('data', (text) => this.#read(text));
      response
        .on('error', () => {})
        .on('close', () => {
          this.closed = true;
        });
      this.status = response.statusCode ?? 0;
    });
    request.on('error', () => {});
    request.end();
    finished(() => {
      request.destroy();
    });
  }

  #read(text: string): void {
    const blocks = (this.#rest + text).split('\n\n');
    this.#rest = blocks.pop() ?? '';
    for (const block of blocks) {
      if (block === ':') continue;
      const [, id = '', name = '', data = 'null'] = /^id: (.*)\nevent: (.*)\ndata: ([^\n]*)$/.exec(block) ?? [];
      this.all.push({ id, name, data: JSON.parse(data), at: performance.now() });
    }
  }

  /** Breaks the connection. */
  close(): void {
    this.response?.destroy();
  }

  /** The data of all events of a name. */
  named(name: string): Data[] {
    return this.all.filter((event) => event.name === name).map(({ data }) => data);
  }

  get welcome(): Data {
    return this.named('welcome')[0];
  }

  /** Everything that the page shows, by id. */
  get view(): { runs: Map<string, Data>; ended: Map<string, Data>; asks: Map<string, Data>; hosts: Data[] } {
    const view = { runs: new Map(), ended: new Map(), asks: new Map(), hosts: [] as Data[] };
    for (const { name, data } of this.all) {
      if (name === 'state') for (const map of [view.runs, view.ended, view.asks]) map.clear();
      if (name !== 'state' && name !== 'change') continue;
      for (const id of data.removed ?? []) view.runs.delete(id);
      for (const run of data.runs) {
        view.runs.set(run.id, run);
        view.ended.delete(run.id);
      }
      for (const end of data.ended) view.ended.set(end.id, end);
      for (const ask of data.asks) view.asks.set(ask.id, ask);
      for (const id of data.answered ?? []) view.asks.delete(id);
      view.hosts = data.hosts ?? view.hosts;
    }
    return view;
  }

  /** All drafts; `undefined` before the first event. */
  get drafts(): Data[] | undefined {
    return this.all.findLast(({ data }) => data?.drafts)?.data.drafts;
  }

  /** The runs that have not ended. */
  get live(): Data[] {
    const { runs, ended } = this.view;
    return [...runs.values()].filter(({ id }) => !ended.has(id));
  }

  /** Waits for a run that has not ended. */
  run(is: (run: Data) => unknown, bound?: number): Promise<Data> {
    return until(() => this.live.find(is), `a run with ${is}`, bound) as Promise<Data>;
  }

  /** Waits for the end of a run. */
  end(id: string, is: (end: Data) => unknown = () => true, bound?: number): Promise<Data> {
    return until(
      () => {
        const end = this.view.ended.get(id);
        return end && is(end) && end;
      },
      `the end of ${id} with ${is}`,
      bound,
    ) as Promise<Data>;
  }

  /** The outputs of a run since its last start. */
  outputs(run: string): Data[] {
    const all = this.named('output').filter((output) => output.run === run);
    return all.slice(
      Math.max(
        0,
        all.findLastIndex(({ start }) => start),
      ),
    );
  }

  text(run: string): string {
    return this.outputs(run)
      .map(({ text }) => text)
      .join('');
  }

  /** The bytes that are missing in the output of a run. */
  gap(run: string): number {
    return this.outputs(run).reduce((sum, { gap }) => sum + gap, 0);
  }
}

/** Serves a page and signs a tab in. */
export async function served(control = true) {
  const pages = new Pages();
  const page = await pages.serve({ control });
  return { pages, page, tab: await page.signIn() };
}

/** Serves a page, signs a tab in and opens its stream. */
export async function opened(control = true) {
  const { pages, page, tab } = await served(control);
  const events = await tab.events();
  await until(() => events.named('state').length > 0, 'the state');
  return { pages, page, tab, events };
}

/** Returns a test for runs whose command contains a word. */
export const named = (word: string) => (run: Data) => run.command.includes(word);
