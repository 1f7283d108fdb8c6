// Not run: `tsc` over this file is the test. The entries for providers, sandboxes, MCP servers, tracing and views.
import { type Meter, metrics, type Tracer, trace } from '@opentelemetry/api';
import { bash, type ProvidedTarget, type Target, type TargetPool, type TargetProvider } from 'agent-bash';
import {
  type BashToolError,
  type BashToolOptions,
  type BashToolOutput,
  createBashTool,
  createTerminalTool,
  createToolApproval,
  formatCheck,
  formatResult,
} from 'agent-bash/ai';
import { type AnthropicBashOutput, anthropicBash, type ProviderTool } from 'agent-bash/anthropic';
import { harnessSandbox } from 'agent-bash/harness';
import { type AgentSandboxesOptions, agentSandboxes } from 'agent-bash/kubernetes';
import { registerBashTools } from 'agent-bash/mcp';
import { agentsShell, openaiLocalShell, openaiShell, type ShellOutput } from 'agent-bash/openai';
import { type InstrumentOptions, instrument, type MeterLike, type TracerLike } from 'agent-bash/otel';
import { type Page, type PageOptions, startPage } from 'agent-bash/page';
import { type RenderInput, renderHtml, renderText } from 'agent-bash/render';
import {
  type CommandFinished,
  createLocalSandbox,
  createLocalSandboxSession,
  createSandbox,
  createSandboxSession,
  type DisposableSandboxSession,
  type LocalSandbox,
  type SandboxSession,
} from 'agent-bash/sandbox';
import { type SlurmJobsOptions, slurmJobs } from 'agent-bash/slurm';

// The outputs that a call of the tool yields.
export function outputs(output: BashToolOutput): string | number | null {
  if ('error' in output) return (output satisfies BashToolError).code;
  if ('task' in output) return output.task.id;
  switch (output.status) {
    case 'running':
      return output.exitCode satisfies null;
    case 'backgrounded':
      return output.background.logPath;
    case 'lost':
      return output.target;
    default:
      return output.exitCode satisfies number;
  }
}

// Options may be undefined, and must exist.
export function options(maybe: string | undefined, flag: boolean | undefined) {
  createBashTool({
    cwd: maybe,
    errorOnFailure: flag,
    terminal: { cols: undefined },
    truncate: { keep: 'tail', maxLines: undefined },
  });
  createBashTool({ perCall: () => undefined }) satisfies object;
  createToolApproval({ tool: anthropicBash(), allow: undefined });
  createToolApproval({ tool: createTerminalTool({ cwd: maybe }) });
  ({ session: undefined, sandbox: undefined, run: undefined, onBeforeRun: undefined }) satisfies BashToolOptions;
  // @ts-expect-error an option that does not exist
  createBashTool({ timeout: 5 });
  // @ts-expect-error a nested option that does not exist
  createBashTool({ terminal: { columns: 5 } });
  // @ts-expect-error an option of a call
  createBashTool({ onOutput: () => {} });
  // @ts-expect-error an option that does not exist
  createTerminalTool({ columns: 5 });
  // @ts-expect-error an option that does not exist
  createToolApproval({ allowed: [] });
  // @ts-expect-error an option that does not exist
  anthropicBash({ timeout: 5 });
  // @ts-expect-error an option that does not exist
  openaiShell({ timeout: 5 });
  // @ts-expect-error an option that does not exist
  openaiLocalShell({ timeout: 5 });
  // @ts-expect-error an option that does not exist
  agentsShell({ timeout: 5 });
  // @ts-expect-error an option that does not exist
  createLocalSandbox({ folder: '/' });
  // @ts-expect-error an option that does not exist
  createLocalSandboxSession({ folder: '/' });
  // @ts-expect-error an option that does not exist
  registerBashTools(null as never, { timeout: 5 });
}

export async function providers(call: { toolCallId: string }) {
  anthropicBash() satisfies ProviderTool;
  openaiShell().id satisfies string;
  for await (const output of anthropicBash().execute({ command: 'ls' }, call)) output satisfies AnthropicBashOutput;
  for await (const { output } of openaiShell().execute({ action: { commands: ['ls'] } }, call)) {
    for (const { outcome } of output) if (outcome.type === 'exit') outcome.exitCode satisfies number;
  }
  (await agentsShell().run({ commands: ['ls'] })) satisfies ShellOutput;
}

