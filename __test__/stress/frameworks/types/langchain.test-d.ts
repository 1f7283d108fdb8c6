// Not run: `tsc` over this file is the test.

import { type DynamicStructuredTool, tool } from '@langchain/core/tools';
import { getConfig } from '@langchain/langgraph';
import { deepAgentsBackend, langchainBash } from 'agent-bash/langchain';
import { createDeepAgent, LocalShellBackend } from 'deepagents';
import { createAgent, tool as langchainTool } from 'langchain';

const bash = langchainBash(tool, { confine: 'workspace' });
bash satisfies DynamicStructuredTool;
createAgent({ model: 'none', tools: [bash, langchainBash(langchainTool)] });
bash.invoke({ command: 'true' }, { signal: AbortSignal.timeout(1) }) satisfies Promise<unknown>;
// @ts-expect-error an option that does not exist
langchainBash(tool, { timeout: 5 });

const backend = deepAgentsBackend(LocalShellBackend, {
  cwd: '/srv/app',
  signal: () => getConfig()?.signal,
  approval: { ask: ['git push:*'], onAsk: ({ suggestRules }) => (suggestRules.length > 0 ? 'always' : false) },
});
backend satisfies LocalShellBackend;
createDeepAgent({ model: 'none', backend });
// @ts-expect-error not a class of backends
deepAgentsBackend(class {});
