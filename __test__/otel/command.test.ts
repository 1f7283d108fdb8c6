import { AlwaysOffSampler } from '@opentelemetry/sdk-trace-base';
import { bash } from 'agent-bash';
import { expect, onTestFinished, test, vi } from 'vitest';
import { innerOf } from '../../ts/core/inner.ts';
import { rejection } from '../support/index.ts';
import { instrumented, sdk } from './support.ts';

const NAMES = ['process.command_line', 'gen_ai.tool.call.arguments'];

/** The texts of commands in the attributes of a span. */
const texts = (attributes: Record<string, unknown>) => NAMES.map((name) => attributes[name]);

/** Replaces the redaction of the addon until the test ends. */
function redacting(redact: (text: string) => string) {
  const spy = vi.spyOn(innerOf(bash), 'redact').mockImplementation(redact);
  onTestFinished(() => spy.mockRestore());
  return spy;
}

test('a span has the text of its command on request, as redaction leaves it', async () => {
  redacting((text) => text.replace('hunter2', '***'));
  const { tracer, ended } = sdk();
  instrumented({ tracer, command: true });
  await bash('echo hunter2', { prefix: 'nice', args: ['hunter2'] });
  await rejection(() => bash('git push --force origin hunter2'));
  const [ran, refused] = await ended(2);
  expect(texts(ran?.attributes ?? {})).toEqual(['echo ***', '{"command":"echo ***"}']);
  expect(texts(refused?.attributes ?? {})).toEqual([
    'git push --force origin ***',
    '{"command":"git push --force origin ***"}',
  ]);
});

test('a measurement never has it', async () => {
  redacting((text) => text);
  const { tracer, meter, measured } = sdk();
  instrumented({ tracer, meter, command: true });
  await bash('echo quite-unique');
  expect(JSON.stringify(await measured())).not.toContain('quite-unique');
});

test('if redaction fails, the span has no text, and the command runs', async () => {
  redacting(() => {
    throw new Error('no redaction');
  });
  const { tracer, ended } = sdk();
  instrumented({ tracer, command: true });
  expect((await bash('echo hi')).stdout).toBe('hi\n');
  expect(texts((await ended(1))[0]?.attributes ?? {})).toEqual([undefined, undefined]);
});

test('a span that is not recorded costs no redaction', async () => {
  const spy = redacting((text) => text);
  instrumented({ tracer: sdk({ sampler: new AlwaysOffSampler() }).tracer, command: true });
  await bash('true');
  expect(spy).not.toHaveBeenCalled();
});

test('without the request nothing is redacted', async () => {
  const spy = redacting((text) => text);
  const { tracer, ended } = sdk();
  instrumented({ tracer });
  await bash('echo hi');
  expect(texts((await ended(1))[0]?.attributes ?? {})).toEqual([undefined, undefined]);
  expect(spy).not.toHaveBeenCalled();
});

// The addon's own redaction, as in the ledger.
test.each([
  ['curl -u ann:hunter2 https://example.org', 'hunter2', 'curl -u ann:'],
  ['GH_TOKEN=ghp_0123456789abcdefghijABCDEFGHIJ012345 gh pr list', 'ghp_0123456789', 'gh pr list'],
  ['mysql -phunter2 -u root', 'hunter2', '-u root'],
])('the addon takes the secret alone out of: %s', async (command, secret, rest) => {
  const { tracer, ended } = sdk();
  instrumented({ tracer, command: true });
  // Nothing is started.
  await bash(command, { signal: AbortSignal.abort() });
  const shown = texts((await ended(1))[0]?.attributes ?? {}).join('\n');
  expect(shown).not.toContain(secret);
  expect(shown).toContain(rest);
});
