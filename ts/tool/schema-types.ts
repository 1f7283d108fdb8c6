import type { BashToolInput } from './types.ts';

/** A reason why an input is not valid. */
export interface BashInputIssue {
  message: string;
  path: [string] | [];
}

/** A Standard Schema with its JSON Schema, which both majors take as it is. */
export interface BashInputSchema {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: 'agent-bash';
    readonly types?: { readonly input: BashToolInput; readonly output: BashToolInput } | undefined;
    readonly validate: (
      value: unknown,
    ) =>
      | { readonly value: BashToolInput; readonly issues?: undefined }
      | { readonly issues: readonly BashInputIssue[] };
    readonly jsonSchema: {
      /** A new object each time, since consumers change it. Throws for targets other than JSON Schema drafts. */
      readonly input: (options: { readonly target: string }) => Record<string, unknown>;
      readonly output: (options: { readonly target: string }) => Record<string, unknown>;
    };
  };
}

/**
 * The schema of the context that `perCall` receives, for ai 7: any object, or none. Without it, `toolsContext` would
 * have no place for this tool.
 */
export interface BashContextSchema {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: 'agent-bash';
    /**
     * ai 7 infers from the last of these that a context may be left out. Its `tool()` takes objects only, and finds the
     * first.
     */
    readonly validate: {
      (value: unknown): { readonly value: BashToolContext; readonly issues?: undefined };
      (value: unknown): { readonly value: BashToolContext | undefined; readonly issues?: undefined };
    };
  };
}

/** The app's own context of a call. */
export type BashToolContext = Record<string, unknown>;
