import { answer, resolveOptions } from '../tool/call/answer.ts';
import { ownTruncate } from '../tool/call/validate.ts';
import {
  actionSchema,
  providerSchema,
  providerTool,
  readShell,
  relay,
  type ShellInput,
  sentence,
  shellCommands,
} from '../tool/provider.ts';
import type { ToolSetup } from '../tool/setup.ts';
import type { BashToolExecutionOptions, BashToolOptions, BashToolOutput } from '../tool/types.ts';
import { entryOf, nothingRan } from './entry.ts';
import { sharedBy, truncateTo } from './share.ts';
import type { OpenaiShellTool, ShellEntry, ShellOutput } from './types.ts';

/** Bytes of a stream that are kept, whatever the action asks for. */
const MOST_KEPT = 16 * 1024 * 1024;

const inputSchema = providerSchema<ShellInput>(readShell, () =>
  actionSchema(['commands'], {
    commands: { type: 'array', items: { type: 'string' } },
    timeoutMs: { type: 'number' },
    maxOutputLength: { type: 'number' },
  }),
);

/**
 * Creates the complete shell tool of OpenAI's Responses API (`openai.shell`), for ai 6 and ai 7: `tools: { shell:
 * openaiShell() }`.
 *
 * The commands of one action run one after another, each as a call of `createBashTool(options)` would run it. Each has
 * its own entry, whatever the earlier ones did. It never throws: a refused or failed command is an entry with exit code
 * 126 and the reason in `stderr`. `perCall` is called once per action and hooks once per command. `description` and
 * `errorOnFailure` have no effect, and `reduce` is `'off'` unless it is given.
 * Throws `ERR_BASH_INVALID_ARG` as `createBashTool` does.
 */
export function openaiShell(options: BashToolOptions = {}): OpenaiShellTool {
  return providerTool('openaiShell', options, { id: 'openai.shell', inputSchema, run: runAction });
}

/** Runs an action. Yields the entries so far while its commands run, and finally all of them. */
export async function* runAction(
  setup: ToolSetup,
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
  const held = await resolveOptions(setup, call, commands);
  const most = mostOf(maxOutputLength);
  for (const command of commands) {
    if ('error' in held) {
      done.push(nothingRan(held));
      continue;
    }
    const own = most === null ? held : { ...held, truncate: truncateTo(most, ownTruncate(held)) };
    const ended = yield* relay(answer(own, command, call), (snapshot) => output(entryOf(snapshot)));
    done.push(entryOf(most === null ? ended : within(ended, most)));
  }
  yield output();
}

/** Returns the output limit that an action asks for, or `null`. */
function mostOf(maxOutputLength: number | undefined): number | null {
  if (maxOutputLength === undefined || maxOutputLength < 1) return null;
  return Math.min(Math.floor(maxOutputLength), MOST_KEPT);
}

/** Returns the output within the limit of an action. A view that exceeds it is dropped: the limit is on characters. */
function within(output: BashToolOutput, most: number): BashToolOutput {
  if (!('truncation' in output) || !('stdout' in output)) return output;
  if (output.view && output.view.text.length <= most) return output;
  return sharedBy({ ...output, view: null }, most);
}
