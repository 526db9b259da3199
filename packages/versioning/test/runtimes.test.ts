import { testInEveryRuntime } from '@svc/tools/in-every-runtime';

testInEveryRuntime('versioning', new URL('./portable-suite.mjs', import.meta.url), 18);
