/** Confines every command of this process whose call says nothing else. */
import { bash } from 'agent-bash';

const [inner] = Object.getOwnPropertySymbols(bash);
bash[inner].defaults.confine = 'workspace';
