import { answer } from '../../../../src/answer.ts';

export { readWorkflow as GET } from '../../../../src/read-workflow.ts';
// The host refuses the other methods in the form of the protocol.
export { answer as DELETE, answer as PATCH, answer as POST, answer as PUT };
