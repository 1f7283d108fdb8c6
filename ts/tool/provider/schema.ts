import type { Read } from '../read.ts';
import type { BashInputIssue } from '../schema-types.ts';
import { standardSchema } from '../standard-schema.ts';
import type { ProviderSchema } from './types.ts';

/**
 * Returns the schema of the inputs that `read` accepts. The JSON Schema is for people and user interfaces, because the
 * provider's API has its own.
 */
export function providerSchema<T>(
  read: (value: unknown) => Read<T>,
  json: () => Record<string, unknown>,
): ProviderSchema<T> {
  return standardSchema(read, json);
}

/** Returns the JSON Schema of an input that holds one action. */
export function actionSchema(required: string[], properties: Record<string, unknown>): Record<string, unknown> {
  const action = { type: 'object', properties, required, additionalProperties: false };
  return { type: 'object', properties: { action }, required: ['action'], additionalProperties: false };
}

/** Returns the issues of an input as one sentence. */
export function sentence(issues: readonly BashInputIssue[]): string {
  return issues.map(({ message }) => message).join('; ');
}
