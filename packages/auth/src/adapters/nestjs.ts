import type { IncomingMessage } from 'node:http';
import {
  type Admittance,
  admittance,
  GUARD_OPTIONS,
  type GuardOptions,
  type OptionalGuardOptions,
  requireGuardOptions,
} from '../guard.ts';
import { type OptionNames, requireKnown } from '../known-options.ts';
import type { Principal } from '../principal.ts';
import type { RequestHead } from '../request-head.ts';
import { unguarded } from './guarded-request.ts';
import { headOf } from './node-request.ts';

export type { GuardOptions } from '../guard.ts';

/** `HttpException` of NestJS. */
export type HttpExceptionClass = new (
  response: Record<string, unknown>,
  status: number,
  options?: { cause?: unknown },
) => Error;

/** Options of {@link guard}. */
export interface NestGuardOptions extends Omit<GuardOptions, 'optional' | 'refuse'> {
  /** `HttpException` of `@nestjs/common`, which refusals throw: the exception filters of the application see them. */
  readonly HttpException: HttpExceptionClass;
}

const { optional: _optional, refuse: _refuse, ...SHARED } = GUARD_OPTIONS;
const NEST_GUARD_OPTIONS: OptionNames<NestGuardOptions> = { ...SHARED, HttpException: true };

/** The rule of a route: its scope, its lanes, and whether it needs a credential. */
export type AccessRule = Pick<GuardOptions, 'scope' | 'lanes'> & Pick<OptionalGuardOptions | GuardOptions, 'optional'>;

const ACCESS_RULE: OptionNames<AccessRule> = { scope: true, lanes: true, optional: true };

/** The part of NestJS's `ExecutionContext` that is used. */
export interface NestContext {
  /** The kind of the call, e.g. `http`. */
  getType(): string;
  /** The method of the controller. */
  getHandler(): object;
  /** The controller. */
  getClass(): object;
  /** The arguments of HTTP. */
  switchToHttp(): { getRequest(): object; getResponse(): object };
}

/** A guard of NestJS. */
export interface NestGuard {
  /**
   * Admits a call.
   *
   * @returns true
   * @throws {Error} `HttpException` with the status and the body of the refusal
   */
  canActivate(context: NestContext): Promise<boolean>;
}

/**
 * Makes a guard of NestJS, on Express or on Fastify: `app.useGlobalGuards(guard)`, `{ provide: APP_GUARD, useValue: guard }`
 * or `@UseGuards(guard)`. `@Access(…)` on a method or a controller changes its rule. A call that is not HTTP is refused.
 *
 * @throws {TypeError} when an option is unknown, or `lanes` names none of the authenticator
 * @example
 * import { HttpException } from '@nestjs/common';
 *
 * app.useGlobalGuards(guard({ authenticator: auth, HttpException }));
 */
export function guard(options: NestGuardOptions): NestGuard {
  requireGuardOptions('guard', options, NEST_GUARD_OPTIONS);
  const { HttpException, ...shared } = options;
  if (typeof HttpException !== 'function')
    throw new TypeError('guard: HttpException must be the class of @nestjs/common. Import it from there.');
  const guards = new Map<AccessRule, (request: RequestHead) => Promise<Admittance<Principal | undefined>>>();
  const byDefault = admittance(shared);

  return {
    async canActivate(context) {
      if (context.getType() !== 'http')
        throw new TypeError('guard: guards HTTP alone. Use another guard for this kind of call.');
      const rule = ruleOf(context);
      if (rule === 'open') return true;
      const http = context.switchToHttp();
      const request = http.getRequest();
      const verdict = await (rule === undefined ? byDefault : guardOf(rule))(headIn(request));
      setHeaders(http.getResponse(), verdict.admitted ? verdict.headers : verdict.refusal.headers);
      if (!verdict.admitted) {
        const body: Record<string, unknown> = JSON.parse(verdict.refusal.body);
        throw new HttpException(body, verdict.refusal.status, { cause: verdict.error });
      }
      CALLERS.set(request, verdict.principal);
      return true;
    },
  };

  function guardOf(rule: AccessRule): (request: RequestHead) => Promise<Admittance<Principal | undefined>> {
    const known = guards.get(rule);
    if (known !== undefined) return known;
    // A member that is undefined must not take the place of the guard's.
    const given = Object.fromEntries(Object.entries(rule).filter(([, value]) => value !== undefined));
    const made = admittance({ ...shared, ...given });
    guards.set(rule, made);
    return made;
  }
}

