import { setTimeout } from 'node:timers/promises';
import { type BashError, connect, type PlaceStats, type Target, type TargetAddress, TargetPool } from 'agent-bash';
import { EXIT, Failure, paint, print, printable, printJson, remark } from './console.ts';
import { interruptible } from './interruption.ts';
import { readPool } from './pool-file.ts';

interface PoolOptions {
  try?: boolean;
  json?: boolean;
}

/** A place as the table shows it. */
interface Row {
  id: string;
  state: PlaceStats['state'] | 'unreachable';
  host: string | null;
  load: number | null;
  memoryFree: number | null;
  rttMs: number | null;
  /** Why it cannot be reached. */
  error: string | null;
}

/** Time between two tables on a terminal, ms. */
const EVERY_MS = 2_000;

/** `agent-bash pool FILE`: connects the machines of a pool, and shows how they are until a signal on a terminal. */
export async function pool(file: string, { try: tries, json }: PoolOptions): Promise<void> {
  const { signal, code } = interruptible();
  const { options, login } = await readPool(file, signal);
  const targets = (options.targets ?? []) as TargetAddress[];
  const found = await Promise.all(targets.map((address, index) => reached(address, index, signal)));
  const { provider } = options;
  try {
    if (tries) found.push(await made(options, signal));
    else if (provider && !json) await remark('places of the provider are made when they are needed: --try makes one');
    const rows = () => found.map(rowOf);
    if (json) await printJson(rows());
    else await show(rows, signal);
    if (found.every(({ target }) => target === null)) process.exitCode = EXIT.failed;
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    await Promise.all(found.map(({ close }) => close()));
    await login?.close();
  }
  process.exitCode = code() ?? process.exitCode;
}

/** A machine of the pool, or why it cannot be reached. */
interface Found {
  id: string;
  target: Target | null;
  stats(): PlaceStats | undefined;
  error: string | null;
  close(): Promise<void>;
}

async function reached(address: TargetAddress, index: number, signal: AbortSignal): Promise<Found> {
  try {
    const target = await connect({ ...address, signal });
    const alone = new TargetPool({ targets: [target] });
    return { id: target.id, target, error: null, stats: () => alone.stats()[0], close: () => target.close() };
  } catch (error) {
    if (signal.aborted || (error as BashError).code === 'ERR_BASH_INVALID_ARG') throw Failure.of(error, EXIT.usage);
    return unreachable((error as BashError).target ?? `targets[${index}]`, error);
  }
}

/** Makes one place of the provider, which is released in the end. */
async function made(options: ConstructorParameters<typeof TargetPool>[0], signal: AbortSignal): Promise<Found> {
  const { provider } = options;
  if (!provider) throw new Failure('ERR_BASH_INVALID_ARG', '--try is for a pool with a provider', EXIT.usage);
  const alone = new TargetPool({ ...options, targets: [], min: 0, max: 1 });
  try {
    const { target } = await alone.acquire({ signal });
    return { id: target.id, target, error: null, stats: () => alone.stats()[0], close: () => alone.close() };
  } catch (error) {
    await alone.close();
    if (signal.aborted) throw error;
    return unreachable('provider', error);
  }
}

function unreachable(id: string, error: unknown): Found {
  return { id, target: null, error: (error as Error).message, stats: () => undefined, close: async () => {} };
}

function rowOf({ id, target, error, stats }: Found): Row {
  const { state, load, memoryFree } = stats() ?? { state: 'unreachable' as const, load: null, memoryFree: null };
  const { hostName = null, rttMs = null } = target?.info ?? {};
  return { id, state, host: hostName, load, memoryFree, rttMs: rttMs && Math.round(rttMs * 10) / 10, error };
}

/** Prints the table, on a terminal again and again in the same place. */
async function show(rows: () => Row[], signal: AbortSignal): Promise<void> {
  const isLive = process.stdout.isTTY === true;
  let lines = 0;
  do {
    if (lines > 0) process.stdout.write(`\u001b[${lines}A\u001b[J`);
    const text = table(rows());
    lines = text.length;
    for (const line of text) await print(line);
    if (isLive) await setTimeout(EVERY_MS, undefined, { signal });
  } while (isLive && !signal.aborted);
}

const HEAD = ['PLACE', 'STATE', 'HOST', 'LOAD', 'MEMORY FREE', 'ROUND TRIP', ''];

function table(rows: Row[]): string[] {
  const cells = rows.map(({ id, state, host, load, memoryFree, rttMs, error }) => [
    printable(id),
    state,
    printable(host ?? ''),
    load?.toFixed(2) ?? '',
    memoryFree === null ? '' : `${(memoryFree / 2 ** 30).toFixed(1)} GiB`,
    rttMs === null ? '' : `${rttMs} ms`,
    printable(error ?? ''),
  ]);
  const widths = HEAD.map((name, column) => Math.max(name.length, ...cells.map((row) => row[column]?.length ?? 0)));
  const line = (row: string[]) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd();
  return [paint('dim', line(HEAD)), ...cells.map(line)];
}
