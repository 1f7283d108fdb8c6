import { readFileSync, writeFileSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';

/** Highest resident size since the last reset, in bytes, or null if the kernel does not report it. */
function peakResident() {
  try {
    return Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]) * 1024;
  } catch {
    return null;
  }
}

function resetPeak() {
  try {
    writeFileSync('/proc/self/clear_refs', '5');
  } catch {
    // Outside Linux the peak is that of the whole life of the process.
  }
}

/** Measures time, growth of the resident size and delay of the event loop, from construction to `stop()`. */
export class Meter {
  #delay = monitorEventLoopDelay({ resolution: 1 });
  #resident;
  #started;

  constructor() {
    globalThis.gc?.();
    this.#delay.enable();
    resetPeak();
    this.#resident = process.memoryUsage.rss();
    this.#started = performance.now();
  }

  stop() {
    const total = performance.now() - this.#started;
    this.#delay.disable();
    const peak = peakResident() ?? process.resourceUsage().maxRSS * 1024;
    return {
      total,
      growth: Math.max(0, peak - this.#resident),
      delayP99: this.#delay.percentile(99) / 1e6,
      delayMax: this.#delay.max / 1e6,
    };
  }
}
