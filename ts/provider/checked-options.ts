import { toolFolder } from '../ai/call-plan.ts';
import { terminalOf } from '../ai/in-terminal.ts';
import { interceptRules } from '../ai/intercept.ts';
import { checkIsObject } from '../ai/options-object.ts';
import { type Made, withPlace } from '../ai/tool-options.ts';
import type { BashToolOptions } from '../ai/types.ts';

/** What a tool is made with, its folder resolved now. What cannot be is thrown here, as by `createBashTool`, and not at the first call. */
export function checkedOptions(options: BashToolOptions): Made {
  checkIsObject(options);
  const folder = toolFolder(options.cwd);
  interceptRules(options);
  terminalOf(withPlace(options, folder));
  return { options, folder };
}
