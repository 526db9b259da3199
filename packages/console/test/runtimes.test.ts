import { testInEveryRuntime } from '@svc/tools/in-every-runtime';

testInEveryRuntime('console', new URL('./portable-suite.mjs', import.meta.url), 14);
