import { existsSync, mkdtempSync, realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bash } from 'agent-bash';
import { afterAll } from 'vitest';
import { ADDON, finished, mark, remove, until } from '../support/index.ts';
import { Client, type Message } from './support.ts';

const { pageAnswers } = createRequire(import.meta.url)(ADDON) as { pageAnswers: () => boolean };

/** Makes this very process listen in a directory of its own during the tests of a file. */
export function listenHere(): void {
  const runtime = mkdtempSync(join(realpathSync(tmpdir()), 'agent-bash-test-'));
  process.env.XDG_RUNTIME_DIR = runtime;
  afterAll(() => remove(runtime));
}

/** A page that may answer the questions of a process. */
export class Page extends Client {
  readonly #seen = new Set<string>();

  /** Opens the page. Waits until the process listens. */
  static async open(pid = process.pid, runtime = process.env.XDG_RUNTIME_DIR): Promise<Page> {
    const path = join(runtime ?? '', 'agent-bash/hosts', `${pid}.sock`);
    await until(() => existsSync(path), 'the process listens');
    const page = new Page(path);
    await page.greet(true);
    await page.watch();
    if (pid === process.pid) {
      await page.#refresh();
      finished(async () => {
        if (!page.socket.destroyed) await page.settled();
        await page.leave();
      });
    }
    return page;
  }

  /** Waits for a state of this process that is newer than the page: the first one may have runs that just ended. */
  async #refresh(): Promise<void> {
    const ending = new AbortController();
    const command = `sleep ${mark()}`;
    const running = bash(command, { signal: ending.signal, ledger: false });
    await this.run((run) => run.command === command);
    ending.abort();
    await running;
  }

  /** Closes the page, and waits until this process has noticed. */
  async leave(): Promise<void> {
    this.socket.destroy();
    await until(() => !pageAnswers(), 'the page has left');
  }

  /** The questions that wait, the oldest first. */
  asks(): Message[] {
    const all = this.messages.flatMap(({ state, change }) => state?.asks ?? change?.asks ?? []);
    return all.filter((ask) => !this.#isGone(ask));
  }

  /** Whether a question was answered or withdrawn. */
  #isGone(ask: Message): boolean {
    return this.messages.some(({ change }) => change?.answered.includes(ask.key));
  }

  /** Waits for the next question. */
  async asked(): Promise<Message> {
    const ask = await until(() => this.asks().find(({ key }) => !this.#seen.has(key)), 'a question');
    this.#seen.add(ask.key);
    return ask;
  }

  /** Waits for the next question, and answers it. */
  async answer(approved: boolean, reason?: string): Promise<Message> {
    const ask = await this.asked();
    await this.request({ do: 'answer', ask: ask.key, approved, ...(reason !== undefined && { reason }) });
    return ask;
  }

  /** Waits until a question was answered or withdrawn. */
  async gone(ask: Message): Promise<void> {
    await until(() => this.#isGone(ask), 'the question is gone');
  }

  /** Waits until no question is left. */
  async settled(): Promise<void> {
    await until(() => this.asks().length === 0, 'no question is left');
  }
}
