import { resolve } from 'node:path';
import { type BackgroundRegistry, type BashOptions, type BashResult, bash, type Target } from 'agent-bash';
import { evidenceLines } from '../core/evidence-lines.ts';
import { innerOf } from '../core/inner.ts';
import { ledgerByEnvironment } from '../core/ledger.ts';
import { type ConfineFlags, confineOf } from './confine.ts';
import { EXIT, Failure, print, printJson, readerGone, remark, write } from './console.ts';
import { denials } from './denials.ts';
import { onTarget, spaced, type TargetFlags, wordsOf } from './destination.ts';
import { interruptible } from './interruption.ts';
import { folderOf, openPlace, type PoolFlags } from './pool-file.ts';
import { evidenceOf, type RecordFlags, recordLines, recordOf, type StrictFlags, strictCode } from './record.ts';
import { keeping, type ReduceFlags, reduceOf } from './reduce.ts';
import { type CommonOptions, withRegistry } from './tasks.ts';

interface RunOptions extends CommonOptions, PoolFlags, ConfineFlags, RecordFlags, StrictFlags, ReduceFlags {
  background?: boolean;
  timeout?: number;
  idleTimeout?: number;
  cwd?: string;
  stdin?: boolean;
}

/** `agent-bash run CMD`: runs a command in the foreground with live output, or as a task. */
export async function run(command: string, options: RunOptions): Promise<void> {
  const reduce = reduceOf(options) ?? 'off';
  if (options.background && reduce !== 'off') {
    throw new Failure('ERR_BASH_INVALID_ARG', '--reduce is for a command in the foreground', EXIT.usage);
  }
  if (options.background && evidenceOf(options)) {
    const flag = options.evidence ? '--evidence' : '--strict';
    throw new Failure('ERR_BASH_INVALID_ARG', `${flag} is for a command in the foreground`, EXIT.usage);
  }
  if (options.background && options.pool !== undefined) {
    const text = 'a task has to be found again: name the machine with --on in place of --pool';
    throw new Failure('ERR_BASH_INVALID_ARG', text, EXIT.usage);
  }
  if (command.trim() === '-') {
    const text = "- is not a command: did you mean --stdin, as in agent-bash run --stdin 'bash -s'?";
    throw new Failure('ERR_BASH_INVALID_ARG', text, EXIT.usage);
  }
  try {
    const stdin = options.stdin ? await readInput() : undefined;
    await (options.background ? start(command, options, stdin) : foreground(command, options, reduce, stdin));
  } catch (error) {
    const isUsage = error instanceof Failure && error.exitCode === EXIT.usage;
    throw Failure.of(error, isUsage ? EXIT.usage : EXIT.notRun);
  }
  if (!options.stdin && innerOf(bash).hasUnreadInput()) {
    await remark('standard input was not passed to the command: add --stdin');
  }
}

/** Returns whether the command has an entry in the ledger. */
export const ledger = () => ledgerByEnvironment() ?? true;

/** Reads standard input to its end. */
async function readInput(): Promise<Uint8Array> {
  const pieces: Buffer[] = [];
  for await (const piece of process.stdin) pieces.push(piece);
  return Buffer.concat(pieces);
}

async function start(command: string, options: RunOptions, stdin: BashOptions['stdin']): Promise<void> {
  const { timeout: timeoutMs, idleTimeout: idleTimeoutMs, cwd } = options;
  const begin = async (registry: BackgroundRegistry, target: Target | undefined) => {
    const reach = { confine: confineOf(options, target?.info.cwd), ...recordOf(options) };
    const rest = { timeoutMs, idleTimeoutMs, ...reach, stdin, ledger: ledger() };
    const task = await registry.start(command, { ...rest, cwd });
    if (options.json) return printJson(task);
    const words = `${options.dir === undefined ? '' : spaced(['--dir', options.dir])}${wordsOf(options)}`;
    await print(`started ${task.pid}`);
    await print(`output: ${task.logPath}`);
    await print(`follow: agent-bash logs -f ${task.pid}${words}`);
    await print(`stop:   agent-bash kill ${task.pid}${words}`);
  };
  await withRegistry(options, begin, { make: true });
}

async function foreground(
  command: string,
  options: RunOptions,
  reduce: BashOptions['reduce'],
  stdin: BashOptions['stdin'],
): Promise<void> {
  const { timeout, idleTimeout, cwd, json, strict = false } = options;
  const reduces = reduce !== 'off';
  const interruption = interruptible();
  await onTarget(options, interruption, openPlace, async (target) => {
    const folder = folderOf(target);
    const result = await bash(command, {
      target,
      cwd,
      timeoutMs: timeout ?? innerOf(bash).facts().request.maxLimitMs,
      idleTimeoutMs: idleTimeout,
      confine: confineOf(options, folder),
      ...recordOf(options),
      evidence: evidenceOf(options),
      stdin,
      ledger: ledger(),
      signal: interruption.signal,
      ...(reduces && { reduce, ...keeping() }),
      ...(!json && (reduces ? AT_ITS_END : LIVE)),
    });
    if (json) await printJson(result);
    else {
      if (reduces) await printReduced(result);
      await explain(result, resolve(folder, cwd ?? ''), options);
    }
    process.exitCode = readerGone.signal.aborted ? EXIT.brokenPipe : codeOf(result, strict);
  });
}

/** Returns the exit code of the program after a command. */
export function codeOf(result: BashResult, strict: boolean): number {
  if (result.status === 'lost') return EXIT.lost;
  return (strict ? strictCode(result) : result.exitCode) ?? EXIT.failed;
}

/** All output is printed as it comes, so nothing is kept, and unfinished lines are shown. */
export const LIVE: BashOptions = {
  spill: false,
  truncate: { keep: 'tail', maxLines: 1 },
  sanitize: { progress: 'keep' },
  onOutput: ({ stream, text }) => write(process[stream], text),
};

/** The output is printed at the end, as much of it as a result can keep. */
const AT_ITS_END: BashOptions = { truncate: { keep: 'tail' } };

/** Prints the text for a model, or both unchanged streams if the text gains nothing. */
async function printReduced({ view, stdout, stderr }: BashResult): Promise<void> {
  if (view !== null) return write(process.stdout, view.text.endsWith('\n') ? view.text : `${view.text}\n`);
  await write(process.stdout, stdout);
  await write(process.stderr, stderr);
}

/** Reports the facts that the output does not show. */
export async function explain(result: BashResult, cwd: string, options: TargetFlags & StrictFlags): Promise<void> {
  const { status, signal, timeoutMs, survivors, evidence, confinement, notes } = result;
  if (status === 'timed-out') await remark(`timed out after ${(timeoutMs ?? 0) / 1_000} s`);
  if (status === 'signaled') await remark(`killed by ${signal}`);
  for (const line of evidence ? evidenceLines(evidence) : []) await remark(line);
  if (options.strict && evidence?.verdict === 'unproven') await remark(`unproven: ${evidence.why}`);
  for (const { pid, command } of survivors) await remark(`still running: ${pid} ${command}`);
  for (const line of recordLines(result, cwd, wordsOf(options))) await remark(line);
  for (const line of confinement ? denials(confinement, result.draft !== null) : []) await remark(line);
  for (const note of notes) await remark(note);
}
