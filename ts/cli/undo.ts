import { realpathSync } from 'node:fs';
import { resolve } from 'node:path';
import { bash, type Undone, type UndoPoint, type UndoRunOptions, undoPoints, undo as undoRun } from 'agent-bash';
import { innerOf } from '../core/inner.ts';
import { EXIT, Failure, paint, print, printable, printJson, remark } from './console.ts';
import { brieflyOn, type TargetFlags, wordsOf } from './destination.ts';
import { age } from './values.ts';

/** Options of `agent-bash undo`. */
export interface UndoFlags extends TargetFlags {
  dryRun?: boolean;
  path?: string[];
  list?: boolean;
  all?: boolean;
  store?: string;
  cwd?: string;
  json?: boolean;
}

/** The store, and where it is. */
type Place = Pick<UndoRunOptions, 'target' | 'dir'>;

/** `agent-bash undo [RUN]`: takes back the changes of a run, or lists the runs that can be undone. */
export async function undo(run: string | undefined, options: UndoFlags): Promise<void> {
  const { list: lists, dryRun, path } = options;
  if (lists && (run !== undefined || path || dryRun)) {
    throw new Failure('ERR_BASH_INVALID_ARG', '--list takes no run, --path or --dry-run', EXIT.usage);
  }
  // An empty word, for example from an unset variable, would stand for this whole directory.
  if (path?.includes('')) throw new Failure('ERR_BASH_INVALID_ARG', '--path takes no empty path', EXIT.usage);
  await brieflyOn(options, (target) => {
    const place = { ...(target && { target }), ...(options.store !== undefined && { dir: options.store }) };
    return lists ? list(options, place) : takeBack(run, options, place);
  });
}

async function takeBack(run: string | undefined, options: UndoFlags, place: Place): Promise<void> {
  const { dryRun = false, path } = options;
  const what: UndoRunOptions = { ...place, ...(path && { paths: path }) };
  const undone = await undoRun(run ?? (await newestHere(what, await here(options, place))), { ...what, dryRun });
  // A conflict leaves something as the run left it, which scripts must notice.
  if (undone.conflicts.length > 0) process.exitCode = EXIT.failed;
  if (options.json) return printJson(undone);
  for (const line of report(undone, options)) await print(line);
}

async function list(options: UndoFlags, place: Place): Promise<void> {
  const points = await undoPoints({ ...place, ...(!options.all && { cwd: await here(options, place) }) });
  if (options.json) return printJson(points);
  if (points.length === 0) {
    return remark(
      options.all ? 'there is nothing to undo' : 'there is nothing to undo in this directory: --all lists every run',
    );
  }
  for (const line of table(points, Date.now())) await print(line);
}

/**
 * Returns the directory whose runs are meant: that of `--cwd`, or else the current one, and on a target that in which
 * commands start. Runs have real paths.
 */
async function here({ cwd = '.' }: UndoFlags, { target }: Place): Promise<string> {
  if (!target) return realpathSync(resolve(cwd));
  return (await bash('pwd -P', { target, cwd, ledger: false })).stdout.replace(/\n$/, '');
}

/**
 * Returns the newest run of this directory that changed something, was not undone and is no undo. Called again and
 * again it goes back from run to run.
 */
async function newestHere(what: UndoRunOptions, cwd: string): Promise<string> {
  const run = await innerOf(bash).newestToUndo(cwd, what);
  if (run !== null) return run;
  throw new Failure(
    'ERR_BASH_UNDO',
    'there is nothing to undo in this directory: agent-bash undo --list --all lists every run',
  );
}

const HEAD = ['RUN', 'STARTED', 'COVERS', 'COMMAND'];

function table(points: UndoPoint[], now: number): string[] {
  const rows = [
    HEAD,
    ...points.map(({ runId, at, covers, evicted, command }) => [
      runId,
      `${age(now - at)} ago`,
      evicted === null ? covers : 'gone',
      printable(command),
    ]),
  ];
  const widths = HEAD.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows.map((row, index) => {
    const cells = row.map((cell, column) => (column === row.length - 1 ? cell : cell.padEnd(widths[column] ?? 0)));
    const gone = points[index - 1]?.evicted ?? null;
    const line = cells.join('  ');
    return index === 0 || gone !== null
      ? paint('dim', `${line}${gone === null ? '' : `  (${printable(gone)})`}`)
      : line;
  });
}

function report({ restored, removed, conflicts, notCovered, undoId }: Undone, options: UndoFlags): string[] {
  const { dryRun, path } = options;
  const lines = [
    ...restored.map((path) => `${paint('green', dryRun ? 'would restore' : 'restored')}  ${printable(path)}`),
    ...removed.map((path) => `${paint('yellow', dryRun ? 'would remove' : 'removed')}  ${printable(path)}`),
    ...conflicts.map(({ path, why, keptAt }) => {
      const kept = keptAt === null ? '' : `; what was there before is kept at ${keptAt}`;
      return `${paint('red', 'conflict')}  ${printable(`${path}: ${why}${kept}`)}`;
    }),
    ...notCovered.map((text) => `${paint('dim', 'not covered')}  ${printable(text)}`),
  ];
  const nothing = restored.length + removed.length + conflicts.length === 0;
  return [
    ...lines,
    ...(nothing ? [`nothing to undo: all is as before the run${path ? ' at these paths' : ''}`] : []),
    ...(undoId === '' ? [] : [`to undo this: agent-bash undo ${undoId}${wordsOf(options)}`]),
  ];
}
