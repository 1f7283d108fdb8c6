import { contextSchema } from '../schema.ts';
import { rememberSetup, type ToolSetup } from '../tool-options.ts';
import type { BashToolExecutionOptions, BashToolOptions } from '../types.ts';
import { checkedOptions } from './checked-options.ts';
import type { ProviderSchema, ProviderTool } from './types.ts';

/** A provider's tool, apart from its options. */
interface Kind<Input, Output> {
  id: ProviderTool['id'];
  inputSchema: ProviderSchema<Input>;
  /** Answers one call. The input is unchecked, because not every caller applies the schema. */
  run: (setup: ToolSetup, input: unknown, call: BashToolExecutionOptions) => AsyncGenerator<Output, void, undefined>;
}

/** Returns a provider's tool in the form that both majors accept. Approvals recognize it by its `execute`. */
export function providerTool<Input, Output>(
  entry: string,
  options: BashToolOptions,
  { id, inputSchema, run }: Kind<Input, Output>,
): ProviderTool<Input, Output> {
  const setup = checkedOptions(entry, options);
  const tool: ProviderTool<Input, Output> = {
    type: 'provider',
    isProviderExecuted: false,
    id,
    args: {},
    inputSchema,
    contextSchema,
    execute: (input, call = { toolCallId: '' }) => run(setup, input, call),
  };
  return rememberSetup(tool, setup);
}
