import { EXIT, print, printJson, remark } from '../../console.ts';
import type { Check } from '../check.ts';
import { isBest, wayIn } from '../ways.ts';
import { apply, type Hands } from './apply.ts';
import type { Facts } from './facts.ts';
import { checkedRoot, type DoctorFlags } from './flags.ts';
import { type Machine, thisMachine } from './machine.ts';
import { jsonOf, planOf, unplanOf } from './plan.ts';
import { printPlan } from './print.ts';
import type { Step, Target } from './types.ts';

/** What became of a plan. */
export interface Outcome {
  plan: Step[];
  applied: boolean;
  /** Whether nothing is left to do. */
  isDone: boolean;
  /** Sentences for people. */
  remarks: string[];
}

/** `agent-bash doctor --fix` or `--unfix`: shows a plan, and applies it on consent. See docs/cli.md. */
export async function fix(flags: DoctorFlags, version: string): Promise<void> {
  const machine = thisMachine(version);
  const { plan, applied, isDone, remarks } = await (flags.unfix ? unfixed : fixed)(flags, machine);
  if (flags.json) await printJson({ plan: jsonOf(plan), applied });
  for (const text of remarks) await (flags.json ? remark(text) : print(text));
  process.exitCode = isDone ? EXIT.done : EXIT.failed;
}

/** Plans what a machine needs, and changes it on consent. */
export async function fixed(flags: DoctorFlags, machine: Machine): Promise<Outcome> {
  const hands = handsOf(flags, machine);
  const facts = flags.for ?? (await machine.facts());
  const obstacle = flags.root === undefined ? elsewhere(facts) : null;
  const plan = planOf(machine.own, facts, hands, obstacle === null);
  if (plan.length === 0) return { plan, applied: false, ...empty(facts) };
  const refusal = await refused(flags, plan, machine, obstacle);
  if (refusal !== null) return { plan, applied: false, isDone: false, remarks: [refusal] };
  applyAll(plan, hands);
  const checks = hands.runs ? await machine.retry() : [];
  const isDone = checks.every(({ state }) => state === 'ok');
  return { plan, applied: true, isDone, remarks: ['written', ...checks.map(sentence)] };
}

/** Removes what `fixed` has made. */
export async function unfixed(flags: DoctorFlags, machine: Machine): Promise<Outcome> {
  const hands = handsOf(flags, machine);
  const { plan, left } = unplanOf(machine.own, hands);
  const isDone = left.length === 0;
  const remarks = left.map((path) => `${path} stays: this version of agent-bash did not write it as it is`);
  if (plan.length === 0) {
    const nothing = isDone ? ['nothing to do: there is no file of agent-bash'] : [];
    return { plan, applied: false, isDone, remarks: [...nothing, ...remarks] };
  }
  const refusal = await refused(flags, plan, machine, null);
  if (refusal !== null) return { plan, applied: false, isDone: false, remarks: [...remarks, refusal] };
  applyAll(plan, hands);
  return { plan, applied: true, isDone, remarks: ['removed', ...remarks] };
}

/** Returns why a plan cannot be applied here, or `null`. */
function elsewhere(facts: Facts | Target): string | null {
  if (typeof facts === 'string')
    return 'not done: this plan is for another machine, and --root DIR writes it below DIR';
  const { place } = facts;
  if (place === 'machine') return null;
  const target = place === 'pod' ? 'kubernetes' : 'docker';
  return `not done: a ${place} cannot change its own limits. On its machine: agent-bash doctor --fix --for ${target} --root /`;
}

/** Returns the outcome of a plan without steps. */
function empty(facts: Facts | Target): { isDone: boolean; remarks: string[] } {
  if (typeof facts === 'string') return { isDone: true, remarks: ['nothing to do: the files are there'] };
  const { way, hosts, remedy } = facts;
  const found = `the parts are held by ${wayIn(way)}`;
  if (isBest(way) && hosts) return { isDone: true, remarks: [`nothing to do: ${found}`] };
  const known = remedy === null ? 'no change is known that helps' : remedy;
  return { isDone: false, remarks: [`not done: ${found}, and there is no plan for this machine: ${known}`] };
}

/** Shows a plan and asks. Returns why it is not applied, or `null`. */
async function refused(
  { yes, json }: DoctorFlags,
  plan: Step[],
  { ask }: Machine,
  obstacle: string | null,
): Promise<string | null> {
  if (!json) await printPlan(plan);
  if (obstacle !== null || yes) return obstacle;
  if (json || ask === null) return 'not done: --yes applies this plan';
  return (await ask('Apply this plan? [y/N] ')) ? null : 'not done';
}

function applyAll(plan: Step[], hands: Hands): void {
  for (const { changes } of plan) for (const change of changes) apply(change, hands);
}

function handsOf({ root }: DoctorFlags, { hands }: Machine): Hands {
  return root === undefined ? hands : { top: checkedRoot(root), runs: false, sudo: false };
}

const sentence = ({ name, state, found }: Check) => `${name}: ${state}, ${found}`;