export async function sandboxes() {
  const sandbox: LocalSandbox = createLocalSandbox({ cwd: undefined, env: { A: null }, timeoutMs: undefined });
  (await sandbox.runCommand('ls', ['-l'])) satisfies CommandFinished;
  const detached = await sandbox.runCommand({ cmd: 'sleep', args: ['1'], detached: true });
  await detached.kill('SIGINT');
  await detached.kill('INT');
  // @ts-expect-error a signal that does not exist
  await detached.kill('NOTHING');
  const session: SandboxSession = createLocalSandboxSession({ home: '/home/ann' });
  (await session.run({ command: 'ls' })).exitCode satisfies number;
  const open = await session.spawn({ command: 'cat', stdin: true });
  open.stdin satisfies WritableStream<Uint8Array>;
  const closed = await session.spawn({ command: 'cat' });
  // @ts-expect-error its input is closed
  closed.stdin;
}

export async function sandboxesOnTargets(target: Target, pool: TargetPool) {
  (await createSandbox({ target, cwd: 'project' }).runCommand('ls')).lost satisfies true | undefined;
  await using there: DisposableSandboxSession = createSandboxSession({ target });
  (await there.run({ command: 'ls' })).lost satisfies true | undefined;
  harnessSandbox({ target, dir: 'agents' });
  // @ts-expect-error a pool has no place of its own
  createSandbox({ target: pool });
  // @ts-expect-error this one is of this machine
  createLocalSandbox({ target });
}

export function tracing(tracer: Tracer, meter: Meter, maybe: Tracer | undefined) {
  instrument() satisfies () => void;
  instrument({ tracer, meter, command: true, traceparent: true });
  instrument({ tracer: trace.getTracer('host'), meter: metrics.getMeter('host') });
  instrument({ tracer: maybe, meter: undefined, command: undefined });
  tracer satisfies TracerLike;
  meter satisfies MeterLike;
  ({ traceparent: true }) satisfies InstrumentOptions;
  // @ts-expect-error an option that does not exist
  instrument({ traceParent: true });
  // @ts-expect-error no tracer
  instrument({ tracer: meter });
  // @ts-expect-error no meter
  instrument({ meter: tracer });
}

export async function views() {
  const result = await bash('ls');
  renderText({ command: 'ls', result }, { columns: undefined, colour: false }) satisfies string;
  renderHtml({ command: 'ls', result: null, output: 'a' } satisfies RenderInput) satisfies string;
  formatResult(result) satisfies string;
  formatCheck satisfies (...given: never[]) => string;
  // @ts-expect-error the other spelling
  renderText({ command: 'ls', result }, { color: false });
  // @ts-expect-error the result is not optional
  renderText({ command: 'ls' });
}

// A page is told all that it can do, and its link cannot be set.
export async function served(options: PageOptions): Promise<string> {
  const page: Page = await startPage(options);
  await startPage();
  await startPage({ control: undefined, port: 7070 });
  // @ts-expect-error: there is no other address
  await startPage({ host: '0.0.0.0' });
  // @ts-expect-error: a port is a number
  await startPage({ port: '7070' });
  // @ts-expect-error: the link is made by the page
  page.url = '';
  page.port satisfies number;
  await page.close();
  return page.url;
}

// Providers for pools.
export async function places(login: Target | undefined, signal: AbortSignal): Promise<number | null> {
  agentSandboxes({ warmPool: 'agents', namespace: undefined }) satisfies TargetProvider;
  ({ warmPool: 'agents', leaseMs: undefined }) satisfies AgentSandboxesOptions;
  ({ minutes: 5, login, args: ['--mem=1G'] }) satisfies SlurmJobsOptions;
  // @ts-expect-error a pool is needed
  agentSandboxes({});
  // @ts-expect-error a time limit is needed
  slurmJobs({ partition: 'debug' });
  const place: ProvidedTarget = await slurmJobs({ minutes: 5 }).acquire({ affinity: null, signal });
  return place.expiresAt;
}
