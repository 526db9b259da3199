import type { Major, Served } from '@svc/versioning';
import type { Route } from '../http/route.ts';
import type { JsonObject } from '../json.ts';

/** The facts about a host from which its API descriptions are built. */
export interface DescribedHost {
  readonly served: Served;
  /** The URL at which clients reach the host. Undefined: the description names the origin that it is served from. */
  readonly baseUrl: string | undefined;
  readonly implementation: { readonly name: string };
  /** Version of this package. */
  readonly version: string;
  /** True: tokens may be bound to a key (RFC 9449). */
  readonly acceptsDpop: boolean;
  /** True: the host limits the rate of requests by credential. */
  readonly limitsRate: boolean;
  /** True: the host has announced the end of major 1. */
  readonly retires: boolean;
}

/** The same with the operations of the protocol. */
export interface DescribedProtocol extends DescribedHost {
  readonly routes: readonly Route[];
  /** JSON Schema of the bodies that are posted to webhooks. */
  readonly deliveries: Readonly<Record<Major, JsonObject>>;
}
