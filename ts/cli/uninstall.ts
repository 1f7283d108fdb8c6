import { EXIT, Failure, print, printJson } from './console.ts';
import { brieflyOn, type TargetFlags } from './destination.ts';

/** `agent-bash uninstall --on DEST`: removes the host program and what is its own from a target. */
export async function uninstall(options: TargetFlags & { json?: boolean }): Promise<void> {
  if (!options.on) {
    throw new Failure('ERR_BASH_INVALID_ARG', 'uninstall removes what is on a target: name it with --on', EXIT.usage);
  }
  await brieflyOn(options, async (target) => {
    if (!target) return;
    const { path } = target.info.program;
    await target.uninstall();
    if (options.json) return printJson({ target: target.id, program: path });
    await print(`removed ${path} and what is its own from ${target.id}`);
  });
}
