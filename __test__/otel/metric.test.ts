import { BackgroundRegistry, bash } from 'agent-bash';
import { expect, onTestFinished, test } from 'vitest';
import { rejection, until } from '../support/index.ts';
import { instrumented, type Measured, sdk } from './support.ts';

const TOOL = { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': 'bash', 'gen_ai.tool.type': 'function' };

const sumOf = ({ points }: Measured) => points.reduce((sum, { value }) => sum + value.count, 0);

test('the histogram gen_ai.execute_tool.duration has the seconds of each run, as its span has', async () => {
  const { tracer, meter, measured, ended } = sdk();
  instrumented({ tracer, meter });
  await bash('sleep .3');
  const [metric, ...others] = await measured();
  expect(others).toEqual([]);
  expect(metric).toMatchObject({ name: 'gen_ai.execute_tool.duration', unit: 's' });
  expect(metric?.points).toHaveLength(1);
  const { count, sum = 0 } = metric?.points[0]?.value ?? {};
  expect(count).toBe(1);
  expect(sum).toBeGreaterThanOrEqual(0.3);
  const [seconds = 0, nanoseconds = 0] = (await ended(1))[0]?.duration ?? [];
  expect(Math.abs(sum - seconds - nanoseconds / 1e9)).toBeLessThan(0.05);
});

test('its attributes are the tool and the error, without pids and ids', async () => {
  const { tracer, meter, measured } = sdk();
  instrumented({ tracer, meter, command: true });
  await bash('true');
  await bash('exit 3');
  await bash('kill -9 $$');
  await bash('sleep 300', { timeoutMs: 50 });
  await rejection(() => bash('git push --force'));
  const [metric] = await measured();
  const points = metric?.points.map(({ attributes, value }) => [attributes, value.count]);
  expect(points).toEqual([
    // An exit code is no error, and no attribute.
    [TOOL, 2],
    [{ ...TOOL, 'error.type': 'SIGKILL' }, 1],
    [{ ...TOOL, 'error.type': 'timeout' }, 1],
    [{ ...TOOL, 'error.type': 'ERR_BASH_BLOCKED' }, 1],
  ]);
});

test('a task is measured once, at its end', async () => {
  const { meter, measured } = sdk();
  instrumented({ meter });
  const registry = new BackgroundRegistry();
  onTestFinished(() => registry.close());
  await bash('sleep 1', { registry, timeoutMs: 50 });
  expect(await measured()).toEqual([]);
  const [metric] = await until(async () => {
    const metrics = await measured();
    return metrics.length > 0 && metrics;
  });
  expect(metric?.points[0]?.value.count).toBe(1);
  expect(metric?.points[0]?.value.sum).toBeGreaterThanOrEqual(1);
});

test('a run that goes on when the instrumentation ends is not measured: its duration is not known', async () => {
  const { tracer, meter, measured, ended } = sdk();
  const undo = instrumented({ tracer, meter });
  const stop = new AbortController();
  const run = bash('sleep 300', { signal: stop.signal });
  undo();
  stop.abort();
  await run;
  await ended(1);
  expect(await measured()).toEqual([]);
});

test('many runs at once are all measured', async () => {
  const { meter, measured } = sdk();
  instrumented({ meter });
  await Promise.all(Array.from({ length: 50 }, (_, code) => bash(`exit ${code}`)));
  expect((await measured()).map(sumOf)).toEqual([50]);
});
