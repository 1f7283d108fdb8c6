import * as entry from 'agent-bash/sandbox';
import { type CommandFinished, createLocalSandbox, type LocalSandbox, type RunParams } from 'agent-bash/sandbox';
import { expect, expectTypeOf, test } from 'vitest';

// The shapes as the public contract writes them down; the compiler holds ours against them.

interface ContractFinished {
  exitCode: number;
  stdout(): Promise<string>;
  stderr(): Promise<string>;
  output(which?: 'stdout' | 'stderr' | 'both'): Promise<string>;
}

interface ContractParams {
  cmd: string;
  args?: string[];
  cwd?: string;
  env?: Record<string, string>;
  signal?: AbortSignal;
}

interface ContractSandbox {
  runCommand(cmd: string, args?: string[]): Promise<ContractFinished>;
  runCommand(params: ContractParams): Promise<ContractFinished>;
  runCommand(
    params: ContractParams & { detached: true },
  ): Promise<{ wait(): Promise<ContractFinished>; kill(signal?: string): Promise<void> }>;
  readFile(f: { path: string; cwd?: string }): Promise<ReadableStream | null>;
  writeFiles(files: { path: string; content: string | Uint8Array }[]): Promise<void>;
  mkDir(path: string): Promise<void>;
  stop(): Promise<void>;
}

test('a local sandbox has the contract’s shape', () => {
  expectTypeOf<LocalSandbox>().toExtend<ContractSandbox>();
  expectTypeOf<ContractParams>().toExtend<RunParams>();
  expectTypeOf<CommandFinished>().toExtend<ContractFinished>();
  const sandbox: ContractSandbox = createLocalSandbox();
  expect(Object.keys(sandbox).sort()).toEqual(['mkDir', 'readFile', 'runCommand', 'stop', 'writeFiles']);
});

test('the entry exports what this version has, and no more', () => {
  expect(Object.keys(entry)).toEqual([
    'createLocalSandbox',
    'createLocalSandboxSession',
    'createSandbox',
    'createSandboxSession',
  ]);
});

test('a detached command is typed by the literal that asks for it', async () => {
  const sandbox = createLocalSandbox();
  const command = await sandbox.runCommand({ cmd: 'true', detached: true });
  expectTypeOf(command.wait()).resolves.toExtend<CommandFinished>();
  expect((await command.wait()).exitCode).toBe(0);
});
