import { type AnthropicBashInput, providerSchema } from '../tool/provider.ts';
import { isRecord, type Read, reader } from '../tool/schema.ts';
import type { BashInputIssue } from '../tool/types.ts';

/** A restart needs no command, although the schema of the provider's package requires one. */
export const readInput = reader((value): Read<AnthropicBashInput> => {
  if (!isRecord(value)) return { issues: [{ message: 'the input must be an object', path: [] }] };
  const { command, restart } = value;
  const issues: BashInputIssue[] = [];
  if (command != null && typeof command !== 'string') {
    issues.push({ message: 'command must be a string', path: ['command'] });
  }
  if (restart != null && typeof restart !== 'boolean') {
    issues.push({ message: 'restart must be true or false', path: ['restart'] });
  }
  if (issues.length === 0 && command == null && restart !== true) {
    issues.push({ message: 'a command must be given, or restart: true', path: [] });
  }
  if (issues.length > 0) return { issues };
  return { value: { ...(typeof command === 'string' && { command }), ...(restart === true && { restart }) } };
});

export const inputSchema = providerSchema<AnthropicBashInput>(readInput, () => ({
  type: 'object',
  properties: { command: { type: 'string' }, restart: { type: 'boolean' } },
  additionalProperties: false,
}));
