import { complain, EXIT, Failure, print, printJson, remark } from './console.ts';
import { denials } from './denials.ts';
import { wordsOf } from './destination.ts';
import { recordLines } from './record.ts';
import { type CommonOptions, findTask, paintedState, withRegistry } from './tasks.ts';

/** `agent-bash kill ID...`: ends tasks in parallel. A missing or failing task does not affect the others. */
export async function kill(names: string[], options: CommonOptions): Promise<void> {
  await withRegistry(options, async (registry) => {
    const killed = await Promise.allSettled(
      names.map(async (name) => {
        const before = findTask(registry, name);
        const check = await registry.kill(before.id);
        return { before, check };
      }),
    );
    for (const one of killed) {
      if (one.status === 'rejected') {
        process.exitCode = EXIT.failed;
        await complain(Failure.of(one.reason));
      } else if (options.json) {
        await printJson(one.value.check);
      } else {
        const { before, check } = one.value;
        const had = before.state === 'running' ? '' : ' (it had ended before)';
        await print(`${check.task.pid}  ${paintedState(check.task)}${had}`);
        const { runId, receipt, undo } = check;
        const record = runId === null ? [] : recordLines({ runId, receipt, undo }, check.task.cwd, wordsOf(options));
        for (const line of record) await remark(line);
        for (const line of check.confinement ? denials(check.confinement) : []) await remark(line);
      }
    }
  });
}
