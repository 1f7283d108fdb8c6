import type { HighlightToken } from 'agent-bash';

/** Colours of a command's parts, of the 16 that each terminal has. */
export const TOKEN_COLOURS: Record<HighlightToken['class'], number> = {
  program: 4,
  option: 6,
  string: 2,
  variable: 5,
  keyword: 3,
  operator: 3,
  comment: 8,
  number: 6,
  function: 4,
};
