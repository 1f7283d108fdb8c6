import { answer, resolveOptions } from '../tool/call/answer.ts';
import { byCommand } from '../tool/call/format.ts';
import { Readings } from '../tool/call/readings.ts';
import { type AnthropicBashInput, providerTool, sentence } from '../tool/provider.ts';
import { NO_FIELDS } from '../tool/schema.ts';
import { ownLevel, setupOf, type ToolSetup } from '../tool/setup.ts';
import type { BashToolExecutionOptions, BashToolOptions, BashToolOutput } from '../tool/types.ts';
import { restart } from './restart.ts';
import { inputSchema, readInput } from './schema.ts';
import type { AnthropicBashOutput, AnthropicBashTool } from './types.ts';

const ADVICE = byCommand(
  'To give the command more time, start it in the background with its output in a file, and read that file: COMMAND > FILE 2>&1 &',
);

/**
 * Creates the complete bash tool that Claude knows (`anthropic.bash_20250124`), for ai 6 and ai 7: `tools: { bash:
 * anthropicBash() }`.
 *
 * A command runs as in `createBashTool(options)`, with live snapshots, and the model reads the same text. Advice about
 * inputs that this tool lacks is given as commands instead. `{ restart: true }` resets the session of the call and
 * reports this. Without a session, it reports that there is nothing to restart. It never throws. `description` has no
 * effect, because Claude has its own, and `reduce` is `'off'` unless it is given. Throws `ERR_BASH_INVALID_ARG` as
 * `createBashTool` does.
 */
export function anthropicBash(options: BashToolOptions = {}): AnthropicBashTool {
  const tool = providerTool<AnthropicBashInput, AnthropicBashOutput>('anthropicBash', options, {
    id: 'anthropic.bash_20250124',
    inputSchema,
    run: (setup, input, call) => runCall(setup, input, call, readings),
  });
  const readings: Readings = new Readings(options, ADVICE, NO_FIELDS, ownLevel(setupOf(tool) as ToolSetup));
  return {
    ...tool,
    toModelOutput: ({ output }) =>
      'restarted' in output ? { type: 'text', value: output.message } : readings.read(output),
  };
}

async function* runCall(
  setup: ToolSetup,
  input: unknown,
  call: BashToolExecutionOptions,
  readings: Readings,
): AsyncGenerator<AnthropicBashOutput, void, undefined> {
  const read = readInput(input);
  if ('issues' in read) {
    yield { error: sentence(read.issues), code: 'ERR_BASH_INVALID_ARG' };
    return;
  }
  const { command, restart: restarts } = read.value;
  const held = await resolveOptions(setup, call, command == null ? [] : [{ command }]);
  if ('error' in held) {
    yield held;
    return;
  }
  const restarted = restarts ? await restart(held, call.abortSignal) : null;
  if (command == null || (restarted !== null && 'error' in restarted)) {
    yield restarted as AnthropicBashOutput;
    return;
  }
  const ended = yield* answer(held, { command }, call);
  const output = restarted === null ? ended : withNote(ended, restarted.message);
  readings.keep(output, held);
  yield output;
}

function withNote(output: BashToolOutput, note: string): BashToolOutput {
  if ('error' in output) return { ...output, error: `${note}\n${output.error}` };
  return 'notes' in output ? { ...output, notes: [...output.notes, note] } : output;
}
