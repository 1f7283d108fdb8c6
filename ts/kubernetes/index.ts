export { agentSandboxes } from './provider.ts';
export type { AgentSandboxesOptions } from './types.ts';
