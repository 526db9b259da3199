import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { APIGatewayProxyEventV2, APIGatewayProxyResultV2 } from 'aws-lambda';
import { dynamoDedupStore } from './dynamo-dedup-store.ts';
import { makeReceiver } from './receiver.ts';

const { DELIVERIES_TABLE = 'deliveries', WEBHOOK_SECRET } = process.env;

const receive = makeReceiver(WEBHOOK_SECRET, dynamoDedupStore(new DynamoDBClient(), DELIVERIES_TABLE));

/** Answers requests of a function URL, or of an HTTP API of API Gateway (payload format 2.0). */
export async function handler(event: APIGatewayProxyEventV2): Promise<APIGatewayProxyResultV2> {
  return receive(event);
}
