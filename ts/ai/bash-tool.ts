import { answer, resolveOptions } from '../tool/answer.ts';
import { ownTruncate, toolFolder } from '../tool/call-plan.ts';
import { BY_INPUT } from '../tool/format/advice.ts';
import { sandboxOf } from '../tool/in-sandbox/sandbox.ts';
import { sessionOf } from '../tool/in-session.ts';
import { terminalOf } from '../tool/in-terminal.ts';
import { describeInSandbox, describeReach, describeTool } from '../tool/instructions.ts';
import { interceptRules } from '../tool/intercept/intercept.ts';
import { checkToolOptions } from '../tool/option-names.ts';
import { Readings } from '../tool/readings.ts';
import { contextSchema, inputSchemaOf, readInput } from '../tool/schema.ts';
import { rememberSetup, setupFor, withPlace } from '../tool/tool-options.ts';
import type { BashTool, BashToolOptions } from '../tool/types.ts';

/**
 * Creates the bash tool of an agent, for ai 6 and ai 7: `tools: { bash: createBashTool() }`.
 *
 * Each call runs one command with `bash()` and these options, or checks or kills a background process. It yields live
 * snapshots and finally a `BashResult`, a `BackgroundCheck`, or `{ error, code }` if nothing ran. It never throws. The
 * tool's directory is `options.cwd`, resolved now; the default is `process.cwd()`. Without `registry`, `mode`
 * "background", `check_pid` and `kill_pid` use `defaultRegistry()`, and commands still end at their time limit. With
 * `session` the commands run in that session and its directory. With `sandbox`, or the `experimental_sandbox` of a
 * call, they run there.
 * Throws `ERR_BASH_INVALID_ARG` for an interceptor with an invalid pattern, for a hook that is not a function, and for
 * an invalid session, terminal or sandbox.
 */
export function createBashTool(options: BashToolOptions = {}): BashTool {
  checkToolOptions('createBashTool', options);
  const setup = setupFor(options);
  interceptRules(options);
  const asks = options.onAccess !== undefined;
  const readings = new Readings(options, BY_INPUT, asks);
  const tool: BashTool = {
    description: description(withPlace(options, setup.folder)),
    inputSchema: inputSchemaOf(asks),
    contextSchema,
    async *execute(input, call = { toolCallId: '' }) {
      // The SDK validates too, but not every caller is the SDK.
      const read = readInput(input);
      if ('issues' in read) {
        yield { error: read.issues.map(({ message }) => message).join('; '), code: 'ERR_BASH_INVALID_ARG' };
        return;
      }
      const held = await resolveOptions(setup, call);
      if ('error' in held) {
        yield held;
        return;
      }
      const output = yield* answer(held, read.value, call);
      readings.keep(output, held);
      yield output;
    },
    toModelOutput: ({ output }) => readings.read(output),
  };
  return rememberSetup(tool, setup);
}

function description(options: BashToolOptions): string {
  const sandbox = sandboxOf(options);
  const cwd = sandbox ? (options.cwd ?? '') : toolFolder(options.cwd);
  if (typeof options.description === 'function') return options.description({ cwd });
  if (options.description !== undefined) return options.description;
  const { mode, timeoutMs, idleTimeoutMs, spill, registry, onTimeout, perCall } = options;
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
    });
  }
  const terminal = terminalOf(options) !== undefined;
  const moves = !terminal && (onTimeout === 'background' || (registry !== undefined && onTimeout !== 'kill'));
  const lasts = sessionOf(options) !== undefined || (perCall === undefined ? false : null);
  return describeTool({
    cwd,
    mode,
    timeoutMs,
    idleTimeoutMs,
    moves,
    lasts,
    terminal,
    truncate: ownTruncate(options),
    spill: spill !== false,
    reach: describeReach(options),
  });
}
