import type { BashResult, Denial } from 'agent-bash';
import { visible } from '../../core/visible.ts';

type Confinement = NonNullable<BashResult['confinement']>;

/** Denials that the line names, and the length of a name in it. */
const NAMED = 8;
const NAME_LENGTH = 120;

const NO_FAULT = 'The confinement of this tool denied that: it is no fault of the project or of its tools';

/**
 * Returns the text that the model reads of the denials of a command: one line that names them, and one about the
 * next steps. `''` without denials. `asks`: whether the model may ask for access with its next call.
 */
export function denialPart(confinement: Confinement | null | undefined, asks: boolean): string {
  // A hook or a replacement of `bash` may give a result of another version.
  if (!confinement || confinement.denied.length === 0) return '';
  return `[confined: ${denialList(confinement)}]\n[${NO_FAULT}. ${remedy(confinement.denied, asks)}]`;
}

/** Returns the denials in words: `write /etc/hosts denied (tee); network a.example:443 denied (npm), 3 times`. */
export function denialList({ denied, deniedTotal }: Confinement): string {
  const named = denied.slice(0, NAMED);
  const left = deniedTotal - named.reduce((sum, { count }) => sum + count, 0);
  return [...named.map(denialInWords), ...(left > 0 ? [`${left} more`] : [])].join('; ');
}

/** Returns one denial in words, on one line. */
export function denialInWords({ kind, target, program, count }: Denial): string {
  const by = program === '' ? '' : ` (${oneLine(program)})`;
  return `${kind} ${oneLine(target)} denied${by}${count > 1 ? `, ${count} times` : ''}`;
}

function remedy(denied: readonly Denial[], asks: boolean): string {
  if (!asks) return 'The host grants nothing more: do without it, or tell the user what is needed.';
  const access = accessFor(denied);
  if (access === null) return 'Nothing that can be asked for allows it: do without it.';
  return `If the task needs it, run the command again with access ${JSON.stringify(access)} and a reason: the host is asked. Else do without it.`;
}

/** Returns the access that would have allowed the denied actions, or `null` if none would. */
function accessFor(denied: readonly Denial[]): { write?: string[]; network?: string[] } | null {
  const grants = denied.slice(0, NAMED).map(({ grant }) => grant);
  const write = [...new Set(grants.flatMap((grant) => grant?.write ?? []))];
  const network = [...new Set(grants.flatMap((grant) => grant?.network?.allow ?? []))];
  if (write.length + network.length === 0) return null;
  return { ...(write.length > 0 && { write }), ...(network.length > 0 && { network }) };
}

/** The name of a file may be any text, and a command chooses it. */
function oneLine(text: string): string {
  const line = visible(text).replace(/\s+/g, ' ').trim();
  if (line.length <= NAME_LENGTH) return line;
  const half = NAME_LENGTH / 2 - 1;
  return `${line.slice(0, half)}…${line.slice(-half)}`;
}
