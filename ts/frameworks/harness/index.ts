/** Sandboxes for `HarnessAgent` of ai 7 on this machine. `@ai-sdk/harness` is not imported. */

export { harnessSandbox } from './provider.ts';
export type {
  HarnessSandboxOptions,
  HarnessV1NetworkPolicy,
  HarnessV1NetworkSandboxSession,
  HarnessV1SandboxProvider,
} from './types.ts';
