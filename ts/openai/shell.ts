import { ownTruncate } from '../ai/call-plan.ts';
import { takeRefusal } from '../ai/refused.ts';
import { answer, holdOptions } from '../ai/tool.ts';
import type { Made } from '../ai/tool-options.ts';
import type { BashToolExecutionOptions, BashToolOptions, BashToolOutput } from '../ai/types.ts';
import { readShell, shellCommands } from '../provider/action.ts';
import { providerTool } from '../provider/provider-tool.ts';
import { refusalKey } from '../provider/refusal-key.ts';
import { actionSchema, providerSchema, sentence } from '../provider/schema.ts';
import { shown } from '../provider/shown.ts';
import { entryOf, nothingRan } from './entry.ts';
import { sharedBy, truncateTo } from './share.ts';
import type { OpenaiShellTool, ShellEntry, ShellInput, ShellOutput } from './types.ts';

/** The most that is kept of a stream, whatever is asked for. */
const MOST_KEPT = 16 * 1024 * 1024;

const inputSchema = providerSchema<ShellInput>(readShell, () =>
  actionSchema(['commands'], {
    commands: { type: 'array', items: { type: 'string' } },
    timeoutMs: { type: 'number' },
    maxOutputLength: { type: 'number' },
  }),
);

/**
 * The shell tool of OpenAI's Responses API (`openai.shell`), complete, for ai 6 and ai 7: `tools: { shell: openaiShell() }`.
 *
 * The commands of one action run one after another, each as a call of `createBashTool(options)` would run it, and each has its entry, whatever
 * came of those before it. It never throws: what is refused or cannot be run is an entry with exit code 126 and the reason in `stderr`.
 * `perCall` is asked once for an action, hooks for each of its commands. `description` and `errorOnFailure` have no effect. Throws `ERR_BASH_INVALID_ARG` as `createBashTool` does.
 */
export function openaiShell(options: BashToolOptions = {}): OpenaiShellTool {
  return providerTool(options, { id: 'openai.shell', inputSchema, run: runAction });
}

/** Runs an action: what there is so far while its commands run, and at last all of it. */
export async function* runAction(
  made: Made,
  input: unknown,
  call: BashToolExecutionOptions,
): AsyncGenerator<ShellOutput, void, undefined> {
  const read = readShell(input);
  if ('issues' in read) {
    yield { output: [nothingRan({ error: sentence(read.issues), code: 'ERR_BASH_INVALID_ARG' })] };
    return;
  }
  const { maxOutputLength } = read.value.action;
  const done: ShellEntry[] = [];
  const output = (...last: ShellEntry[]): ShellOutput => ({
    output: [...done, ...last],
    ...(maxOutputLength !== undefined && { maxOutputLength }),
  });
  const commands = shellCommands(read.value);
  const held = takeRefusal(call.toolCallId, refusalKey(commands)) ?? (await holdOptions(made, call));
  const most = mostOf(maxOutputLength);
  for (const command of commands) {
    if ('error' in held) {
      done.push(nothingRan(held));
      continue;
    }
    const own = most === null ? held : { ...held, truncate: truncateTo(most, ownTruncate(held)) };
    const ended = yield* shown(answer(own, command, call), (snapshot) => output(entryOf(snapshot)));
    done.push(entryOf(most === null ? ended : within(ended, most)));
  }
  yield output();
}

/** What an action wants each command to be cut to; `null` for one that does not say so. */
function mostOf(maxOutputLength: number | undefined): number | null {
  if (maxOutputLength === undefined || maxOutputLength < 1) return null;
  return Math.min(Math.floor(maxOutputLength), MOST_KEPT);
}

function within(output: BashToolOutput, most: number): BashToolOutput {
  return 'truncation' in output && 'stdout' in output ? sharedBy(output, most) : output;
}
