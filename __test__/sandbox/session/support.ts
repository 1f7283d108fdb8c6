import { createLocalSandboxSession, type LocalSandboxSession } from 'agent-bash/sandbox';
import { onTestFinished } from 'vitest';
import { temporaryFolder } from '../support.ts';

export { isAlive, pidFrom, temporaryFolder, textOf } from '../support.ts';

type Options = NonNullable<Parameters<typeof createLocalSandboxSession>[0]>;

/** A session in a directory of the test's own; it ends with the test. */
export async function sessionInFolder(
  options: Options = {},
): Promise<{ folder: string; session: LocalSandboxSession }> {
  const folder = await temporaryFolder();
  const session = createLocalSandboxSession({ cwd: folder, graceMs: 300, ...options });
  onTestFinished(() => session[Symbol.asyncDispose]());
  return { folder, session };
}

/** All bytes of a stream. */
export async function bytesOf(stream: ReadableStream<Uint8Array>): Promise<Buffer> {
  return Buffer.from(await new Response(stream).arrayBuffer());
}

/** A stream of these chunks. */
export function streamOf(...chunks: (string | Uint8Array)[]): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(typeof chunk === 'string' ? Buffer.from(chunk) : chunk);
      controller.close();
    },
  });
}
