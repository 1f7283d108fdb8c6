export { createLocalSandbox } from './local.ts';
export type {
  CommandFinished,
  CommandRunner,
  DetachedCommand,
  LocalSandbox,
  LocalSessionOptions,
  RunParams,
} from './types.ts';
