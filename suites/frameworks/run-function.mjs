/**
 * Runs the function of a project behind a URL, as a function URL of Lambda does, with a DynamoDB on loopback:
 * `node run-function.mjs PORT` in the folder of the project.
 */
import { createServer } from 'node:http';
import { resolve } from 'node:path';
import { argv, env } from 'node:process';
import { pathToFileURL } from 'node:url';
import { CreateTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import dynalite from 'dynalite';

const database = dynalite({ createTableMs: 0 });
await new Promise((ready) => database.listen(0, '127.0.0.1', ready));
Object.assign(env, {
  AWS_ENDPOINT_URL_DYNAMODB: `http://127.0.0.1:${database.address().port}`,
  AWS_REGION: 'eu-central-1',
  AWS_ACCESS_KEY_ID: 'local',
  AWS_SECRET_ACCESS_KEY: 'local',
});
await new DynamoDBClient().send(
  new CreateTableCommand({
    TableName: 'deliveries',
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
    KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
  }),
);

const { handler } = await import(pathToFileURL(resolve('dist/handler.mjs')).href);

const server = createServer(async (request, response) => {
  const chunks = await request.toArray();
  const headers = Object.entries(request.headersDistinct).map(([name, values]) => [name, values.join(',')]);
  const {
    statusCode,
    headers: answered,
    body,
  } = await handler({
    version: '2.0',
    routeKey: '$default',
    rawPath: request.url,
    rawQueryString: '',
    headers: Object.fromEntries(headers),
    requestContext: { http: { method: request.method, path: request.url, protocol: 'HTTP/1.1' } },
    body: Buffer.concat(chunks).toString('base64'),
    isBase64Encoded: true,
  });
  response.writeHead(statusCode, answered).end(body);
});
server.listen(Number(argv[2]), '127.0.0.1');
