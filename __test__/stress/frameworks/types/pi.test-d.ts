// Not run: `tsc` over this file is the test.

import {
  type BashOperations,
  createAgentSession,
  createBashTool,
  DefaultResourceLoader,
  type ExtensionFactory,
  type UserBashEventResult,
} from '@earendil-works/pi-coding-agent';
import { piExtension, piOperations } from 'agent-bash/pi';

const operations = piOperations({
  confine: 'workspace',
  approval: { deny: ['git push:*'] },
  onAfterRun: ({ result }) => console.log(result.receipt),
});
operations satisfies BashOperations;
({ operations }) satisfies UserBashEventResult;
createBashTool('/srv/app', { operations });
// @ts-expect-error an option that does not exist
piOperations({ timeout: 5 });

const extension = piExtension({
  undo: 'always',
  approval: { ask: ['git push:*'], onAsk: ({ suggestRules }) => (suggestRules.length > 0 ? 'always' : false) },
});
extension satisfies ExtensionFactory;
const resourceLoader = new DefaultResourceLoader({
  cwd: '/srv/app',
  agentDir: '/srv/app/.agent',
  extensionFactories: [extension],
});
createAgentSession({ resourceLoader });
// @ts-expect-error an option that does not exist
piExtension({ timeout: 5 });
