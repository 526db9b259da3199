import { testInEveryRuntime } from '@svc/tools/in-every-runtime';

testInEveryRuntime('webhook-verify', new URL('./portable-suite.mjs', import.meta.url), 1000);
