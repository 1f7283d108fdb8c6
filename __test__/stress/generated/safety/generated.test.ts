import { safetyRules } from 'agent-bash';
import { describe, expect, test } from 'vitest';
import { type Form, forms } from '../../../safety/generated/forms.ts';
import { quotings, spelled } from '../../../safety/generated/quotings.ts';
import { type Wrapper, wrappers } from '../../../safety/generated/wrappers.ts';
import { judge, noMisses, random, told } from '../../../safety/support.ts';

/** Whether an unknown program is searched for what follows. */
const searched = ({ words }: Form) => words?.[0] === 'git' || words?.[0] === 'rm';

/** Whether the form is as sure behind the wrapper: on another machine a variable may be set. */
function sure({ exact, name }: Wrapper, { words = [] }: Form): boolean {
  return exact === true && !(name.startsWith('ssh') && words.some((word) => word[0]?.includes('NOT_SET')));
}

/** Whether a wrapper can hold a form, given whether the code is still one simple command of it. */
function fits(wrapper: Wrapper, form: Form, code: string, isSimple: boolean, first: boolean): boolean {
  if (wrapper.line && /\n|&$/.test(code)) return false;
  if (wrapper.simple && !isSimple) return false;
  if ((wrapper.appends || wrapper.unknown || wrapper.innermost) && !first) return false;
  if (wrapper.appends && (form.fixed || form.script)) return false;
  if (wrapper.unknown && !searched(form)) return false;
  return true;
}

function miss(form: Form, code: string, exact: boolean, chain: string): string | undefined {
  const analysis = judge(code);
  const { verdict } = analysis;
  const right = verdict === 'deny' || (verdict === 'ask' && !(exact && form.level === 'deny'));
  const expected = exact && form.level === 'deny' ? 'deny' : 'ask or deny';
  return right ? undefined : `[${chain}] ${expected}, but ${told(analysis)}: ${JSON.stringify(code)}`;
}

test('every rule but that of incomplete commands has a form', () => {
  const missing = new Set(safetyRules().map(({ id }) => id));
  for (const { rule } of forms) missing.delete(rule);
  expect([...missing]).toEqual(['incomplete']);
});

describe('each dangerous form, spelled and wrapped in all ways', () => {
  describe.each(Object.entries(quotings))('%s', (quoting, quote) => {
    const rules = [...new Set(forms.map(({ rule }) => rule))];

    test.each(rules)('%s by itself', (rule) => {
      const misses = forms
        .filter((form) => form.rule === rule)
        .flatMap((form) => {
          const code = spelled(form, quote);
          const analysis = judge(code);
          const right = analysis.verdict === form.level && analysis.findings.some(({ ruleId }) => ruleId === rule);
          return right ? [] : [`${form.level} ${rule}, but ${told(analysis)}: ${JSON.stringify(code)}`];
        });
      noMisses(misses);
    });

    test.each(wrappers)('wrapped: $name', (wrapper) => {
      const misses = forms
        .filter((form) => fits(wrapper, form, spelled(form, quote), form.words !== undefined, true))
        .flatMap((form) => miss(form, wrapper.wrap(spelled(form, quote), 1), sure(wrapper, form), quoting) ?? []);
      noMisses(misses);
    });
  });

  // A failure names the seed; AGENT_BASH_SEED gives another one.
  const seed = Number(process.env.AGENT_BASH_SEED ?? 4);

  test.each([2, 3])(`%d wrappers around one another, drawn with seed ${seed}`, (depth) => {
    const next = random(seed * 10 + depth);
    const pick = <T>(from: T[]): T => from[Math.floor(next() * from.length)] as T;
    const misses: string[] = [];
    for (let n = 0; n < 10_000; n++) {
      const form = pick(forms);
      const [quoting, quote] = pick(Object.entries(quotings));
      let code = spelled(form, quote);
      let isSimple = form.words !== undefined;
      let exact = true;
      const chain = [quoting];
      for (let level = 1; level <= depth; level++) {
        const wrapper = pick(wrappers.filter((each) => fits(each, form, code, isSimple, level === 1)));
        code = wrapper.wrap(code, level);
        isSimple = wrapper.gives === 'simple';
        exact &&= sure(wrapper, form);
        chain.push(wrapper.name.replaceAll('\n', '⏎'));
      }
      const found = miss(form, code, exact, chain.join(' → '));
      if (found) misses.push(found);
    }
    noMisses(misses);
  });
});
