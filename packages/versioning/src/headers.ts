/** Request: selects a major on an unversioned path. Response: names the contract that produced it. */
export const VERSION_HEADER = 'SVC-Version';
/** The version of the client, for hosts that refuse old ones. */
export const CLIENT_VERSION_HEADER = 'SVC-Client-Version';
