import type { Workflow } from './workflow.ts';

/** Makes one artifact of what it is given. */
export const artifact: Workflow = {
  refuse({ content }) {
    return content === undefined
      ? { field: 'inputs.content', problem: 'must be there: it is what the artifact holds' }
      : undefined;
  },
  run: ({ content = null }, { node }) =>
    node(
      'artifact',
      'sample.artifact',
      async ({ artifacts, make }) => {
        // Where the host was killed behind it, it is there.
        const [artifactId = await make({ artifactType: 'sample', content })] = artifacts;
        return { artifactId };
      },
      { goesOn: true },
    ),
};
