import type { BashPrompt, BashSnapshot, Bridge, OutputChunk } from '../native.cjs';
import { callSecrets } from './confine/native.ts';
import { type Call, type RunEvent, settled } from './core/calls.ts';
import { failureOf, messageOf } from './core/listener.ts';
import { StreamsEnd, streamsIn } from './core/streams.ts';
import { draftOf, endingWithDraft, runningIn } from './draft/handle.ts';
import { type PlacedCall, poolOf } from './fleet/handle.ts';
import { runOnPlace } from './fleet/placed.ts';
import { Observer } from './observe/observer.ts';
import { checkOptions, checkPlace } from './options.ts';
import { finished, isUnfinished } from './reduce/finish.ts';
import { exitOf, handleOf, tasksOf } from './registry/handle.ts';
import { type BackgroundRegistry, defaultRegistry } from './registry/index.ts';
import { begin, directoryOf, prefixed } from './request.ts';
import { type BashResult, resultOf } from './result.ts';
import { thereOf } from './target/handle.ts';
import type { Target } from './target/types.ts';
import type { CommandOptions, PlacedOptions } from './types.ts';

/**
 * Runs a command; see `bash` of the main entry. The function is asynchronous as a whole, so it never throws
 * synchronously.
 */
export async function run(command: string, options: CommandOptions = {}): Promise<BashResult> {
  checkOptions('bash', command, options);
  checkPlace(options);
  const pool = poolOf(options.target);
  if (!pool) return runOn(command, options as PlacedOptions);
  const runThere = async (target: Target, call: PlacedCall) => {
    const given = withRegistry({ ...options, target });
    const result = await runOn(command, given);
    if (result.status === 'backgrounded') call.holdUntil(exitOf(given.registry, result.background));
    return result;
  };
  const affinity = options.affinity ?? handleOf(options.registry)?.affinity;
  return runOnPlace(pool, options, affinity, runThere, () => neverRun(options));
}

/** Returns the result of a command that was aborted before it had a place. */
export function neverRun({ timeoutMs }: CommandOptions): Promise<BashResult> {
  return runOn(':', { timeoutMs, signal: AbortSignal.abort(), safety: 'off', ledger: false });
}

/** Runs a command here or on one target. */
async function runOn(command: string, own: PlacedOptions): Promise<BashResult> {
  const options = endingWithDraft(own);
  const calls = callSecrets(options);
  if (calls) await calls;
  const given = withRegistry(options);
  const kind = given.mode === 'background' ? 'task' : 'command';
  const observer = Observer.of(kind, command, options, () => directoryOf(options));
  const tasks = observer && tasksOf(given.registry);
  const streams = streamsIn(options);
  const end = streams && new StreamsEnd(streams);
  const call = {
    begin: (way) => begin(way, command, observer?.withVariables(given) ?? given, observer),
    kind: 'result',
    onEvent: (way, id, event) => onRunEvent(way, id, event, options, observer, end),
    signal: options.signal,
    abort: (way, id) => {
      way.abort(id);
      observer?.kill('abort');
    },
    target: thereOf(options.target)?.id,
  } satisfies Omit<Call<'result', unknown>, 'answer'>;
  const ran = isUnfinished(given)
    ? settled({ ...call, answer: (event) => event }).then((event) =>
        finished(event, prefixed(command, given.prefix), given),
      )
    : settled({ ...call, answer: (event) => resultOf(event, given) });
  const run = observer ? observer.follow(ran, tasks) : ran;
  return options.draft ? runningIn(options.draft, run).then((result) => endTaskWithDraft(result, given)) : run;
}

/** Lets the task that a command became end with its draft. */
export function endTaskWithDraft(result: BashResult, { draft, registry }: PlacedOptions): BashResult {
  const { background } = result;
  if (background && registry) draftOf(draft)?.tasks.add(() => (registry as BackgroundRegistry).kill(background));
  return result;
}

/** Adds the default registry for a command that starts in the background or moves there. */
export function withRegistry(options: PlacedOptions): PlacedOptions {
  const needed = options.mode === 'background' || options.onTimeout === 'background';
  return needed && options.registry === undefined ? { ...options, registry: defaultRegistry(options.target) } : options;
}

/** Passes the event of a running command on to its listeners. */
export function onRunEvent(
  way: Bridge,
  id: number,
  event: RunEvent,
  options: CommandOptions,
  observer: Observer | undefined,
  streams?: StreamsEnd | undefined,
): void {
  switch (event.kind) {
    case 'started':
      streams?.onStarted(event.pid, (bytes) => way.feed(id, bytes));
      observer?.started(event.pid, event.cwd);
      break;
    case 'output':
      void onOutput(way, id, options, event.chunk, observer, streams);
      break;
    case 'snapshot':
      void onSnapshot(way, id, options, event.snapshot);
      break;
    case 'prompt':
      void onPrompt(way, id, options, event.prompt);
      break;
    case 'allocate':
      allocate(way, id, options, event.stream);
      break;
    case 'exited':
      streams?.onExited();
      break;
    case 'fed':
      streams?.onFed(event.open);
      break;
    case 'data':
      // A terminal takes its data itself.
      break;
    default:
      event satisfies never;
  }
}

async function onOutput(
  way: Bridge,
  id: number,
  options: CommandOptions,
  chunk: OutputChunk,
  observer: Observer | undefined,
  streams: StreamsEnd | undefined,
): Promise<void> {
  observer?.output(streams?.asText(chunk) ?? chunk);
  way.outputTaken(id, await failureOf(() => options.onOutput?.(chunk)));
}

async function onSnapshot(way: Bridge, id: number, options: CommandOptions, snapshot: BashSnapshot): Promise<void> {
  way.snapshotTaken(id, await failureOf(() => options.onSnapshot?.(snapshot)));
}

async function onPrompt(way: Bridge, id: number, options: CommandOptions, prompt: BashPrompt): Promise<void> {
  way.promptTaken(id, await failureOf(() => options.onPrompt?.(prompt)));
}

function allocate(way: Bridge, id: number, { spill }: CommandOptions, stream: 'stdout' | 'stderr'): void {
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
