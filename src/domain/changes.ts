/** What became of rows, told apart by the table's unique key. A row that is altered in no bit is unchanged. */
export interface Changes {
  readonly added: number;
  readonly removed: number;
  readonly changed: number;
  readonly unchanged: number;
}
