/** A way of writing the new rows of a partition that was there before. */
export type Strategy = 'delete-insert' | 'diff';

/** What a definition may ask for. */
export const wantedStrategies = ['delete-insert', 'diff', 'auto'] as const;
export type WantedStrategy = (typeof wantedStrategies)[number];

export interface StrategyFacts {
  /** The table has a key by which rows are told apart, see `findUniqueKey`. */
  readonly hasKey: boolean;
  /** Other tables refer to its rows. */
  readonly isReferenced: boolean;
  /** Of all rows that were compared lately, the part that came, went or was altered; null where none was compared. */
  readonly shareChanged: number | null;
}

export interface ChosenStrategy {
  readonly strategy: Strategy;
  /** In words; null where the definition itself names it. */
  readonly why: string | null;
}

/** Above it, what `diff` spends on comparing is not won back by what it does not write. */
const MOST_CHANGED = 0.5;

/** Decides `auto`. Rows that are referred to are kept where they can be; the rest is a matter of cost, known from the past. */
export function chooseStrategy(wanted: WantedStrategy, facts: StrategyFacts): ChosenStrategy {
  if (wanted !== 'auto') return { strategy: wanted, why: null };
  if (!facts.hasKey) return { strategy: 'delete-insert', why: 'the table has no key by which rows could be compared' };
  if (facts.isReferenced) return { strategy: 'diff', why: 'other tables refer to its rows' };
  if (facts.shareChanged === null) return { strategy: 'diff', why: 'nothing is known yet of how many rows change' };
  const percent = `${Math.round(facts.shareChanged * 100)} % of the rows compared lately had changed`;
  return { strategy: facts.shareChanged > MOST_CHANGED ? 'delete-insert' : 'diff', why: percent };
}
