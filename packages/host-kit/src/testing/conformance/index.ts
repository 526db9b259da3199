export { conformanceWorkflows } from './conformance-workflows.ts';
export {
  CONFORMANCE_FIXTURES,
  type ConformanceFixturesOptions,
  withConformanceFixtures,
} from './with-conformance-fixtures.ts';
