import type { WorkflowEngine } from '@svc/host-kit';
import { StepFailure, stepsEngine, workflow } from '@svc/host-kit/engine/steps';
import { conformanceWorkflows } from '@svc/host-kit/testing/conformance';
import { z } from 'zod';

const hotelInputs = z.object({
  nights: z.int().min(1).max(30),
  /** The time that the search takes, in ms. */
  searchMs: z.int().min(0).max(60_000).default(0),
  /** True: the search finds no room. */
  isFull: z.boolean().default(false),
});

const hotel = workflow({
  id: 'hotel',
  title: 'Books a hotel',
  inputs: hotelInputs,
  async run({ nights, searchMs, isFull }, { step, sleep }) {
    await sleep('search', searchMs);
    return await step('book', () => {
      if (isFull) throw new StepFailure('sample.hotel_full', 'The hotel has no room.');
      return { room: `room for ${nights}` };
    });
  },
});

const trip = workflow({
  id: 'trip',
  title: 'Books a flight and a car, and a hotel in a run of its own. Without a room it cancels the car and the flight',
  inputs: hotelInputs.extend({
    /** The attempts to cancel the flight that fail. */
    failingRefunds: z.int().min(0).max(10).default(0),
  }),
  async run({ failingRefunds, ...booked }, { step, child }) {
    const { seat } = await step('flight', () => ({ seat: '12A' }), {
      retry: { maxAttempts: 5, delayMs: 1500, factor: 1 },
      async compensate({ seat }, { attempt, log }) {
        if (attempt < failingRefunds) throw new Error('The airline does not answer.');
        await log(`Cancelled the seat ${seat}.`);
      },
    });
    await step('car', () => ({ car: 'small' }), {
      compensate: ({ car }, { log }) => log(`Cancelled the ${car} car.`),
    });
    const { room } = await child('hotel', hotel, booked);
    return { seat, room };
  },
});

/** Makes the engine of the workflows that are written in steps: the fixtures of black-box suites are among them. */
export function tripEngine(now: () => number): WorkflowEngine {
  return stepsEngine({ workflows: [trip, hotel, ...conformanceWorkflows], clock: { now } });
}
