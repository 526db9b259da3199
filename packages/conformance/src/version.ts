/** The version that this package is released as. Written by `tools/write-versions.mjs` from its manifest. */
export const VERSION: string = '0.0.0';
