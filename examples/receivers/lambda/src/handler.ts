import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { toLambdaHandler } from '@svc/webhook-verify/lambda';
import type { APIGatewayProxyEventV2, APIGatewayProxyResultV2 } from 'aws-lambda';
import { dynamoDedupStore } from './dynamo-dedup-store.ts';
import { onDelivery } from './on-delivery.ts';

const { DELIVERIES_TABLE = 'deliveries', WEBHOOK_SECRET } = process.env;

const receive = toLambdaHandler({
  secret: WEBHOOK_SECRET,
  dedup: dynamoDedupStore(new DynamoDBClient(), DELIVERIES_TABLE),
  onDelivery,
  onRejected: ({ code, message }) => console.warn(`refused: ${code}. ${message}`),
  onFailed: (error) => console.error(error),
});

/** Answers requests of a function URL, or of an HTTP API of API Gateway (payload format 2.0). */
export async function handler(event: APIGatewayProxyEventV2): Promise<APIGatewayProxyResultV2> {
  return receive(event);
}
