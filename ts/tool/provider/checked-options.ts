import { toolFolder } from '../call-plan.ts';
import { terminalOf } from '../in-terminal.ts';
import { interceptRules } from '../intercept/intercept.ts';
import { checkToolOptions } from '../option-names.ts';
import { type ToolSetup, withPlace } from '../tool-options.ts';
import type { BashToolOptions } from '../types.ts';

/**
 * Returns a tool's options with its directory resolved now. Throws for invalid options here, as `createBashTool` does,
 * and not at the first call.
 */
export function checkedOptions(entry: string, options: BashToolOptions): ToolSetup {
  checkToolOptions(entry, options);
  const folder = toolFolder(options.cwd);
  interceptRules(options);
  terminalOf(withPlace(options, folder));
  return { options, folder };
}
