/** The version that this package is released as. Written by `tools/write-versions.mjs` from its manifest. */
export const VERSION: string = '2.0.0-rc.1';
