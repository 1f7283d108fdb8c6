/** `agent-bash` with every command the only one of a session. */
import { BashSession } from '../../../dist/index.cjs';

export * from '../../../dist/index.cjs';

export async function bash(command, options) {
  const session = new BashSession(options);
  try {
    const { cwd: _, ...result } = await session.run(command);
    return result;
  } finally {
    await session.close();
  }
}
