// Answers of the addon in JSON.
import type { Facts } from './facts.ts';
import { loadNative } from './native.ts';
import type { Outline } from './outline.ts';

let known: Facts | undefined;

/** Asks the core once. */
export function facts(): Facts {
  known ??= JSON.parse(loadNative().facts()) as Facts;
  return known;
}

/** Reads a command without running it. */
export function outlineOf(command: string): Outline {
  return JSON.parse(loadNative().commandOutline(command)) as Outline;
}

let rules: string[] | undefined;

/** Returns the ids of the safety rules. */
export function ruleIds(): string[] {
  rules ??= (JSON.parse(loadNative().safetyRules()) as { id: string }[]).map(({ id }) => id);
  return rules;
}
