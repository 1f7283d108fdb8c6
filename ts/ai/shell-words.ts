/** A piece of a command outside all compound commands; `group` is a whole compound command. Offsets are UTF-16 units. */
export interface Token {
  kind: 'word' | 'operator' | 'group';
  text: string;
  start: number;
  end: number;
}

/** What ends a compound command, by what starts it. */
const CLOSERS: Record<string, string> = { '{': '}', if: 'fi', for: 'done', while: 'done', until: 'done' };
/** Words after which a command starts inside a compound command. */
const JOINTS = new Set(['then', 'do', 'else', 'elif', '!', 'time']);
/** Words that start something which is not followed here. */
const OPAQUE = new Set(['case', 'select', 'function', 'coproc', '[[']);
const OPERATORS = [
  '&>>',
  '<<<',
  '&&',
  '||',
  '|&',
  ';;',
  '&>',
  '<<',
  '>>',
  '>|',
  '<>',
  '<&',
  '>&',
  '|',
  ';',
  '&',
  '<',
  '>',
];
const METACHARACTERS = ' \t\n|&;()<>';
const REDIRECTION = /[<>]/;

/**
 * Splits a command into words, operators and whole compound commands, as far as that is certain. `null` where it is
 * not: heredocs, comments, `case`, functions, arrays, arithmetic commands, anything left open. A shell's grammar is
 * large, and whoever asks here leaves a command alone when in doubt.
 */
export function shellWords(command: string): Token[] | null {
  const tokens: Token[] = [];
  const open: string[] = [];
  let groupStart = 0;
  let commandPosition = true;
  let at = 0;

  const enter = (closer: string, start: number) => {
    if (open.length === 0) groupStart = start;
    open.push(closer);
  };
  const leave = (closer: string, end: number): boolean => {
    if (open.pop() !== closer) return false;
    if (open.length === 0) {
      tokens.push({ kind: 'group', text: command.slice(groupStart, end), start: groupStart, end });
    }
    return true;
  };

  while (at < command.length) {
    const char = command[at] as string;
    if (char === ' ' || char === '\t') {
      at += 1;
    } else if (command.startsWith('\\\n', at)) {
      at += 2;
    } else if (char === '#') {
      return null;
    } else if (char === '\n') {
      if (open.length === 0) tokens.push({ kind: 'operator', text: char, start: at, end: at + 1 });
      commandPosition = true;
      at += 1;
    } else if (char === '(') {
      if (!commandPosition || command[at + 1] === '(') return null;
      enter(')', at);
      at += 1;
    } else if (char === ')') {
      at += 1;
      if (!leave(')', at)) return null;
      commandPosition = false;
    } else if (METACHARACTERS.includes(char) && !isProcessSubstitution(command, at)) {
      const text = OPERATORS.find((operator) => command.startsWith(operator, at)) as string;
      if (text === '<<') return null;
      if (open.length === 0) tokens.push({ kind: 'operator', text, start: at, end: at + text.length });
      commandPosition = !REDIRECTION.test(text);
      at += text.length;
    } else {
      const end = wordEnd(command, at);
      if (end === null) return null;
      const text = command.slice(at, end);
      if (commandPosition && OPAQUE.has(text)) return null;
      if (commandPosition && open.length === 0 && JOINTS.has(text) && text !== 'time') return null;
      if (commandPosition && Object.hasOwn(CLOSERS, text)) {
        enter(CLOSERS[text] as string, at);
        // The word after `for` is a name; after the others a command starts.
        commandPosition = text !== 'for';
      } else if (commandPosition && open.length > 0 && Object.values(CLOSERS).includes(text)) {
        if (!leave(text, end)) return null;
        commandPosition = false;
      } else {
        if (open.length === 0) tokens.push({ kind: 'word', text, start: at, end });
        commandPosition = commandPosition && JOINTS.has(text);
      }
      at = end;
    }
  }
  return open.length === 0 ? tokens : null;
}

function isProcessSubstitution(command: string, at: number): boolean {
  return command.startsWith('<(', at) || command.startsWith('>(', at);
}

/** Substitutions in substitutions that are followed. */
const DEEPEST = 20;
// Quotes in an expansion mean different things inside and outside of double quotes: only expansions without any.
const PLAIN_EXPANSION = /\$\{[^'"`\\{}$]*\}/y;

/** Where the word that starts here ends, or `null` if that is not certain. */
function wordEnd(command: string, start: number): number | null {
  let at: number | null = start;
  while (at !== null && at < command.length) {
    if (isProcessSubstitution(command, at)) at = substitutionEnd(command, at + 2, 0);
    else if (METACHARACTERS.includes(command[at] as string)) break;
    else at = pieceEnd(command, at, 0);
  }
  return at;
}

/** Where one piece of a word ends: a quoted part, a substitution, an escaped or a plain character. */
function pieceEnd(command: string, at: number, depth: number): number | null {
  switch (command[at]) {
    case '"':
      return doubleQuotesEnd(command, at + 1, depth);
    case "'": {
      const end = command.indexOf("'", at + 1);
      return end < 0 ? null : end + 1;
    }
    case '$':
      return command[at + 1] === "'" ? closing(command, at + 2, "'") : expansionEnd(command, at, depth);
    default:
      return expansionEnd(command, at, depth);
  }
}

/** The same for what means something inside double quotes too. */
function expansionEnd(command: string, at: number, depth: number): number | null {
  const char = command[at];
  if (char === '\\') return at + 1 < command.length ? at + 2 : null;
  if (char === '`') return closing(command, at + 1, '`');
  if (char !== '$') return at + 1;
  if (command[at + 1] === '(') return depth < DEEPEST ? substitutionEnd(command, at + 2, depth + 1) : null;
  if (command[at + 1] !== '{') return at + 1;
  PLAIN_EXPANSION.lastIndex = at;
  return PLAIN_EXPANSION.test(command) ? PLAIN_EXPANSION.lastIndex : null;
}

/** Past the next such character that no backslash stands before. */
function closing(command: string, from: number, quote: string): number | null {
  for (let at = from; at < command.length; at += 1) {
    if (command[at] === '\\') at += 1;
    else if (command[at] === quote) return at + 1;
  }
  return null;
}

function doubleQuotesEnd(command: string, from: number, depth: number): number | null {
  let at: number | null = from;
  while (at !== null && at < command.length) {
    if (command[at] === '"') return at + 1;
    at = expansionEnd(command, at, depth);
  }
  return null;
}

/** Past the parenthesis that closes a substitution. */
function substitutionEnd(command: string, from: number, depth: number): number | null {
  let open = 1;
  let at: number | null = from;
  while (at !== null && at < command.length) {
    const char = command[at] as string;
    // A comment may hold any quote, a heredoc any text.
    if (char === '#' && /[\s;&|(]/.test(command[at - 1] as string)) return null;
    if (command.startsWith('<<<', at)) {
      at += 3;
    } else if (command.startsWith('<<', at)) {
      return null;
    } else if (char === '(' || char === ')') {
      open += char === '(' ? 1 : -1;
      at += 1;
      if (open === 0) return at;
    } else {
      at = pieceEnd(command, at, depth);
    }
  }
  return null;
}
