import { randomUUID } from 'node:crypto';
import {
  type AttributeValue,
  ConditionalCheckFailedException,
  DeleteItemCommand,
  type DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import type { DedupStore } from '@svc/webhook-verify/receive';

/** A claim is prolonged while its handler runs, and expires when its process has died. */
const CLAIM_SECONDS = 60;
/** Longer than hosts retry: 3 days. */
const REMEMBER_SECONDS = 259_200;

/**
 * Makes a dedup store in a DynamoDB table, which all instances of the function share.
 *
 * @param table has the partition key `id` (a string) and the time-to-live attribute `expiresAt`
 */
export function dynamoDedupStore(client: DynamoDBClient, table: string): DedupStore {
  return {
    async claim(key) {
      const claimId = randomUUID();
      const isClaimed = await put(key, { claimId: { S: claimId } }, CLAIM_SECONDS, FREE, {});
      if (isClaimed) return { state: 'claimed', token: claimId, claimSeconds: CLAIM_SECONDS };
      const { Item } = await client.send(
        new GetItemCommand({ TableName: table, Key: { id: { S: key } }, ConsistentRead: true }),
      );
      // An item that is gone was released between the two calls. In flight is safe: the host sends it again.
      if (Item === undefined) return { state: 'in-flight', secondsLeft: 0 };
      if (Item.claimId === undefined) return { state: 'handled' };
      return { state: 'in-flight', secondsLeft: Number(Item.expiresAt?.N) - Date.now() / 1000 };
    },
    async confirm(key, token) {
      await put(key, {}, REMEMBER_SECONDS, `${FREE} OR claimId = :token`, { ':token': { S: token } });
    },
    async prolong(key, token) {
      const until = String(Math.floor(Date.now() / 1000) + CLAIM_SECONDS);
      const prolonged = {
        UpdateExpression: 'SET expiresAt = :until',
        ConditionExpression: 'claimId = :token',
        ExpressionAttributeValues: { ':until': { N: until }, ':token': { S: token } },
      };
      return isDone(client.send(new UpdateItemCommand({ TableName: table, Key: { id: { S: key } }, ...prolonged })));
    },
    async release(key, token) {
      const own = { ConditionExpression: 'claimId = :token', ExpressionAttributeValues: { ':token': { S: token } } };
      await isDone(client.send(new DeleteItemCommand({ TableName: table, Key: { id: { S: key } }, ...own })));
    },
  };

  /** Writes the item of a delivery if it meets the condition. An item without a claim is a handled delivery. */
  function put(key: string, claim: Attributes, seconds: number, condition: string, values: Attributes) {
    const now = Math.floor(Date.now() / 1000);
    return isDone(
      client.send(
        new PutItemCommand({
          TableName: table,
          Item: { id: { S: key }, expiresAt: { N: String(now + seconds) }, ...claim },
          ConditionExpression: condition,
          ExpressionAttributeValues: { ':now': { N: String(now) }, ...values },
        }),
      ),
    );
  }
}

type Attributes = Readonly<Record<string, AttributeValue>>;

/** DynamoDB deletes expired items late, so their time is compared, too. */
const FREE = 'attribute_not_exists(id) OR expiresAt <= :now';

/** Resolves to false when the condition of a command was not met. */
async function isDone(command: Promise<unknown>): Promise<boolean> {
  try {
    await command;
    return true;
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) return false;
    throw error;
  }
}
