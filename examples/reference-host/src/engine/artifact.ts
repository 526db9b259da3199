import type { Workflow } from './workflow.ts';

/** Makes one artifact of `content`, any JSON value. */
export const artifact: Workflow = {
  refuse({ content }) {
    return content === undefined
      ? { field: 'inputs.content', problem: 'is missing: set it to the content of the artifact' }
      : undefined;
  },
  run: ({ content = null }, { node }) =>
    node(
      'artifact',
      'sample.artifact',
      async ({ artifacts, make }) => {
        // If the host was killed after it made the artifact, the artifact is in the log. A second one is not made.
        const [artifactId = await make({ artifactType: 'sample', content })] = artifacts;
        return { artifactId };
      },
      { goesOn: true },
    ),
};
