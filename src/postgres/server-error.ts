/**
 * The SQLSTATE of an error that the server sent. Node's own codes are told apart: `EPIPE` has five capital letters, too,
 * and means that there is no server to say anything.
 */
export function sqlStateOf(error: unknown): string | undefined {
  const { code } = (error ?? {}) as { readonly code?: unknown };
  return typeof code === 'string' && /^(?!E[A-Z]{4}$)[0-9A-Z]{5}$/.test(code) ? code : undefined;
}
