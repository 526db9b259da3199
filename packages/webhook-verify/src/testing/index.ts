export { type InvalidDelivery, invalidDeliveries } from './invalid-deliveries.ts';
export { type TestDelivery, type TestDeliveryOptions, testDelivery } from './test-delivery.ts';
