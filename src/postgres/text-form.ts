/** A value as the text that PostgreSQL reads, like the driver sends it. */
export function scalarText(value: string | number | bigint | boolean): string {
  return typeof value === 'string' ? value : String(value);
}

/** An array, also of arrays, as PostgreSQL writes it: `{1,NULL,"a\"b"}`. */
export function arrayText(values: readonly unknown[], elementText: (value: unknown) => string | null): string {
  const elements = values.map((value) => {
    if (Array.isArray(value)) return arrayText(value, elementText);
    const text = elementText(value);
    return text === null ? 'NULL' : `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
  });
  return `{${elements.join(',')}}`;
}

const ESCAPES: Readonly<Record<string, string>> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** A line of COPY's text format. */
export function copyLine(values: readonly (string | null)[]): string {
  const fields = values.map((text) =>
    text === null ? '\\N' : text.replaceAll(/[\\\n\r\t]/g, (one) => ESCAPES[one] ?? one),
  );
  return `${fields.join('\t')}\n`;
}
