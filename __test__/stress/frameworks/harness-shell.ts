import { HARNESS_V1_BUILTIN_TOOLS, type HarnessV1, type HarnessV1StartOptions } from '@ai-sdk/harness';

const harnessId = 'shell';
const state = { harnessId, specificationVersion: 'harness-v1', data: {} } as const;
const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};
const finishReason = { unified: 'stop', raw: 'stop' } as const;

/** A harness that runs each prompt as a command, and then repeats what it printed. No model takes part. */
export function shellHarness(
  given: Pick<HarnessV1, 'getBootstrap'> & { onStart?: (options: HarnessV1StartOptions) => void } = {},
): HarnessV1 {
  const { onStart, ...rest } = given;
  return {
    specificationVersion: 'harness-v1',
    harnessId,
    builtinTools: { bash: HARNESS_V1_BUILTIN_TOOLS.bash },
    ...rest,
    async doStart(options) {
      onStart?.(options);
      const { sessionId, sandboxSession, sessionWorkDir, resumeFrom } = options;
      const unsupported = async () => {
        throw new Error('there are no turns to go on with');
      };
      return {
        sessionId,
        isResume: resumeFrom !== undefined,
        async doPromptTurn({ prompt, emit, abortSignal }) {
          const turn = async () => {
            const command = typeof prompt === 'string' ? prompt : String(prompt.content);
            const call = { toolCallId: 'call-1', toolName: 'bash' };
            emit({ type: 'stream-start' });
            emit({ type: 'tool-call', ...call, input: JSON.stringify({ command }), providerExecuted: true });
            const result = await sandboxSession.run({
              command,
              workingDirectory: sessionWorkDir,
              ...(abortSignal && { abortSignal }),
            });
            abortSignal?.throwIfAborted();
            emit({ type: 'tool-result', ...call, result: JSON.parse(JSON.stringify(result)) });
            emit({ type: 'text-start', id: 't' });
            emit({ type: 'text-delta', id: 't', delta: result.stdout + result.stderr });
            emit({ type: 'text-end', id: 't' });
            emit({ type: 'finish-step', finishReason, usage });
            emit({ type: 'finish', finishReason, totalUsage: usage });
          };
          return { submitToolResult: unsupported, done: Promise.resolve().then(turn) };
        },
        doCompact: unsupported,
        doContinueTurn: unsupported,
        doSuspendTurn: unsupported,
        doDetach: async () => ({ ...state, type: 'resume-session' }),
        doStop: async () => ({ ...state, type: 'resume-session' }),
        doDestroy: async () => {},
      };
    },
  };
}
