import { checkedOptions } from '../tool/provider.ts';
import type { BashToolOptions } from '../tool/types.ts';
import { runAction } from './shell.ts';
import type { AgentsShell, ShellOutput } from './types.ts';

/**
 * Creates a shell for `@openai/agents`: `shellTool({ shell: agentsShell() })`. It runs an action as
 * `openaiShell(options)` does.
 *
 * The package passes only the action. Without a signal, commands of an aborted run continue to their time limit.
 * Without an id and a context, `perCall` is called with `undefined`. Throws `ERR_BASH_INVALID_ARG` as `createBashTool`
 * does.
 */
export function agentsShell(options: BashToolOptions = {}): AgentsShell {
  // The package takes no snapshots.
  const checked = checkedOptions('agentsShell', options);
  const setup = { ...checked, options: { ...checked.options, updateIntervalMs: 0 } };
  return {
    async run(action) {
      let last: ShellOutput = { output: [] };
      for await (const output of runAction(setup, { action }, { toolCallId: '' })) last = output;
      return last;
    },
  };
}
