import { resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import {
  BackgroundRegistry,
  type BackgroundTask,
  BashError,
  type BashOptions,
  bash,
  type PtySession,
} from 'agent-bash';
import { linkedAbort, unlessAborted } from '../../core/abort.ts';
import { innerOf } from '../../core/inner.ts';
import { type OptionTable, PLAIN } from '../../core/option-names.ts';
import { checkOptionNames } from '../../tool/options.ts';
import { allEnded } from '../shared/all-ended.ts';
import type { Commands } from '../shared/commands.ts';
import type { Lifetime } from '../shared/lifetime.ts';
import { needs } from '../shared/needs.ts';
import { startWith } from '../shared/running-command.ts';
import { atOnce } from '../shared/tail.ts';
import { startTask } from './agent-tasks.ts';
import type { AcpAgentSession } from './agent-types.ts';
import { connectionOf, type Opened } from './client.ts';
import { type Facts, Feed, type Listener } from './feed.ts';
import { type ExitStatus, exitOf } from './terminal.ts';

/** Time that a client has to take the last updates of a closed session, or of a run at its limit, in ms. */
const LAST_UPDATES_MS = 1_000;

const OF_STARTS: OptionTable = { cwd: PLAIN };
const OF_RUNS: OptionTable = { ...OF_STARTS, timeoutMs: PLAIN, signal: PLAIN };
const OF_TERMINALS: OptionTable = { ...OF_STARTS, command: PLAIN, cols: PLAIN, rows: PLAIN };

/** A terminal whose exit was not told yet. */
interface Shown {
  feed: Feed;
  isTask: boolean;
  /** Ends its processes. `null` once they have ended. */
  end: (() => Promise<unknown>) | null;
}

/** Runs the commands of one session, and shows them to its client. */
export class AgentSession implements AcpAgentSession {
  readonly sessionId: string;
  readonly connection: unknown;
  readonly #commands: Commands;
  readonly #client: Listener;
  readonly #open: Opened<AgentSession>;
  readonly #lifetime: Lifetime;
  /** The registry of tasks without one of the host, once there are any. */
  #ownRegistry: BackgroundRegistry | undefined;
  readonly #sanitize: BashOptions['sanitize'];
  readonly #shown = new Map<string, Shown>();
  #ending: Promise<void> | undefined;

  constructor(open: Opened<AgentSession>, client: Listener, sessionId: string) {
    const { commands } = open;
    this.sessionId = sessionId;
    this.connection = connectionOf(client);
    this.#commands = commands;
    this.#client = client;
    this.#open = open;
    this.#lifetime = commands.lifetime.within();
    this.#sanitize = atOnce(commands.options.sanitize);
  }

  async run(command: string, call: Parameters<AcpAgentSession['run']>[1] = {}) {
    this.#check('run', call, OF_RUNS);
    const { feed, facts } = this.#placed(command, call.cwd);
    const { controller, unlink } = linkedAbort([this.#commands.options.signal, call.signal]);
    const { signal } = controller;
    const end = async () => {
      controller.abort();
      await running;
    };
    let shown: Feed | undefined;
    const show = () => {
      shown ??= this.#show(feed, facts, running.then(exitOf), end);
      return shown;
    };
    const running = this.#commands.run(command, {
      ...call,
      cwd: facts.cwd,
      signal,
      lifetime: this.#lifetime,
      merge: true,
      sanitize: this.#sanitize,
      start: startWith({ started: show }),
      // The output of a short command may come before its start is known.
      onOutput: ({ text }) => show().push(text),
    });
    try {
      const result = await running;
      const { told } = show();
      // A client that takes nothing holds back what comes next, unless that is aborted or has reached its limit.
      await unlessAborted(result.status === 'timed-out' ? soon(told) : told, signal);
      return { ...result, terminalId: feed.terminalId };
    } finally {
      unlink();
    }
  }

  async start(command: string, call: Parameters<AcpAgentSession['start']>[1] = {}) {
    this.#check('start', call, OF_STARTS);
    const { feed, facts } = this.#placed(command, call.cwd);
    const held = { cwd: facts.cwd, sanitize: this.#sanitize, lifetime: this.#lifetime };
    const { begun } = await this.#commands.begin(command, held, (text, options) => {
      const registry = this.#registry;
      return startTask(registry, text, options, feed, (task, ended) => {
        this.#show(feed, facts, ended.then(exitOfTask), () => registry.kill(task), true);
      });
    });
    return { terminalId: feed.terminalId, task: begun };
  }

  async attach(pty: PtySession, options: Parameters<AcpAgentSession['attach']>[1]) {
    needs('pty', pty, ['on', 'off', 'wait', 'result', 'kill'], { name: 'agent-bash', lowest: '0.1.0' });
    this.#check('attach', options, OF_TERMINALS);
    const { command, cwd, cols = 80, rows = 24 } = options;
    for (const [name, size] of Object.entries({ cols, rows })) {
      if (!Number.isInteger(size) || size < 1) throw innerOf(bash).invalid(name, size, 'a whole number from 1');
    }
    const { feed, facts } = this.#placed(command, cwd);
    const started = pty.wait({ timeoutMs: 0 });
    // Output without a listener is dropped, so the listener is there before the start is known.
    const onData = async (text: string) => {
      await started;
      await feed.push(text);
    };
    pty.on('data', onData);
    try {
      await started;
      this.#checkOpen();
    } catch (error) {
      pty.off('data', onData);
      throw error;
    }
    const ended = pty.result().finally(() => pty.off('data', onData));
    this.#show(feed, { ...facts, size: { cols, rows } }, ended.then(exitOf), () => pty.kill());
    return { terminalId: feed.terminalId };
  }

  background() {
    const tasks = [...this.#shown.values()].filter(({ isTask }) => isTask);
    return tasks.map(({ feed }) => ({ type: 'terminal' as const, terminalId: feed.terminalId }));
  }

  /** Ends the processes of a terminal. Returns `undefined`, and does nothing, if there are none. */
  cancel(terminalId: string): Promise<unknown> | undefined {
    return this.#shown.get(terminalId)?.end?.();
  }

  async close(): Promise<void> {
    await this.#open.end((session) => session === this);
    await this.end();
  }

  end(): Promise<void> {
    this.#ending ??= this.#end();
    return this.#ending;
  }

  async #end(): Promise<void> {
    const over = this.#lifetime.end();
    // What is about to start is shown then, or will never start.
    await Promise.allSettled([over]);
    const shown = [...this.#shown.values()];
    // Tasks of the host go on.
    for (const { feed, isTask } of shown) if (isTask && !this.#ownRegistry) feed.stop();
    const ends = shown.filter(({ isTask }) => !isTask).map(({ end }) => end?.() ?? Promise.resolve());
    try {
      await allEnded([over, ...ends, this.#ownRegistry?.close() ?? Promise.resolve()]);
    } finally {
      await soon(Promise.all(shown.map(({ feed }) => feed.told)));
      for (const { feed } of shown) feed.stop();
    }
  }

  get #registry(): BackgroundRegistry {
    const { registry } = this.#commands.options;
    if (registry) return registry;
    this.#ownRegistry ??= new BackgroundRegistry();
    return this.#ownRegistry;
  }

  #placed(command: string, cwd = '.'): { feed: Feed; facts: Facts } {
    for (const [name, text] of Object.entries({ command, cwd })) {
      if (typeof text !== 'string') throw innerOf(bash).invalid(name, text, 'a string');
    }
    const facts = { command, cwd: resolve(this.#commands.folder, cwd) };
    return { feed: new Feed(this.#client, this.sessionId), facts };
  }

  #show(feed: Feed, facts: Facts, ended: Promise<ExitStatus>, end: Shown['end'], isTask = false): Feed {
    const shown: Shown = { feed, isTask, end };
    this.#shown.set(feed.terminalId, shown);
    feed.begin(facts);
    const unknown: ExitStatus = { exitCode: null };
    void ended
      .catch(() => unknown)
      .then((exit) => {
        shown.end = null;
        return feed.end(exit);
      });
    void feed.told.then(() => this.#shown.delete(feed.terminalId));
    return feed;
  }

  #check(name: keyof AcpAgentSession, options: object, table: OptionTable): void {
    this.#checkOpen();
    checkOptionNames(name, options, table);
  }

  #checkOpen(): void {
    if (this.#ending === undefined) return;
    throw new BashError('ERR_BASH_CLOSED', `the session ${JSON.stringify(this.sessionId)} is closed`);
  }
}

/** Waits for the last updates, for a moment. */
async function soon(told: Promise<unknown>): Promise<void> {
  const late = new AbortController();
  const over = told.then(() => late.abort());
  await Promise.race([over, pause(LAST_UPDATES_MS, undefined, { signal: late.signal }).catch(() => {})]);
}

/** Returns the exit of a task: its code, `null` if nobody knows it, and the signal that has ended it. */
function exitOfTask({ exitCode, signal }: BackgroundTask): ExitStatus {
  return { exitCode, ...(signal !== null && { signal }) };
}
