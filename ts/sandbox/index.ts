export { createLocalSandbox } from './local.ts';
export type { CommandSetting, PathOptions, WriteOptions } from './session/options.ts';
export { createLocalSandboxSession } from './session/session.ts';
export type {
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
  Recorded,
  RunParams,
} from './types.ts';
