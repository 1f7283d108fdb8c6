import type { BashContextSchema, BashInputIssue } from '../schema-types.ts';
import type { BashToolExecutionOptions } from '../types.ts';

/** A Standard Schema with its JSON Schema, which both majors take as it is. The tool is called with its output. */
export interface ProviderSchema<T> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: 'agent-bash';
    readonly types?: { readonly input: T; readonly output: T } | undefined;
    readonly validate: (
      value: unknown,
    ) => { readonly value: T; readonly issues?: undefined } | { readonly issues: readonly BashInputIssue[] };
    readonly jsonSchema: {
      /** A new object each time. Throws for targets other than JSON Schema drafts. */
      readonly input: (options: { readonly target: string }) => Record<string, unknown>;
      readonly output: (options: { readonly target: string }) => Record<string, unknown>;
    };
  };
}

/**
 * A tool that a provider has defined, complete, for ai 6 and ai 7: it goes straight into `tools`, under the key that
 * its function names. The provider's package, which the model comes from, tells the API of it by its `id`.
 */
// biome-ignore lint/suspicious/noExplicitAny: without its types it stands for any of them
export interface ProviderTool<Input = any, Output = any> {
  type: 'provider';
  /** `false` for ai 7: the tool runs here, and not at the provider. */
  isProviderExecuted: false;
  /** The provider's name and that of the tool: `'anthropic.bash_20250124'`. */
  id: `${string}.${string}`;
  /** The arguments of the tool for the provider's API; none by default. */
  args: Record<string, unknown>;
  inputSchema: ProviderSchema<Input>;
  /** Lets anything through; ai 6 does not look at it. */
  contextSchema: BashContextSchema;
  /**
   * Yields the output so far while the commands run and the final output last; never throws. Ends the commands if the
   * signal aborts or the iteration is given up.
   */
  execute: (input: Input, options: BashToolExecutionOptions) => AsyncGenerator<Output, void, undefined>;
}
