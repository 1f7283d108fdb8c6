// Trajectories that the project SWE-agent uses as demonstrations and in its tests.
export const repository = 'SWE-agent/SWE-agent';
export const licence = 'MIT';
export const what = 'trajectories of SWE-agent';

/** Commands of SWE-agent's own editor, which no shell has. */
const OWN =
  /^(?:create|edit|open|goto|scroll_up|scroll_down|submit|insert|str_replace_editor|connect_\w+|debug_\w+|interactive_\w+|search_\w+|find_file)\b/;

export function* records({ files, read }) {
  for (const path of files(/\.traj$/)) {
    for (const { action, observation } of JSON.parse(read(path)).trajectory ?? []) {
      const command = (action ?? '').trim();
      const output = (observation ?? '').replaceAll('\r\n', '\n');
      if (command === '' || output === '' || OWN.test(command)) continue;
      if (/^Your command ran successfully and did not produce any output/.test(output)) continue;
      yield { session: path, command, exitCode: null, output };
    }
  }
}
