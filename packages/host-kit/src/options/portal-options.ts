/**
 * The portal: sessions in which customers see and repair the webhooks of a tenant.
 *
 * @example
 * const portal: PortalOptions = { pageUrl: 'https://svc.example.com/portal/' };
 */
export interface PortalOptions {
  /** The address of the page, which `createPortal` of `@svc/console` serves. It has no query and no fragment. */
  readonly pageUrl: string;
  /** The most sessions of a tenant that have not ended, in live and in test mode each. Default 1000. */
  readonly maxOpenPerTenant?: number;
}
