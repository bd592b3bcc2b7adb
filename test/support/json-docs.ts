import { format } from 'prettier';
import { z } from 'zod';
import { commands, refused } from './json-schemas.js';

type JsonSchema = Record<string, unknown>;

const head = `# What \`--json\` prints

Every command prints one JSON document on stdout with \`--json\`, and everything else on stderr. Here is the
[JSON Schema](https://json-schema.org) of each. Fields are added in minor versions, and taken away or changed in major ones
only. Times are ISO 8601 in UTC; keys are the keys of partitions (\`2026-03-01\`).

This file is made from the schemas that a test holds against what the commands print
(\`test/unit/json-output.test.ts\`); \`UPDATE_DOCS=1\` in the environment of that test writes it anew.
`;

const notDone = `Of every command, a mistyped one included: also on stdout, beside the sentence for people on stderr. \`error.name\` is the
class of the error (\`UsageError\` for a command line that cannot be read), \`error.type\` the
failure's, as in Temporal (\`InvalidRequest\`, \`Overlap\` …).

Where there is an \`outcome\`, it goes with the exit code:

| outcome | exit code |
| --- | --- |
| \`completed\`, \`started\`, \`asked\`, \`stopped\` | 0 |
| \`failed\` | 1 |
| \`refused\` | 2 |
| \`cancelled\` | 3 |
| \`detached\` | 130 |

\`backfill status\` ends with 0 where the state is known, whatever it is.`;

/** docs/json.md: the schema of every command's output, and of the types that they share once. */
export function jsonDocs(): Promise<string> {
  const types = new Map<string, JsonSchema>();
  const sections = Object.entries(commands).map(([name, { about, schema }]) =>
    section(`backfill ${name}`, about, jsonSchema(schema, types)),
  );
  const none = section('What could not be done', notDone, jsonSchema(refused, types));
  const shared = [...types]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, schema]) => `### ${name}\n\n${code(schema)}`);
  // Laid out as every file here, and objects on one line where they fit.
  const text = [head, ...sections, none, '## Types\n', ...shared].join('\n');
  return format(text, { parser: 'markdown', printWidth: 120, singleQuote: true });
}

function section(title: string, about: string, schema: JsonSchema): string {
  return `## ${title}\n\n${about}\n\n${code(schema)}`;
}

function code(schema: JsonSchema): string {
  return `\`\`\`json\n${JSON.stringify(schema)}\n\`\`\`\n`;
}

/** The schema without those of the types that it names, which go to `types`. */
function jsonSchema(schema: z.ZodType, types: Map<string, JsonSchema>): JsonSchema {
  const { $defs = {}, ...own } = z.toJSONSchema(schema) as JsonSchema & { $defs?: Record<string, JsonSchema> };
  for (const [name, definition] of Object.entries($defs)) types.set(name, without(definition, 'id'));
  return without(own, '$schema');
}

function without(schema: JsonSchema, field: string): JsonSchema {
  return Object.fromEntries(Object.entries(schema).filter(([name]) => name !== field));
}
