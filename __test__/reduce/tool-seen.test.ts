import { readFileSync } from 'node:fs';
import { OutputStore } from 'agent-bash';
import { createBashTool } from 'agent-bash/ai';
import { describe, expect, it } from 'vitest';
import { MAJORS, type Step } from '../ai/fixtures/majors.ts';
import { folder } from '../support/index.ts';
import { ask, closingOf, conversation, LIST, LIST_TEXT, LONG, linesOf } from './fixtures/conversation.ts';

const REFERENCE = /^\[(\d+) lines as in #(\d+) L(\d+)-(\d+)\]$/m;
const LONGER = `echo "something new"; ${LIST}; echo "and a new end"`;

function referenceIn(text: string) {
  const match = REFERENCE.exec(text);
  if (match === null) throw new Error(`there is no reference: ${text.slice(0, 500)}`);
  const [lines, id, from, to] = match.slice(1).map(Number) as [number, number, number, number];
  return { lines, id, from, to };
}

describe('lines that an earlier result shows', () => {
  it.each(['lossless', 'salient'] as const)('are not repeated with %s', async (reduce) => {
    const outputs = new OutputStore({ dir: folder() });
    const talk = conversation({ reduce, outputs });
    expect((await talk.ask(LIST)).text).toBe(LIST_TEXT.trimEnd());
    const { output, text } = await talk.ask(LONGER);
    const { lines, id, from, to } = referenceIn(text);
    expect({ lines, from, to }).toEqual({ lines: 10, from: 1, to: 10 });
    expect(text).toMatch(/^something new\n\[10 lines as in #\d+ L1-10\]\nand a new end\n/);
    expect(output).toMatchObject({
      stdout: `something new\n${LIST_TEXT}and a new end\n`,
      view: { elided: [{ stream: 'stdout', fromLine: 2, toLine: 11, why: 'seen' }] },
    });
    // The number alone says nothing: the result that it names does not show it.
    expect(text).toMatch(/\n\[#\d+: the output of «printf .*…» above\]$/);
    expect(await outputs.read(id, { lines: [from, to] })).toBe(LIST_TEXT);
  });

  it('can be recalled', async () => {
    const talk = conversation({ reduce: 'salient' });
    await talk.ask(LIST);
    const { id, from, to } = referenceIn((await talk.ask(LONGER)).text);
    expect((await talk.ask({ recall: `${id}:${from}-${to}` })).text).toBe(LIST_TEXT);
  });

  it('are found in a file by a model without recall', async () => {
    const talk = conversation({ confine: 'off', taps: 'off' });
    await talk.ask(LIST);
    const { text } = await talk.ask(LONGER);
    const path = /\n\[#\d+: the output of «printf .*» above, whole in (\S+)\]$/.exec(text)?.[1];
    expect(readFileSync(path as string, 'utf8')).toBe(LIST_TEXT);
  });

  it('are shown again if that takes fewer tokens', async () => {
    const talk = conversation({ confine: 'off', taps: 'off' });
    const short = LIST_TEXT.split('\n').slice(0, 4).join('\n');
    await talk.ask(`echo "${short}"`);
    expect((await talk.ask(`echo new; echo "${short}"`)).text).toBe(`new\n${short}`);
  });

  it('need no other line if the result shows its number', async () => {
    const talk = conversation({ reduce: 'salient' });
    const { id } = closingOf((await talk.ask(`${LIST}; ${LONG}`)).text);
    const { text } = await talk.ask(`echo new; ${LIST}`);
    expect(text).toBe(`new\n[10 lines as in #${id} L1-10]`);
  });

  it('are shown again if they could not be recalled', async () => {
    const outputs = new OutputStore({ dir: folder() });
    const talk = conversation({ reduce: 'salient', outputs });
    await talk.ask(LIST);
    await outputs.close();
    const { text } = await talk.ask(LONGER);
    expect(text).toBe(`something new\n${LIST_TEXT}and a new end`);
  });

  it('are referred to by calls side by side', async () => {
    const talk = conversation();
    await talk.ask(LIST);
    const call = (toolCallId: string) => ask(talk.tool, LONGER, { toolCallId, messages: talk.messages });
    const [one, other] = await Promise.all([call('call-8'), call('call-9')]);
    expect(referenceIn(one.text)).toEqual(referenceIn(other.text));
  });

  it('are shown again without messages', async () => {
    const tool = createBashTool();
    await ask(tool, LIST);
    expect((await ask(tool, LONGER)).text).toContain(LIST_TEXT);
  });

  it('are shown again if the result is not in the messages any more, or with another text', async () => {
    const talk = conversation();
    await talk.ask(LIST);
    const [asked, answered] = structuredClone(talk.messages);
    const call = { toolCallId: 'call-9' };
    const part = answered?.content[0] as { output: { value: string } };
    const shown = async (messages: unknown) => (await ask(talk.tool, LONGER, { ...call, messages })).text;
    expect(await shown([asked, answered])).toMatch(REFERENCE);
    expect(await shown([])).toContain(LIST_TEXT);
    expect(await shown([asked])).toContain(LIST_TEXT);
    part.output.value = 'the results of the first calls, in short';
    expect(await shown([asked, answered])).toContain(LIST_TEXT);
    part.output.value = `${LIST_TEXT.trimEnd()} `;
    expect(await shown([asked, answered])).toContain(LIST_TEXT);
  });

  it('are shown again if that result is of another call', async () => {
    const talk = conversation();
    await talk.ask(LIST);
    const [asked, answered] = structuredClone(talk.messages);
    (answered?.content[0] as { toolCallId: string }).toolCallId = 'call-of-another-tool';
    const { text } = await ask(talk.tool, LONGER, { toolCallId: 'call-9', messages: [asked, answered] });
    expect(text).toContain(LIST_TEXT);
  });

  it('are shown again with off', async () => {
    const talk = conversation({ reduce: 'off' });
    await talk.ask(LIST);
    expect((await talk.ask(LONGER)).text).toContain(LIST_TEXT);
  });

  it('do not count if they were left out there', async () => {
    const talk = conversation({ reduce: 'salient' });
    const { from, to } = closingOf((await talk.ask(LONG)).text);
    const { text } = await talk.ask(`echo "# part"; ${LONG} | sed -n ${from},${to}p`);
    expect(text).not.toMatch(REFERENCE);
  });

  it('do not count if they were references themselves', async () => {
    const talk = conversation();
    await talk.ask(LIST);
    const first = referenceIn((await talk.ask(LONGER)).text);
    // The first result is gone: only a reference to it is left.
    talk.messages.splice(0, 2);
    const { text } = await talk.ask(`echo "once more"; ${LIST}`);
    expect(first.lines).toBe(10);
    expect(text).toBe(`once more\n${LIST_TEXT.trimEnd()}`);
  });

  it('count if repeats among them were folded', async () => {
    const talk = conversation();
    const repeats = `${LIST}; printf 'waiting for the server\\n%.0s' {1..50}`;
    expect((await talk.ask(repeats)).text).toContain('\n[x50]');
    expect((await talk.ask(`echo new; ${repeats}`)).text).toMatch(/^new\n\[60 lines as in #\d+ L1-60\]\n/);
  });

  it('are never failures', async () => {
    const failures = LIST.replace('that is installed', 'error: it is not installed');
    const talk = conversation();
    await talk.ask(failures);
    expect((await talk.ask(`echo new; ${failures}`)).text).toContain('kappa is a package error: it is not installed');
    expect((await talk.ask(`echo newer; ${failures}`)).text).not.toMatch(REFERENCE);
  });

  it('are compared with a result of stderr too, counted through both streams', async () => {
    const talk = conversation();
    await talk.ask(`echo first; { ${LIST}; } >&2`);
    const { from, to } = referenceIn((await talk.ask(LONGER)).text);
    expect({ from, to }).toEqual({ from: 2, to: 11 });
  });

  it('messages that cannot be read count as none', async () => {
    const talk = conversation();
    await talk.ask(LIST);
    for (const messages of [null, 'all', [null, 5, { content: 'text' }]]) {
      expect((await ask(talk.tool, LONGER, { toolCallId: 'call-9', messages })).text).toContain(LIST_TEXT);
    }
  });
});

describe.each(MAJORS)('%s', (_name, { ai, script }) => {
  const stopWhen = ai.stepCountIs(6);
  const steps = (...inputs: Record<string, unknown>[]): Step[] => [
    ...inputs.map((call) => ({ call })),
    { say: 'done' },
  ];

  it('the messages of the SDK tell which results a model still reads', async () => {
    const { model, lastResult } = script(steps({ command: LIST }, { command: LONGER }));
    await ai.generateText({ model, prompt: 'go on', tools: { bash: createBashTool() }, stopWhen });
    expect(lastResult()?.value).toMatch(/^something new\n\[10 lines as in #\d+ L1-10\]\nand a new end\n/);
  });

  it('a model recalls what the closing line offers', async () => {
    let offered = { recall: '', from: 0, to: 0 };
    const { model, requests } = script((read) => {
      if (read === '') return { call: { command: LONG } };
      if (!read.includes('; recall "')) return { say: 'done' };
      offered = closingOf(read);
      return { call: { recall: offered.recall } };
    });
    const tools = { bash: createBashTool({ reduce: 'salient' }) };
    await ai.generateText({ model, prompt: 'go on', tools, stopWhen });
    const results =
      requests()
        .at(-1)
        ?.prompt.filter(({ role }) => role === 'tool') ?? [];
    const [shown, recalled] = results.flatMap(({ content }) =>
      typeof content === 'string' ? [] : content.map(({ output }) => output?.value ?? ''),
    );
    expect(closingOf(shown ?? '')).toMatchObject(offered);
    expect(recalled).toMatch(/^module \d+ of the application is compiled in \d+ ms\n/);
    expect(recalled?.split('\n')).toHaveLength(offered.to - offered.from + 2);
  });

  it('the messages of the interface give the model the same bytes in the next turn', async () => {
    const tools = { bash: createBashTool({ reduce: 'salient' }) };
    const { model } = script(steps({ command: LONG }));
    const stream = ai.streamText({ model, prompt: 'go on', tools, stopWhen }).toUIMessageStream();
    let message: unknown;
    for await (const seen of ai.readUIMessageStream({ stream })) message = seen;
    const again = await ai.convertToModelMessages([JSON.parse(JSON.stringify(message)) as never], { tools });
    const text = JSON.stringify(again);
    expect(text).toContain(JSON.stringify(linesOf(await wholeView(message), 1, 3)).slice(1, -1));
    expect(text).toMatch(/lines whole in \S+; recall/);
  });
});

async function wholeView(message: unknown): Promise<string> {
  const { parts } = message as { parts: { type: string; output?: { view?: { text: string } } }[] };
  return parts.find(({ type }) => type === 'tool-bash')?.output?.view?.text ?? '';
}
