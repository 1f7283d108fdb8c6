export { createLocalSandbox, createSandbox } from './sandbox.ts';
export type { CommandSetting, PathOptions, WriteOptions } from './session/options.ts';
export { createLocalSandboxSession, createSandboxSession } from './session/session.ts';
export type {
  DisposableSandboxSession,
  LocalSandboxSession,
  SandboxDirectoryEntry,
  SandboxFileStat,
  SandboxProcess,
  SandboxRunOptions,
  SandboxRunResult,
  SandboxSession,
  SandboxSpawnOptions,
  WritableSandboxProcess,
} from './session/types.ts';
export type {
  CommandFinished,
  CommandRunner,
  Confined,
  DetachedCommand,
  LocalSandbox,
  LocalSessionOptions,
  Losable,
  Recorded,
  RunParams,
  Sandbox,
  SandboxOptions,
} from './types.ts';
