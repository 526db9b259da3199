/** On a request, selects a major on an unversioned path. On a response, names the version that produced it. */
export const VERSION_HEADER = 'SVC-Version';
/** On a request, names the version of the client, so that a host can reject outdated clients. */
export const CLIENT_VERSION_HEADER = 'SVC-Client-Version';
