import { userInfo } from 'node:os';
import { streams } from '../ai/format.ts';
import { joinParts } from '../ai/parts.ts';
import { Readings } from '../ai/readings.ts';
import { answer, holdOptions } from '../ai/tool.ts';
import type { Made } from '../ai/tool-options.ts';
import type { BashToolExecutionOptions, BashToolOptions, BashToolSnapshot } from '../ai/types.ts';
import { localShellCommand, readLocalShell } from '../provider/action.ts';
import { providerTool } from '../provider/provider-tool.ts';
import { actionSchema, providerSchema, sentence } from '../provider/schema.ts';
import { shown } from '../provider/shown.ts';
import { ADVICE } from './entry.ts';
import type { LocalShellInput, LocalShellOutput, OpenaiLocalShellTool } from './types.ts';

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
 * The local shell of OpenAI's Responses API (`openai.local_shell`, for codex models), complete, for ai 6 and ai 7:
 * `tools: { local_shell: openaiLocalShell() }`.
 *
 * Each call runs one program, as a call of `createBashTool(options)` would run a command: its words, each quoted where it has to be, with the
 * variables of the call before them, are what safety, approvals and hooks see. The text of the result is the output. It never throws.
 * `description` and `errorOnFailure` have no effect. Throws `ERR_BASH_INVALID_ARG` as `createBashTool` does.
 */
export function openaiLocalShell(options: BashToolOptions = {}): OpenaiLocalShellTool {
  return providerTool(options, { id: 'openai.local_shell', inputSchema, run: runProgram });
}

async function* runProgram(
  made: Made,
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
  const held = await holdOptions(made, call);
  if ('error' in held) {
    yield { output: held.error };
    return;
  }
  const ended = yield* shown(answer(held, localShellCommand(read.value), call), (snapshot) => ({
    output: live(snapshot),
  }));
  const readings = new Readings({}, ADVICE);
  readings.keep(ended, { ...held, errorOnFailure: false });
  yield { output: readings.read(ended).value };
}

/** A text may be all that is left of a command whose end nobody saw. */
function live(snapshot: BashToolSnapshot): string {
  return joinParts(['[command still running]', ...streams(snapshot)]);
}

function anotherUser(user: string | undefined): string | null {
  const { username, uid } = userInfo();
  if (user === undefined || user === '' || user === username || user === String(uid)) return null;
  return `the action: commands run as ${username}, and not as ${user}; leave user out`;
}
