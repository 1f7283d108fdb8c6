import { messageOf } from '../core/listener.ts';
import type { BashInputIssue } from './schema-types.ts';

/** A parsed value, or the reasons why it is invalid. */
export type Read<T> = { value: T } | { issues: BashInputIssue[] };

/** Returns a reader that never throws: if a getter of the input throws, its message is the issue. */
export function reader<T>(read: (value: unknown) => Read<T>): (value: unknown) => Read<T> {
  return (value) => {
    try {
      return read(value);
    } catch (error) {
      return { issues: [{ message: unreadable(error), path: [] }] };
    }
  };
}

/** The issue of an input whose getter has thrown. */
export function unreadable(error: unknown): string {
  return `the input cannot be read: ${messageOf(error)}`;
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