/**
 * Decorates a method of a controller, or a whole controller, with its rule. The rule of the method replaces that of the
 * controller; a member that it does not have is that of the guard.
 *
 * @param rule `'open'` admits every request and judges none
 * @throws {TypeError} when a member of the rule is unknown
 * @example
 * class RunsController {
 *   @Get()
 *   @Access({ scope: 'runs:read', lanes: ['api-key'] })
 *   list(@Caller() caller: Principal) {}
 * }
 */
export function Access(rule: AccessRule | 'open'): AccessDecorator {
  if (rule !== 'open') requireKnown('Access', rule, ACCESS_RULE);
  return (target, key) => {
    if (key === undefined) {
      CLASS_RULES.set(target, rule);
      return;
    }
    const methods = METHOD_RULES.get(target) ?? new Map<string | symbol, Rule>();
    METHOD_RULES.set(target, methods.set(key, rule));
  };
}

/** A decorator of classes and methods. */
export type AccessDecorator = (target: object, key?: string | symbol, descriptor?: object) => void;

/**
 * Reads the caller of a request, for a decorator of parameters.
 *
 * @returns the caller. Undefined for a request without a credential, where it is optional.
 * @throws {TypeError} when no guard has run for the request
 * @example
 * import { createParamDecorator } from '@nestjs/common';
 *
 * export const Caller = createParamDecorator(callerOf);
 */
export function callerOf(_data: unknown, context: Pick<NestContext, 'switchToHttp'>): Principal | undefined {
  const request = context.switchToHttp().getRequest();
  return CALLERS.has(request) ? CALLERS.get(request) : unguarded('the caller');
}

type Rule = AccessRule | 'open';

/** The rules of controllers. */
const CLASS_RULES = new WeakMap<object, Rule>();

/** The rules of methods, by the prototype of their controller and their names: another decorator may replace the method. */
const METHOD_RULES = new WeakMap<object, Map<string | symbol, Rule>>();

/** Finds the nearest rule. A controller has the rules of those that it extends. */
function ruleOf(context: NestContext): Rule | undefined {
  const handler = context.getHandler();
  const controller = context.getClass();
  for (const prototype of chainOf('prototype' in controller ? controller.prototype : undefined)) {
    for (const [key, rule] of METHOD_RULES.get(prototype) ?? []) {
      if (Object.getOwnPropertyDescriptor(prototype, key)?.value === handler) return rule;
    }
  }
  for (const ancestor of chainOf(controller)) {
    const rule = CLASS_RULES.get(ancestor);
    if (rule !== undefined) return rule;
  }
  return undefined;
}

/** Returns an object and its prototypes, nearest first. */
function chainOf(start: unknown): readonly object[] {
  const chain: object[] = [];
  for (let next = start; next !== null && (typeof next === 'object' || typeof next === 'function'); ) {
    chain.push(next);
    next = Object.getPrototypeOf(next);
  }
  return chain;
}

/** The callers of requests. No code but the guard can set them. */
const CALLERS = new WeakMap<object, Principal | undefined>();

/** A request of Fastify has that of Node in `raw`. */
function headIn(request: object): RequestHead {
  const incoming = 'raw' in request ? request.raw : request;
  if (isIncoming(incoming)) return headOf(incoming);
  throw new TypeError('guard: the request is not one of Express or Fastify. Use one of these platforms.');
}

function isIncoming(request: unknown): request is IncomingMessage {
  return typeof request === 'object' && request !== null && 'headers' in request && 'socket' in request;
}

function setHeaders(response: object, headers: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(headers)) {
    // The body is written by the exception filter.
    if (name === 'content-type') continue;
    if ('setHeader' in response && typeof response.setHeader === 'function') response.setHeader(name, value);
    else if ('header' in response && typeof response.header === 'function') response.header(name, value);
  }
}
