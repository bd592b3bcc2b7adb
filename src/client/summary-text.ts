/** The server refuses a longer summary, and with it the start. It counts the bytes of the encoded text. */
const MAX_BYTES = 400;

/** One line for the list and the head of a run in the Web UI. */
export function summaryText(what: string, reason: string | null | undefined): string {
  return reason ? `${what}: ${reason.replace(/\s+/g, ' ').trim()}` : what;
}

export function cutSummary(text: string): string {
  let cut = [...text];
  while (bytesOf(cut.join('')) > MAX_BYTES) cut = [...cut.slice(0, Math.floor(cut.length * 0.9)), '…'];
  return cut.join('');
}

function bytesOf(text: string): number {
  return new TextEncoder().encode(JSON.stringify(text)).length;
}
