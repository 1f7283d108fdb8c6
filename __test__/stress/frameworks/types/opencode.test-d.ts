// Not run: `tsc` over this file is the test.

import { type Hooks, type Plugin, type ToolDefinition, tool } from '@opencode-ai/plugin';
import { opencodePlugin } from 'agent-bash/opencode';

export const AgentBash = opencodePlugin(tool, {
  confine: 'workspace',
  undo: 'always',
  approval: { deny: ['git push:*'] },
});
AgentBash satisfies Plugin;

const hooks = await AgentBash({ directory: '/srv/app' });
hooks satisfies Hooks;
hooks.tool.bash satisfies ToolDefinition | undefined;
hooks.dispose() satisfies Promise<void>;

// @ts-expect-error an option that does not exist
opencodePlugin(tool, { timeout: 5 });
// @ts-expect-error not the function
opencodePlugin({});
