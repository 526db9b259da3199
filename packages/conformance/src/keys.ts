/** The credentials that a run of the suite may be given, each with the environment variable that it is read from. */
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

export type KeyName = keyof typeof KEY_VARIABLES;

/** `nobody` sends no credential. */
export type Caller = KeyName | 'nobody';

export const KEY_NAMES = Object.keys(KEY_VARIABLES) as readonly KeyName[];

/** What each key is, for people. */
export const KEY_MEANINGS: Readonly<Record<KeyName, string>> = {
  main: 'the key that most checks call with: every scope, one workspace, live',
  otherTenant: 'a key of another tenant, with the same scopes',
  otherWorkspace: 'a key of another workspace of the same tenant, with the same scopes',
  test: 'a test-mode key of the same tenant and workspace',
  readOnly: 'a key that holds runs:read and no other scope',
  expired: 'a key that has expired',
  revoked: 'a key that was revoked',
  spare: 'a throw-away key that the suite may use up its rate limit with, and send where keys do not belong',
};

/** How the command names the option of a key: `--key`, `--other-tenant-key` and so on. */
export function keyOption(name: KeyName): string {
  if (name === 'main') return 'key';
  return `${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}-key`;
}
