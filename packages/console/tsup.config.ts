import { packageBuild } from '../../tsup.base.ts';

// Each page is a module of its own, which the build of the pages writes beside `dist`.
export default packageBuild(import.meta.dirname).map((options) => ({
  ...options,
  noExternal: [],
  external: [/^node:/, '#page', '#portal'],
}));
