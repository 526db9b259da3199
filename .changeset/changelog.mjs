/** Writes the entries of the changelogs. All packages have one version, so there are no lines about updated siblings. */
export default {
  getReleaseLine({ summary }) {
    const [first, ...rest] = summary.trim().split('\n');
    return [`- ${first}`, ...rest.map((line) => (line === '' ? '' : `  ${line}`))].join('\n');
  },
  getDependencyReleaseLine() {
    return '';
  },
};
