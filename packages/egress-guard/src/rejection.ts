/**
 * The rule that a rejected URL broke. It depends on the URL alone, so it reveals nothing about the internal network.
 */
export type UrlRejection =
  | 'malformed_url'
  | 'url_too_long'
  | 'scheme_not_https'
  | 'credentials_in_url'
  | 'port_not_allowed'
  | 'host_not_allowed';
