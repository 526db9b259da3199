import { makeAuth } from './make-auth';

/** The authenticator of every route. */
export const auth = makeAuth();
