import type { ProvidedTarget, TargetProvider } from 'agent-bash';
import { givenUp } from '../provider/place-error.ts';
import { SandboxClaim } from './claim.ts';
import { checkedSettings, type SandboxSettings } from './options.ts';
import type { AgentSandboxesOptions } from './types.ts';

/**
 * Makes pods for a `TargetPool` by Kubernetes' agent-sandbox (extensions.agents.x-k8s.io/v1beta1): each place is a
 * SandboxClaim of a warm pool, by `kubectl`. A claim is renewed while this process lives, and its pod goes within
 * `leaseMs` after it. `acquire` rejects with `ERR_BASH_TARGET` and its `reason`, and leaves no claim.
 *
 * Throws `ERR_BASH_INVALID_ARG` for options that are wrong or do not exist.
 *
 * @example new TargetPool({ provider: agentSandboxes({ warmPool: 'agents', namespace: 'team' }), max: 20 });
 */
export function agentSandboxes(options: AgentSandboxesOptions): TargetProvider {
  const settings = checkedSettings(options);
  const claims = new Map<string, SandboxClaim>();
  return {
    async acquire({ signal }) {
      if (signal.aborted) throw givenUp('a sandbox', 'it was not claimed yet');
      const claim = new SandboxClaim(settings);
      try {
        const place = await acquired(claim, settings, signal);
        claims.set(place.id, claim);
        return place;
      } catch (error) {
        // Its lease ends what cannot be deleted.
        await claim.delete().catch(() => {});
        const told = (error as { code?: string }).code === 'ABORT_ERR' || !signal.aborted;
        throw told ? error : givenUp('a sandbox', (error as Error).message);
      }
    },
    async release(id) {
      const claim = claims.get(id);
      claims.delete(id);
      await claim?.delete();
    },
  };
}

async function acquired(claim: SandboxClaim, settings: SandboxSettings, signal: AbortSignal): Promise<ProvidedTarget> {
  const { leaseMs, container, context, program } = settings;
  const { pod, uid } = await claim.pod(signal);
  // A slow start has used up some of the lease.
  if (claim.endsAt - Date.now() < leaseMs / 2) await claim.renew(Date.now() + leaseMs);
  if (signal.aborted) throw givenUp('a sandbox', 'it was ready');
  return {
    id: `sandbox:${claim.namespace}/${claim.name}`,
    address: { kubernetes: { pod, uid, namespace: claim.namespace, container, context, program: [...program] } },
    expiresAt: claim.endsAt,
    renew: (until) => claim.renew(until),
  };
}
