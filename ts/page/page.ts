import { homedir } from 'node:os';
import { version } from '../../package.json';
import { SIGNED_IN, type SignsIn } from '../core/inner.ts';
import { Actions } from './actions.ts';
import { Aftermath } from './board/aftermath.ts';
import { Board } from './board/board.ts';
import { Owners } from './board/owners.ts';
import { Recent } from './board/recent.ts';
import { OrphanedTasks } from './board/tasks.ts';
import { DraftDesk } from './draft/draft-desk.ts';
import { OpenDrafts } from './draft/open-drafts.ts';
import { History } from './history.ts';
import { Hosts } from './host/hosts.ts';
import { answerWith } from './http/routes.ts';
import { listen } from './http/server.ts';
import { SignIn } from './http/sign-in.ts';
import type { FollowPlaces } from './stream/follow.ts';
import { Streams } from './stream/streams.ts';
import { FileTail } from './stream/tail.ts';
import type { Assets, Page } from './types.ts';

/** Serves a page that connects to hosts while a tab is open. `where` returns the directory of their sockets. */
export async function servePage(control: boolean, port: number, where: () => string | null, assets: Assets) {
  const board = new Board();
  const hosts = new Hosts(where, control, board);
  const tasks = new OrphanedTasks(board);
  const history = new History();
  const aftermath = new Aftermath(board, history);
  // Tasks outlive their host: they are scanned before its runs are reported as lost.
  hosts.ending = (host) => tasks.scan(host);
  hosts.lost = (runs) => aftermath.of(runs);
  const drafts = new OpenDrafts(board);
  const parts = [hosts, tasks, drafts, new Recent(board, history), new Owners(board, history)];
  const streams = new Streams(
    placesOf(board, hosts, tasks, history),
    { control, version, home: homedir() },
    (isWatched) => {
      for (const part of parts) isWatched ? part.start() : part.stop();
    },
  );
  const signIn = new SignIn();
  const signedIn = new Promise<void>((resolve) => {
    signIn.used = resolve;
  });
  const actions = new Actions(board, hosts, tasks);
  const desk = new DraftDesk(drafts);
  const server = await listen(port, answerWith({ assets, signIn, streams, history, actions, desk, control }));
  return {
    get url() {
      return `${server.origin}/#${signIn.code}`;
    },
    port: server.port,
    async close() {
      streams.close();
      await server.close();
    },
    [SIGNED_IN]: signedIn,
  } satisfies Page & SignsIn;
}

function placesOf(board: Board, hosts: Hosts, tasks: OrphanedTasks, history: History): FollowPlaces {
  return {
    board,
    hosts,
    async fileOf(id) {
      const { taskId, runId } = board.known(id) ?? { taskId: null, runId: id };
      if (taskId !== null) {
        const path = tasks.log(taskId);
        if (path !== null) return { path, grows: () => board.run(id) !== undefined };
      }
      const entry = runId === '' ? null : await history.entry(runId);
      return entry?.outputPath ? { path: entry.outputPath, grows: () => false } : null;
    },
    tail: (path, grows, sink) => new FileTail(path, grows, sink),
  };
}
