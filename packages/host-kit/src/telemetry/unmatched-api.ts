import { metrics, trace } from '@opentelemetry/api';
import type { TelemetryOptions } from './scope.ts';

/**
 * Finds an OpenTelemetry SDK that this package does not see: it registered itself through another copy of
 * `@opentelemetry/api`, and this copy ignores what an older or an incompatible one registered. Nothing is then exported,
 * and OpenTelemetry reports nothing.
 *
 * @returns the version of the other copy; undefined when every registered provider is seen
 */
export function unmatchedApi({ meterProvider, tracerProvider }: TelemetryOptions): string | undefined {
  for (const symbol of Object.getOwnPropertySymbols(globalThis)) {
    if (!/^opentelemetry\.js\.api\.\d+$/.test(symbol.description ?? '')) continue;
    const registered: unknown = Reflect.get(globalThis, symbol);
    if (!isRegistration(registered)) continue;
    const { metrics: meters, trace: spans, version } = registered;
    const losesMetrics = meterProvider === undefined && meters !== undefined && meters !== metrics.getMeterProvider();
    const losesSpans = tracerProvider === undefined && spans !== undefined && spans !== trace.getTracerProvider();
    if (losesMetrics || losesSpans) return String(version).slice(0, 32);
  }
  return undefined;
}

interface Registration {
  readonly version?: unknown;
  readonly metrics?: unknown;
  readonly trace?: unknown;
}

function isRegistration(value: unknown): value is Registration {
  return typeof value === 'object' && value !== null;
}
