// @ts-expect-error the package is the caller's, and is not installed here
type Options = import('@anthropic-ai/claude-agent-sdk', { with: { 'resolution-mode': 'import' }}).Options;

/** Decides about a call of a tool. */
export type CanUseTool = NonNullable<Options['canUseTool']>;

/** Starts Claude Code. */
export type SpawnClaudeCode = NonNullable<Options['spawnClaudeCodeProcess']>;
