import { undo } from 'agent-bash';
import { type Board, keyOf } from './board/board.ts';
import type { OrphanedTasks } from './board/tasks.ts';
import { HostError } from './host/connection.ts';
import type { Hosts } from './host/hosts.ts';
import type { HostRequest } from './host/protocol.ts';
import { Refusal } from './http/guard.ts';
import type { PageUndo } from './wire.ts';

/** Most paths of one kind in a response. */
const PATHS = 200;

/** A request to a host, without the name of its run or ask. */
type Wanted = { do: 'stop' } | { do: 'input'; text: string };

/** The actions of a person on the page. Each method rejects with `Refusal` if its action is not possible. */
export class Actions {
  readonly #board: Board;
  readonly #hosts: Hosts;
  readonly #tasks: OrphanedTasks;

  constructor(board: Board, hosts: Hosts, tasks: OrphanedTasks) {
    this.#board = board;
    this.#hosts = hosts;
    this.#tasks = tasks;
  }

  /** Terminates a run and its descendants. */
  async stop(id: string): Promise<void> {
    const run = this.#board.run(id);
    if (run && run.host === null && run.taskId !== null) {
      await this.#tasks.stopTask(run.taskId).catch((error: Error) => {
        throw new Refusal(409, 'failed', error.message);
      });
    } else await this.#ask(id, { do: 'stop' });
  }

  /** Answers a prompt, or types into a terminal. */
  async input(id: string, text: string): Promise<void> {
    await this.#ask(id, { do: 'input', text });
  }

  /** Approves or denies a command that waits for approval. */
  async answer(id: string, approved: boolean, reason: string | undefined): Promise<void> {
    const ask = this.#board.ask(id);
    if (!ask) throw new Refusal(409, 'gone', 'this question was answered already');
    const words = reason?.trim();
    const request = { do: 'answer', ask: keyOf(id), approved, ...(words && { reason: words }) } as const;
    await this.#send(ask.host, request);
  }

  /** Takes back what a run has changed. */
  async undo(runId: string): Promise<PageUndo> {
    return undoneOf(await undo(runId).catch(refused));
  }

  /** Returns what an undo would do now. */
  async forecast(runId: string): Promise<PageUndo> {
    return undoneOf(await undo(runId, { dryRun: true }).catch(refused));
  }

  async #ask(id: string, wanted: Wanted): Promise<void> {
    const run = this.#board.run(id);
    if (!run) throw new Refusal(409, 'gone', 'this command has ended');
    if (run.host === null) throw new Refusal(409, 'gone', 'the host of this task has ended, and it takes no input');
    await this.#send(run.host, { ...wanted, run: keyOf(id) });
  }

  async #send(host: string, request: HostRequest): Promise<void> {
    try {
      await this.#hosts.request(host, request);
    } catch (error) {
      if (error instanceof HostError) throw new Refusal(409, error.code, error.message);
      throw error;
    }
  }
}

/** Returns what an undo did, with a bounded number of paths. */
function undoneOf({ restored, removed, conflicts, notCovered }: Awaited<ReturnType<typeof undo>>): PageUndo {
  return {
    restored: restored.slice(0, PATHS),
    removed: removed.slice(0, PATHS),
    conflicts: conflicts.slice(0, PATHS).map(({ path, why, keptAt }) => ({
      path,
      why: keptAt === null ? why : `${why}; what was there before is kept at ${keptAt}`,
    })),
    notCovered: notCovered.slice(0, PATHS),
    more: [restored, removed, conflicts].reduce((sum, list) => sum + Math.max(0, list.length - PATHS), 0),
  };
}

function refused(error: Error): never {
  throw new Refusal(409, 'failed', error.message);
}
