import { answer, resolveOptions } from '../tool/call/answer.ts';
import { closeToolDrafts } from '../tool/call/draft.ts';
import { BY_INPUT } from '../tool/call/format.ts';
import { interceptRules } from '../tool/call/intercept.ts';
import { rememberSignal } from '../tool/call/interruption.ts';
import { Readings } from '../tool/call/readings.ts';
import { ownTruncate } from '../tool/call/validate.ts';
import { rememberResult } from '../tool/call/view.ts';
import { executorOf } from '../tool/executor.ts';
import { inContextOfCall } from '../tool/in-context.ts';
import {
  describeDraft,
  describeInSandbox,
  describePlace,
  describeReach,
  describeReduction,
  describeTool,
} from '../tool/instructions.ts';
import { checkToolOptions, offersDraft, offersFresh, offersUndo } from '../tool/options.ts';
import { contextSchema, inputReader, inputSchemaOf, type OptionalFields } from '../tool/schema.ts';
import { withSession } from '../tool/session.ts';
import { ownLevel, rememberSetup, setupFor, type ToolSetup, toolFolder, withPlace } from '../tool/setup.ts';
import type {
  BashTool,
  BashToolExecutionOptions,
  BashToolInput,
  BashToolOptions,
  BashToolOutput,
} from '../tool/types.ts';

/**
 * Creates the bash tool of an agent, for ai 6 and ai 7: `tools: { bash: createBashTool() }`.
 *
 * Each call runs one command with `bash()` and these options, checks, kills or awaits a background process, undoes a
 * run, recalls lines of an output, or looks at a draft or commits it. It yields live snapshots and finally a
 * `BashResult`, a `BackgroundCheck`, an `Undone`, the lines, the changes, a `Committed`, or `{ error, code }` if
 * nothing ran. It never throws. The tool's directory is `options.cwd`, resolved now; the default is `process.cwd()`.
 * Without `registry`, `mode` "background", `check_pid`, `kill_pid` and `wait_pid` use `defaultRegistry()`, and commands
 * still end at their time limit. With `session` the commands run in that session and its directory. With `sandbox`, or
 * the `experimental_sandbox` of a call, they run there.
 *
 * Throws `ERR_BASH_INVALID_ARG` for an interceptor with an invalid pattern, for a hook that is not a function, and for
 * an invalid session, terminal or sandbox.
 */
export function createBashTool(options: BashToolOptions = {}): BashTool {
  checkToolOptions('createBashTool', options);
  const setup = setupFor(options, { level: 'lossless', recalls: true, taps: 'on' });
  interceptRules(options);
  const placed = withPlace(options, setup.folder);
  const { recalls } = setup;
  const [undoes, reuses] = [offersUndo(placed), offersFresh(placed)];
  const drafts = offersDraft(placed);
  const commits = drafts && placed.commit === 'ask';
  const asks = options.onAccess !== undefined && !drafts;
  const fields: OptionalFields = { asks, undoes, recalls, reuses, drafts, commits };
  const readings = new Readings(placed, BY_INPUT, fields, ownLevel(setup));
  const readInput = inputReader(fields);
  async function* run(
    input: BashToolInput,
    call: BashToolExecutionOptions,
  ): AsyncGenerator<BashToolOutput, void, undefined> {
    // The SDK validates too, but not every caller is the SDK.
    const read = readInput(input);
    if ('issues' in read) {
      yield { error: read.issues.map(({ message }) => message).join('; '), code: 'ERR_BASH_INVALID_ARG' };
      return;
    }
    const { command, draft_commit } = read.value;
    const asked = command != null ? [{ command }] : commits && draft_commit ? [{ draft_commit }] : [];
    const held = await resolveOptions(setup, call, asked);
    if ('error' in held) {
      yield held;
      return;
    }
    const output = yield* answer(held, read.value, call);
    readings.keep(output, held, read.value.cwd);
    rememberResult(held, read.value, call, output, () => readings.read(output).value);
    yield output;
  }
  const tool: BashTool = {
    description: description(placed, setup),
    inputSchema: inputSchemaOf(fields),
    contextSchema,
    onInputAvailable: rememberSignal,
    execute: (input, call = { toolCallId: '' }) => inContextOfCall(run(input, call)),
    toModelOutput: ({ output, input }) => readings.read(output, input),
    close: () => closeToolDrafts(setup),
    [Symbol.asyncDispose]: () => closeToolDrafts(setup),
  };
  return rememberSetup(tool, setup);
}

function description(options: BashToolOptions, setup: ToolSetup): string {
  const executor = executorOf(options);
  const sandbox = executor.kind === 'sandbox' ? executor.sandbox : undefined;
  const cwd = sandbox ? (options.cwd ?? '') : toolFolder(options);
  if (typeof options.description === 'function') return options.description({ cwd });
  if (options.description !== undefined) return options.description;
  const { mode, timeoutMs, idleTimeoutMs, spill, registry, onTimeout, perCall } = options;
  const reduces = describeReduction(ownLevel(setup), setup.recalls);
  if (sandbox) {
    const truncate = ownTruncate(options);
    return describeInSandbox({
      sandbox,
      cwd: options.cwd,
      mode,
      timeoutMs,
      idleTimeoutMs,
      truncate,
      spill: spill !== false,
      reduces,
    });
  }
  const terminal = executor.kind === 'terminal';
  const moves = !terminal && (onTimeout === 'background' || (registry !== undefined && onTimeout !== 'kill'));
  const lasts = executor.kind === 'session' || (perCall === undefined ? false : null);
  return describeTool({
    cwd,
    place: describePlace(withSession(options)),
    mode,
    timeoutMs,
    idleTimeoutMs,
    moves,
    lasts,
    terminal,
    truncate: ownTruncate(options),
    spill: spill !== false,
    reduces,
    undoes: offersUndo(options),
    reach: offersDraft(options) ? describeDraft(options) : describeReach(options),
  });
}
