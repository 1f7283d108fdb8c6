import type { Evidence } from './types.ts';

/** Returns the evidence that an event of the addon has as JSON. */
export function evidenceOf(json: string | null | undefined): Evidence | null {
  return json == null ? null : (JSON.parse(json) as Evidence);
}
