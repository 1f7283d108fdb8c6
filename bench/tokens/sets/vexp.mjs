// Logs of test suites of Python projects, from runs of SWE-bench. Their exit codes are not recorded.
export const repository = 'Vexp-ai/vexp-swe-bench';
export const licence = 'MIT';
export const what = 'logs of test suites';

export function* records({ files, read }) {
  for (const path of files(/^logs\/run_evaluation\/.*\/test_output\.txt$/)) {
    const output = read(path);
    if (output !== '') yield { session: path, command: 'bash -x eval.sh', exitCode: null, output };
  }
}
