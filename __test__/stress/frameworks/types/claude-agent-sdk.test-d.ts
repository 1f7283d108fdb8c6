// Not run: `tsc` over this file is the test.

import { type CanUseTool, createSdkMcpServer, type Options, query } from '@anthropic-ai/claude-agent-sdk';
import { claudeApproval, claudeShell, claudeSpawn } from 'agent-bash/claude-agent-sdk';

const otherwise: CanUseTool = async (_name, input) => ({ behavior: 'allow', updatedInput: input });
const shell = claudeShell(createSdkMcpServer, { confine: 'workspace', builtin: 'alias', otherwise });
shell.server satisfies ReturnType<typeof createSdkMcpServer>;
shell.options satisfies Pick<Options, 'mcpServers' | 'toolAliases' | 'disallowedTools' | 'canUseTool'>;
query({ prompt: 'List the files.', options: { ...shell.options } });
shell.close() satisfies Promise<void>;
// @ts-expect-error an option that does not exist
claudeShell(createSdkMcpServer, { timeout: 5 });
// @ts-expect-error no function
claudeShell({});

claudeApproval({ allow: ['read-only'], onAsk: () => 'always', otherwise }) satisfies CanUseTool;
claudeSpawn({
  limits: { processes: 100 },
  onStderr: (text) => text.length,
}) satisfies Options['spawnClaudeCodeProcess'];
claudeSpawn({ onExit: ({ exitCode, signal, confinement }) => [exitCode, signal, confinement?.denied] });
// @ts-expect-error an option that does not exist
claudeSpawn({ stderr: true });
