// Not run: `tsc` over this file is the test.

import { LocalSandbox, Workspace, type WorkspaceSandbox } from '@mastra/core/workspace';
import { mastraApproval, mastraSandbox } from 'agent-bash/mastra';

const sandbox = mastraSandbox({ id: 'app', ports: [3000], confine: 'workspace', onAfterRun: ({ result }) => result });
sandbox satisfies WorkspaceSandbox;
const requireApproval = mastraApproval({ ask: ['git push:*'] });
requireApproval({ args: { command: 'true' } }) satisfies boolean;
new Workspace({ sandbox, tools: { mastra_workspace_execute_command: { requireApproval } } });
new Workspace({ sandbox: new LocalSandbox(), tools: { requireApproval } });
sandbox.processes?.spawn('cat', { stdinMode: 'pipe' }) satisfies Promise<unknown> | undefined;
// @ts-expect-error an option that does not exist
mastraSandbox({ workingDirectory: '/srv' });
// @ts-expect-error an option that does not exist
mastraApproval({ confine: 'workspace' });
