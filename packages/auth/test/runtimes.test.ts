import { testInEveryRuntime } from '@svc/tools/in-every-runtime';

testInEveryRuntime('auth', new URL('./portable-suite.mjs', import.meta.url), 19);
