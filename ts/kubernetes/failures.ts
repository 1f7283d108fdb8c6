import type { TargetReason } from 'agent-bash';
import type { ProgramAnswer } from '../provider/program-call.ts';

/** What a failed call of kubectl means. */
export interface KubectlFailure {
  reason: TargetReason;
  /** What the caller can do. */
  remedy: string;
  /** Whether another attempt may succeed. */
  passes: boolean;
  /** `'exists'`: a resource of this name is there. `'gone'`: it is not. `'kind'`: the server has no such kind. */
  about?: 'exists' | 'gone' | 'kind';
}

/** What kubectl says, and what it means. The first row that fits counts. */
const SAID: [words: RegExp, failure: KubectlFailure][] = [
  [/\(AlreadyExists\)/, { reason: 'protocol', remedy: 'try again', passes: false, about: 'exists' }],
  [
    /no matches for kind|have a resource type|find the requested resource/,
    { reason: 'unreachable', remedy: '', passes: true, about: 'kind' },
  ],
  [
    /exceeded quota/,
    {
      reason: 'no-place',
      remedy: 'a quota of the namespace is used up (`kubectl describe quota`): release sandboxes, or raise it',
      passes: false,
    },
  ],
  [
    /admission webhook .* denied/,
    { reason: 'no-place', remedy: 'a policy of the cluster refuses it: ask who keeps the policy', passes: false },
  ],
  [
    /\(Forbidden\)|is forbidden/,
    {
      reason: 'auth',
      remedy: `the user of the context lacks a right: create, get, watch, patch and delete for sandboxclaims.extensions.agents.x-k8s.io, get for sandboxes.agents.x-k8s.io and pods, create and get for pods/exec`,
      passes: false,
    },
  ],
  [
    /\(Unauthorized\)|must be logged in|provide credentials|getting credentials/,
    { reason: 'auth', remedy: 'log in again; `kubectl auth whoami` tells who you are', passes: false },
  ],
  [
    /namespaces "[^"]*" not found/,
    { reason: 'unreachable', remedy: 'create the namespace, or name another as `namespace`', passes: false },
  ],
  [/\(NotFound\)/, { reason: 'lost', remedy: 'acquire another sandbox', passes: false, about: 'gone' }],
  [
    /context .* does not exist|no context|no configuration|loading config|stat .*config/,
    { reason: 'unreachable', remedy: 'name a context of `kubectl config get-contexts` as `context`', passes: false },
  ],
  [
    /\(Invalid\)|\(BadRequest\)|unknown field|error validating/,
    { reason: 'unsupported', remedy: 'install agent-sandbox with v1beta1 in the cluster', passes: false },
  ],
  [
    /timeout|timed out|deadline exceeded/i,
    { reason: 'timeout', remedy: 'see whether the API server answers: `kubectl get --raw /readyz`', passes: true },
  ],
];

/** The exit of the shell for a program that is missing. */
const MISSING = /exec: .*(?:not found|cannot execute|No such file)/;

const NO_PROGRAM: KubectlFailure = {
  reason: 'unreachable',
  remedy: 'install kubectl, or name it as `program`',
  passes: false,
};

/** A refused connection, a conflict, an error of the server: what passes by itself. */
const OTHER: KubectlFailure = {
  reason: 'unreachable',
  remedy: 'see whether the API server answers: `kubectl get --raw /readyz`',
  passes: true,
};

/** Returns what a failed call means. */
export function failureOf({ timedOut, stderr }: ProgramAnswer): KubectlFailure {
  if (timedOut) return { ...OTHER, reason: 'timeout' };
  if (MISSING.test(stderr)) return NO_PROGRAM;
  return SAID.find(([words]) => words.test(stderr))?.[1] ?? OTHER;
}

/** Reasons of a claim that is not ready, for which waiting does not help, and their remedies. */
const FINAL: Record<string, [reason: TargetReason, remedy: string]> = {
  WarmPoolNotFound: ['unreachable', 'create the SandboxWarmPool, or name another as `warmPool`'],
  TemplateNotFound: ['unreachable', 'create the SandboxTemplate that the warm pool names'],
  InvalidMetadata: ['unsupported', 'correct the labels and annotations of the SandboxTemplate'],
  VolumeClaimTemplatesError: ['unsupported', 'correct the volume claims of the SandboxTemplate'],
  ClaimExpired: ['timeout', 'raise `leaseMs`, and see whether the clocks of this machine and the cluster agree'],
  SandboxExpired: ['timeout', 'remove `shutdownTime` from the sandboxes of the pool'],
  PodFailed: ['unreachable', 'see the log of the pod: its containers must go on running'],
  PodSucceeded: ['unreachable', 'see the SandboxTemplate: its containers must go on running'],
};

/** Returns why a claim will never be ready. `null`: it may still be. */
export function finalOf(reason = '', message = ''): { reason: TargetReason; remedy: string } | null {
  const known = FINAL[reason];
  if (known) return { reason: known[0], remedy: known[1] };
  if (!/exceeded quota/.test(message)) return null;
  return {
    reason: 'no-place',
    remedy: 'a quota of the namespace is used up (`kubectl describe quota`): release sandboxes, or raise it',
  };
}
