import { testInEveryRuntime } from '@svc/tools/in-every-runtime';

testInEveryRuntime('egress-guard', new URL('./portable-suite.mjs', import.meta.url), 80);
