import type { BackgroundRegistry } from './registry/index.ts';
import type { CommandOptions } from './types.ts';

/** Options of `bash()`. */
export interface BashOptions extends CommandOptions<BackgroundRegistry> {}
