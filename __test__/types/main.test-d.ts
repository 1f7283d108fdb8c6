// Not run: `tsc` over this file is the test. The main entry as its users write it.
import {
  type Analysis,
  analyze,
  type BackgroundCheck,
  BackgroundRegistry,
  type BackgroundTask,
  type BashBackgrounded,
  type BashEnded,
  BashError,
  type BashErrorCode,
  type BashLost,
  type BashOptions,
  type BashResult,
  BashSession,
  bash,
  type Confinement,
  type ConfineOptions,
  type ConfinePart,
  type Decision,
  type Denial,
  decide,
  defaultRegistry,
  type OutputStore,
  PtySession,
  type ReduceOptions,
  reduceText,
  type SessionResult,
  type SignalName,
  TRUNCATE,
  type Truncate,
  type UndoPoint,
  undo,
  undoPoints,
  type View,
  warmUp,
} from 'agent-bash';

type Same<One, Other> = [One, Other] extends [Other, One] ? true : false;

// Without a registry, a background mode and a background limit a command ends, and has an exit code.
export async function ended() {
  const plain = await bash('make');
  true satisfies Same<typeof plain, BashEnded>;
  (await bash('make', { mode: 'slow', onTimeout: 'kill', cwd: '/srv' })).exitCode.toFixed();
  // @ts-expect-error a command in the background has no exit code
  (await bash('make', { mode: 'background' })).exitCode.toFixed();
  // @ts-expect-error a command that may move to the background may have none
  (await bash('make', { onTimeout: 'background' })).exitCode.toFixed();
  const registry = new BackgroundRegistry();
  // @ts-expect-error with a registry a command moves to the background at its limit
  (await bash('make', { registry })).exitCode.toFixed();
  const task = await registry.start('npm run dev');
  await registry.wait(task, { port: 3000 });
  await registry.check({ id: task.id });
  // @ts-expect-error a check is not a task
  await registry.check(await registry.check(task));
  await registry.kill(task);
}

// The status distinguishes results.
export async function results(options: BashOptions) {
  const result = await bash('make', options);
  true satisfies Same<typeof result, BashResult>;
  true satisfies Same<BashResult['status'], 'exited' | 'signaled' | 'timed-out' | 'aborted' | 'backgrounded' | 'lost'>;
  if (result.status === 'backgrounded') {
    result satisfies BashBackgrounded;
    result.exitCode satisfies null;
    result.background.pid satisfies number;
  } else if (result.status === 'lost') {
    result satisfies BashLost;
    result.exitCode satisfies null;
    result.background satisfies null;
  } else {
    result satisfies BashEnded;
    (result.exitCode + 1) satisfies number;
    result.background satisfies null;
  }
  if (result.exitCode === null) result satisfies BashBackgrounded | BashLost;
  if (result.background !== null) result.status satisfies 'backgrounded';
  if (result.status === 'timed-out') result.exitCode.toFixed();
  // @ts-expect-error an exit code may be null until the status is known
  result.exitCode.toFixed();
  // @ts-expect-error there is no task until the status is known
  result.background.pid;
  // @ts-expect-error there is no such status
  if (result.status === 'failed') return;
  switch (result.status) {
    case 'exited':
    case 'signaled':
    case 'timed-out':
    case 'aborted':
      return result.exitCode;
    case 'backgrounded':
      return result.background.id;
    case 'lost':
      return result.target;
    default:
      return result satisfies never;
  }
}

export async function sessions() {
  await using session = new BashSession({ cwd: '/' });
  const result: SessionResult = await session.run('cd /tmp');
  result satisfies BashResult;
  result.cwd satisfies string;
  if (result.status === 'exited') result.exitCode satisfies number;
  // @ts-expect-error the options are those of bash
  await session.run('true', { timeout: 5_000 });
}

// An error has one of the documented codes.
export function errors(error: unknown) {
  if (!(error instanceof BashError)) return;
  true satisfies Same<BashError['code'], BashErrorCode>;
  if (error.code === 'ERR_BASH_CWD_NOT_FOUND') return 'gone';
  // @ts-expect-error there is no such code
  if (error.code === 'ERR_BASH_NOPE') return 'never';
  // @ts-expect-error there is no such code
  return new BashError('ERR_BASH_NOPE', 'nothing');
}

