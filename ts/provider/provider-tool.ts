import { contextSchema } from '../ai/schema.ts';
import { keepOptions, type Made } from '../ai/tool-options.ts';
import type { BashToolExecutionOptions, BashToolOptions } from '../ai/types.ts';
import { checkedOptions } from './checked-options.ts';
import type { ProviderSchema, ProviderTool } from './types.ts';

/** What one tool of a provider is beside its options. */
interface Kind<Input, Output> {
  id: ProviderTool['id'];
  inputSchema: ProviderSchema<Input>;
  /** One call: any input, since not every caller looks at the schema. */
  run: (made: Made, input: unknown, call: BashToolExecutionOptions) => AsyncGenerator<Output, void, undefined>;
}

/** A tool of a provider as both majors take it. Approvals know it by its `execute`. */
export function providerTool<Input, Output>(
  options: BashToolOptions,
  { id, inputSchema, run }: Kind<Input, Output>,
): ProviderTool<Input, Output> {
  const made = checkedOptions(options);
  const tool: ProviderTool<Input, Output> = {
    type: 'provider',
    isProviderExecuted: false,
    id,
    args: {},
    inputSchema,
    contextSchema,
    execute: (input, call = { toolCallId: '' }) => run(made, input, call),
  };
  return keepOptions(tool, made);
}
