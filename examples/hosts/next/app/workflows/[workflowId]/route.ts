export { readWorkflow as GET } from '../../../src/read-workflow.ts';
