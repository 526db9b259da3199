/** Why a URL is refused at registration. Each names what the URL itself says; none tells anything of the inside. */
export type UrlRejection =
  | 'malformed_url'
  | 'url_too_long'
  | 'scheme_not_https'
  | 'credentials_in_url'
  | 'port_not_allowed'
  | 'host_not_allowed';
