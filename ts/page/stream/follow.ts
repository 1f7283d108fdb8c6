import { type Board, keyOf } from '../board/board.ts';
import { HostConnection, type HostError } from '../host/connection.ts';
import type { Hosts } from '../host/hosts.ts';
import type { Follow, OutputSink } from './sink.ts';
import type { FileTail } from './tail.ts';

/**
 * Follows a run on a connection of its own, which can be paused while the host still reports its other runs. `instead`
 * starts to follow in another way if the host cannot be reached or no longer has the run.
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
      // The first text may begin in the middle of the output.
      sink.output(started ? output : { ...output, gap: output.at }, !started);
      started = true;
      ended ||= output.end;
    },
    closed() {
      // Before that, the failed request reports it.
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

/** The sources of output. */
export interface FollowPlaces {
  board: Board;
  hosts: Hosts;
  /** Returns the file with the output of a run without a host, and whether it still grows; `null` if there is none. */
  fileOf(id: string): Promise<{ path: string; grows: () => boolean } | null>;
  tail(path: string, grows: () => boolean, sink: OutputSink): FileTail;
}

/** Follows a run or a task by its id, or a run of the ledger by its run id. */
export function follow(places: FollowPlaces, id: string, sink: OutputSink): Follow {
  const run = places.board.known(id) ?? places.board.byRunId(id);
  const fromFile = () => followFile(places, id, sink);
  // A host keeps the output of recently ended runs.
  if (run?.host == null || !places.board.hasHost(run.host)) return fromFile();
  return followRun(places.hosts, run.host, keyOf(run.id), sink, fromFile);
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
