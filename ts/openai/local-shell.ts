import { userInfo } from 'node:os';
import { answer, resolveOptions } from '../tool/call/answer.ts';
import { formatOutput, streams } from '../tool/call/format.ts';
import { Readings } from '../tool/call/readings.ts';
import { levelOf } from '../tool/options.ts';
import { joinParts } from '../tool/parts.ts';
import {
  actionSchema,
  type LocalShellInput,
  localShellCommand,
  providerSchema,
  providerTool,
  readLocalShell,
  relay,
  sentence,
} from '../tool/provider.ts';
import { NO_FIELDS } from '../tool/schema.ts';
import type { ToolSetup } from '../tool/setup.ts';
import type { BashToolExecutionOptions, BashToolOptions, BashToolSnapshot } from '../tool/types.ts';
import { ADVICE } from './entry.ts';
import type { LocalShellOutput, OpenaiLocalShellTool } from './types.ts';

const inputSchema = providerSchema<LocalShellInput>(readLocalShell, () =>
  actionSchema(['type', 'command'], {
    type: { const: 'exec' },
    command: { type: 'array', items: { type: 'string' } },
    timeoutMs: { type: 'number' },
    user: { type: 'string' },
    workingDirectory: { type: 'string' },
    env: { type: 'object', additionalProperties: { type: 'string' } },
  }),
);

/**
 * Creates the complete local shell of OpenAI's Responses API (`openai.local_shell`, for codex models), for ai 6 and ai
 * 7: `tools: { local_shell: openaiLocalShell() }`.
 *
 * Each call runs one program as `createBashTool(options)` would run a command. Safety, approvals and hooks see its
 * words, quoted if necessary, preceded by the call's variables. The text of the result is the output. It never throws.
 * `description` and `errorOnFailure` have no effect, and `reduce` is `'off'` unless it is given.
 * Throws `ERR_BASH_INVALID_ARG` as `createBashTool` does.
 */
export function openaiLocalShell(options: BashToolOptions = {}): OpenaiLocalShellTool {
  return providerTool('openaiLocalShell', options, { id: 'openai.local_shell', inputSchema, run: runProgram });
}

async function* runProgram(
  setup: ToolSetup,
  input: unknown,
  call: BashToolExecutionOptions,
): AsyncGenerator<LocalShellOutput, void, undefined> {
  const read = readLocalShell(input);
  if ('issues' in read) {
    yield { output: sentence(read.issues) };
    return;
  }
  const { command, user } = read.value.action;
  const wrong = command.length === 0 ? 'the action: command has no program' : anotherUser(user);
  if (wrong !== null) {
    yield { output: wrong };
    return;
  }
  const own = localShellCommand(read.value);
  const held = await resolveOptions(setup, call, [own]);
  if ('error' in held) {
    yield { output: formatOutput(held, false).value };
    return;
  }
  const ended = yield* relay(answer(held, own, call), (snapshot) => ({ output: live(snapshot) }));
  const readings = new Readings({}, ADVICE, NO_FIELDS, levelOf(held.reduce));
  readings.keep(ended, { ...held, errorOnFailure: false });
  yield { output: readings.read(ended).value };
}

/** The text may be all that remains of a command whose exit was never seen. */
function live(snapshot: BashToolSnapshot): string {
  return joinParts(['[command still running]', ...streams(snapshot)]);
}

function anotherUser(user: string | undefined): string | null {
  const { username, uid } = userInfo();
  if (user === undefined || user === '' || user === username || user === String(uid)) return null;
  return `the action: commands run as ${username}, and not as ${user}; leave user out`;
}
