import type { Major, Served } from '@svc/versioning';
import type { z } from 'zod';
import type { AdvertisedAuthentication } from '../discovery/authentication.ts';
import type { Route } from '../http/route.ts';

/** What an API description is made of. */
export interface DescribedHost {
  readonly routes: readonly Route[];
  readonly served: Served;
  /** Where clients reach the host; without it the description names the origin that it was read from. */
  readonly baseUrl: string | undefined;
  readonly implementation: { readonly name: string };
  /** Of the release that describes itself. */
  readonly version: string;
  readonly authentication: AdvertisedAuthentication;
  /** What is posted to subscribers of a major that has a schema of it. */
  readonly deliveries: Readonly<Partial<Record<Major, z.ZodType>>>;
  /** Whether requests are limited by credential. */
  readonly limitsRate: boolean;
  /** Whether major 1 is announced to end. */
  readonly retires: boolean;
}
