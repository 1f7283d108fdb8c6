import type { BashInputIssue } from '../ai/types.ts';
import type { ProviderSchema } from './types.ts';

/** A value that was read, or why it is none. */
export type Read<T> = { value: T } | { issues: BashInputIssue[] };

/** The schema of what `read` takes; the JSON Schema is for people and interfaces, since the provider's API has its own. */
export function providerSchema<T>(
  read: (value: unknown) => Read<T>,
  json: () => Record<string, unknown>,
): ProviderSchema<T> {
  const convert = ({ target }: { readonly target: string }) => {
    if (!target.startsWith('draft-')) throw new Error(`agent-bash gives JSON Schema drafts, not ${target}`);
    return json();
  };
  return {
    '~standard': {
      version: 1,
      vendor: 'agent-bash',
      validate: read,
      jsonSchema: { input: convert, output: convert },
    },
  };
}

/** The JSON Schema of an input that holds one action. */
export function actionSchema(required: string[], properties: Record<string, unknown>): Record<string, unknown> {
  const action = { type: 'object', properties, required, additionalProperties: false };
  return { type: 'object', properties: { action }, required: ['action'], additionalProperties: false };
}

/** What was wrong with an input, as one sentence. */
export function sentence(issues: readonly BashInputIssue[]): string {
  return issues.map(({ message }) => message).join('; ');
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
