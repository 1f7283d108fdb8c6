import type { BashPrompt, BashResult, BashSnapshot, Bridge, NativeEvent, OutputChunk } from '../native.cjs';
import { settled } from './bridge';
import { tasksOf } from './handle';
import { failureOf, messageOf } from './listener';
import { Observer } from './observe/observer';
import { checkOptions } from './options';
import { defaultRegistry } from './registry';
import { folder, toNative } from './request';
import { STREAMS, type Streams, StreamsEnd } from './streams';
import type { BashOptions } from './types';

/** Runs a command; see `bash` of the main entry. Never throws synchronously: it is asynchronous as a whole. */
export async function run(command: string, options: BashOptions = {}): Promise<BashResult> {
  checkOptions(command, options);
  const given = withRegistry(options);
  const kind = given.mode === 'background' ? 'task' : 'command';
  const observer = Observer.of(kind, command, options, () => folder(options.cwd));
  const tasks = observer && tasksOf(given.registry);
  const request = toNative(command, given, observer);
  const streams = (options as { [STREAMS]?: Streams })[STREAMS];
  const end = streams && new StreamsEnd(streams);
  const ran = settled<BashResult>({
    ask: (way) => way.start(...request),
    answer: (event) => event.result,
    meanwhile: (way, event) => {
      end?.hear(event, (bytes) => way.feed(event.id, bytes));
      tell(way, event, options, observer, end);
    },
    signal: options.signal,
    abort: (way, id) => {
      way.abort(id);
      observer?.kill('abort');
    },
  });
  return observer ? observer.follow(ran, tasks) : ran;
}

/** What goes to the background needs a registry to go to. */
export function withRegistry(options: BashOptions): BashOptions {
  const needed = options.mode === 'background' || options.onTimeout === 'background';
  return needed && options.registry === undefined ? { ...options, registry: defaultRegistry() } : options;
}

/** Passes on what a command has to say while it runs. */
export function tell(
  way: Bridge,
  event: NativeEvent,
  options: BashOptions,
  observer: Observer | undefined,
  streams?: StreamsEnd | undefined,
): void {
  const { id } = event;
  if (event.started !== undefined) observer?.started(event.started, event.cwd);
  else if (event.output) void hear(way, id, options, event.output, observer, streams);
  else if (event.snapshot) void see(way, id, options, event.snapshot);
  else if (event.prompt) void ask(way, id, options, event.prompt);
  else if (event.allocate) allocate(way, id, options, event.allocate);
}

async function hear(
  way: Bridge,
  id: number,
  { onOutput }: BashOptions,
  chunk: OutputChunk,
  observer: Observer | undefined,
  streams: StreamsEnd | undefined,
): Promise<void> {
  observer?.output(streams?.asText(chunk) ?? chunk);
  way.heard(id, await failureOf(() => onOutput?.(chunk)));
}

async function see(way: Bridge, id: number, { onSnapshot }: BashOptions, snapshot: BashSnapshot): Promise<void> {
  way.seen(id, await failureOf(() => onSnapshot?.(snapshot)));
}

async function ask(way: Bridge, id: number, { onPrompt }: BashOptions, prompt: BashPrompt): Promise<void> {
  way.prompted(id, await failureOf(() => onPrompt?.(prompt)));
}

function allocate(way: Bridge, id: number, { spill }: BashOptions, stream: 'stdout' | 'stderr'): void {
  try {
    const place = typeof spill === 'object' ? spill.allocate?.(stream) : null;
    if (!place) way.allocated(id, stream, null, null, 'nothing was allocated');
    else if (typeof place.id === 'string' && typeof place.path === 'string') {
      way.allocated(id, stream, place.id, place.path);
    } else way.allocated(id, stream, null, null, 'allocate gave no id and path');
  } catch (error) {
    way.allocated(id, stream, null, null, messageOf(error));
  }
}
