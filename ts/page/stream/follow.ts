import type { Board } from '../board/board.ts';
import { HostConnection, type HostError } from '../host/connection.ts';
import type { Hosts } from '../host/hosts.ts';
import type { Follow, OutputSink } from './sink.ts';
import type { FileTail } from './tail.ts';

/**
 * Follows a run on a connection of its own: it can be stopped without stopping what a host reports of its other runs.
 */
export function followRun(hosts: Hosts, host: string, key: string, sink: OutputSink): Follow {
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
      if (!closed && !ended) sink.none('Its host has closed the connection.');
      closed = true;
    },
  });
  connection.hello
    .then(() => connection.request({ do: 'follow', run: key }))
    .catch((error: HostError) => {
      if (!closed && !started) sink.none(reasonOf(error));
      closed = true;
      connection.close();
    });
  return {
    pause: () => connection.pause(),
    resume: () => connection.resume(),
    close() {
      closed = true;
      connection.close();
    },
  };
}

function reasonOf(error: HostError): string {
  if (error.code === 'gone') return 'It has ended, and its output is not kept.';
  return `Its output cannot be followed: ${error.message}.`;
}

/** Where the output of a run comes from. */
export interface FollowPlaces {
  board: Board;
  hosts: Hosts;
  /** The file with the output of a run that no host follows, and whether it still grows; `null` if there is none. */
  fileOf(id: string): Promise<{ path: string; grows: () => boolean } | null>;
  tail(path: string, grows: () => boolean, sink: OutputSink): FileTail;
}

/** Follows a run or a task by its name, or a run of the ledger by its run id. */
export function follow(places: FollowPlaces, id: string, sink: OutputSink): Follow {
  const run = places.board.run(id) ?? places.board.byRunId(id);
  if (run?.host != null) return followRun(places.hosts, run.host, run.id.slice(run.id.indexOf(':') + 1), sink);
  return followFile(places, id, sink);
}

function followFile(places: FollowPlaces, id: string, sink: OutputSink): Follow {
  let tail: FileTail | null = null;
  let closed = false;
  const start = async () => {
    const file = await places.fileOf(id);
    if (closed) return;
    if (file) tail = places.tail(file.path, file.grows, sink);
    else sink.none('It has ended, and its output is not kept.');
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
