import type { Board } from '../board/board.ts';
import { HostConnection, type HostError } from '../host/connection.ts';
import type { Hosts } from '../host/hosts.ts';
import type { PageRun } from '../wire.ts';
import type { Follow, OutputSink } from './sink.ts';
import type { FileTail } from './tail.ts';

/**
 * Follows a run on a connection of its own: it can be stopped without stopping what a host reports of its other runs.
 * `instead` follows a run that its host does not have any more, or whose host is not there.
 */
function followRun(hosts: Hosts, host: string, key: string, sink: OutputSink, instead: () => Follow): Follow {
  let accepted = false;
  let other: Follow | null = null;
  let started = false;
  let closed = false;
  let ended = false;
  const connection = new HostConnection(hosts.socketOf(host), false, {
    message(message) {
      if (closed) return;
      if ('screen' in message) {
        sink.screen(message.screen);
        ended ||= message.screen.end;
      }
      if (!('output' in message)) return;
      const { output } = message;
      // The first text may begin in the midst.
      sink.output(started ? output : { ...output, gap: output.at }, !started);
      started = true;
      ended ||= output.end;
    },
    closed() {
      // Before, the request has failed.
      if (accepted && !closed && !ended) sink.none('Its host has closed the connection.');
      closed ||= accepted;
    },
  });
  connection.hello
    .then(() => connection.request({ do: 'follow', run: key }))
    .then(() => {
      accepted = true;
    })
    .catch(({ code, message }: HostError) => {
      const isFirst = !closed && !started;
      closed = true;
      connection.close();
      const isGone = code === 'gone' || code === 'unreachable';
      if (isFirst && isGone) other = instead();
      else if (isFirst) sink.none(`Its output cannot be followed: ${message}.`);
    });
  return {
    pause: () => (other ?? connection).pause(),
    resume: () => (other ?? connection).resume(),
    close() {
      closed = true;
      connection.close();
      other?.close();
    },
  };
}

/** Where the output of a run comes from. */
export interface FollowPlaces {
  board: Board;
  hosts: Hosts;
  /** The file with the output of a run that no host follows, and whether it still grows; `null` if there is none. */
  fileOf(id: string): Promise<{ path: string; grows: () => boolean } | null>;
  tail(path: string, grows: () => boolean, sink: OutputSink): FileTail;
}

/** Returns the name of a run in its host. */
function keyOf({ id }: PageRun): string {
  return id.slice(id.indexOf(':') + 1);
}

/** Follows a run or a task by its name, or a run of the ledger by its run id. */
export function follow(places: FollowPlaces, id: string, sink: OutputSink): Follow {
  const run = places.board.known(id) ?? places.board.byRunId(id);
  const fromFile = () => followFile(places, id, sink);
  // A host keeps the output of the last runs for a while.
  if (run?.host == null || !places.board.hasHost(run.host)) return fromFile();
  return followRun(places.hosts, run.host, keyOf(run), sink, fromFile);
}

function followFile(places: FollowPlaces, id: string, sink: OutputSink): Follow {
  let tail: FileTail | null = null;
  let closed = false;
  const start = async () => {
    const file = await places.fileOf(id);
    if (closed) return;
    if (file) tail = places.tail(file.path, file.grows, sink);
    else sink.none('Its output is not kept.');
  };
  start().catch((error: Error) => {
    if (!closed) sink.none(`Its output cannot be read: ${error.message}.`);
  });
  return {
    pause: () => tail?.pause(),
    resume: () => tail?.resume(),
    close() {
      closed = true;
      tail?.close();
    },
  };
}
