import { type DataConverter, type Payload, type PayloadCodec, defaultPayloadConverter } from '@temporalio/common';

/** Anybody may start a run, with a memo that nobody can read. A text stands in for it, as nothing else here is one. */
const tolerantCodec: PayloadCodec = {
  encode: (payloads) => Promise.resolve(payloads),
  decode: (payloads) => Promise.resolve(payloads.map(readableOf)),
};

/** Of every client of ours: without it, one such memo would fail a whole list of runs. */
export const tolerantConverter: DataConverter = { payloadCodecs: [tolerantCodec] };

function readableOf(payload: Payload): Payload {
  try {
    defaultPayloadConverter.fromPayload(payload);
    return payload;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return defaultPayloadConverter.toPayload(`a payload that cannot be read: ${why}`);
  }
}
