import type { Major } from '@svc/versioning';
import type { z } from 'zod';
import type { Access } from '../http/access.ts';
import type { Description, Parameters, RouteCredential } from '../http/description.ts';
import type { Route } from '../http/route.ts';
import type { JsonObject } from '../json.ts';
import type { DescribedHost } from './described-host.ts';
import type { Schemas } from './schemas.ts';

/** An operation under one major, and the collection for its schemas. */
export interface DescribedOperation {
  readonly operation: {
    readonly operationId: string;
    readonly method: string;
    readonly path: string;
    /** True: an operation of the protocol. False: one of a mount, which has no version. */
    readonly isProtocol: boolean;
  };
  readonly route: DescribedRoute;
  readonly major: Major;
  readonly host: DescribedHost;
  readonly collected: Schemas;
}

/** The parts of a route that its description is made of. */
export interface DescribedRoute extends Pick<Route, 'schema' | 'isBodyOptional'> {
  readonly access: Access;
  /** Whether a route of a mount honours `Idempotency-Key`. Default: false. */
  readonly takesKey?: boolean;
  /** Whether a route verifies its requests itself, within limits of its own. Default: false. */
  readonly isVerified?: boolean;
  /** The credential that such a route demands. Default: none. */
  readonly credential?: RouteCredential;
  /** The body by media type, for a route that reads it itself. Default: JSON by `schema`. */
  readonly content?: Readonly<Record<string, z.ZodType>>;
  readonly describes: Omit<Description, 'tag'> & {
    readonly tag: string;
    /** Path parameters beside those of the manifest. */
    readonly path?: Parameters;
    /** The body of every error. Default: the error envelope. */
    readonly errorBody?: JsonObject;
  };
}
