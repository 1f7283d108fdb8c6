/** The text of npm/levels.json. */
export function levelsText(): string;
/** The table of docs/platforms.md. */
export function pageText(text?: string): string;
