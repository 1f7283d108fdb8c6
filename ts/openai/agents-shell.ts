import type { BashToolOptions } from '../ai/types.ts';
import { checkedOptions } from '../provider/checked-options.ts';
import { runAction } from './shell.ts';
import type { AgentsShell, ShellOutput } from './types.ts';

/**
 * A shell for `@openai/agents`: `shellTool({ shell: agentsShell() })`. It runs an action as `openaiShell(options)` does.
 *
 * The package says nothing of a call but its action: no signal, so that a run that was aborted leaves the commands to their time limit, no id
 * and no context, so that `perCall` is asked with none. Throws `ERR_BASH_INVALID_ARG` as `createBashTool` does.
 */
export function agentsShell(options: BashToolOptions = {}): AgentsShell {
  // Nobody looks at what is there before the end.
  const { options: checked, folder } = checkedOptions(options);
  const made = { options: { ...checked, updateIntervalMs: 0 }, folder };
  return {
    async run(action) {
      let last: ShellOutput = { output: [] };
      for await (const output of runAction(made, { action }, { toolCallId: '' })) last = output;
      return last;
    },
  };
}
