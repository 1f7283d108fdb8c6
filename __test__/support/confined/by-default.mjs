/** Confines every command of this process whose call says nothing else. */
import { bash } from 'agent-bash';

bash[Symbol.for('agent-bash.inner')].defaults.confine = 'workspace';