// Options that do not exist are errors for the compiler, too; undefined counts as left out.
export async function options(maybe: string | undefined, limit: number | undefined) {
  await bash('true', { cwd: maybe, timeoutMs: limit, truncate: { keep: 'tail', maxLines: limit, maxBytes: limit } });
  await bash('true', { sanitize: { ansi: undefined }, spill: { dir: maybe }, limits: { cpuSeconds: limit } });
  await bash('true', {
    safety: { onAsk: undefined, rules: { 'git-blind-add': 'off' } },
    env: { A: undefined, B: null },
  });
  await bash('true', { onOutput: ({ stream, text }) => void [stream satisfies 'stdout' | 'stderr', text] });
  await bash('true', { onOutput: async () => {}, onSnapshot: async () => {}, onPrompt: async () => {} });
  // @ts-expect-error the name of execa
  await bash('true', { timeout: 5_000 });
  // @ts-expect-error a nested name that does not exist
  await bash('true', { truncate: { keep: 'tail', lines: 5 } });
  // @ts-expect-error both ends need their sizes
  await bash('true', { truncate: { keep: 'ends', maxBytes: 5 } });
  // @ts-expect-error a mode that does not exist
  await bash('true', { mode: 'fast' });
  // @ts-expect-error a limit that does not exist
  await bash('true', { limits: { memory: 5 } });
  await warmUp({ cwd: '/' });
  // @ts-expect-error an option that does not exist
  await warmUp({ dir: '/' });
}

// The policies keep their own types, and are Truncates.
TRUNCATE.tail.maxLines satisfies number;
TRUNCATE.ends.headBytes satisfies number;
TRUNCATE.head.maxChars satisfies number;
TRUNCATE.tail satisfies Truncate;
({ truncate: { ...TRUNCATE.tail, maxLines: 50 } }) satisfies BashOptions;
// @ts-expect-error the end has no head
TRUNCATE.tail.headBytes;

// Listeners are added in a chain, and removed with the same type.
export function listeners(registry: BackgroundRegistry, pty: PtySession) {
  const ended = (task: BackgroundTask) => void task.id;
  const written = (task: BackgroundTask, text: string) => void [task.id, text];
  registry
    .on('exit', ended)
    .on('output', written)
    .off('exit', ended)
    .off('output', written) satisfies BackgroundRegistry;
  pty
    .on('data', (text) => void (text satisfies string))
    .on('exit', ({ exitCode, signal }) => void [exitCode satisfies number | null, signal satisfies string | null])
    .off('data', async (text: string) => void text) satisfies PtySession;
  // @ts-expect-error a listener of another event
  registry.off('exit', written);
  // @ts-expect-error an event that does not exist
  registry.on('close', ended);
  // @ts-expect-error an event that does not exist
  pty.on('close', () => {});
}

// Signals are given by their names.
export async function signals(pty: PtySession) {
  await pty.kill();
  await pty.kill('SIGINT');
  await pty.kill('INT');
  'SIGWINCH' satisfies SignalName;
  // @ts-expect-error a signal that does not exist
  await pty.kill('SIGNOTHING');
}

export async function terminals() {
  await using pty = new PtySession({ cols: 100, rows: 30, cwd: '/' });
  (await pty.start('vim')).pid satisfies number;
  const { reason, exitCode } = await pty.wait({ idleMs: 100, pattern: /x/, timeoutMs: undefined });
  [reason satisfies 'exit' | 'idle' | 'pattern' | 'timeout', exitCode satisfies number | null] satisfies unknown[];
  (await pty.result()) satisfies BashResult;
  // @ts-expect-error a size is a number
  new PtySession({ cols: '80' });
  // @ts-expect-error an option that does not exist
  new PtySession({ columns: 80 });
}

