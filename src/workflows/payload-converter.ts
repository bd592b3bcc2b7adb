import { type PayloadConverter, defaultPayloadConverter } from '@temporalio/workflow';

type Payload = Parameters<PayloadConverter['fromPayload']>[0];

/**
 * Makes words of a payload that cannot be read, so that the workflow that got it refuses it. The SDK's own converter
 * throws, which fails the workflow's first task again and again, and the run stays open for ever.
 */
export const payloadConverter: PayloadConverter = {
  toPayload: (value) => defaultPayloadConverter.toPayload(value),
  fromPayload<T>(payload: Payload): T {
    try {
      return defaultPayloadConverter.fromPayload<T>(payload);
    } catch (error) {
      return `a payload that cannot be read: ${error instanceof Error ? error.message : String(error)}` as T;
    }
  },
};
