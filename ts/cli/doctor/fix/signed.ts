import { createHash } from 'node:crypto';

const REMOVAL = 'agent-bash doctor --unfix';
const DIGITS = 16;
const MARK = new RegExp(`agent-bash \\S+, sha256 of the rest ([0-9a-f]{${DIGITS}})`);

/** Returns the text of a file of ours: `body` below a line that says what wrote it, and what removes it. */
export function signed(version: string, body: string, [before, after] = ['# ', '']): string {
  return `${before}agent-bash ${version}, sha256 of the rest ${digest(body)}; to remove it: ${REMOVAL}${after}\n${body}`;
}

/** Returns whether any version of agent-bash wrote this text, and nothing has changed it since. */
export function isUnchanged(text: string): boolean {
  const end = text.indexOf('\n');
  return MARK.exec(text.slice(0, end))?.[1] === digest(text.slice(end + 1));
}

function digest(body: string): string {
  return createHash('sha256').update(body).digest('hex').slice(0, DIGITS);
}
