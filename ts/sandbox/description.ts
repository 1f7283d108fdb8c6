import { foreignName } from '../core/foreign.ts';
import { type Base, isConfined } from './base.ts';

/** The longest name of a host, user or directory in a description, in UTF-16 units. */
const LONGEST_NAME = 200;

/**
 * Returns the description of the machine for a model, which must know this machine before it treats it as a sandbox.
 */
export function describe(base: Base, home: string | null): string {
  const reach = isConfined(base)
    ? 'Commands are confined: they change files only where they may, and reach only the hosts that they may. What they change is changed for good.'
    : 'Nothing is confined or virtual: what is changed here is changed for good.';
  return [
    `${machineOf(base)} ${reach}`,
    `Root directory: ${base.target ? named(base.cwd) : base.cwd}. Commands start there, and relative paths too.`,
    `HOME is ${home ?? 'a private folder, empty at first'}.`,
    'Each command has a bash of its own: its working folder, variables and aliases are not there for the next one. Nobody can be asked anything.',
  ].join('\n');
}

function machineOf({ target }: Base): string {
  if (target === undefined) return `The machine that the agent itself runs on (${process.platform} ${process.arch}).`;
  const { hostName, user, platform, arch } = target.info;
  const machine = `The host ${named(hostName)} (${platform} ${arch}), as ${named(user)}`;
  return `${machine}: another machine than that of the agent and of its other tools; all paths are paths there.`;
}

/** Returns a name that a target has told. */
function named(name: string): string {
  return foreignName(name, LONGEST_NAME);
}
