import { type Base, isConfined } from './base.ts';

/**
 * Returns the description of this machine for a model, which must know it before it treats the machine as a sandbox.
 */
export function describe(base: Base, home: string | null): string {
  const reach = isConfined(base)
    ? 'Commands are confined: they change files only where they may, and reach only the hosts that they may. What they change is changed for good.'
    : 'Nothing is confined or virtual: what is changed here is changed for good.';
  return [
    `The machine that the agent itself runs on (${process.platform} ${process.arch}). ${reach}`,
    `Root directory: ${base.cwd}. Commands start there, and relative paths too.`,
    `HOME is ${home ?? 'a private folder, empty at first'}.`,
    'Each command has a bash of its own: its working folder, variables and aliases are not there for the next one. Nobody can be asked anything.',
  ].join('\n');
}
