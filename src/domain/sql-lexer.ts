/**
 * A lexer for PostgreSQL's SQL, as far as two questions need it: are two texts the same statement but for white space,
 * comments and the case of unquoted words; and which names does a text mention. Rules: PostgreSQL manual, 4.1 "Lexical
 * Structure".
 */
export interface Token {
  readonly kind: 'word' | 'quoted' | 'other';
  /** Unquoted words with ASCII letters in lower case; everything else as written. */
  readonly text: string;
}

// Every character beyond ASCII is a letter to PostgreSQL, a no-break space and an accent of its own among them.
const SPACE = /[ \t\n\r\f\v]+/y;
const LINE_COMMENT = /--[^\n\r]*/y;
const DOLLAR_TAG = /\$(?:[A-Za-z_\u0080-\uffff][A-Za-z_0-9\u0080-\uffff]*)?\$/y;
const ESCAPE_STRING = /[eE]'(?:[^'\\]|\\[\s\S]|'')*'/y;
const STRING = /(?:[bBxXnN]|[uU]&)?'(?:[^']|'')*'/y;
const QUOTED = /(?:[uU]&)?"(?:[^"]|"")*"/y;
const NUMBER = /(?:\d[\d_]*\.?[\d_]*|\.\d+)(?:[eE][+-]?\d+)?|\$\d+/y;
const WORD = /[A-Za-z_\u0080-\uffff][A-Za-z_0-9$\u0080-\uffff]*/y;

export function tokenize(sql: string): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  const take = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at;
    const text = pattern.exec(sql)?.[0];
    if (text !== undefined) at += text.length;
    return text;
  };
  while (at < sql.length) {
    if (take(SPACE) ?? take(LINE_COMMENT)) continue;
    if (sql.startsWith('/*', at)) {
      at = endOfComment(sql, at);
      continue;
    }
    const literal = take(ESCAPE_STRING) ?? take(STRING) ?? dollarString() ?? take(NUMBER);
    if (literal !== undefined) tokens.push({ kind: 'other', text: literal });
    else tokens.push(name() ?? { kind: 'other', text: sql.charAt(at++) });
  }
  return tokens;

  function dollarString(): string | undefined {
    const start = at;
    const tag = take(DOLLAR_TAG);
    if (tag === undefined) return undefined;
    const end = sql.indexOf(tag, at);
    at = end < 0 ? sql.length : end + tag.length;
    return sql.slice(start, at);
  }
  function name(): Token | undefined {
    const quoted = take(QUOTED);
    if (quoted !== undefined) return { kind: 'quoted', text: quoted };
    const word = take(WORD);
    return word === undefined ? undefined : { kind: 'word', text: foldCase(word) };
  }
}

/** As PostgreSQL does it in UTF-8: only ASCII. */
function foldCase(word: string): string {
  return word.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

/** Equal for two texts that differ in white space, comments and the case of unquoted words only. */
export function normalizeSql(sql: string): string {
  // Joined by a newline: no token but a literal may hold one, and a literal is told by its quotes.
  return tokenize(sql)
    .map((token) => token.text)
    .join('\n');
}

/** A name as it stands in the text, each part unquoted, and whether a parenthesis follows (a call). */
export interface MentionedName {
  readonly parts: readonly string[];
  readonly isCall: boolean;
}

/** Every dotted name of the text. Key words, aliases and columns are among them: the catalog tells which are tables. */
export function mentionedNames(sql: string): MentionedName[] {
  const tokens = tokenize(sql);
  const found = new Map<string, MentionedName>();
  for (let i = 0; i < tokens.length;) {
    const parts: string[] = [];
    for (let token = tokens[i]; token && token.kind !== 'other'; token = tokens[i]) {
      parts.push(unquote(token));
      i++;
      if (tokens[i]?.text !== '.' || tokens[i + 1]?.kind === 'other') break;
      i++;
    }
    if (parts.length === 0) i++;
    else {
      const name = { parts, isCall: tokens[i]?.text === '(' };
      found.set(JSON.stringify(name), name);
    }
  }
  return [...found.values()];
}

function unquote({ kind, text }: Token): string {
  return kind === 'quoted' ? text.slice(text.indexOf('"') + 1, -1).replaceAll('""', '"') : text;
}

/** Comments nest in PostgreSQL. */
function endOfComment(sql: string, start: number): number {
  let depth = 0;
  for (let at = start; at < sql.length; at++) {
    const two = sql.slice(at, at + 2);
    if (two === '/*') depth++;
    else if (two === '*/') depth--;
    else continue;
    at++;
    if (depth === 0) return at + 1;
  }
  return sql.length;
}
