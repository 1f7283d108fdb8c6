import { terminalOf } from '../in-terminal.ts';
import { interceptRules } from '../intercept/intercept.ts';
import { checkToolOptions } from '../option-names.ts';
import { setupFor, type ToolSetup, withPlace } from '../tool-options.ts';
import type { BashToolOptions } from '../types.ts';

/**
 * Returns a tool's options with its directory resolved now. Throws for invalid options here, as `createBashTool` does,
 * and not at the first call.
 */
export function checkedOptions(entry: string, options: BashToolOptions): ToolSetup {
  checkToolOptions(entry, options);
  const setup = setupFor(options);
  interceptRules(options);
  terminalOf(withPlace(options, setup.folder));
  return setup;
}
