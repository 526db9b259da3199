// Runs in every runtime against the built package, so it uses only the language and Web APIs.
import { negotiate, representationOf, served } from '@svc/versioning';
import { AXES, packRunsOn, readEngineVersion } from '@svc/versioning/axes';
import { assertNoDowngrade, selectMajor, versionedFetch } from '@svc/versioning/client';
import { versioning } from '@svc/versioning/fetch';

/** @returns {Promise<import('@svc/tools/portable').SuiteReport>} */
export default async function suite() {
  const failures = [];
  let total = 0;
  const check = (why, found, expected) => {
    total += 1;
    if (found !== expected) failures.push(`${why}: ${found}, expected ${expected}`);
  };
  const protocol = served({ versions: ['1.1', '2.0'], preferred: '1.1' });

  const table = [
    ['/runs', undefined, 'operation 1'],
    ['/runs', '2', 'operation 2'],
    ['/runs', '3', 'refused 406'],
    ['/v1/runs', '2', 'refused 400'],
    ['/v1/runs', '1', 'operation 1'],
    ['/v1/runs', '1.0', 'refused 400'],
    ['/v2/runs', '2', 'foreign'],
    ['/runs/../v1/runs', '2', 'refused 400'],
    ['/runs/a%2Fb:fork', '2', 'operation 2'],
  ];
  for (const [target, version, expected] of table) {
    const headers = new Headers(version === undefined ? {} : { 'SVC-Version': version });
    const { kind, major = '', error } = negotiate({ method: 'POST', target, headers }, protocol);
    check(`${target} ${version}`, kind === 'refused' ? `refused ${error.status}` : `${kind} ${major}`.trim(), expected);
  }
  const accept = (text) => representationOf({ method: 'GET', target: '/runs', headers: new Headers({ accept: text }) });
  check('a browser', accept('text/html,application/xhtml+xml,*/*;q=0.8'), 'page');
  check('a client', accept('*/*'), 'protocol');

  check('select', selectMajor({ protocolVersions: ['1.1', '2.0'] }, [1, 2]), 2);
  const handle = versioning({ served: protocol, operation: (_request, { major }) => Response.json({ major }) });
  for (const major of [1, 2]) {
    const answer = await versionedFetch({ major, fetch: handle })('https://svc.example/runs/r');
    check(`a call of major ${major}`, (await answer.json()).major, major);
  }
  const refused = await versionedFetch({ major: 2, fetch: async () => Response.json({}) })(
    'https://svc.example/',
  ).catch((error) => error.name);
  check('a downgrade', refused, 'DowngradeError');
  check('a stamp', assertNoDowngrade({ headers: new Headers({ 'SVC-Version': '2.1' }) }, 2), undefined);
  check('axes', AXES.length, 18);
  check('a legacy engine version', readEngineVersion('7'), 7);
  check('a pack', packRunsOn('>=1.2.0', '2.0.0'), false);
  return { total, failures };
}
