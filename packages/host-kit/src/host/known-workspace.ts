import type { AuthorizationOptions } from '../options/authorization-options.ts';
import { describeError, type Log } from '../ports/log.ts';

/**
 * Guards the option `hasWorkspace`: a workspace exists only for the answer `true`. A promise is truthy, so a function that
 * is async by mistake would open every workspace. Any answer that is no boolean is logged as `workspace.misjudged`.
 */
export function knownWorkspace(hasWorkspace: HasWorkspace, log: Log): HasWorkspace {
  return (tenant, workspace) => {
    const answer: unknown = hasWorkspace(tenant, workspace);
    if (typeof answer === 'boolean') return answer;
    log({ level: 'error', event: 'workspace.misjudged', message: faultOf(answer) });
    // Nothing awaits it. A rejection without a handler would end the process.
    if (answer instanceof Promise) {
      answer.catch((error: unknown) => {
        log({ level: 'error', event: 'workspace.misjudged', ...describeError(error) });
      });
    }
    return false;
  };
}

type HasWorkspace = NonNullable<AuthorizationOptions['hasWorkspace']>;

/** Names the type alone: the value may be a record of a tenant. */
function faultOf(answer: unknown): string {
  const found = isThenable(answer) ? 'a promise' : answer === null ? 'null' : typeof answer;
  return `authorization.hasWorkspace: returned ${found}, so the workspace is refused. Return true or false, without async.`;
}

function isThenable(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'then' in value;
}
