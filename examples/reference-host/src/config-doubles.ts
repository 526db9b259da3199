import type { z } from 'zod';
import type { authenticationConfig } from './config-authentication.ts';
import type { callers } from './config-callers.ts';
import type { Report } from './config-contradictions.ts';

type Named = z.infer<z.ZodObject<typeof callers & typeof authenticationConfig>>;

/** Reports names and keys that are there twice: of two entries the host would use one, without a word. */
export function doubles({ tenants, apiKeys, authorization }: Named, report: Report): void {
  const eachOnce = (path: readonly (string | number)[], values: readonly (string | undefined)[], last?: string) => {
    for (const [index, value] of values.entries()) {
      if (value === undefined || values.indexOf(value) === index) continue;
      const at = [...path, index, ...(last === undefined ? [] : [last])];
      report(at, `is that of entry ${values.indexOf(value)}, too. Remove one of them, or change one.`);
    }
  };
  eachOnce(
    ['tenants'],
    tenants.map(({ id }) => id),
    'id',
  );
  for (const [index, { workspaces }] of tenants.entries()) eachOnce(['tenants', index, 'workspaces'], workspaces);
  eachOnce(
    ['apiKeys'],
    apiKeys.map(({ id }) => id),
    'id',
  );
  eachOnce(
    ['apiKeys'],
    apiKeys.map(({ key }) => key),
    'key',
  );
  eachOnce(
    ['apiKeys'],
    apiKeys.map(({ hash }) => hash),
    'hash',
  );
  eachOnce(['authorization', 'roles'], authorization?.roles.map(({ role }) => role) ?? [], 'role');
}
