import type { FailureInfo } from './failure.js';

/** Temporal cuts a stored failure at 4 KiB, and with it whatever came last. */
export const MOST_FAILURE_BYTES = 3_800;

const MOST_SAMPLES = 10;

/** A failure whose JSON has at most so many bytes: what is too long is cut, the message last, and nothing is left out. */
export function fitFailure(info: FailureInfo, most = MOST_FAILURE_BYTES): FailureInfo {
  const { message, detail, check, sample, ...rest } = info;
  const small = {
    ...rest,
    ...(detail === undefined ? {} : { detail: cutBytes(detail, most / 8) }),
    ...(check === undefined ? {} : { check: cutBytes(check, most / 16) }),
    ...(sample === undefined ? {} : { sample: sample.slice(0, MOST_SAMPLES).map((key) => cutBytes(key, most / 40)) }),
  };
  return { ...small, message: cutBytes(message, most - bytesOf(JSON.stringify({ ...small, message: '' }))) };
}

/** A text whose JSON has at most so many bytes, without its quotes. Cut between characters: half a one is no text. */
function cutBytes(text: string, most: number): string {
  if (bytesInJson(text) <= most) return text;
  const kept: string[] = [];
  let left = most - bytesInJson('…');
  for (const character of text) {
    left -= bytesInJson(character);
    if (left < 0) break;
    kept.push(character);
  }
  return `${kept.join('')}…`;
}

function bytesInJson(text: string): number {
  return bytesOf(JSON.stringify(text)) - 2;
}

function bytesOf(text: string): number {
  return new TextEncoder().encode(text).length;
}
