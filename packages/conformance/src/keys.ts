/** The API keys that the suite can use, by role, with the environment variable that the command reads each from. */
export const KEY_VARIABLES = {
  main: 'SVC_KEY',
  otherTenant: 'SVC_OTHER_TENANT_KEY',
  otherWorkspace: 'SVC_OTHER_WORKSPACE_KEY',
  test: 'SVC_TEST_KEY',
  readOnly: 'SVC_READ_ONLY_KEY',
  expired: 'SVC_EXPIRED_KEY',
  revoked: 'SVC_REVOKED_KEY',
  spare: 'SVC_SPARE_KEY',
} as const;

/**
 * Role of an API key. All keys but `otherTenant` belong to the tenant of `main`.
 *
 * | Name | Key |
 * |---|---|
 * | `main` | live key of one workspace with every scope; most checks use it |
 * | `otherTenant` | key of another tenant, with the same scopes |
 * | `otherWorkspace` | key of another workspace of the same tenant, with the same scopes |
 * | `test` | test-mode key of the same tenant and workspace |
 * | `readOnly` | key with the scope `runs:read` alone |
 * | `expired` | key that has expired |
 * | `revoked` | key that was revoked |
 * | `spare` | throw-away key: the suite exhausts its rate limit and sends it in URLs |
 */
export type KeyName = keyof typeof KEY_VARIABLES;

/** Sender of a request: the role of its key, or `nobody` for a request without a credential. */
export type Caller = KeyName | 'nobody';

export const KEY_NAMES = Object.keys(KEY_VARIABLES) as readonly KeyName[];

/** Description of each key in the help text. */
export const KEY_MEANINGS: Readonly<Record<KeyName, string>> = {
  main: 'live key of one workspace with every scope; most checks use it',
  otherTenant: 'key of another tenant, with the same scopes',
  otherWorkspace: 'key of another workspace of the same tenant, with the same scopes',
  test: 'test-mode key of the same tenant and workspace',
  readOnly: 'key with the scope runs:read alone',
  expired: 'key that has expired',
  revoked: 'key that was revoked',
  spare: 'throw-away key; its rate limit is exhausted, and it is sent in URLs',
};

/** Returns the name of the command's option for a key, without dashes: `key`, `other-tenant-key` and so on. */
export function keyOption(name: KeyName): string {
  if (name === 'main') return 'key';
  return `${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}-key`;
}
