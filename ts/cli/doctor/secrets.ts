import { randomBytes } from 'node:crypto';
import { bash, type Target } from 'agent-bash';
import { type Check, fine, missing } from './check.ts';

const name = 'confine-secrets';
const WITHOUT = 'a confinement with secrets or ssh is refused';

/** Checks that a command sees a stand-in, and that the gate could trust the hosts of a secret. */
export async function secrets(target?: Target): Promise<Check> {
  const value = randomBytes(16).toString('hex');
  // A name that no resolver has.
  const DOCTOR_TOKEN = { value, hosts: ['doctor.invalid'] };
  const command = 'printf "%s\\n" "$DOCTOR_TOKEN"; grep -c "BEGIN CERTIFICATE" "$SSL_CERT_FILE"';
  try {
    const { stdout } = await bash(command, {
      target,
      confine: { profile: 'read-only', require: [], secrets: { DOCTOR_TOKEN } },
    });
    const [standIn = '', authorities] = stdout.split('\n');
    if (standIn === value || standIn.length !== value.length || !Number(authorities)) {
      return missing(name, 'a command saw no stand-in, or no authority', WITHOUT);
    }
    // One of them is that of the command's world.
    if (authorities === '1') {
      const cost = 'requests with secrets are answered with 502; install ca-certificates, or set SSL_CERT_FILE';
      return missing(name, 'no certificate authority is known', cost);
    }
    return fine(name, `commands can use secrets, for hosts of ${Number(authorities) - 1} certificate authorities`);
  } catch (error) {
    return missing(name, (error as Error).message, WITHOUT);
  }
}

/** The check of a machine on which no confined command runs. */
export const withoutSecrets = (message: string) => missing(name, message, WITHOUT);
