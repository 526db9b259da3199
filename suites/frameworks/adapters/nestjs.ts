import 'reflect-metadata';
import { Controller, createParamDecorator, Get, HttpException, type INestApplication, Module } from '@nestjs/common';
import { APP_GUARD, NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import type { Principal } from '@svc/auth';
import { Access, callerOf, guard } from '@svc/auth/nestjs';
import { makeAuth } from './auth.js';

const Caller = createParamDecorator(callerOf);

@Controller()
@Access({ scope: 'runs:read' })
class RunsController {
  @Get('runs')
  runs(@Caller() caller: Principal): string {
    return caller.id;
  }

  @Get('tokens')
  @Access({ lanes: ['bearer-token'] })
  tokens(@Caller() caller: Principal): string {
    return caller.id;
  }

  @Get('page')
  @Access({ scope: 'runs:read', optional: true })
  page(@Caller() caller: Principal | undefined): string {
    return caller?.id ?? 'nobody';
  }

  @Get('open')
  @Access('open')
  open(): string {
    return 'open';
  }

  @Get('unguarded')
  @Access('open')
  unguarded(@Caller() caller: Principal): string {
    return caller.id;
  }
}

/** Replaces a method, as decorators for logs or caches do. */
function Wrapped(_target: object, _key: string, descriptor: PropertyDescriptor) {
  const method = descriptor.value;
  descriptor.value = function (...parts: unknown[]) {
    return Reflect.apply(method, this, parts);
  };
}

@Access({ scope: 'runs:create' })
class StrictController {}

@Controller('derived')
class DerivedController extends StrictController {
  @Get()
  inherits(): string {
    return 'strict';
  }

  @Get('wrapped')
  @Wrapped
  @Access({ scope: 'audit:read' })
  wrapped(): string {
    return 'stricter';
  }
}

const controllers = [RunsController, DerivedController];
const useValue = guard({ authenticator: makeAuth(), HttpException });

@Module({ controllers, providers: [{ provide: APP_GUARD, useValue }] })
class App {}

/** Starts an application of NestJS on Express. */
export async function start() {
  return listening(await NestFactory.create(App, { logger: false }));
}

const ownGuard = guard({ authenticator: makeAuth(), HttpException });

@Module({ controllers, providers: [{ provide: APP_GUARD, useValue: ownGuard }] })
class AppOnFastify {}

/** Starts an application of NestJS on Fastify. */
export async function startOnFastify() {
  return listening(await NestFactory.create(AppOnFastify, new FastifyAdapter(), { logger: false }));
}

async function listening(app: INestApplication): Promise<{ url: string; stop(): Promise<void> }> {
  await app.listen(0, '127.0.0.1');
  return { url: await app.getUrl(), stop: () => app.close() };
}