export async function tasks() {
  await using registry = new BackgroundRegistry({ dir: undefined, maxTasks: 4 });
  const task = await registry.start('sleep 1', { timeoutMs: 5_000 });
  (await registry.check(task.id, { cursor: 0 })) satisfies BackgroundCheck;
  (await registry.wait(task.pid, { pattern: 'ready', port: 80, signal: undefined })) satisfies BackgroundCheck;
  defaultRegistry() satisfies BackgroundRegistry;
  // @ts-expect-error an option that does not exist
  new BackgroundRegistry({ max: 4 });
  // @ts-expect-error an option that does not exist
  await registry.wait(task, { timeout: 5 });
}

analyze('ls', { cwd: '/', onAsk: 'deny', home: undefined }) satisfies Analysis;
decide(analyze('ls'), { allow: ['ls'], deny: undefined }) satisfies Decision;
// @ts-expect-error an option that does not exist
analyze('ls', { folder: '/' });
// @ts-expect-error a list that does not exist
decide(analyze('ls'), { allowed: ['ls'] });

// The grant of a denial is an option, and an error names the parts that cannot be held.
export async function confinement(error: BashError) {
  const { confinement } = await bash('make', { confine: 'workspace' });
  true satisfies Same<typeof confinement, Confinement | null>;
  confinement?.held satisfies ConfinePart[] | undefined;
  const [denial] = confinement?.denied ?? [];
  if (denial?.grant) {
    true satisfies Same<typeof denial, Denial>;
    denial.grant satisfies Pick<ConfineOptions, 'write' | 'network' | 'expose'>;
    await bash('make', { confine: { profile: 'read-only', ...denial.grant } });
  }
  error.missing?.map(({ part, why, remedy }) => `${part satisfies ConfinePart}: ${why}, ${remedy}`);
  // @ts-expect-error there is no such profile
  await bash('make', { confine: 'strict' });
  // @ts-expect-error hosts are mapped for a list of them alone
  await bash('make', { confine: { network: { hosts: { 'a.org': '10.0.0.1' } } } });
  // @ts-expect-error there is no such part
  await bash('make', { confine: { require: ['disk'] } });
}

// Receipts and undo.
export async function takenBack(): Promise<string[]> {
  const {
    receipt,
    undo: cover,
    runId,
  } = await bash('make', { receipt: 'watch', undo: { when: 'always', require: true } });
  const state = receipt?.state satisfies 'known' | 'partial' | 'unknown' | undefined;
  const head = receipt?.git[0]?.head satisfies [string | null, string | null] | undefined;
  const sizes = receipt?.modified.map(({ bytes, bytesBefore }) => (bytes ?? 0) - (bytesBefore ?? 0));
  if (state === 'unknown' || cover?.covers === 'part' || head === undefined || sizes === undefined) return [];
  const { conflicts, restored, undoId } = await undo(runId, { dryRun: false, paths: ['src'] });
  const points: UndoPoint[] = await undoPoints({ cwd: '.' });
  return [...restored, ...conflicts.map(({ keptAt }) => keptAt ?? ''), undoId, ...points.map((point) => point.command)];
}

// @ts-expect-error: one of off, watch, exact.
void bash('true', { receipt: true });
// @ts-expect-error: only a tool takes true.
void bash('true', { undo: true });

// Views.
export async function smaller(store: OutputStore): Promise<string> {
  const reduce: ReduceOptions = {
    level: 'salient',
    budgetTokens: 500,
    rules: ['rules/deploy.toml'],
    keep: ['sum', /x/],
  };
  const { view, stdout } = await bash('make', { reduce });
  const kind = view?.class satisfies 'exact' | 'red' | 'green' | undefined;
  const [gap] = view?.elided ?? [];
  const stream = gap?.stream satisfies 'stdout' | 'stderr' | undefined;
  const { text, tokens }: View = reduceText(stdout, { ...reduce, command: 'make', exitCode: null });
  const range: [number, number] = [gap?.fromLine ?? 1, gap?.toLine ?? 1];
  if (kind === 'red' || stream === 'stderr') return text;
  return tokens.before > tokens.after ? store.read(view?.id ?? 0, { lines: range }) : stdout;
}

// @ts-expect-error: one of off, lossless, salient, or options.
void bash('true', { reduce: true });
// @ts-expect-error: reduceText always reduces.
reduceText('', { level: 'off' });
